"""HTML as plain text: what a reader would see, in linear time whatever the page looks like."""

import time
from contextlib import suppress
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.hostile_values import BREAKOUTS
from tocsin.content import html_to_text as plain_text
from tocsin.content.html_tokens import TooManyAttributes, pieces

PAGE = """<!doctype html><html><head><title>Not shown</title><style>p { x: "</p>" }</style></head>
<body><h1>Your  order</h1><!-- not <b>shown</b> -->
<p>It is <b>on</b> its&nbsp;way &amp; will
arrive <a href="https://example.com/t?a=1&amp;b=2">soon</a>.<br>Really.<br><br>Yes.</p>
<script>if (a < b) alert("not shown")</script>
<ul><li>one</li><li><p>two</p></li><li>three<ol><li>a<li>b</ol></li></ul>
<table><tr><th>Item</th><th>Price</th></tr><tr><td>Tea</td><td>3 &euro;</td></tr></table>
<div>1 < 2</div><div>2 > 1</div><img src="cid:x" alt="A cup"></body></html>"""

tags = st.sampled_from(
    ["<p>", "</p>", "<br>", "<b x='1'>", '<a href="u&amp;v">', "</a >", "<!--c-->", "<li/>", "<td a b = c>", "</TD>", "1 < 2"]
)
pages = st.lists(tags | st.text("ab &;\n>", max_size=8), max_size=12).map("".join)


class Oracle(HTMLParser):
    """The standard library's reading of the same page, which is right where it is fast enough."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.words = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(f"open {tag} {[(name, value or '') for name, value in attrs]}")

    def handle_endtag(self, tag: str) -> None:
        self.found.append(f"close {tag}")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_data(self, data: str) -> None:
        self.words += data


def html_to_text(page: str) -> str:
    return plain_text.html_to_text(pieces(page))


def test_a_page_becomes_what_its_reader_sees() -> None:
    assert html_to_text(PAGE).split("\n") == [
        "Your order",
        "",
        "It is on its way & will arrive soon (https://example.com/t?a=1&b=2).",
        "Really.",
        "",
        "Yes.",
        "",
        "- one",
        "- two",
        "",
        "- three",
        "1. a",
        "2. b",
        "",
        "Item Price",
        "Tea 3 €",
        "",
        "1 < 2",
        "2 > 1",
        "A cup",
    ]


@pytest.mark.parametrize(
    ("link", "text"),
    [
        ("<a href='https://e.com'>https://e.com</a>", "https://e.com"),
        ("<a href='mailto:a@e.com'>a@e.com</a>", "a@e.com"),
        ("<a href='mailto:a@e.com'>Write</a>", "Write (mailto:a@e.com)"),
        ("<a href='https://e.com'></a>", "https://e.com"),
        ("<a href='https://e.com'><img alt='Shop'></a>", "Shop (https://e.com)"),
        ("<a href='#top'>Top</a>", "Top"),
        ("<a href='javascript:x'>Run</a>", "Run"),
        ("<a>Plain</a>", "Plain"),
        ("<a href='https://a.com'>A<a href='https://b.com'>B", "A (https://a.com)B (https://b.com)"),
    ],
)
def test_a_link_shows_its_address_once(link: str, text: str) -> None:
    assert html_to_text(link) == text


@pytest.mark.parametrize(
    "hidden", ["<script>x</script>", "<STYLE>x</STYLE>", "<title>x</title>", "<!--x-->", "<!x>", "<?x?>", "<b x"]
)
def test_what_a_browser_does_not_show_is_left_out(hidden: str) -> None:
    assert html_to_text(f"a {hidden}") == "a"


def test_an_escaped_tag_comes_back_as_the_text_it_was() -> None:
    assert html_to_text("<p>&lt;b&gt; &#60;i&#62; &amp;lt; &unknown;</p>") == "<b> <i> &lt; &unknown;"


def test_an_empty_page_has_no_text() -> None:
    assert html_to_text("") == html_to_text("<p> <br> </p>") == ""


@given(pages)
def test_the_pieces_are_those_of_the_standard_library(page: str) -> None:
    oracle = Oracle(page)

    found = list(pieces(page))

    names = [one for one in found if one.kind in ("open", "close")]
    assert [
        f"{one.kind} {one.text}" + (f" {[(a.name, a.value) for a in one.attributes]}" if one.kind == "open" else "")
        for one in names
    ] == oracle.found
    assert "".join(one.text for one in found if one.kind == "words") == oracle.words


@given(st.lists(st.sampled_from([*BREAKOUTS, *"<>/='\"! -", "<a", "</a", "<li>", "<ol>"]), max_size=20).map("".join))
def test_any_page_has_a_text(page: str) -> None:
    text = html_to_text(page)

    assert "\n\n\n" not in text
    assert text == text.strip()


@pytest.mark.parametrize(
    "piece", ["<a ", "<a/", "<a b='", '<a b="', "<a b=", "<!--", "<!", "</a ", "<a ''", "<script", "<style>", "<li>", " \n"]
)
def test_a_page_of_half_a_megabyte_takes_seconds_at_most(piece: str) -> None:
    page = (piece * 200_000)[: 512 * 1024]
    began = time.thread_time()

    with suppress(TooManyAttributes):
        html_to_text(page)

    assert time.thread_time() - began < 3
