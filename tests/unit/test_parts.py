"""Layouts and partials: where what goes, what is refused, and that the limits are those of any template."""

from typing import Any
from uuid import UUID

import pytest

from tocsin.content.liquid_limits import Refused
from tocsin.content.part_sources import PartSources, reader_of
from tocsin.content.parts import MAX_DEPTH, expanded, rendered_names
from tocsin.content.plain import Content, Unrenderable
from tocsin.content.templates import Template, problem_of_shared, problems_of, render
from tocsin.store.rows import Brand

READER = reader_of(
    Brand("Sh<op", "", "#00aa00", "Main Street 1"), why="You follow it", unsubscribe_url="https://x/u/1", preferences_url=""
)


def _rendered(
    body: str, layout: str | None = None, payload: dict[str, Any] | None = None, text: str | None = None, **partials: str
) -> Content:
    frame = PartSources("l" if layout else None, layout, tuple(partials.items()))
    template = Template(UUID(int=1), "t", 1, "email", "default", "Hi", body, text, frame)
    return render(template, payload or {}, reader=READER)


def test_the_body_stands_in_its_layout_and_is_escaped_once() -> None:
    content = _rendered("<p>{{ a }}</p>", "<main> {{- content -}} </main>", {"a": "<b> & c"})

    assert content.html == "<main><p>&lt;b&gt; &amp; c</p></main>"
    assert content.text == "<b> & c"


def test_a_layout_says_who_writes_and_why_and_the_payload_cannot_say_otherwise() -> None:
    layout = "{{ content }}<i>{{ brand.name }} {{ why }}</i><a href='{{ unsubscribe_url }}'>out</a>{{ a }}"

    content = _rendered("<p>{{ brand }}</p>", layout, {"brand": "Mine", "why": "no", "unsubscribe_url": "https://evil", "a": "!"})

    assert content.html == "<p>Mine</p><i>Sh&lt;op You follow it</i><a href='https://x/u/1'>out</a>!"


@pytest.mark.parametrize("asked", ["", ' != ""', " != blank", " != nil"])
def test_where_there_is_no_way_out_or_no_logo_an_if_leaves_it_out_however_it_asks(asked: str) -> None:
    layout = f"{{{{ content }}}}{{% if preferences_url{asked} %}}A{{% endif %}}{{% if brand.logo_url{asked} %}}B{{% endif %}}"

    assert _rendered("<p>x</p>", layout + "{% if unsubscribe_url %}C{% endif %}{{ preferences_url }}").html == "<p>x</p>C"


def test_the_plain_part_may_say_it_too() -> None:
    assert _rendered("<p>x</p>", "{{ content }}", text="Out: {{ unsubscribe_url }}").text == "Out: https://x/u/1"


def test_a_layout_shows_how_the_text_begins_and_the_plain_part_does_not_repeat_it() -> None:
    layout = '<div style="display:none">{{ preheader }}<div>x</div></div>{{ content }}'

    own, given = _rendered("<p>It left  today.</p>", layout), _rendered("<p>x</p>", layout, {"preheader": "Soon & safe"})

    assert own.html.startswith('<div style="display:none">It left today.<')
    assert (own.text, given.html[26:41]) == ("It left today.", "Soon &amp; safe")


def test_a_brand_s_colour_may_stand_in_the_style_of_a_layout_and_nothing_else_may() -> None:
    layout = '<td style="background:{{ brand.color }};color:{{ brand.ink }}">{{ content }}</td>'

    assert 'style="background:#00aa00;color:#000000"' in _rendered("x", layout).html
    assert problem_of_shared(layout.replace("brand.color", "why"), is_layout=True, partials={})
    assert problem_of_shared("{% assign brand = x %}" + layout, is_layout=True, partials={})
    for given in ("brand: x", "['brand']: x"):
        colored = {"p": layout.replace("{{ content }}", "")}
        assert problem_of_shared(f"{{% render 'p', {given} %}}{{{{ content }}}}", is_layout=True, partials=colored)


def test_a_button_of_the_brand_s_colour_may_be_a_partial_where_there_is_a_layout_and_the_payload_has_no_say_in_it() -> None:
    button = '<a style="background:{{ brand.color }}">{{ label }}</a>'
    body = "{% render 'button', label: 'Go' %}"
    hostile = {"brand": {"color": "red;background:url(https://evil.example)", "name": "Mine"}}

    content = _rendered(body, "{{ content }}", hostile, text="{{ brand.name }}", button=button)

    assert problem_of_shared(button, is_layout=False, partials={}) is None
    assert (content.html, content.text) == ('<a style="background:#00aa00">Go</a>', "Sh<op")
    with pytest.raises(Unrenderable, match="may, if the template has a `layout`"):
        _rendered(body, None, hostile, button=button)
    for renamed in ("{% assign brand = evil %}", "{% for ['brand'] in evils %}", "{%- for brand in evils -%}"):
        end = "{% endfor %}" if "for" in renamed else ""
        with pytest.raises(Unrenderable, match="attribute style"):
            _rendered(renamed + body + end, "{{ content }}", hostile, button=button)
    for given in ("brand: evil", "['brand']: evil", '["brand"]: evil'):
        with pytest.raises(Unrenderable, match="attribute style"):
            _rendered(f"{{% render 'button', {given} %}}", "{{ content }}", hostile, button=button)


def test_an_if_leaves_out_a_sender_without_a_name_and_a_reason_that_is_not_there() -> None:
    layout = "{{ content }}{% if brand.name %}A{% endif %}{% if why %}B{% endif %}{{ brand.name }}{{ why }}"
    template = Template(UUID(int=1), "t", 1, "email", "default", "Hi", "<p>x</p>", None, PartSources("l", layout))
    nobody = reader_of(Brand(), why="", unsubscribe_url="", preferences_url="")

    assert render(template, {}, reader=nobody).html == "<p>x</p>"


def test_partials_are_put_in_with_what_they_are_given_and_what_stands_around_them() -> None:
    body = "{% for one in list %}{% render 'row', label: one, big: true %}{% endfor %}{{ label }} {%- render 'end' -%} ."

    content = _rendered(body, payload={"list": ["<a>", "b"], "who": "me"}, row="<p>{{ label }}{{ big }}</p>", end="{{ who }}")

    assert content.html == "<p>&lt;a&gt;true</p><p>btrue</p>me."


def test_the_partials_of_a_source_are_known_by_name() -> None:
    assert rendered_names("{% render 'a' %}{%- render \"b\", x: 1 -%}{% render 'a' %}") == ["a", "b"]


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("{% render 'nobody' %}", "is not known, on line 1"),
        ("{% render a %}", "name of a partial in quotes"),
        ("{% render 'a' with b %}", "name of a partial in quotes"),
        ("{% render 'self' %}", "self → self"),
        ("{% render 'ring' %}", "ring → other → ring"),
        ("{% render 'a', x %}", "expected"),
        ("{% with x: 1 %}{% endwith %}", "the tag 'with' is not available"),
        ("{% content %}", "the tag 'content' is not available"),
        ("{% include 'a' %}", "the tag 'include' is not available"),
        ("<p style='{% render 'a' %}'>", "style"),
        ("<script>{% render 'a' %}</script>", "script"),
    ],
)
def test_what_cannot_be_put_together_is_refused_with_its_place(source: str, why: str) -> None:
    partials = {
        "a": "{{ x }}",
        "self": "{% render 'self' %}",
        "ring": "{% render 'other' %}",
        "other": "{% render 'ring' %}",
    }

    ((pointer, message),) = problems_of("email", "Hi", source, None, [], PartSources(partials=tuple(partials.items())))

    assert pointer == "/body"
    assert why in message


@pytest.mark.parametrize("channel", ["sms", "push", "in_app"])
def test_other_channels_render_no_partials(channel: str) -> None:
    subject = None if channel == "sms" else "Hi"

    assert problems_of(channel, subject, "{% render 'a' %}", None, []) == [
        ("/body", "the tag 'render' is not available, on line 1")
    ]


def test_partials_are_not_nested_without_end_and_do_not_grow_without_end() -> None:
    chain = {f"p{n}": f"{{% render 'p{n + 1}' %}}" for n in range(MAX_DEPTH + 1)}
    doubling = {f"d{n}": f"{{% render 'd{n + 1}' %}}" * 1_500 for n in range(4)} | {"d4": ""}

    with pytest.raises(Refused, match="more than 5 deep"):
        expanded("{% render 'p0' %}", chain)
    with pytest.raises(Refused, match="more than 262144 characters"):
        expanded("{% render 'd0' %}", doubling)


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("<p></p>", "is missing"),
        ("{{ content }}{{content}}", "stands 2 times"),
        ("{{ content }}{% render 'has_it' %}", "stands 2 times"),
        ("{% if a %}{{ content }}{% endif %}", "inside of a block"),
        ("<p title='{{ content }}'>", "must stand in the text"),
        ("<!-- {{ content }} -->", "must stand in the text"),
        ("<style>{{ content }}</style>", "must stand in the text"),
        ("{{ content }}<a href='javascript:x'>", "javascript"),
        ("{{ content }}<script>{{ why }}</script>", "script"),
        ("{{ content }}{% for", "has no '%}'"),
        ("{{ content }}\x00", "control"),
    ],
)
def test_what_is_no_layout_is_refused(source: str, why: str) -> None:
    assert why in (problem_of_shared(source, is_layout=True, partials={"has_it": "{{ content }}"}) or "")


@pytest.mark.parametrize("body", ["<script>", "<style>", "<textarea>"])
def test_a_body_cannot_change_what_the_layouts_values_stand_in(body: str) -> None:
    frame = PartSources("l", "{{ content }}<p class='x'>{{ why }}</p>", ())

    ((pointer, message),) = problems_of("email", "Hi", body, None, [], frame)

    assert pointer == "/body"
    assert "value" in message


def test_a_layout_that_is_gone_makes_the_message_unrenderable() -> None:
    template = Template(UUID(int=1), "t", 1, "email", "default", "Hi", "x", None, PartSources("shop"))

    with pytest.raises(Unrenderable, match="the layout `shop` is not known"):
        render(template, {})


@pytest.mark.parametrize(
    ("body", "layout"),
    [
        ("<p>x</p>", "{{ content }}{% for i in (1..9999) %}{% render 'long' %}{% endfor %}"),
        ("{% for i in (1..9999) %}{% render 'long' %}{% endfor %}", "{{ content }}"),
        ("{{ half }}", "{{ content }}{{ half }}{{ half }}"),
        ("<p>x</p>", "{{ content }}{% for i in (1..9999) %}" + "{% render 'none', a: 1 %}" * 500 + "{% endfor %}"),
    ],
)
def test_the_whole_is_held_to_the_limits_of_one_message(body: str, layout: str) -> None:
    with pytest.raises(Unrenderable, match=r"renders to more than|takes more than 1 s"):
        _rendered(body, layout, {"half": "x" * 200_000}, long="x" * 1_000, none="")


def test_links_of_the_whole_are_looked_at() -> None:
    with pytest.raises(Unrenderable, match="scheme javascript"):
        _rendered("x", "{{ content }}<a href='{{ link }}'>x</a>", {"link": "javascript:alert(1)"})
