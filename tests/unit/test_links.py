"""Addresses within a text are links, their punctuation is not, and nothing else becomes one."""

import re

import pytest

from tocsin.content.links import linked


def _links(text: str) -> list[str]:
    return re.findall(r'<a href="([^"]*)"', linked(text, "", "link"))


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("See https://a.example/b.", ["https://a.example/b"]),
        ("(https://a.example/b_(c)), and HTTP://B.example!", ["https://a.example/b_(c)", "HTTP://B.example"]),
        ("https://a.example/?q=1&r=2#x;", ["https://a.example/?q=1&amp;r=2#x"]),
        ("“https://a.example/ä” «https://b.example/»…", ["https://a.example/ä", "https://b.example/"]),
        ("https://a.example/x'\"><script>", ["https://a.example/x"]),
        ("javascript:alert(1) data:text/html,x ftp://a.example www.a.example", []),
        ("https:// https://?x http://[::1", []),
        ("https://a.example/\u202egpj.exe", ["https://a.example/"]),
        ("xhttps://a.example", []),
    ],
)
def test_addresses_are_links_without_the_sentences_punctuation(text: str, urls: list[str]) -> None:
    assert _links(text) == urls


def test_what_stands_around_a_link_is_escaped_and_kept() -> None:
    html = linked("<b> & https://a.example/b?c='d' \"e\"", "color:red", "link")

    assert html == (
        '&lt;b&gt; &amp; <a href="https://a.example/b?c=&#x27;d" dir="ltr" class="link" style="color:red">'
        "https://a.example/b?c=&#x27;d</a>&#x27; &quot;e&quot;"
    )


def test_a_line_that_turns_around_ends_with_itself() -> None:
    assert linked("a \u202eb\nc", "", "") == "a \u202eb\u202c\nc"
