"""HTML cut into tags and words the way a browser does it, in one pass whatever the page looks like.

The standard library's parser takes time quadratic in the length of unclosed tags (32 KB of "<a " took it 25 seconds).
Here a search that fails ends the page, so that no character is looked at more than a few times.
"""

import html
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

_GAP = re.compile(r"[ \t\n\f\r/]*")
_NAME = re.compile(r"[a-zA-Z][^ \t\n\f\r/>]*")
_ATTRIBUTE = re.compile(r"=?[^ \t\n\f\r/>=]*")
_EQUALS = re.compile(r"[ \t\n\f\r]*=[ \t\n\f\r]*")
_UNQUOTED = re.compile(r"[^ \t\n\f\r>]*")
_COMMENT_END = re.compile(r"--!?>")
_RAW_ENDS = {name: re.compile(rf"</{name}", re.I) for name in ("script", "style", "title")}


class Attribute(NamedTuple):
    name: str
    value: str
    is_quoted: bool


class Piece(NamedTuple):
    """`text` holds words as a reader sees them, the name of an element, or what a reader never sees."""

    kind: Literal["words", "open", "close", "hidden"]
    text: str
    attributes: tuple[Attribute, ...] = ()


def pieces(page: str) -> Iterator[Piece]:
    at = 0
    while (start := page.find("<", at)) >= 0:
        if start > at:
            yield Piece("words", html.unescape(page[at:start]))
        follower = page[start + 1 : start + 2]
        if page.startswith("<!--", start):
            end = _COMMENT_END.search(page, start + 2)
            yield Piece("hidden", page[start : end.end() if end else len(page)])
            at = end.end() if end else len(page)
        elif follower.isascii() and follower.isalpha():
            name, attributes, at = _tag(page, start + 1)
            if at <= len(page):
                yield Piece("open", name, attributes)
            if name in _RAW_ENDS and at < len(page):
                raw_end = _RAW_ENDS[name].search(page, at)
                end_at = raw_end.start() if raw_end else len(page)
                yield Piece("hidden", page[at:end_at])
                at = end_at
        elif follower == "/" and _NAME.match(page, start + 2):
            name, _, at = _tag(page, start + 2)
            if at <= len(page):
                yield Piece("close", name)
        elif follower and follower in "/!?":
            end_at = page.find(">", start)
            at = end_at + 1 if end_at >= 0 else len(page)
            yield Piece("hidden", page[start:at])
        else:
            yield Piece("words", "<")
            at = start + 1
    if at < len(page):
        yield Piece("words", html.unescape(page[at:]))


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
        attributes.append(Attribute(key, html.unescape(value), is_quoted))


def _end(pattern: re.Pattern[str], page: str, at: int) -> int:
    match = pattern.match(page, at)
    return match.end() if match else at
