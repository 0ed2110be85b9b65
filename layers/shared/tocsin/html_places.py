"""Where in an HTML template a value may stand, and where the links of a finished page may lead.

Escaping keeps a value inside text or a quoted attribute, and nowhere else, so a template with a value in any other place is
refused when it is made. What is not defended: a value in a style can restyle its element, a value that is a whole link can
lead to any https address, and comments are not looked into, though some mail programs read markup there. Branches are read
one after the other: an author who opens a quote in one branch and closes it in another misleads this check.
"""

import re

from tocsin.html_pieces import Piece, pieces
from tocsin.template_language import marks

_VALUE = "v\x01"  # stands for {{ … }}, and could begin a name as any value could; a template has no control characters
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.I)
_IGNORED = re.compile(r"[\x00-\x20\x7f-\xa0]+")  # what browsers overlook in or around a scheme
_LINKS = {"href", "src", "action", "formaction", "background", "poster", "cite", "data", "longdesc", "xlink:href"}
_SCHEMES = {"http", "https", "mailto", "tel", "sms", "cid"}


def problem_of(source: str) -> str | None:
    """The first value that stands where escaping does not hold it, or the first link that a message cannot carry."""
    bare, at = [], 0
    for start, end, _ in marks(source):
        bare += [source[at:start], _VALUE if source.startswith("{{", start) else ""]
        at = end
    page = "".join(bare) + source[at:]
    inside = ""
    for piece in pieces(page):
        if piece.kind == "hidden" and inside == "script" and _VALUE in piece.text:
            return "a value cannot stand inside <script>"
        inside = piece.text if piece.kind == "open" else ""
        if problem := _problem_in_tag(piece):
            return problem
    scheme = forbidden_link(page)
    return f"a link has the scheme {scheme}, which a message cannot carry" if scheme else None


def forbidden_link(page: str) -> str | None:
    """The scheme of the first link that is neither relative nor one that a message may carry."""
    for piece in pieces(page):
        for attribute in piece.attributes:
            link = _SCHEME.match(_IGNORED.sub("", attribute.value)) if attribute.name in _LINKS else None
            is_picture = piece.text == "img" and attribute.value.lower().startswith("data:image/")
            if link and link[1].lower() not in _SCHEMES and not is_picture:
                return link[1].lower()[:30]
    return None


def _problem_in_tag(piece: Piece) -> str | None:
    if piece.kind in ("open", "close") and _VALUE in piece.text:
        return "a value cannot be part of a tag's name"
    for name, value, is_quoted in piece.attributes:
        if _VALUE in name:
            return f"a value inside a tag must stand in a quoted attribute, in <{piece.text[:30]}>"
        if _VALUE in value and not is_quoted:
            return f"the attribute {name[:30]} needs quotes around its value"
        if _VALUE in value and (name.startswith("on") or name == "srcdoc"):
            return f"a value cannot stand in the attribute {name[:30]}"
    return None
