"""The default email: a page for any payload, in which nothing of a payload is alive, and a plain part that says the same."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given

from tests.unit.test_plain import lines, payloads
from tocsin.content import plain, render
from tocsin.content.brand import Brand
from tocsin.content.email_page import Footer, complete
from tocsin.content.email_words import WORDS, why
from tocsin.content.plain import Content
from tocsin.content.render import Letterhead
from tocsin.store.rows import Wording

SHOP = Brand("Example Shop", color="#0f766e", postal_address="Example Shop Ltd\n1 High Street")
OUT, SETTINGS = "https://n.example.com/u/abc", "https://n.example.com/p/def"
FOOTER = Footer("You get this email because you follow this thread.", OUT, SETTINGS)
URL = "https://Shop.example/a?b=1&c='2'"
BUTTONS = [{"label": "Pay <now>", "url": "https://pay.example/1"}, {"label": "Later", "url": "https://pay.example/2"}]

TAGS = {"html", "head", "meta", "title", "style", "body", "div", "table", "tr", "td", "h1", "p", "br", "a"}
ATTRIBUTES = {
    *("lang", "charset", "name", "content", "class", "style", "dir", "role", "href"),
    *("cellpadding", "cellspacing", "border", "width", "height", "align", "bgcolor"),
}


class Skeleton(HTMLParser):
    """The tags of a page and their attributes, and its words by themselves."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def a_page(payload: dict[str, Any], brand: Brand = SHOP, footer: Footer = FOOTER, language: str = "en") -> Content:
    return complete(plain.render("order.shipped", payload), brand, footer, language)


def links_of(page: str) -> list[tuple[str, str]]:
    return re.findall(r'<a href="([^"]*)"[^>]*>([^<]*)</a>', page)


@given(payloads, lines, lines)
def test_nothing_that_strangers_write_adds_a_tag_or_an_attribute(payload: dict[str, Any], name: str, address: str) -> None:
    page = a_page(payload | {"actions": BUTTONS}, Brand(name, postal_address=address), Footer(name, OUT, SETTINGS)).html

    skeleton = Skeleton(page)
    assert set(skeleton.tags) <= TAGS
    assert {name for name, _ in skeleton.attributes} <= ATTRIBUTES
    assert {value for name, value in skeleton.attributes if name == "href"} >= {OUT, SETTINGS, "https://pay.example/1"}
    assert page.count("<h1") == 1


@pytest.mark.parametrize("place", ["title", "message", "other"])
def test_markup_in_a_payload_is_shown_and_not_run(place: str) -> None:
    page = a_page({place: "<script>alert('x')</script> & \"q\""}).html

    assert "<script" not in page
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; &amp; " in page


def test_a_name_in_the_payload_cannot_carry_markup_either() -> None:
    assert "<img" not in a_page({"<img src=x onerror=alert(1)>": "x"}).html


def test_the_page_has_the_words_in_paragraphs_and_their_addresses_as_links() -> None:
    page = a_page({"title": "Shipped", "message": "On its way:\nhttps://a.example/x.\n\nBye"}).html

    assert re.search(r'<h1 dir="auto"[^>]*>Shipped</h1><p dir="auto"[^>]*>On its way:<br><a href="https://a\.example/x"', page)
    assert re.search(r'</a>\.</p><p dir="auto"[^>]*>Bye</p>', page)


def test_a_title_alone_is_said_once_and_has_no_preheader() -> None:
    page = a_page({"title": "Shipped"}).html

    assert Skeleton(page).words.count("Shipped") == 2  # the title of the document, and of the page
    assert 'class="ink"' not in page.partition("</h1>")[2]
    assert "display:none" not in page


def test_a_list_of_mails_shows_the_beginning_of_the_text() -> None:
    page = a_page({"title": "Shipped", "message": "Hello <Ann>,\n\n" + "word " * 100}).html

    (hidden,) = re.findall(r'<div dir="auto" style="display:none[^"]*">([^<]*)</div>', page)
    words = hidden.rstrip("\u034f\u2007")
    assert words.startswith("Hello &lt;Ann&gt;,")
    assert words.endswith("word…")
    assert len(words) <= 150
    assert len(hidden) - len(words) >= 100  # room, so that nothing else of the page is shown


def test_a_link_is_a_button_that_says_where_it_leads_in_the_readers_language() -> None:
    for language, label in {"en": "Open shop.example", "de": "shop.example öffnen", "fr": "Ouvrir shop.example"}.items():
        content = a_page({"title": "T", "message": "M", "url": URL}, language=language)

        assert ("https://Shop.example/a?b=1&amp;c=&#x27;2&#x27;", label) in links_of(content.html)
        colon = "\u00a0:" if language == "fr" else ":"  # as the French write it
        assert f"\n\n{label}{colon}\n{URL}\n\n" in content.text
        assert f'<html lang="{language}">' in content.html


def test_where_there_are_buttons_the_title_is_the_link_the_first_is_filled_and_the_second_outlined() -> None:
    content = a_page({"title": "T", "message": "M", "url": URL, "actions": BUTTONS})

    title, first, second = links_of(content.html)[:3]
    assert title == ("https://Shop.example/a?b=1&amp;c=&#x27;2&#x27;", "T")
    assert (first, second) == (("https://pay.example/1", "Pay &lt;now&gt;"), ("https://pay.example/2", "Later"))
    assert content.html.count('bgcolor="#0f766e"') == 2  # the line on top, and the first button
    buttons = "Pay <now>:\nhttps://pay.example/1\n\nLater:\nhttps://pay.example/2"
    assert f"M\n\n{buttons}\n\nOpen shop.example:\n{URL}\n\n-- \n" in content.text


def test_a_link_that_a_button_has_already_is_told_once() -> None:
    content = a_page({"title": "T", "message": "M", "url": "https://pay.example/2", "actions": BUTTONS})

    assert content.text.count("https://pay.example/2") == 1


def test_a_link_that_the_words_have_already_is_not_repeated_in_the_plain_part() -> None:
    content = a_page({"title": "T", "message": "See https://a.example/x now", "url": "https://a.example/x"})

    assert content.text.count("https://a.example/x") == 1
    assert ("https://a.example/x", "Open a.example") in links_of(content.html)


def test_the_plain_part_ends_with_why_and_the_ways_out() -> None:
    assert a_page({"title": "T", "message": "M"}).text == (
        "M\n\n-- \nYou get this email because you follow this thread.\n"
        f"Unsubscribe: {OUT}\nNotification settings: {SETTINGS}\nExample Shop Ltd\n1 High Street"
    )
    assert a_page({"title": "T", "message": "M"}, Brand(), Footer()).text == "M"


def test_the_foot_of_the_page_says_why_and_has_the_ways_out_only_where_there_are_some() -> None:
    whole = a_page({"title": "T"}).html
    transactional = a_page({"title": "T"}, footer=Footer("Because.")).html

    assert links_of(whole) == [(OUT, "Unsubscribe"), (SETTINGS, "Notification settings")]
    assert links_of(transactional) == []
    assert "Because." in transactional
    assert "Example Shop Ltd<br>1 High Street" in transactional


def test_the_page_suits_dark_and_narrow_screens_and_its_colours_can_be_read() -> None:
    page = a_page({"title": "T", "url": URL}, Brand("Shop", color="#ffff00")).html

    assert '<meta name="color-scheme" content="light dark">' in page
    assert "@media(prefers-color-scheme:dark)" in page
    assert "@media(max-width:480px)" in page
    assert len(re.findall(r"<style>(.*)</style>", page)[0]) < 2_000  # mail programs drop a long one
    assert "color:#000000;border:1px solid" in page  # black on yellow


@pytest.mark.parametrize(("severity", "word"), [("warning", "Warnung"), ("critical", "Kritisch")])
def test_what_is_grave_says_so_in_a_word(severity: str, word: str) -> None:
    assert f">{word}</span>" in a_page({"title": "T", "severity": severity}, language="de").html
    assert "</span>" not in a_page({"title": "T", "severity": "info"}, language="de").html


def test_an_icon_is_a_picture_or_an_emoji() -> None:
    assert ">🎉</p>" in a_page({"title": "T", "icon": "🎉"}).html
    assert (
        '<img src="https://a.example/i.png?a&amp;b" alt=""' in a_page({"title": "T", "icon": "https://a.example/i.png?a&b"}).html
    )


def test_on_top_stands_the_logo_with_the_name_for_whoever_sees_no_pictures_or_the_name() -> None:
    with_logo = Brand('A "B" <C>', "https://cdn.example/logo.png?a&b")

    assert (
        '<img src="https://cdn.example/logo.png?a&amp;b" alt="A &quot;B&quot; &lt;C&gt;"'
        in a_page({"title": "T"}, with_logo).html
    )
    assert "<img" not in a_page({"title": "T"}).html
    assert "Example Shop</div>" in a_page({"title": "T"}).html


def test_each_part_finds_its_own_direction_and_a_long_word_is_broken() -> None:
    hebrew, arabic = "\u05d4\u05d6\u05de\u05e0\u05d4", "\u0645\u0631\u062d\u0628\u0627"

    page = a_page({"title": hebrew, "message": "x" * 500 + f"\n\n{arabic}", "actions": BUTTONS}).html

    card = page.partition('class="card"')[2].partition("</h1>")
    assert 'align="right" dir="rtl" class="card"' in page
    assert '<h1 dir="auto"' in card[0]
    assert card[2].count('<p dir="auto"') == 4  # two of the text, why, and the address
    assert card[2].count('<a href="https://pay.example/') == card[2].count('" dir="auto" class="b') == 2
    assert "overflow-wrap:anywhere" in page


def test_what_turns_the_direction_around_ends_with_its_part() -> None:
    turned = "\u202eturned"
    content = a_page(
        {"title": turned, "message": f"{turned}\nnot\n\n{turned}", "actions": [{"label": turned, "url": URL}]},
        Brand(turned, postal_address=f"{turned}\nLondon"),
        Footer(f"Because of {turned}\u202c.", OUT),
    )

    for part in re.split("<[^>]*>", content.html):
        assert part.count("\u202e") == part.count("\u202c")


@pytest.mark.parametrize(
    ("reason", "language", "words"),
    [
        ("", "en", "You get this email because you have an account with Shop."),
        ("", "de", "Sie erhalten diese E-Mail, weil Sie ein Konto bei Shop haben."),
        ("mention", "fr", "Vous recevez cet e-mail parce que votre nom a été mentionné."),
        ("watching", "es", "Recibe este correo porque sigue lo que ocurre aquí."),
        ("subscribed", "en", "You get this email because you follow this thread."),
    ],
)
def test_why_they_got_it_is_told_in_words_of_their_language(reason: str, language: str, words: str) -> None:
    assert why(reason, brand="Shop", is_known=True, language=language) == words


def test_a_bare_address_has_no_account_and_a_nameless_brand_none_to_have_one_with() -> None:
    assert why("", brand="Shop", is_known=False, language="en") == "You get this email because Shop was given your address."
    assert why("", brand="", is_known=True, language="en") == ""
    assert all(set(words.reasons) == set(WORDS["en"].reasons) for words in WORDS.values())


@pytest.mark.parametrize("channel", ["sms", "push", "in_app"])
def test_only_an_email_has_a_page(channel: str) -> None:
    wording = Wording(channel, "", "t", "users", {"title": "T", "message": "M", "url": URL}, None)

    content = render.of_wording(wording, Letterhead(SHOP, OUT, SETTINGS))

    assert (content.html, content.text, content.url) == ("", "M", URL)


def test_a_digest_has_the_same_page_in_the_readers_language() -> None:
    wording = Wording("email", "comment", "t", "digest", {"count": 1, "missed": ["Bob: <yes>"]}, None, "de-AT")

    content = render.of_wording(wording, Letterhead(SHOP, OUT, SETTINGS))

    assert content.title == "1 weitere Neuigkeit: Bob: <yes>"
    assert "- Bob: &lt;yes&gt;" in content.html
    assert (OUT, "Abmelden") in links_of(content.html)
    assert content.text.endswith("1 High Street")
