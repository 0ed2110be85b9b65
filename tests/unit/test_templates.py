"""Templates: what each channel gets from one, and what is wrong with one."""

from uuid import UUID

import pytest

from tocsin.content import templates
from tocsin.content.liquid_cache import Cache
from tocsin.content.plain import Content, Unrenderable
from tocsin.content.templates import Template, problems_of, render


def made(channel: str, subject: str | None, body: str, text: str | None = None, number: int = 1) -> Template:
    return Template(UUID(int=number), "order-shipped", 1, channel, "en", subject, body, text)


def test_an_email_has_a_subject_a_page_and_its_own_text() -> None:
    template = made("email", "Order {{ id }}", "<p>Hi {{ name }}</p>", "Hello {{ name }}")

    content = render(template, {"id": 7, "name": "Ann & <Bob>"})

    assert content == Content("Order 7", "Hello Ann & <Bob>", "<p>Hi Ann &amp; &lt;Bob&gt;</p>")


def test_an_email_without_a_text_gets_one_from_its_page() -> None:
    content = render(made("email", "S", "<h1>Hi {{ name }}</h1><p><a href='https://e.com'>Go</a></p>"), {"name": "<Ann>"})

    assert content.text == "Hi <Ann>\n\nGo (https://e.com)"


def test_an_email_of_pictures_has_its_subject_for_a_text() -> None:
    assert render(made("email", "Sale!", "<img src='https://e.com/x.png'>"), {}).text == "Sale!"


def test_an_sms_is_its_body_and_nothing_else() -> None:
    assert render(made("sms", None, "{{ code }} <- code & more"), {"code": "'1'"}) == Content("", "'1' <- code & more", "")


@pytest.mark.parametrize("channel", ["push", "in_app"])
def test_push_and_inbox_have_a_title_and_words_without_markup(channel: str) -> None:
    assert render(made(channel, "<{{ a }}>", "{{ a }} & co"), {"a": "b"}) == Content("<b>", "b & co", "")


def test_an_sms_of_more_than_ten_parts_is_unrenderable() -> None:
    template = made("sms", None, "{{ text }}")

    render(template, {"text": "a" * 1530})
    with pytest.raises(Unrenderable, match="takes 11 SMS parts; at most 10"):
        render(template, {"text": "a" * 1531})


def test_a_push_has_at_most_20_000_characters() -> None:
    render(made("push", "S", "{{ text }}"), {"text": "a" * 20_000})
    with pytest.raises(Unrenderable, match="20001 characters"):
        render(made("push", "S", "{{ text }}"), {"text": "a" * 20_001})


def test_a_long_subject_is_cut_with_an_ellipsis_and_noted() -> None:
    content = render(made("email", "{{ s }}", "b"), {"s": "word " * 100})

    assert content.title == "word " * 39 + "word…"
    assert content.note == "the title was cut from 499 to 200 characters"
    assert render(made("push", "{{ s }}", "b"), {"s": "x" * 500}).title == "x" * 199 + "…"
    assert render(made("email", "{{ s }}", "b"), {"s": "x" * 200}).note == ""


@pytest.mark.parametrize("value", [None, "", " \r\n", "\u2028"])
def test_a_part_that_comes_out_empty_is_unrenderable(value: str | None) -> None:
    for template in (made("email", "{{ v }}", "b"), made("sms", None, "{{ v }}"), made("email", "s", "b", "{{ v }}")):
        with pytest.raises(Unrenderable, match="is empty with this payload"):
            render(template, {"v": value})


def test_a_template_that_was_stored_broken_is_unrenderable() -> None:
    with pytest.raises(Unrenderable, match="the template: the tag 'include' is not available, on line 1"):
        render(made("sms", None, "{% include 'x' %}"), {})


def test_two_versions_are_never_taken_for_each_other_even_with_one_id() -> None:
    assert render(made("sms", None, "one"), {}).text == "one"
    assert render(made("sms", None, "two"), {}).text == "two"


def test_a_compiled_template_is_kept_and_the_oldest_make_room() -> None:
    many = [made("sms", None, "x", number=number) for number in range(templates.MAX_CACHED + 10)]

    for template in many:
        render(template, {})

    assert len(templates._CACHE) == templates.MAX_CACHED
    assert [template in templates._CACHE for template in many] == [False] * 10 + [True] * templates.MAX_CACHED


def test_a_large_template_takes_the_room_of_many_small_ones() -> None:
    small = [made("sms", None, "{{ a }}x", number=number) for number in range(50)]
    large = [made("sms", None, "{{ a }}" * 4_600 + "x", number=number) for number in range(100, 105)]

    for template in [*small, *large]:
        render(template, {})

    assert [template in templates._CACHE for template in [small[-1], *large]] == [False, False, True, True, True, True]


def test_what_is_heavier_than_all_the_room_there_is_is_made_and_not_kept() -> None:
    cache: Cache[str, str] = Cache(most=9, most_weight=5)

    assert cache.get("light", lambda key: (key.upper(), 5)) == "LIGHT"
    assert cache.get("heavy", lambda key: (key.upper(), 6)) == "HEAVY"

    assert ("light" in cache, "heavy" in cache) == (True, False)


@pytest.mark.parametrize("channel", ["email", "push", "in_app"])
def test_a_channel_with_a_title_needs_a_subject(channel: str) -> None:
    assert problems_of(channel, None, "b", None, []) == [("/subject", f"is required for the channel {channel}")]
    assert problems_of(channel, " ", "b", None, []) == [("/subject", "must not be empty")]


def test_an_sms_has_no_subject_and_only_an_email_has_a_text() -> None:
    assert problems_of("sms", "S", "b", "t", []) == [
        ("/subject", "has no place on the channel sms"),
        ("/text", "is for the channel email; elsewhere the body is the text"),
    ]


def test_every_part_that_is_wrong_is_named() -> None:
    problems = problems_of("email", "{{ a | nope }}", "{% if %}", "a\n{{ x", [])

    assert [pointer for pointer, _ in problems] == ["/subject", "/body", "/text"]
    assert problems[0][1] == "the filter 'nope' is not available, on line 1"
    assert problems[2][1].endswith("on line 2")


def test_html_rules_are_for_html_alone() -> None:
    assert problems_of("sms", None, "<{{ x }}> javascript:{{ x }}", None, []) == []
    assert problems_of("email", "<{{ x }}>", "<p>{{ x }}</p>", "<a href={{ x }}>", []) == []


def test_sources_have_a_size() -> None:
    assert problems_of("email", "s" * 1000, "b" * 131_072, None, []) == []
    assert [pointer for pointer, _ in problems_of("email", "s" * 1001, "b" * 131_073, "t" * 131_073, [])] == [
        "/subject",
        "/body",
        "/text",
    ]


def test_variables_are_names_and_stand_once() -> None:
    assert problems_of("sms", None, "b", None, ["name", "order_id", "_x1"]) == []
    assert problems_of("sms", None, "b", None, ["name", "a.b", "", "name"]) == [
        ("/variables/1", "must be a name of letters, digits and _"),
        ("/variables/2", "must be a name of letters, digits and _"),
        ("/variables/3", "stands twice"),
    ]
    assert problems_of("sms", None, "b", None, [f"v{n}" for n in range(101)])[0][0] == "/variables"
