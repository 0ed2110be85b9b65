"""Where in an HTML template a value may stand, and where the links of a finished page may lead. Pure.

Escaping keeps a value inside text or a quoted attribute, and nowhere else, so a template with a value in any other place is
refused when it is made. Comments are read like the rest: some mail programs see markup there. What is not defended: a value
that is a whole link can lead to any https address. Branches are read one after the other: an author who opens a quote in one
branch and closes it in another misleads this check. (That no value begins a tag is looked at again when it is written.)
"""

import re
from collections.abc import Iterable, Iterator

from tocsin.content.html_tokens import Attribute, Piece, TooManyAttributes, pieces
from tocsin.content.liquid import marks

_VALUE = "v\x01"  # stands for {{ … }}, and could begin a name as any value could; a template has no control characters
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.I)
_IGNORED = re.compile(r"[\x00-\x20\x7f-\xa0]+")  # what browsers overlook in or around a scheme
_BETWEEN_LINKS = re.compile(r"[\s,;]+")
_REFRESH = re.compile(r"[^;,]*[;,]\s*(?:url\s*=\s*)?['\"]?(.*)", re.I | re.S)  # seconds, then where to
_SCHEMES = {"http", "https", "mailto", "tel", "sms", "cid"}
_LINKS = {"href", "src", "action", "formaction", "background", "poster", "cite", "data", "longdesc", "lowsrc", "dynsrc"}
_LINKS |= {"manifest", "codebase", "classid", "usemap", "profile", "xlink:href", "xml:base"}
_LISTS_OF_LINKS = {"srcset", "imagesrcset", "ping", "archive"}
_NEVER_A_VALUE = {"style", "srcdoc", "http-equiv", "charset", "attributename"}
_ENDS_OF_ANIMATIONS = {"to", "from", "by", "values"}
_ANIMATIONS = {"animate", "animatecolor", "animatemotion", "animatetransform", "set"}
# What they load or change is the author's to say, whole.
_WITHOUT_VALUES = {
    "script",
    "style",
    "base",
    "link",
    "object",
    "embed",
    "applet",
    "param",
    "iframe",
    "frame",
} | _ANIMATIONS
_RAW_WITH_VALUES = {"title", "textarea"}  # the raw elements in which a browser reads &lt;


class ForbiddenLink(ValueError):
    """A link is neither relative nor of a scheme that a message may carry. The message is unrenderable."""


def problem_of(source: str) -> str | None:
    """The first value that stands where escaping does not hold it, or the first link that a message cannot carry."""
    try:
        for piece in checked(pieces(without_marks(source))):
            if problem := _problem_in(piece):
                return problem
    except (ForbiddenLink, TooManyAttributes) as refused:
        return str(refused)
    return None


def without_marks(source: str) -> str:
    """The source with a stand-in for each value, and nothing for each tag of the language."""
    bare, at, strips = [], 0, False
    for start, end, _ in marks(source):
        text = source[at:start].lstrip() if strips else source[at:start]
        # {{- takes the space before it away, and with it what keeps a value apart from a "<".
        bare += [text.rstrip() if source.startswith("-", start + 2) else text, _VALUE if source.startswith("{{", start) else ""]
        at, strips = end, source.startswith("-", end - 3)
    return "".join(bare) + (source[at:].lstrip() if strips else source[at:])


def checked(page: Iterable[Piece]) -> Iterator[Piece]:
    """The same pieces, each with its links looked at; those inside of comments too, but they are not passed on."""
    for piece in page:
        _check_links(piece)
        if piece.kind == "comment":
            for inner in pieces(piece.text):
                _check_links(inner)
        yield piece


def _problem_in(piece: Piece, *, is_inner: bool = False) -> str | None:
    match piece.kind:
        case "open" | "close":
            return _problem_in_tag(piece)
        case "raw":
            return _problem_in_raw(piece)
        case "comment" if not is_inner:
            return next(filter(None, (_problem_in(inner, is_inner=True) for inner in pieces(piece.text))), None)
        case "declaration" if piece.text.startswith("<![CDATA["):
            return "<![CDATA[ has no place in a message"
        case "comment" | "declaration" | "unclosed" if _VALUE in piece.text:
            return (
                "a value cannot stand in "
                + {
                    "comment": "a comment inside a comment",
                    "declaration": "<!…> or <?…>",
                    "unclosed": "a tag that is never closed",
                }[piece.kind]
            )
    return None


def _problem_in_raw(piece: Piece) -> str | None:
    # A script inside a comment inside a script: the first closing tag does not end it.
    if piece.inside == "script" and "<!--" in piece.text and "<script" in piece.text.lower():
        return "a comment with a <script> cannot stand inside <script>"
    if _VALUE in piece.text and piece.inside not in _RAW_WITH_VALUES:
        return f"a value cannot stand inside <{piece.inside}>"
    if _VALUE in piece.text and "<" in piece.text:
        return f"a value and a tag cannot both stand inside <{piece.inside}>"
    return None


def _problem_in_tag(piece: Piece) -> str | None:
    if _VALUE in piece.text:
        return "a value cannot be part of a tag's name"
    element, where = piece.text.rpartition(":")[2], f"in <{piece.text[:30]}>"
    is_order = any(one.name == "http-equiv" for one in piece.attributes)
    for name, value, is_quoted in piece.attributes:
        if _VALUE in name:
            return f"a value inside a tag must stand in a quoted attribute, {where}"
        if _VALUE not in value:
            continue
        if not is_quoted:
            return f"the attribute {name[:30]} needs quotes around its value"
        if name.startswith("on") or name in _NEVER_A_VALUE:
            return f"a value cannot stand in the attribute {name[:30]}"
        if element in _WITHOUT_VALUES or piece.kind == "close":
            return f"a value cannot stand {where}" if piece.kind == "open" else f"a value cannot stand in </{piece.text[:30]}>"
        if element == "meta" and (is_order or name != "content"):
            return f"a value cannot stand in the attribute {name[:30]} of <meta>"
    return None


def _check_links(piece: Piece) -> None:
    for attribute in piece.attributes:
        for link in _links_in(piece, attribute):
            scheme = _SCHEME.match(link)
            is_picture = piece.text in ("img", "source") and link.lower().startswith("data:image/")
            if scheme and scheme[1].lower() not in _SCHEMES and not is_picture:
                raise ForbiddenLink(f"a link has the scheme {scheme[1].lower()[:30]}, which a message cannot carry")


def _links_in(piece: Piece, attribute: Attribute) -> list[str]:
    name, value, _ = attribute
    if name in _LINKS:
        return [_IGNORED.sub("", value)]
    if name in _LISTS_OF_LINKS or (piece.text in _ANIMATIONS and name in _ENDS_OF_ANIMATIONS):
        return _BETWEEN_LINKS.split(value)
    if piece.text == "meta" and name == "content" and _is_refresh(piece) and (target := _REFRESH.match(value)):
        return [_IGNORED.sub("", target[1])]
    return []


def _is_refresh(piece: Piece) -> bool:
    return any(name == "http-equiv" and value.strip().lower() == "refresh" for name, value, _ in piece.attributes)
