"""What docs/seeds.md says, row by row: what a seed asks for, where it lives, what holds it."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "seeds.md"
_CODE = re.compile(r"`([^`]+)`")
_COLUMN = re.compile(r"[a-z_]+\.[a-z_]+")
_TEST = re.compile(r"tests/[\w/]+\.py::test_\w+")
_DECISION = re.compile(r"\(decisions\.md#([\w-]+)\)")
_BY_POSTGRES = ("_pkey", "_fkey", "_check")  # how it names what nobody else has named


@cache
def _named_in_migrations() -> set[str]:
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "migrations").glob("*.sql"))
    return set(re.findall(r"\b(?:INDEX(?: CONCURRENTLY)?(?: IF NOT EXISTS)?|CONSTRAINT) ([a-z0-9_]+)", text))


@dataclass(frozen=True, slots=True)
class Row:
    seed: str  # the title of the chapter: one of the five
    part: str  # the heading above the table
    asks: str
    lives_in: str
    held_by: str

    @property
    def name(self) -> str:
        return f"{self.part}: {self.asks}"

    @property
    def columns(self) -> list[str]:
        return [
            word
            for word in _CODE.findall(self.lives_in)
            if _COLUMN.fullmatch(word) and not word.endswith((".py", ".md", ".yaml"))
        ]

    @property
    def names(self) -> list[str]:
        """Of indexes and constraints, as the database has them."""
        return [word for word in _CODE.findall(self.lives_in) if word.endswith(_BY_POSTGRES) or word in _named_in_migrations()]

    @property
    def others(self) -> list[str]:
        """Files, endpoints, tables, settings and what else has a name."""
        return [word for word in _CODE.findall(self.lives_in) if word not in {*self.columns, *self.names}]

    @property
    def tests(self) -> list[str]:
        return _TEST.findall(self.held_by)

    @property
    def decisions(self) -> list[str]:
        return _DECISION.findall(self.held_by)


def read(page: str) -> list[Row]:
    rows: list[Row] = []
    seed = part = ""
    for line in page.splitlines():
        if line.startswith("## "):
            seed = part = line.removeprefix("## ")
        elif line.startswith("### "):
            part = line.removeprefix("### ")
        elif line.startswith("| ") and not line.startswith(("| the seed asks", "| ---")) and seed:
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            if len(cells) != 3:
                raise ValueError(f"not three cells: {line}")
            rows.append(Row(seed, part, *cells))
    return rows
