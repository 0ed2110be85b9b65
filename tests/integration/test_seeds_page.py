"""docs/seeds.md names columns, indexes, constraints, files, endpoints, settings, tests and decisions, and each of them exists."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.world import World
from tocsin.api.about import every_endpoint
from tocsin.foundation.settings import Settings
from tools import pages, seeds_page
from tools.seeds_page import PAGE, ROOT, Row

ROWS = seeds_page.read(PAGE.read_text(encoding="utf-8"))
SEEDS = 5
NOWHERE = "\N{EN DASH}"
LAYER = ROOT / "layers" / "shared" / "tocsin"


@cache
def _tests() -> set[str]:
    found: set[str] = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        names = [node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)]
        found |= {f"{path.relative_to(ROOT)}::{name}" for name in names}
    return found


@cache
def _parameters() -> set[str]:
    return set(re.findall(r"^  (\w+):$", (ROOT / "template.yaml").read_text(encoding="utf-8"), re.M))


def _names(world: World, query: str) -> set[str]:
    return {row["name"] for row in world.rows(query)}


def _is_there(word: str, tables: set[str]) -> bool:
    """A file of ours, an endpoint, a table, a setting or a parameter of the template."""
    return (
        word in tables
        or word in {endpoint.route for endpoint in every_endpoint()}
        or word.lower() in Settings.model_fields
        or word in _parameters()
        or any((folder / word).exists() for folder in (ROOT, LAYER) if "/" in word or Path(word).suffix)
    )


def test_all_five_seeds_are_there_and_each_thing_once() -> None:
    assert len({row.seed for row in ROWS}) == SEEDS
    assert len(ROWS) > 400
    once = [(row.seed, row.part, row.asks, row.lives_in) for row in ROWS]
    assert len(once) == len(set(once))


def test_every_row_says_where_it_lives_and_what_holds_it() -> None:
    empty = [row.name for row in ROWS if not (row.asks and row.lives_in and row.held_by)]
    unheld = [row.name for row in ROWS if not (row.tests or row.decisions)]
    nowhere = [row.name for row in ROWS if row.lives_in == NOWHERE and not (row.decisions or row.tests)]

    assert (empty, unheld, nowhere) == ([], [], [])


def test_what_a_row_names_is_in_the_database(world: World) -> None:
    columns = _names(world, "SELECT table_name || '.' || column_name AS name FROM information_schema.columns")
    indexes = _names(world, "SELECT indexname AS name FROM pg_indexes WHERE schemaname = 'public'")
    constraints = _names(world, "SELECT conname AS name FROM pg_constraint")
    tables = _names(world, "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'")

    assert [name for row in ROWS for name in row.columns if name not in columns] == []
    assert [name for row in ROWS for name in row.names if name not in indexes | constraints] == []
    assert [word for row in ROWS for word in row.others if not _is_there(word, tables)] == []


def test_the_tests_and_decisions_that_hold_a_row_exist() -> None:
    decided = {heading.anchor for heading in pages.headings((ROOT / "docs" / "decisions.md").read_text(encoding="utf-8"))}

    assert [test for row in ROWS for test in row.tests if test not in _tests()] == []
    assert [anchor for row in ROWS for anchor in row.decisions if anchor not in decided] == []


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("| a | `users.colour` | `tests/unit/test_ids.py::test_no` |", "column"),
        ("| a | `users_colour_check` | `tests/unit/test_ids.py::test_no` |", "name"),
        ("| a | `store/colours.py` | `tests/unit/test_ids.py::test_no` |", "other"),
    ],
)
def test_what_stands_on_the_page_is_told_apart(line: str, fault: str) -> None:
    (row,) = seeds_page.read(
        f"## A seed\n\n### A table\n\n| the seed asks for | lives in | held by |\n| --- | --- | --- |\n{line}\n"
    )

    assert isinstance(row, Row)
    assert (row.seed, row.part, row.asks) == ("A seed", "A table", "a")
    assert [bool(row.columns), bool(row.names), bool(row.others)] == [fault == one for one in ("column", "name", "other")]
    assert bool(row.tests) == ("test_no" in line)
