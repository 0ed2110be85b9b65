"""What stands in a page of Markdown: its headings with their anchors, and its links."""

import re
from dataclasses import dataclass

_FENCED = re.compile(r"^```.*?^```", re.M | re.S)
_INLINE = re.compile(r"\]\(([^()\s]+)\)")
_DEFINITION = re.compile(r"^\[([^\]]+)\]: (\S+)$", re.M)
_REFERENCE = re.compile(r"\[((?:`[^`]+`|[^\[\]`])+)\](?![(:\w])")


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    text: str
    anchor: str


def headings(page: str) -> list[Heading]:
    """In order. Of two with the same words the second one's anchor ends in -1, as GitHub has it."""
    found: list[Heading] = []
    seen: dict[str, int] = {}
    for marks, text in re.findall(r"^(#{1,6}) (.+)$", _FENCED.sub("", page), re.M):
        anchor = anchor_of(text)
        again = seen[anchor] = seen.get(anchor, -1) + 1
        found.append(Heading(len(marks), text, f"{anchor}-{again}" if again else anchor))
    return found


def anchor_of(text: str) -> str:
    """What GitHub makes of a heading: lower case, without punctuation, hyphens for spaces."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def links(page: str) -> list[str]:
    """Where the links of a page lead: those in brackets, and the definitions of those by reference."""
    text = _FENCED.sub("", page)
    return _INLINE.findall(text) + [target for _, target in _DEFINITION.findall(text)]


def chapter(page: str, heading: str) -> str:
    """The text below a heading of the second level, up to the next one."""
    chapters = {one.splitlines()[0].strip().lower(): one for one in page.split("\n## ")[1:]}
    return chapters.get(heading.lower(), "")


def undefined(page: str) -> list[str]:
    """References to code (`in backquotes`) that lead nowhere, because nothing defines them."""
    text = _FENCED.sub("", page)
    defined = {label for label, _ in _DEFINITION.findall(text)}
    return [label for label in _REFERENCE.findall(text) if label.startswith("`") and label not in defined]
