"""The template language reads as its authors expect, and leaves the payload alone."""

from typing import Any
from uuid import UUID

import pytest

from tocsin.content.templates import Template, render


def made(channel: str, subject: str | None, body: str) -> Template:
    return Template(UUID(int=1), "language", 1, channel, "en", subject, body, None)


def words(body: str, **payload: Any) -> str:
    return render(made("push", "S", body), payload).text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("{{ a.b[0].c }}", "deep"),
        ("{{ missing }}{{ missing.x }}{{ none }}.", "."),
        ("{{ yes }} {{ no }} {{ price }}", "true false 9.5"),
        ("{{ yes | append: none }} {{ none | append: '!' }}", "true !"),
        ("{{ list }}|{{ list | join: ', ' }}|{{ list | size }}", "x1|x, 1, |3"),
        ("{{ a }}", '{"b": [{"c": "deep"}]}'),
        ("{% if yes and price > 9 %}a{% elsif no %}b{% else %}c{% endif %}", "a"),
        ("{% unless no %}a{% endunless %}{% case name %}{% when 'Ann' %}b{% else %}c{% endcase %}", "ab"),
        ("{% for x in list limit: 2 %}{{ forloop.index }}{{ x }}{% unless forloop.last %},{% endunless %}{% endfor %}", "1x,21"),
        ("{% for x in nothing %}a{% else %}none{% endfor %}", "none"),
        ("{% for i in (1..9) reversed %}{% if i == 7 %}{% continue %}{% endif %}{{ i }}{% endfor %}", "98654321"),
        ("{% for i in (1..9) %}{% if i > 3 %}{% break %}{% endif %}{{ i }}{% endfor %}", "123"),
        ("{% assign x = name | upcase %}{% capture y %}<{{ x }}>{% endcapture %}{{ y }}{{ y | size }}", "<ANN>5"),
        ("{% comment %}{{ a }}{% endcomment %}{% # note %}x{{- ' y ' -}} z", "x y z"),
        ("{{ at | date: '%e %B %Y, %H:%M' }}", " 2 January 2026, 10:30"),
        ("{{ 0 | date: '%Y-%m-%d' }} {{ name | date }}", "1970-01-01 Ann"),
        ("{{ none | default: 'friend' }} {{ name | default: 'friend' }}", "friend Ann"),
        ("{{ 7 | divided_by: 2 }} {{ 7 | times: 1.5 }} {{ '3' | plus: 4 }} {{ 2.345 | round: 1 }}", "3 10.5 7 2.3"),
        ("{{ people | map: 'n' | sort | join: ' ' }} {{ people | where: 'n', 'b' | size }}", "a b 1"),
        ("{{ 'a b' | url_encode }} {{ 'abcdef' | truncate: 5 }} {{ 'abc' | slice: 1, 2 }}", "a+b ab... bc"),
        ("{{ 'abcde' | truncate: 5 }} {{ 'abcdef' | truncate: 2 }} {{ 'abcdef' | truncate: 4, '' }}", "abcde ... abcd"),
        (
            "{{ 'a b c' | truncatewords: 3 }} {{ 'a  b c' | truncatewords: 2 }} {{ 'a b' | truncatewords: 1, '!' }}",
            "a b c a b... a!",
        ),
        ("{{ 'aXbX' | replace_first: 'X', '-' }} {{ 'aXbX' | remove: 'X' }} {{ 'ab' | replace: '', '-' }}", "a-bX ab -a-b-"),
        ("{{ 'a' | append: list }} {{ 'a' | prepend: 1 }} {{ 'a' | append: o }}", 'ax1 1a a{"k": "v"}'),
        ("{{ o | join }} {{ o | slice: 0, 4 }} {{ list | slice: 0, 2 }} {{ o[key] }} {{ list[key] }}", '{"k": "v"} {"k" x1 v '),
        ("{{ list | concat: list | size }} {{ missing | concat: list | size }} {{ missing | join }}.", "6 3 ."),
        ("{% assign r = (1..3) %}{{ r }}{% for i in r %}{{ i }}{% endfor %}", "1..3123"),
        ("{{ partial }}", "a word like any other"),
        ("{{ '{{' }}", "{{"),
    ],
)
def test_the_language_reads_as_its_authors_expect(body: str, text: str) -> None:
    payload = {
        "a": {"b": [{"c": "deep"}]},
        "none": None,
        "yes": True,
        "no": False,
        "price": 9.5,
        "list": ["x", 1, None],
        "name": "Ann",
        "nothing": [],
        "at": "2026-01-02T10:30:00+02:00",
        "people": [{"n": "b"}, {"n": "a"}],
        "partial": "a word like any other",
        "o": {"k": "v"},
        "key": "k",
    }

    assert words(body, **payload) == text


def test_line_breaks_of_a_value_can_be_shown_in_html() -> None:
    assert render(made("email", "S", "<p>{{ v | newline_to_br }}</p>"), {"v": "<a>\nb"}).html == "<p>&lt;a&gt;<br />\nb</p>"


def test_captured_markup_is_shown_as_it_is_until_a_filter_touches_it() -> None:
    body = "{% capture x %}<b>{{ v }}</b>{% endcapture %}{{ x }}{{ none | default: x }}{{ x | strip }}"

    page = render(made("email", "S", body), {"v": "&", "none": None}).html

    assert page == "<b>&amp;</b>" * 2 + "&lt;b&gt;&amp;amp;&lt;/b&gt;"


def test_a_payload_is_left_as_it_was() -> None:
    payload = {"list": [3, 1, 2], "x": "a"}

    words("{% assign x = 'b' %}{{ list | sort | reverse }}{{ x }}", **payload)

    assert payload == {"list": [3, 1, 2], "x": "a"}
