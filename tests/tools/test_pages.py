"""Every link on a page leads somewhere; every decision is in the index; the version is the one that the changelog tells of."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from tests.tools.checkout import ROOT
from tools import pages

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
DECISIONS = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")

    assert [link for link in pages.links(text) if not _leads_somewhere(page, link)] == []
    assert pages.undefined(text) == []


def _leads_somewhere(page: Path, link: str) -> bool:
    if re.match(r"[a-z]+:", link):
        return True  # elsewhere
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.exists():
        return False
    return not anchor or anchor in {one.anchor for one in pages.headings(target.read_text(encoding="utf-8"))}


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A `b`, c!\n[x](#a-b-c) [y](gone.md) [`z`]\n\n```\n[no](link.md)\n```\n[`z`]: other.md#part\n")

    links = pages.links(page.read_text())

    assert links == ["#a-b-c", "gone.md", "other.md#part"]
    assert [_leads_somewhere(page, link) for link in links] == [True, False, False]
    assert pages.undefined("[`known`] and [`unknown`]\n\n[`known`]: a.md\n") == ["`unknown`"]


@pytest.mark.parametrize("page", ["README.md", "docs/architecture.md"])
def test_the_map_has_every_room_and_every_page(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    rooms = {path.parent.name for path in (ROOT / "layers" / "shared" / "tocsin").glob("*/__init__.py")}

    assert {room for room in rooms if not re.search(rf"^\|[^|]*`{room}`", text, re.M)} == set()
    if page == "README.md":
        doors = {path.parent.name for path in (ROOT / "functions").glob("*/app.py")}
        assert {door for door in doors if not re.search(rf"^\|[^|]*`{door}`", text, re.M)} == set()
        assert {path.name for path in (ROOT / "docs").glob("*.md")} == set(re.findall(r"\(docs/([\w-]+\.md)\)", text))


def test_every_decision_is_in_the_index_once() -> None:
    decided = [one.anchor for one in pages.headings(DECISIONS) if one.level == 3]
    listed = [link.removeprefix("#") for link in pages.links(pages.chapter(DECISIONS, "Index"))]

    assert Counter(listed) == Counter(decided)


def test_the_index_calls_decisions_by_their_names() -> None:
    listed = re.findall(r"^- \[(.+)\]\(#(.+)\)$", pages.chapter(DECISIONS, "Index"), re.M)

    assert [(text, anchor) for text, anchor in listed if pages.anchor_of(text) != anchor] == []


def test_a_decision_is_a_heading_so_that_it_can_be_linked() -> None:
    body = DECISIONS.replace(pages.chapter(DECISIONS, "Index"), "")

    assert re.findall(r"^\*\*.+", body, re.M) == []
    assert all(one.level in {2, 3} for one in pages.headings(body)[1:])


def test_what_was_overtaken_says_when_and_by_what() -> None:
    marks = re.findall(r"^\*Overtaken.*?\*$", DECISIONS, re.M | re.S)

    assert marks
    assert [mark for mark in marks if not re.match(r"\*Overtaken (in part )?on \d{4}-\d\d-\d\d[:,] ", mark)] == []


def test_the_newest_version_of_the_changelog_is_the_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    headings = [one.text for one in pages.headings(CHANGELOG) if one.level == 2]

    assert headings[0] == "Unreleased"
    assert re.fullmatch(rf"{re.escape(version)} - \d{{4}}-\d\d-\d\d", headings[1])


def test_the_changelog_has_one_line_for_each_change_under_a_known_heading() -> None:
    kinds = {one.text for one in pages.headings(CHANGELOG) if one.level == 3}
    lines = [line for line in CHANGELOG.splitlines() if line and not line.startswith(("#", "- "))]

    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert len(lines) == 1, "one line for each change, beside the one that says what this is"
    assert [line for line in CHANGELOG.splitlines() if len(line) > 130] == []
