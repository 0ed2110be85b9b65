"""HTML cut into tags and words the way a browser does it, in one pass whatever the page looks like.

The standard library's parser takes time quadratic in the length of unclosed tags (32 KB of "<a " took it 25 seconds).
Here a search that fails ends the page, so that no character is looked at more than a few times.
"""

import html
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

MAX_ATTRIBUTES = 200  # of one tag

_GAP = re.compile(r"[ \t\n\f\r/]*")
_NAME = re.compile(r"[a-zA-Z][^ \t\n\f\r/>]*")
_ATTRIBUTE = re.compile(r"=?[^ \t\n\f\r/>=]*")
_EQUALS = re.compile(r"[ \t\n\f\r]*=[ \t\n\f\r]*")
_UNQUOTED = re.compile(r"[^ \t\n\f\r>]*")
_COMMENT_END = re.compile(r"--!?>")
_LONG_NUMBER = re.compile(r"&#([0-9]{8,})")
# What stands in these is text to a browser, whatever it looks like, up to their closing tag.
_RAW = ("script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes")
_RAW_ENDS = {name: re.compile(rf"</{name}(?=[ \t\n\f\r/>])", re.I) for name in _RAW} | {"plaintext": re.compile(r"(?!)")}


class TooManyAttributes(ValueError):
    """No tag of a message needs so many. The template is refused, or the message unrenderable."""


class Attribute(NamedTuple):
    name: str
    value: str
    is_quoted: bool


class Piece(NamedTuple):
    """`text` holds words as a reader sees them, the name of an element, or the source of what a reader never sees: what stands
    in the raw element `inside`, in a comment, in <! … > or <? … >, or in a tag that the page ends in."""

    kind: Literal["words", "open", "close", "raw", "comment", "declaration", "unclosed"]
    text: str
    attributes: tuple[Attribute, ...] = ()
    inside: str = ""


def pieces(page: str) -> Iterator[Piece]:
    """Raises TooManyAttributes."""
    at = 0
    while (start := page.find("<", at)) >= 0:
        if start > at:
            yield Piece("words", _unescaped(page[at:start]))
        follower = page[start + 1 : start + 2]
        if page.startswith("<!--", start):
            at = _end_of_comment(page, start)
            yield Piece("comment", page[start + 4 : at])
        elif (follower.isascii() and follower.isalpha()) or (follower == "/" and _NAME.match(page, start + 2)):
            is_closing = follower == "/"
            name, attributes, at = _tag(page, start + 1 + is_closing)
            if at > len(page):
                yield Piece("unclosed", page[start:])
            else:
                yield Piece("close" if is_closing else "open", name, attributes)
            if not is_closing and name in _RAW_ENDS and at < len(page):
                raw_end = _RAW_ENDS[name].search(page, at)
                end_at = raw_end.start() if raw_end else len(page)
                yield Piece("raw", page[at:end_at], inside=name)
                at = end_at
        elif follower and follower in "/!?":
            end_at = page.find(">", start)
            at = end_at + 1 if end_at >= 0 else len(page)
            yield Piece("declaration", page[start:at])
        else:
            yield Piece("words", "<")
            at = start + 1
    if at < len(page):
        yield Piece("words", _unescaped(page[at:]))


def _end_of_comment(page: str, start: int) -> int:
    for at_once in ("<!-->", "<!--->"):
        if page.startswith(at_once, start):
            return start + len(at_once)
    end = _COMMENT_END.search(page, start + 4)
    return end.end() if end else len(page)


def _tag(page: str, at: int) -> tuple[str, tuple[Attribute, ...], int]:
    """The name and attributes of the tag whose name starts here, and where it ends: beyond the page if it never does."""
    name = _NAME.match(page, at)
    assert name  # noqa: S101  both callers looked
    attributes: list[Attribute] = []
    at = name.end()
    while True:
        at = _end(_GAP, page, at)
        if at >= len(page):
            return name[0].lower(), (), len(page) + 1
        if page[at] == ">":
            return name[0].lower(), tuple(attributes), at + 1
        if len(attributes) == MAX_ATTRIBUTES:
            raise TooManyAttributes(f"a tag has more than {MAX_ATTRIBUTES} attributes")
        key_end = _end(_ATTRIBUTE, page, at)
        key, value, is_quoted, at = page[at:key_end].lower(), "", True, key_end
        if equals := _EQUALS.match(page, at):
            at = equals.end()
            quote = page[at : at + 1]
            is_quoted = quote in ('"', "'")
            end = page.find(quote, at + 1) if is_quoted else _end(_UNQUOTED, page, at)
            if end < 0:
                return name[0].lower(), (), len(page) + 1
            value, at = (page[at + 1 : end], end + 1) if is_quoted else (page[at:end], end)
        attributes.append(Attribute(key, _unescaped(value), is_quoted))


def _unescaped(text: str) -> str:
    """Python reads no number of more than 4,300 digits, and `&#000…106;` is a letter all the same."""
    if "&#" in text:
        text = _LONG_NUMBER.sub(lambda number: "&#" + (number[1].lstrip("0")[:8] or "0"), text)
    return html.unescape(text)


def _end(pattern: re.Pattern[str], page: str, at: int) -> int:
    match = pattern.match(page, at)
    return match.end() if match else at
