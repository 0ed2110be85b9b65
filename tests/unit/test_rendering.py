"""The built-in rendering: one line in the title, plain words in the text, nothing alive in the HTML."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.test_strict_json import plain_json
from tocsin import rendering
from tocsin.rendering import Unrenderable

LINE_BREAKS = ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\x00", "\x7f", "\t"]

lines = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("<>&\"'\r\n\u2028"), max_size=60)
payloads = st.fixed_dictionaries({}, optional={"title": lines | plain_json, "message": lines | plain_json, "other": plain_json})


class Skeleton(HTMLParser):
    """The tags of a page, without their words."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[Any] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def test_title_and_message_are_shown_as_they_are() -> None:
    content = rendering.render("order.shipped", {"title": "Shipped", "message": "It is on its way.\nSoon.\n\nBye"})

    assert content.title == "Shipped"
    assert content.text == "It is on its way.\nSoon.\n\nBye"
    assert "<h1>Shipped</h1><p>It is on its way.<br>Soon.</p><p>Bye</p>" in content.html


@pytest.mark.parametrize("line_break", LINE_BREAKS)
def test_a_line_break_in_a_title_becomes_a_space(line_break: str) -> None:
    content = rendering.render("t", {"title": f"Hi{line_break}Bcc: bob@example.com{line_break}"})

    assert content.title == "Hi Bcc: bob@example.com"


@given(payloads)
def test_no_title_ever_has_a_second_line_or_a_control_character(payload: dict[str, Any]) -> None:
    title = rendering.render("order.shipped", payload).title

    assert len(title.splitlines()) <= 1
    assert not re.search(r"[\x00-\x1f\x7f\x85\u2028\u2029]", title)
    assert len(title) <= rendering.MAX_TITLE


@given(payloads)
def test_no_payload_changes_the_tags_of_the_page(payload: dict[str, Any]) -> None:
    page = rendering.render("order.shipped", payload).html

    skeleton = Skeleton(page)
    assert skeleton.attributes == []
    assert skeleton.tags[:3] == ["html", "body", "h1"]
    assert set(skeleton.tags[3:]) <= {"p", "br"}
    assert page.count("<") == page.count(">") == len(re.findall(r"</?(?:!doctype html|html|body|h1|p|br)>", page))


@pytest.mark.parametrize("place", ["title", "message", "other"])
def test_markup_in_a_payload_is_shown_and_not_run(place: str) -> None:
    page = rendering.render("t", {place: "<script>alert('x')</script> & \"q\""}).html

    assert "<script" not in page
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; &amp; " in page


def test_a_name_in_the_payload_cannot_carry_markup_either() -> None:
    assert "<img" not in rendering.render("t", {"<img src=x onerror=alert(1)>": "x"}).html


def test_20_000_characters_pass_and_one_more_is_unrenderable() -> None:
    rendering.render("t", {"message": "x" * 20_000})

    with pytest.raises(Unrenderable, match="20001 characters"):
        rendering.render("t", {"message": "x" * 20_001})


def test_a_payload_that_is_only_long_in_its_lines_is_unrenderable_too() -> None:
    with pytest.raises(Unrenderable):
        rendering.render("t", {f"field{n}": "x" * 1000 for n in range(20)})


def test_a_long_title_is_cut() -> None:
    assert rendering.render("t", {"title": "x" * 500}).title == "x" * 200


def test_without_a_title_the_type_is_the_title() -> None:
    for payload in ({}, {"title": ""}, {"title": None}):
        assert rendering.render("order.shipped", payload).title == "order.shipped"


@pytest.mark.parametrize("title", ["\n", " ", "\r\n\t", "\u2028"])
def test_a_title_of_nothing_but_space_counts_as_none(title: str) -> None:
    content = rendering.render("order.shipped", {"title": title})

    assert content.title == "order.shipped"
    assert content.text == "order.shipped"


def test_without_a_message_every_other_field_is_a_line_in_its_order() -> None:
    content = rendering.render("t", {"title": "T", "order": 42, "paid": True, "lines": ["a", {"ü": None}], "note": None})

    assert content.text == 'order: 42\npaid: true\nlines: ["a", {"ü": null}]\nnote: '


def test_without_anything_to_say_the_title_is_the_text() -> None:
    assert rendering.render("order.shipped", {}).text == "order.shipped"
    assert rendering.render("order.shipped", {"title": "Shipped"}).text == "Shipped"
