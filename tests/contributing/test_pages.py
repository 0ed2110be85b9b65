"""CONTRIBUTING.md and SECURITY.md speak of what is there."""

import re
from pathlib import Path

import pytest

from tests.contributing.page import ROOT

PAGES = ("CONTRIBUTING.md", "SECURITY.md")


def anchors(path: Path) -> set[str]:
    """What GitHub lets a link end with: each heading in lower case, with dashes."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    links = re.findall(r"\]\((?!https:)([^)#]*)(?:#([^)]+))?\)", (ROOT / page).read_text())

    assert links
    for name, anchor in links:
        target = ROOT / (name or page)
        assert target.exists(), name
        assert not anchor or anchor in anchors(target), f"{name}#{anchor}"


@pytest.mark.parametrize("page", PAGES)
def test_every_file_and_folder_that_is_named_is_there(page: str) -> None:
    prose = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(), flags=re.MULTILINE | re.DOTALL)

    named = re.findall(
        r"`((?:tests|docs|functions|layers|devstack|migrations|tools)/[\w./-]*|\.ci/run|\.venv|template\.yaml)`", prose
    )

    assert len(named) > 8
    assert [name for name in named if name != ".venv" and not (ROOT / name).exists()] == []


def test_every_folder_of_tests_has_its_line() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}

    assert {folder for folder in folders if f"`tests/{folder}`" not in text} == set()


def test_every_promise_of_security_names_tests() -> None:
    (promises,) = re.findall(r"^## What we promise\n(.*?)^## ", (ROOT / "SECURITY.md").read_text(), re.MULTILINE | re.DOTALL)
    rows = [row for row in promises.splitlines() if row.startswith("| ")][2:]

    assert len(rows) >= 15
    for row in rows:
        tests = re.findall(r"`(tests/[\w/]+/test_\w+\.py)`", row.split("|")[3])
        assert tests, row
        assert all((ROOT / name).exists() for name in tests), row
