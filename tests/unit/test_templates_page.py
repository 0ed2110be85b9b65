"""The page about templates tells the truth: its limits, its filters, and where a value may stand."""

import re
from pathlib import Path
from uuid import UUID

import pytest

from tocsin.content import html_tokens, liquid, liquid_limits, parts, templates
from tocsin.content.html_safety import problem_of
from tocsin.content.liquid_filters import FILTERS
from tocsin.content.plain import Unrenderable
from tocsin.content.templates import Template, render

PAGE = (Path(__file__).parents[2] / "docs" / "templates.md").read_text()


def section(title: str) -> str:
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def places() -> list[tuple[str, str]]:
    """Each example of the table of places, with what the page says of it."""
    rows = re.findall(r"^\| (.*`<.*`.*) \| (allowed|checked|refused)\b.*\|$", section("Where a value may stand"), re.M)
    return [(example, verdict) for examples, verdict in rows for example in re.findall(r"`(<[^`]*)`", examples)]


def test_its_limits_are_ours() -> None:
    table = section("The language").rpartition("| limit | |")[2]

    assert [int(number.replace(",", "")) for number in re.findall(r"\| .* \| (?:±2\^)?([0-9,]+) ?.*\|", table)] == [
        liquid_limits.MAX_OUTPUT,
        liquid_limits.MAX_OUTPUT,
        liquid_limits.MAX_ITEMS,
        liquid_limits.MAX_NUMBER.bit_length() - 1,
        liquid_limits.MAX_ITERATIONS,
        liquid_limits.MAX_MADE,
        liquid_limits.MAX_SECONDS,
        liquid_limits.MAX_PAYLOAD,
        templates.MAX_SOURCE,
        parts.MAX_WHOLE,
        html_tokens.MAX_ATTRIBUTES,
    ]
    assert f"of which {liquid.MAX_MARKS:,} in tags" in table
    assert f"{liquid.MAX_MARK} in each; blocks {liquid.MAX_NESTING} deep" in table


def test_its_filters_are_ours() -> None:
    table = section("The language").partition("| filters | |")[2].partition("\n\n")[0]

    assert sorted(re.findall(r"`(\w+)`", table)) == sorted(FILTERS)


def test_it_has_a_table_of_places() -> None:
    assert {verdict for _, verdict in places()} == {"allowed", "checked", "refused"}


@pytest.mark.parametrize(("example", "verdict"), places())
def test_its_table_of_places_is_ours(example: str, verdict: str) -> None:
    problem = problem_of(example)

    assert (problem is not None) == (verdict == "refused"), problem
    if verdict == "checked":
        with pytest.raises(Unrenderable, match="a link has the scheme"):
            render(Template(UUID(int=1), "docs", 1, "email", "en", "S", example, "text"), {"v": "javascript:x"})
