"""The built-in words: one line in the title, plain words in the text, and what stands beside them."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.test_strict_json import plain_json
from tocsin.content import plain
from tocsin.content.plain import Unrenderable

LINE_BREAKS = ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\x00", "\x7f", "\t"]

lines = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("<>&\"'\r\n\u2028"), max_size=60)
payloads = st.fixed_dictionaries({}, optional={"title": lines | plain_json, "message": lines | plain_json, "other": plain_json})


def test_title_and_message_are_shown_as_they_are() -> None:
    content = plain.render("order.shipped", {"title": "Shipped", "message": "It is on its way.\nSoon.\n\nBye"})

    assert content.title == "Shipped"
    assert content.text == "It is on its way.\nSoon.\n\nBye"
    assert content.html == ""


@pytest.mark.parametrize("line_break", LINE_BREAKS)
def test_a_line_break_in_a_title_becomes_a_space(line_break: str) -> None:
    content = plain.render("t", {"title": f"Hi{line_break}Bcc: bob@example.com{line_break}"})

    assert content.title == "Hi Bcc: bob@example.com"


@given(payloads)
def test_no_title_ever_has_a_second_line_or_a_control_character(payload: dict[str, Any]) -> None:
    title = plain.render("order.shipped", payload).title

    assert len(title.splitlines()) <= 1
    assert not re.search(r"[\x00-\x1f\x7f\x85\u2028\u2029]", title)
    assert len(title) <= plain.MAX_TITLE


def test_20_000_characters_pass_and_one_more_is_unrenderable() -> None:
    plain.render("t", {"message": "x" * 20_000})

    with pytest.raises(Unrenderable, match="20001 characters"):
        plain.render("t", {"message": "x" * 20_001})


def test_a_payload_that_is_only_long_in_its_lines_is_unrenderable_too() -> None:
    with pytest.raises(Unrenderable):
        plain.render("t", {f"field{n}": "x" * 1000 for n in range(20)})


def test_a_long_title_is_cut_and_said_whole_in_the_text() -> None:
    content = plain.render("t", {"title": "x" * 500})

    assert (content.title, content.text) == ("x" * 199 + "…", "x" * 500)
    assert content.note == "the title was cut from 500 to 200 characters"
    assert plain.render("t", {"title": "x" * 200}).note == ""


def test_without_a_title_the_type_is_the_title() -> None:
    for payload in ({}, {"title": ""}, {"title": None}):
        assert plain.render("order.shipped", payload).title == "order.shipped"


@pytest.mark.parametrize("title", ["\n", " ", "\r\n\t", "\u2028"])
def test_a_title_of_nothing_but_space_counts_as_none(title: str) -> None:
    content = plain.render("order.shipped", {"title": title})

    assert content.title == "order.shipped"
    assert content.text == "order.shipped"


def test_without_a_message_every_other_field_is_a_line_in_its_order() -> None:
    content = plain.render("t", {"title": "T", "order": 42, "paid": True, "lines": ["a", {"ü": None}]})

    assert content.text == 'order: 42\npaid: true\nlines: ["a", {"ü": null}]'


@pytest.mark.parametrize("empty", [None, "", " \n", [], {}])
def test_what_is_empty_is_as_good_as_absent(empty: Any) -> None:
    content = plain.render("t", {"title": "T", "message": empty, "note": empty, "order": 0, "paid": False})

    assert (content.title, content.text) == ("T", "order: 0\npaid: false")
    assert plain.render("t", {"title": empty, "message": "M"}).title == "t"


@pytest.mark.parametrize("payload", [{"title": "Shipped"}, {"title": "Shipped", "message": None, "note": ""}])
def test_a_title_alone_is_one_line(payload: dict[str, Any]) -> None:
    content = plain.render("order.shipped", payload)

    assert (content.title, content.text) == ("Shipped", "Shipped")


def test_an_event_with_a_title_alone_is_one_line_too_and_without_words_its_type_is() -> None:
    assert plain.event("t", {"title": "Shipped", "actor": "bob"}).text == "Shipped"
    assert plain.event("issue.opened", {"message": "", "actor": "bob"}).text == "issue.opened"


def test_a_type_with_line_breaks_makes_no_second_line_of_a_title() -> None:
    assert plain.render("t\r\nBcc: bob@example.com", {"message": "M"}).title == "t Bcc: bob@example.com"
    assert plain.render("\n", {"message": "M"}).title == "Notification"


@pytest.mark.parametrize(
    ("payload", "has_any"),
    [
        ({}, False),
        ({"title": "", "message": None}, False),
        ({"title": " \t\n", "note": [], "more": {}}, False),
        ({"title": "T"}, True),
        ({"message": 0}, True),
        ({"paid": False}, True),
        ({"url": "https://shop.example"}, True),
    ],
)
def test_a_payload_has_words_if_anything_in_it_is_not_empty(payload: dict[str, Any], has_any: bool) -> None:
    assert plain.has_words(payload) is has_any


def test_a_message_leads_where_its_payload_says_or_its_first_button() -> None:
    buttons = [{"label": "Pay", "url": "https://pay.example/1"}, {"label": "Later", "url": "https://pay.example/2"}]
    both = plain.render(
        "t", {"title": "T", "url": "https://shop.example/a", "actions": buttons, "severity": "warning", "icon": "🎉"}
    )

    assert (both.url, both.link, both.severity, both.icon) == (
        "https://shop.example/a",
        "https://shop.example/a",
        "warning",
        "🎉",
    )
    assert plain.render("t", {"title": "T", "actions": buttons}).link == "https://pay.example/1"
    assert plain.event("t", {"title": "T", "actions": buttons}).actions == (
        ("Pay", "https://pay.example/1"),
        ("Later", "https://pay.example/2"),
    )
    assert plain.render("t", {"title": "T"}).link == ""


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "/relative", "https://a b", 7, None, "", ["https://x"], {}]
)
def test_what_is_no_web_address_becomes_no_link(url: Any) -> None:
    content = plain.render("t", {"title": "T", "message": "M", "url": url})

    assert content.url == ""


def test_a_link_alone_is_said_under_the_name_of_its_type() -> None:
    content = plain.render("invoice", {"url": "https://shop.example/i/1"})

    assert (content.title, content.text) == ("invoice", "invoice")


def test_line_breaks_of_windows_are_line_breaks() -> None:
    assert plain.render("t", {"message": "a\r\nb\r\n\r\nc"}).text == "a\nb\n\nc"


def test_a_digest_is_told_in_the_readers_language() -> None:
    payload = {"count": 3, "missed": ["Bob: yes", "Eve: no"]}

    assert plain.digest(payload).title == "3 more updates: Eve: no"
    german = plain.digest(payload, "de")
    assert german.title == "3 weitere Neuigkeiten: Eve: no"
    assert german.text == "3 weitere Neuigkeiten seit der letzten E-Mail dazu:\n\n- Bob: yes\n- Eve: no\n… und 1 weitere"
