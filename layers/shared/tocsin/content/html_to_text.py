"""An HTML page as plain text, for the mail readers that want it: links as "text (url)", lists, breaks, no scripts. Pure."""

import re
from collections.abc import Iterable, Iterator

from tocsin.content.html_tokens import Piece

_PARAGRAPHS = {"p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "table", "blockquote", "pre", "hr"}
_LINES = {"div", "section", "article", "header", "footer", "main", "nav", "aside", "form", "figure", "figcaption"}
_LINES |= {"address", "tr", "dt", "dd", "li", "body"}
_CELLS = {"td", "th"}
_SPACE = re.compile(r"\s+")
_UNSEEN = re.compile(r"\bdisplay\s*:\s*none\b", re.I)
_EMPTY = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}  # never closed
_SHOWN_URL = re.compile(r"(?:https?|mailto|tel|sms):", re.I)


def html_to_text(page: Iterable[Piece]) -> str:
    return "\n".join(_without_gaps("".join(_Writer().written(page)).split("\n")))


def _without_gaps(lines: list[str]) -> Iterator[str]:
    """Single spaces, at most one empty line in a row, none at either end."""
    gap, begun = False, False
    for line in (" ".join(raw.split()) for raw in lines):
        if line:
            if gap and begun:
                yield ""
            yield line
            begun = True
        gap = not line


class _Writer:
    def __init__(self) -> None:
        self.out: list[str] = []
        self.newlines = 2  # at the end of what is written; a page begins as if after an empty line
        self.lists: list[int | None] = []  # the last number of each open list, None where it has bullets
        self.url = ""
        self.label_from = 0
        self.unseen = ("", 0)  # the element that is not shown, and how many of its name are open in it

    def written(self, page: Iterable[Piece]) -> list[str]:
        for piece in page:
            if self._is_unseen(piece):
                continue
            match piece.kind:
                case "words":
                    self._write(_SPACE.sub(" ", piece.text))
                case "open":
                    self._open(piece)
                case "close":
                    self._close(piece.text)
        self._end_link()
        return self.out

    def _is_unseen(self, piece: Piece) -> bool:
        """Whether it is in what mail programs show in the list alone (a preheader), or not at all."""
        name, depth = self.unseen
        if depth:
            if piece.text == name and piece.kind in ("open", "close"):
                self.unseen = (name, depth + (1 if piece.kind == "open" else -1))
            return True
        if piece.kind == "open" and piece.text not in _EMPTY and _UNSEEN.search(_attribute(piece, "style")):
            self.unseen = (piece.text, 1)
            return True
        return False

    def _open(self, piece: Piece) -> None:
        name = piece.text
        self._break(name)
        if name == "a":
            self._end_link()
            self.url, self.label_from = _attribute(piece, "href"), len(self.out)
        elif name == "img":
            self._write(f" {_attribute(piece, 'alt')} ")
        elif name in ("ul", "ol"):
            self.lists.append(0 if name == "ol" else None)
        elif name == "li":
            self.out.append(self._bullet())
            self.newlines = 2  # a paragraph inside the item stays beside its bullet

    def _close(self, name: str) -> None:
        if name == "a":
            self._end_link()
        elif name in ("ul", "ol") and self.lists:
            self.lists.pop()
        if name != "br":
            self._break(name)

    def _break(self, name: str) -> None:
        if name in _PARAGRAPHS:
            # A list inside a list goes on without an empty line.
            self._end_lines(1 if name in ("ul", "ol") and self.lists else 2)
        elif name == "br":
            self._end_lines(self.newlines + 1)
        elif name in _LINES:
            self._end_lines(1)
        elif name in _CELLS:
            self.out.append(" ")

    def _write(self, words: str) -> None:
        self.out.append(words)
        self.newlines = self.newlines if words.isspace() or not words else 0

    def _end_lines(self, wanted: int) -> None:
        self.out.append("\n" * (wanted - self.newlines))
        self.newlines = max(wanted, self.newlines)

    def _bullet(self) -> str:
        if not self.lists or (number := self.lists[-1]) is None:
            return "- "
        self.lists[-1] = number + 1
        return f"{number + 1}. "

    def _end_link(self) -> None:
        url, self.url = _SPACE.sub("", self.url), ""
        if not _SHOWN_URL.match(url):
            return
        label = " ".join("".join(self.out[self.label_from :]).split())
        if not label:
            self._write(url)
        elif label not in (url, url.partition(":")[2]):
            self.out.append(f" ({url})")


def _attribute(piece: Piece, name: str) -> str:
    return _SPACE.sub(" ", next((one.value for one in piece.attributes if one.name == name), ""))
