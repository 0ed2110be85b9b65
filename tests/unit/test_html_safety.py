"""Where a value may stand in an HTML template: text and quoted attributes, and of those not every one."""

from uuid import UUID

import pytest

from tocsin.content.html_safety import problem_of
from tocsin.content.plain import Unrenderable
from tocsin.content.templates import Template, problems_of, render

ALLOWED = [
    "<p>{{ v }}</p>",
    "<p title='{{ v }}' class=\"a {{ v }}\" data-x=\"{{ v }}\" width = '{{ v }}%'>",
    "<title>{{ v }}</title><textarea>{{ v }}</textarea>",
    "<table bgcolor='{{ v }}'><tr><td>{{ v }}</td></tr></table>",
    "<input value='{{ v }}'><img alt='{{ v }}' src='cid:x'>",
    "<meta name='description' content='{{ v }}'>",
    "<template><p>{{ v }}</p></template><noscript>{{ v }}</noscript>",
    "<svg><text fill='red'>{{ v }}</text></svg>",
    "<p style='color: {% if v %}green{% else %}red{% endif %}'>{{ v }}</p>",
    "<style>p { color: red }</style><p>{{ v }}</p>",
    "<script type='application/ld+json'>{\"a\": 1}</script><p>{{ v }}</p>",
    "<!-- {{ v }} --><!-- <p title='{{ v }}'>{{ v }}</p> -->",
    "<!--[if mso]><v:roundrect href='{{ v }}'>{{ v }}</v:roundrect><![endif]-->",
    "<!--[if !mso]><!--><p>{{ v }}</p><!--<![endif]-->",
    "1 < {{ v }}, {{ v }} > 1",
    "<p>{{ v }}</p><p",
]

# A link, checked once more when its value is known.
LINKS = [
    "<a href='{{ v }}'>",
    '<a HREF = "{{ v }}">',
    "<img src='{{ v }}'>",
    "<form action='{{ v }}'>",
    "<button formaction='{{ v }}'>",
    "<body background='{{ v }}'>",
    "<video poster='{{ v }}' src='{{ v }}'>",
    "<blockquote cite='{{ v }}'>",
    "<a ping='https://example.com {{ v }}'>",
    "<img srcset='a.png 1x, {{ v }} 2x'>",
    "<link imagesrcset='x'><source srcset='{{ v }}'>",
    "<svg><a xlink:href='{{ v }}'></svg>",
    "<svg><use href='{{ v }}'></svg>",
    "<html manifest='{{ v }}'>",
    "<!--[if mso]><a href='{{ v }}'><![endif]-->",
    "<a href='java{{ v }}'>",
]

REFUSED = [
    ("<style>p { color: {{ v }} }</style>", "inside <style>"),
    ("<STYLE media=x>{{ v }}", "inside <style>"),
    ("<style></stylex>{{ v }}</style>", "inside <style>"),
    ("<svg><style>{{ v }}</style></svg>", "inside <style>"),
    ("<style media='{{ v }}'>", "in <style>"),
    ("<p style='color: {{ v }}'>", "the attribute style"),
    ('<p STYLE="{{ v }}">', "the attribute style"),
    ("<p style = 'a:b;{% if x %}c:{{ v }}{% endif %}'>", "the attribute style"),
    ("<p style={{ v }}>", "needs quotes"),
    ("<svg><g style='{{ v }}'></svg>", "the attribute style"),
    ("<meta http-equiv='refresh' content='0; url={{ v }}'>", "the attribute content of <meta>"),
    ("<META CONTENT='{{ v }}' HTTP-EQUIV=Refresh>", "the attribute content of <meta>"),
    ('<meta content="{{ v }}" http-equiv = refresh />', "the attribute content of <meta>"),
    ("<meta http-equiv='&#114;efresh' content='{{ v }}'>", "the attribute content of <meta>"),
    ("<meta/http-equiv='refresh'/content='{{ v }}'>", "the attribute content of <meta>"),
    ("<meta http-equiv=refresh content={{ v }}>", "needs quotes"),
    ("<meta http-equiv='{{ v }}' content='0'>", "the attribute http-equiv"),
    ("<meta charset='{{ v }}'>", "the attribute charset"),
    ("<meta name='{{ v }}'>", "the attribute name of <meta>"),
    ("<meta http-equiv=refresh content='0;url=javascript:x'>", "the scheme javascript"),
    ("<meta http-equiv=refresh content=\"0; 'data:text/html,x'\">", "the scheme data"),
    ("<base href='{{ v }}'>", "in <base>"),
    ("<link href='{{ v }}'>", "in <link>"),
    ("<script src='{{ v }}'></script>", "in <script>"),
    ("<script>{{ v }}</script>", "inside <script>"),
    ("<script></scriptx>{{ v }}</script>", "inside <script>"),
    ("<script><!-- <script> </script>{{ v }}--></script>", "cannot stand inside <script>"),
    ("<object data='{{ v }}'>", "in <object>"),
    ("<embed src='{{ v }}'>", "in <embed>"),
    ("<applet code='{{ v }}'>", "in <applet>"),
    ("<param name='movie' value='{{ v }}'>", "in <param>"),
    ("<iframe src='{{ v }}'>", "in <iframe>"),
    ("<iframe srcdoc='{{ v }}'>", "the attribute srcdoc"),
    ("<iframe>{{ v }}</iframe>", "inside <iframe>"),
    ("<frame src='{{ v }}'>", "in <frame>"),
    ("<xmp>{{ v }}</xmp>", "inside <xmp>"),
    ("<noembed>{{ v }}</noembed>", "inside <noembed>"),
    ("<noframes>{{ v }}</noframes>", "inside <noframes>"),
    ("<plaintext>{{ v }}", "inside <plaintext>"),
    ("<title><b>{{ v }}</b></title>", "a value and a tag cannot both stand inside <title>"),
    ("<svg><animate attributeName='href' to='{{ v }}'></svg>", "in <animate>"),
    ("<svg><set attributeName='{{ v }}'></svg>", "the attribute attributename"),
    ("<svg><set to='{{ v }}'></svg>", "in <set>"),
    ("<svg><animate values='a;javascript:b'></svg>", "the scheme javascript"),
    ("<p onclick='{{ v }}'>", "the attribute onclick"),
    ("<p/ONCLICK='{{ v }}'>", "the attribute onclick"),
    ("<svg onload='{{ v }}'>", "the attribute onload"),
    ("<p title={{ v }}>", "needs quotes"),
    ("<p title=a{{ v }}>", "needs quotes"),
    ("<p {{ v }}>", "must stand in a quoted attribute"),
    ("<p {{ v }}='a'>", "must stand in a quoted attribute"),
    ("<p title='a'{{ v }}>", "must stand in a quoted attribute"),
    ("<{{ v }}>", "a tag's name"),
    ("<h{{ v }}>", "a tag's name"),
    ("</{{ v }}>", "a tag's name"),
    ("a < {{- v }} b>", "a tag's name"),
    ("a < {%- if v %}{{ v }}{% endif %} b>", "a tag's name"),
    ("<{% if x -%} {{ v }}{% endif %}>", "a tag's name"),
    ("</p title='{{ v }}'>", "in </p>"),
    ("<p title='{{ v }}", "a tag that is never closed"),
    ("<p title='a' {{ v }}", "a tag that is never closed"),
    ("<!doctype {{ v }}>", "in <!…> or <?…>"),
    ("<![if {{ v }}]>", "in <!…> or <?…>"),
    ("<?xml {{ v }}?>", "in <!…> or <?…>"),
    ("<![CDATA[ {{ v }} ]]>", "<![CDATA[ has no place"),
    ("<svg><![CDATA[ > ]]></svg>", "<![CDATA[ has no place"),
    ("<!-- <p onclick='{{ v }}'> -->", "the attribute onclick"),
    ("<!-- <a href={{ v }}> -->", "needs quotes"),
    ("<!--[if mso]><p style='{{ v }}'><![endif]-->", "the attribute style"),
    ("<!--[if mso]><a href='javascript:x'><![endif]-->", "the scheme javascript"),
    ("<!-- <!-- {{ v }} -->", "a comment inside a comment"),
    ("<!--!> <p onclick='{{ v }}'> -->", "the attribute onclick"),
    ("<a href='javascript:x'>", "the scheme javascript"),
    ("<a href=javascript:x>", "the scheme javascript"),
    ("<a href=' \tjava\nscript:x'>", "the scheme javascript"),
    ("<a href='&#106;avascript&colon;x'>", "the scheme javascript"),
    (f"<a href='&#{'0' * 5_000}106;avascript:x'>", "the scheme javascript"),
    ("<a href='java&Tab;script:x'>", "the scheme javascript"),
    ("<a title='b' href=x href='javascript:x'>", "the scheme javascript"),
    ("<p " + "a " * 201 + ">", "more than 200 attributes"),
]


def made(body: str) -> Template:
    return Template(UUID(int=1), "places", 1, "email", "en", "S", body, "text")


@pytest.mark.parametrize("body", ALLOWED)
def test_a_value_may_stand_where_escaping_holds_it(body: str) -> None:
    assert problem_of(body) is None


@pytest.mark.parametrize("body", LINKS)
def test_a_value_may_be_a_link_and_is_checked_when_it_is_known(body: str) -> None:
    assert problem_of(body) is None
    assert render(made(body), {"v": "mailbox/1"}).html
    for value in ("javascript:alert(1)", "script:alert(1)", "\tdata:text/html,x"):
        with pytest.raises(Unrenderable, match=r"the body: a link has the scheme \w+, which a message cannot carry"):
            render(made(body), {"v": value})


@pytest.mark.parametrize(("body", "reason"), REFUSED, ids=lambda one: one[:50])
def test_a_value_anywhere_else_is_refused_when_the_template_is_made(body: str, reason: str) -> None:
    [(pointer, message)] = problems_of("email", "S", body, None, [])

    assert (pointer, reason in message) == ("/body", True), message


@pytest.mark.parametrize("body", ["<style>{{ v }}</style>", "<p style='{{ v }}'>", "<meta http-equiv=refresh content='{{ v }}'>"])
def test_a_template_that_was_stored_before_the_rule_is_unrenderable(body: str) -> None:
    with pytest.raises(Unrenderable, match="the template: a value cannot stand in"):
        render(made(body), {"v": "red"})


@pytest.mark.parametrize(
    "body",
    [
        "<p>a <{% if v %} {% endif %}{{ v }} b</p>",
        "<p>a <{% if x %} {% endif %}{{ v }} b</p>",
        "<p>a <{% for i in x %} {% endfor %}{% if v %}{{ v }}{% endif %} b</p>",
        "<p>a <{% if x %} {% endif %}/{% if x %} {% endif %}{{ v }} b</p>",
        "{% capture c %}{{ v }}{% endcapture %}<p>a <{% if x %} {% endif %}{{ c }} b</p>",
    ],
)
def test_a_value_never_begins_a_tag_even_where_a_block_between_them_is_left_out(body: str) -> None:
    with pytest.raises(Unrenderable, match="the body: a value stands right behind '<', on line 1"):
        render(made(body), {"v": "img src=x onerror=alert(1)"})


def test_what_cannot_begin_a_tag_may_stand_behind_a_less_than_sign() -> None:
    assert render(made("<p>a <{% if x %} {% endif %}{{ v }} b</p>"), {"v": 3}).html == "<p>a <3 b</p>"


@pytest.mark.parametrize("digits", ["9" * 5_000, "0" * 5_000, "0" * 5_000 + "65"])
def test_a_character_of_many_digits_is_read_as_a_browser_reads_it(digits: str) -> None:
    template = Template(UUID(int=1), "digits", 1, "email", "en", "S", f"<p>a&#{digits};b</p>", None)

    assert render(template, {}).text == f"a{'A' if digits.endswith('65') else chr(0xFFFD)}b"
