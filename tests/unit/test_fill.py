"""A JSON value whose strings are templates: filled at any depth, within the limits of one message."""

from typing import Any

import pytest

from tocsin.content.fill import filled
from tocsin.content.plain import Unrenderable

EVENT = {"event": {"key": "A-17", "value": {"left": 3, "who": ["alice", "bob"], "html": "<b>&"}, "none": None}}


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("{{ event.key }}", "A-17"),
        ("{{ event.value.left | plus: 1 }} of {{ event.key }}", "4 of A-17"),
        ("{% if event.value.left < 5 %}few{% else %}many{% endif %}", "few"),
        ("{{ event.none }}{{ event.missing }}{{ event.missing.more }}", ""),
        ("{{ event.value.html }}", "<b>&"),
        ("{{ event.value.who[1] }}", "bob"),
        ("plain", "plain"),
        ("", ""),
        (7, 7),
        (True, True),
        (None, None),
        (["{{ event.key }}", 7, ["{{ event.key }}"]], ["A-17", 7, ["A-17"]]),
        ({"{{ event.key }}": {"b": "{{ event.key }}"}}, {"{{ event.key }}": {"b": "A-17"}}),
    ],
)
def test_strings_are_rendered_and_all_else_stays(source: Any, made: Any) -> None:
    assert filled(source, EVENT) == made


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ({"payload": {"title": "{{ event.key"}}, "/payload/title: "),
        ({"payload": ["{% include 'x' %}"]}, "/payload/0: the tag 'include' is not available"),
        (
            {"a": "{% for n in (1..event.value.left) %}{% for m in (1..9999) %}{{ m }}{% endfor %}{% endfor %}"},
            "/a: it loops more",
        ),
        ({"a": "{{ event.key | no_such }}"}, "/a: the filter 'no_such'"),
    ],
)
def test_what_cannot_be_rendered_says_where(source: Any, place: str) -> None:
    with pytest.raises(Unrenderable) as refused:
        filled(source, EVENT)

    assert str(refused.value).startswith(place)


def test_an_event_that_is_too_large_is_refused() -> None:
    with pytest.raises(Unrenderable, match="more than 1048576 characters"):
        filled("{{ event }}", {"event": "x" * 2**20 + "x"})


def test_all_strings_share_the_allowance_of_one_message() -> None:
    """Each makes eight megabytes on the way to nothing: one may, twenty may not."""
    eager = "{% for n in (1..20) %}{% assign a = event.long | append: event.long %}{% endfor %}"
    payload = {"event": {"long": "x" * 200_000}}

    assert filled(eager, payload) == ""
    with pytest.raises(Unrenderable, match="/8: its filters and captures make more than"):
        filled([eager] * 20, payload)
