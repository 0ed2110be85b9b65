"""The worked examples of CONTRIBUTING.md, followed to the letter in a copy of the tree."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from devstack.postgres import Postgres
from tests.contributing import page
from tests.contributing.page import ROOT, Outdated, Tree
from tests.integration.catalogue import catalogue
from tocsin.upkeep.migrate import migrate, roll_back

pytestmark = pytest.mark.timeout(600)  # each runs tests of its own


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree.copy_to(tmp_path / "tree")


@pytest.fixture
def blank(server: Postgres) -> Iterator[str]:
    """The address of a database with nothing in it."""
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        conn.execute("CREATE DATABASE followed")
    yield server.dsn("followed")
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        conn.execute("DROP DATABASE followed WITH (FORCE)")


def follow(tree: Tree, *titles: str, probe: str = "", to: str = "") -> set[str]:
    """Do what the chapters say and run the last one's commands, the first with a test of our own; returns what passed."""
    touched = " ".join(name for title in titles for name in tree.follow(title) if name.endswith(".py"))
    tree.run(f".venv/bin/ruff check -q {touched} && .venv/bin/ruff format -q --check {touched}")
    if probe:
        shutil.copy(ROOT / "tests" / "contributing" / probe, tree.folder / to)
    first, *others = page.commands(titles[-1])
    said = tree.run(first, also=to) + "".join(map(tree.run, others))
    return set(re.findall(r"^PASSED (\S+)", said, re.MULTILINE))


def test_the_migration_goes_up_and_down(tree: Tree, blank: str) -> None:
    def schema() -> list[str]:
        with psycopg.connect(blank, autocommit=True) as conn:
            return catalogue(conn)

    migrate(blank, tree.folder / "migrations")
    before = schema()
    passed = follow(tree, "A migration")
    applied = migrate(blank, tree.folder / "migrations")
    with_holidays = schema()
    undone = roll_back(blank, tree.folder / "migrations", count=1)

    assert applied == undone == [tree.newest_migration()]
    assert any("'holidays', 'own_tenant'" in line for line in with_holidays)
    assert schema() == before
    assert "tests/integration/test_migrations.py::test_up_down_and_up_again_gives_the_same_schema" in passed
    assert "tests/unit/test_architecture.py::test_the_code_expects_the_newest_migration" in passed


def test_the_endpoint_is_served_described_and_routed(tree: Tree) -> None:
    to = "tests/functions/test_holiday_probe.py"

    passed = follow(tree, "A migration", "An endpoint", probe="probe_endpoint.py", to=to)

    assert {name for name in passed if name.startswith(to)} == {
        f"{to}::test_a_holiday_takes_the_right_scope",
        f"{to}::test_a_holiday_is_its_tenants_own",
        f"{to}::test_holidays_are_in_the_openapi_document",
    }
    assert any("test_hostile_text" in name for name in passed), "what holds for every operation was not asked of this one"
    assert "tests/unit/test_routes_of_the_template.py::test_every_endpoint_has_a_route_and_every_route_an_endpoint" in passed
    assert "tests/unit/test_routes_of_the_template.py::test_a_function_gets_the_routes_it_serves[functions/manage]" in passed


def test_the_provider_delivers(tree: Tree) -> None:
    to = "tests/integration/test_pigeon_probe.py"

    passed = follow(tree, "A provider", probe="probe_provider.py", to=to)

    assert sum(name.startswith("tests/integration/test_pigeon.py") for name in passed) == 4
    assert any(name.startswith(to) for name in passed)


def test_a_page_that_asks_for_what_is_gone_says_so() -> None:
    text = "one\ntwo = 2\nthree\n"

    assert page.changed("file", text, [" one", "-two = 2", "+two = 3", " three"]) == "one\ntwo = 3\nthree\n"
    assert page.changed("file", text, [" two…", "+more"]) == "one\ntwo = 2\nmore\nthree\n"
    with pytest.raises(Outdated, match="0 times"):
        page.changed("file", text, ["-four", "+five"])
    with pytest.raises(Outdated, match="2 times"):
        page.changed("file", text + "one\n", [" one", "+again"])
