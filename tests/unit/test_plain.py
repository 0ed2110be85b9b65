"""The built-in rendering: one line in the title, plain words in the text, nothing alive in the HTML."""

import re
from html.parser import HTMLParser
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
    content = plain.render("order.shipped", {"title": "Shipped", "message": "It is on its way.\nSoon.\n\nBye"})

    assert content.title == "Shipped"
    assert content.text == "It is on its way.\nSoon.\n\nBye"
    assert '<h1 dir="auto">Shipped</h1><p dir="auto">It is on its way.<br>Soon.</p><p dir="auto">Bye</p>' in content.html


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


@given(payloads)
def test_no_payload_changes_the_tags_of_the_page(payload: dict[str, Any]) -> None:
    page = plain.render("order.shipped", payload).html

    skeleton = Skeleton(page)
    assert set(skeleton.attributes) == {("charset", "utf-8"), ("dir", "auto"), ("style", plain._LOOK)}
    assert skeleton.tags[:6] == ["html", "head", "meta", "body", "div", "h1"]
    assert set(skeleton.tags[6:]) <= {"p", "br"}
    tags = r"</?(?:!doctype html|html|head|meta|body|div|h1|p|br)(?: (?:dir|charset|style)=\"[^\"<>]*\")?>"
    assert page.count("<") == page.count(">") == len(re.findall(tags, page))


@pytest.mark.parametrize("place", ["title", "message", "other"])
def test_markup_in_a_payload_is_shown_and_not_run(place: str) -> None:
    page = plain.render("t", {place: "<script>alert('x')</script> & \"q\""}).html

    assert "<script" not in page
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; &amp; " in page


def test_a_name_in_the_payload_cannot_carry_markup_either() -> None:
    assert "<img" not in plain.render("t", {"<img src=x onerror=alert(1)>": "x"}).html


def test_20_000_characters_pass_and_one_more_is_unrenderable() -> None:
    plain.render("t", {"message": "x" * 20_000})

    with pytest.raises(Unrenderable, match="20001 characters"):
        plain.render("t", {"message": "x" * 20_001})


def test_a_payload_that_is_only_long_in_its_lines_is_unrenderable_too() -> None:
    with pytest.raises(Unrenderable):
        plain.render("t", {f"field{n}": "x" * 1000 for n in range(20)})


def test_a_long_title_is_cut_and_said_whole_in_the_text() -> None:
    content = plain.render("t", {"title": "x" * 500})

    assert (content.title, content.text) == ("x" * 200, "x" * 500)


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
    assert content.html.count("Shipped") == 1
    assert "<p" not in content.html


def test_an_event_with_a_title_alone_is_one_line_too_and_without_words_its_type_is() -> None:
    assert plain.event("t", {"title": "Shipped", "actor": "bob"}).html.count("Shipped") == 1
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


def test_a_link_is_a_button_that_says_where_it_leads() -> None:
    content = plain.render("t", {"title": "T", "message": "M", "url": "https://Shop.example/a?b=1&c='2'"})

    assert (content.text, content.url) == ("M", "https://Shop.example/a?b=1&c='2'")
    (link,) = re.findall(r"<a ([^>]*)>([^<]*)</a>", content.html)
    assert 'href="https://Shop.example/a?b=1&amp;c=&#x27;2&#x27;"' in link[0]
    assert link[1] == "Open shop.example"


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "/relative", "https://a b", 7, None, "", ["https://x"], {}]
)
def test_what_is_no_web_address_becomes_no_link(url: Any) -> None:
    content = plain.render("t", {"title": "T", "message": "M", "url": url})

    assert content.url == ""
    assert "<a" not in content.html


def test_a_link_alone_is_said_under_the_name_of_its_type() -> None:
    content = plain.render("invoice", {"url": "https://shop.example/i/1"})

    assert (content.title, content.text) == ("invoice", "invoice")
    assert "Open shop.example" in content.html


def test_each_part_finds_its_own_direction_and_a_long_word_is_broken() -> None:
    hebrew, arabic = "\u05d4\u05d6\u05de\u05e0\u05d4", "\u0645\u0631\u062d\u0628\u0627"

    page = plain.render("t", {"title": hebrew, "message": "x" * 500 + f"\n\n{arabic}"}).html

    assert page.count('dir="auto"') == 3
    assert "overflow-wrap: anywhere" in page


def test_line_breaks_of_windows_are_line_breaks() -> None:
    assert '<p dir="auto">a<br>b</p><p dir="auto">c</p>' in plain.render("t", {"message": "a\r\nb\r\n\r\nc"}).html
