"""The bell in the languages that we ship: which one is taken, that none lacks a word, and how numbers and times are said."""

import re

import pytest

from tests.browser.fake_inbox import WEB, FakeInbox
from tests.browser.page import Page

LABEL = "$('.bell').ariaLabel"
SHAPE = """(function shape(words) { return typeof words === 'function' ? 'function' : Array.isArray(words) ? words.length
    : typeof words === 'object' ? Object.fromEntries(Object.entries(words).sort().map(([name, each]) => [name, shape(each)]))
    : 'string' })"""


@pytest.mark.parametrize("language", ["de", "fr", "es"])
def test_a_language_has_every_word_and_no_other(page: Page, server: FakeInbox, language: str) -> None:
    page.goto(server.page(""))
    words = f"import('/inbox/tocsin-inbox-{language}.js').then(({{words}}) => {SHAPE}(words))"
    english = f"import('/inbox/tocsin-inbox.js').then(({{text: {{locale, ...words}}}}) => {SHAPE}(words))"

    assert page.run(words) == page.run(english)


def test_every_word_that_is_used_is_there_and_every_one_that_is_there_is_used() -> None:
    there = set(re.findall(r"^  (\w+):", (WEB / "tocsin-inbox-words.js").read_text(), re.MULTILINE)) - {"de", "fr", "es"}
    code = "".join(path.read_text() for path in WEB.glob("tocsin-inbox*.js"))
    used = set(re.findall(r"(?:\btext|#text)\.(\w+)", code)) | {"shortcuts", "preferences"}

    assert used - {"locale"} == there


@pytest.mark.parametrize(
    ("attributes", "lang", "label"),
    [
        ('locale="de-AT"', "fr", "Mitteilungen, 1 ungelesen"),
        ('locale="es_MX"', "en", "Notificaciones, 1 sin leer"),
        ("", "fr-CA", "Notifications, 1 non lue"),
        ("", "ja", "Notifications, 1 unread"),
        ("", "", "Notifications, 1 unread"),  # as the browser of the tests speaks
        ('locale="not a locale"', "de", "Notifications, 1 unread"),
    ],
)
def test_the_language_is_the_elements_else_the_pages_else_the_browsers_else_english(
    page: Page, server: FakeInbox, attributes: str, lang: str, label: str
) -> None:
    server.add("News")
    page.before_scripts(f"""new MutationObserver(() => document.documentElement?.setAttribute('lang', {lang!r}))
        .observe(document, {{childList: true}})""")

    page.goto(server.page(f'token="good" {attributes}'))

    page.equals(LABEL, label)


def test_words_numbers_and_times_follow_and_another_language_can_be_chosen(page: Page, server: FakeInbox) -> None:
    for age in (3 * 3600 + 60, 2 * 86400 + 60):
        row = server.add("Neu", age=age)
    page.open_inbox(server.page('token="good" locale="de"'))
    page.equals("$$('.tab').map(words)", ["Eingang", "Ungelesen", "Gemerkt", "Später", "Erledigt"])
    assert page.run("$$('time').map(words)") == ["vor 3 Std.", "vorgestern"]
    assert page.run("$$('time')[1].title") == page.run(
        f"new Date({row['last_event_at']!r}).toLocaleString('de', {{dateStyle: 'medium', timeStyle: 'short'}})"
    )

    page.run("inbox.setAttribute('locale', 'fr')")

    page.equals(f"[{LABEL}, words($('h2')), words($('time'))]", ["Notifications, 2 non lues", "Notifications", "il y a 3 h"])
    assert page.run("$('[data-act=done]').ariaLabel") == "Traitée: Neu"


def test_a_pages_own_words_hold_in_every_language(page: Page, server: FakeInbox) -> None:
    page.goto(server.page())
    page.run("import('/inbox/tocsin-inbox.js').then(({text}) => { Object.assign(text, {locale: 'de', done: 'Fertig'}) })")

    page.run("window.inbox = document.createElement('tocsin-inbox'); inbox.token = 'good'; document.body.append(inbox)")
    server.add("Neu")
    page.equals(LABEL, "Mitteilungen, 1 ungelesen")
    page.run("inbox.open()")

    page.equals("$('[data-act=done]')?.title", "Fertig")


def test_a_language_that_does_not_come_leaves_english(page: Page, server: FakeInbox) -> None:
    server.add("News")
    server.files["/inbox/tocsin-inbox-de.js"] = ("<h1>Not this", "text/html")

    page.goto(server.page('token="good" locale="de"'))

    page.equals(LABEL, "Notifications, 1 unread")
