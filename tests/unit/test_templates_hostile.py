"""Hostile templates and values: what is typed by strangers is shown and never run, and nothing grows without end."""

import time
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.unit.hostile_templates import BOMBS, REFUSED
from tests.unit.hostile_values import BREAKOUTS, BREAKS, INJECTIONS, LINKS
from tocsin.content import liquid_limits
from tocsin.content.plain import Content, Unrenderable
from tocsin.content.templates import Template, problems_of, render

PAGE = """<!doctype html><html><head><title>{{ v }}</title><style>p { color: red }</style></head><body>
<!--[if mso]><b title="{{ v }}">{{ v }}</b><![endif]--><!-- {{ v }} -->
<h1 class="big {{ v }}" title='{{ v }}'>{{ v | upcase }}</h1>
{% for item in list %}<p id="{{ item | url_encode }}" data-x="{{ item }}">
{{ item | truncate: 9 }}{{ item | slice: 0, 3 }}</p>{% endfor %}
{% capture row %}<b title="{{ v | append: '&quot;' }}">{{ v | replace: 'a', '<' }}</b>{% endcapture %}{{ row }}{{ row | strip }}
<a href="https://example.com/?q={{ v | url_encode }}&amp;r={{ v }}">{{ v | newline_to_br | default: '<i>' }}</a>
<img alt="{{ list | join: ', ' }}" src="cid:x"> {{ list }} {{ object }} {{ object | join }}
{{ v | split: '' | reverse | join: '' }}
{% if v contains '<' %}{{ v | capitalize }}{% else %}{{ v | remove: '&' }}{% endif %}
{{ v | escape }}{{ v | date: '%Y' }}</body></html>"""

sharp = st.text(st.sampled_from("<>&\"'`=/!-#;: \n\r\tabqlt\u2028{}%") | st.characters(exclude_categories=["Cs"]), max_size=30)


class Skeleton(HTMLParser):
    """The tags of a page and the names of their attributes, without any value."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[Any] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, *[name for name, _ in attrs]))

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"/{tag}")

    def handle_comment(self, data: str) -> None:
        self.tags.append("comment")

    def without_breaks(self) -> Iterator[Any]:
        """newline_to_br makes a <br /> for each line of a value; that much a value may do."""
        return (tag for tag in self.tags if tag not in (("br",), "/br"))


def made(body: str, channel: str = "email", subject: str | None = "S", text: str | None = None) -> Template:
    return Template(UUID(int=1), "hostile", 1, channel, "en", subject, body, text)


def rendered(body: str, payload: dict[str, Any]) -> Content:
    return render(made(body), payload)


@pytest.mark.parametrize("value", INJECTIONS)
def test_a_value_in_the_syntax_of_a_template_engine_is_shown_letter_by_letter(value: str) -> None:
    template = made("<p>{{ v }}</p>", subject="{{ v }}", text="{{ v }}")

    content = render(template, {"v": value})

    assert content.title == value
    assert content.text == value
    assert "<" not in content.html.removeprefix("<p>").removesuffix("</p>")
    assert render(made("<p>{{ v }}</p>"), {"v": value}).text == " ".join(value.split())
    assert render(made("{{ v }}", "push"), {"v": value}).text == value


@given(sharp, st.lists(sharp, min_size=2, max_size=2), sharp)
@example("<script>", ['"', "'"], "-->")
def test_the_tags_of_a_page_are_the_same_whatever_the_values_are(value: str, items: list[str], key: str) -> None:
    plain = rendered(PAGE, {"v": "x", "list": ["x", "x"], "object": {"x": "x"}}).html

    page = rendered(PAGE, {"v": value, "list": items, "object": {key: value}}).html

    assert list(Skeleton(page).without_breaks()) == list(Skeleton(plain).without_breaks())


@pytest.mark.parametrize("value", BREAKOUTS)
def test_a_value_stays_inside_the_text_or_the_quoted_attribute_it_stands_in(value: str) -> None:
    plain = rendered(PAGE, {"v": "x", "list": ["x"], "object": {"x": "x"}}).html

    page = rendered(PAGE, {"v": value, "list": [value], "object": {value: value}}).html

    assert list(Skeleton(page).without_breaks()) == list(Skeleton(plain).without_breaks())


def test_the_page_of_these_tests_is_one_that_could_be_made() -> None:
    assert problems_of("email", "S", PAGE, None, []) == []


@pytest.mark.parametrize("attribute", ['href="{{ v }}"', "href='{{ v }}'", 'src="{{ v }}"', 'action="{{ v }}"'])
@pytest.mark.parametrize("link", LINKS)
def test_a_value_cannot_make_a_link_that_runs_or_reads_something(attribute: str, link: str) -> None:
    with pytest.raises(Unrenderable, match="the scheme"):
        rendered(f"<a {attribute}>x</a>", {"v": link})


@pytest.mark.parametrize(
    "link", ["https://example.com/a:b", "http://x", "mailto:a@example.com", "tel:+1", "/a:b", "#a", "?a=b:c", ""]
)
def test_an_ordinary_link_is_left_alone(link: str) -> None:
    assert f'href="{link}"' in rendered('<a href="{{ v }}">x</a>', {"v": link}).html


@pytest.mark.parametrize("line_break", BREAKS)
def test_a_line_break_in_a_value_never_reaches_the_subject(line_break: str) -> None:
    template = made("b", subject="Hi {{ v }}!{{ v | newline_to_br | remove: '<br />' }}")

    title = render(template, {"v": f"a{line_break}Bcc: bob@example.com"}).title

    assert title == "Hi a Bcc: bob@example.com!a Bcc: bob@example.com"


@pytest.mark.parametrize("line_break", BREAKS)
def test_a_line_break_in_the_source_of_a_subject_is_refused(line_break: str) -> None:
    problems = problems_of("email", f"Hi{line_break}Bcc: bob@example.com", "b", None, [])

    assert problems == [("/subject", "must be a single line without control characters")]


@pytest.mark.parametrize(("source", "payload", "reason"), BOMBS, ids=lambda one: str(one)[:40])
def test_a_template_that_grows_or_spins_is_stopped_in_time(source: str, payload: dict[str, Any], reason: str) -> None:
    assert problems_of("email", "S", source, None, []) == []
    began = time.thread_time()

    with pytest.raises(Unrenderable, match=reason):
        rendered(source, payload)

    assert time.thread_time() - began < 5 * liquid_limits.MAX_SECONDS  # of the processor, on a busy machine


def test_a_rendering_within_every_other_limit_is_stopped_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liquid_limits, "MAX_SECONDS", 0.05)
    body = "{% for i in (1..9999) %}{% assign x = v | upcase | downcase | upcase %}{% endfor %}y"

    with pytest.raises(Unrenderable, match=r"it takes more than 0\.05 s"):
        rendered(body, {"v": "a" * 1_000})


def test_what_filters_make_is_counted_over_all_parts_of_a_message() -> None:
    part = "{% for i in (1..400) %}{% assign x = v | append: i %}{% endfor %}y"  # 40 MB of the 64 that a message may make
    payload = {"v": "a" * 100_000}

    assert render(made(part, text="y"), payload).html == "y"
    with pytest.raises(Unrenderable, match="the text: its filters and captures make more than 67108864 bytes"):
        render(made(part, text=part), payload)


def test_time_that_went_to_other_locales_is_gone() -> None:
    slow, quick = made("{% for i in (1..9999) %}{% assign x = v | upcase %}{% endfor %}y"), made("{{ v }}")

    assert render(quick, {"v": "y"}, used_seconds=liquid_limits.MAX_SECONDS).html == "y"
    with pytest.raises(Unrenderable, match="it takes more than 1 s of the processor's time"):
        render(slow, {"v": "y"}, used_seconds=liquid_limits.MAX_SECONDS)


@pytest.mark.parametrize(("source", "reason"), REFUSED, ids=lambda one: one[:40])
def test_a_source_that_could_do_harm_is_refused_when_the_template_is_made(source: str, reason: str) -> None:
    began = time.thread_time()

    [(pointer, message)] = problems_of("email", "S", source, None, [])

    assert pointer == "/body"
    assert reason in message
    assert time.thread_time() - began < 2


@pytest.mark.parametrize(
    "name", ["now", "today", "__class__", "x.__class__", "x.upper", "o.items", "o.keys", "x['__doc__']", "self"]
)
def test_nothing_but_the_payload_can_be_reached(name: str) -> None:
    assert rendered(f"[{{{{ {name} }}}}]", {"x": "text", "o": {"k": 1}}).html == "[]"


def test_an_error_tells_the_line_and_no_value() -> None:
    with pytest.raises(Unrenderable) as caught:
        rendered("a\n{% for x in v %}{% endfor %}\nb", {"v": 4111111111111111})

    assert (
        str(caught.value) == "the body cannot be rendered with this payload: a value is not what the template expects, on line 2"
    )


def test_a_text_in_quotes_is_a_value_too_and_cannot_make_markup_of_another() -> None:
    body = "{% capture r %}{{ v }}{% endcapture %}{{ r | replace: '&lt;', '<' }}{{ '<' }}{{ v }}{{ v | append: '<b>' }}"

    assert "<" not in rendered(body, {"v": "<b>"}).html
