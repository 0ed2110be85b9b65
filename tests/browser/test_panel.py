"""The panel comes when it is wanted: not before, once, and again if it did not come."""

import threading

import pytest

from tests.browser.fake_inbox import WEB, Answer, Asked, FakeInbox
from tests.browser.page import Page
from tools.asset_versions import version_of

PANEL = "/inbox/tocsin-inbox-panel.js"
TOLD = "window.told = 0; addEventListener('tocsin-open', () => (told += 1))"
LOADED = "performance.getEntriesByType('resource').filter(({name}) => /inbox-(panel|list|keys)[.]js/.test(name)).length === 3"
IS_SHOWN = "($('.panel')?.matches(':popover-open') ?? false)"
STATE = f"[inbox.isOpen, $('.bell').ariaExpanded, {IS_SHOWN}, told]"


def asked_for(server: FakeInbox) -> int:
    return len([each for each in server.answered if each.path == PANEL])


@pytest.fixture
def held(server: FakeInbox, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """While it is not set, the panel does not come."""
    gate, real = threading.Event(), server.answer

    def answer(asked: Asked) -> Answer:
        if asked.path == PANEL:
            gate.wait(10)
        return real(asked)

    monkeypatch.setattr(server, "answer", answer)
    return gate


def test_the_panel_is_not_asked_for_until_somebody_comes_near_the_bell(page: Page, server: FakeInbox) -> None:
    server.add("News")
    page.goto(server.page())
    page.equals("words($('.badge'))", "1")
    page.mouse("mouseMoved", 600, 600)
    assert (asked_for(server), page.run("$('.panel')")) == (0, None)

    x, y = page.run("(({x, y, width}) => [x + width / 2, y + width / 2])($('.bell').getBoundingClientRect())")
    page.mouse("mouseMoved", x, y)
    page.see(LOADED)

    assert page.run("[inbox.isOpen, $('.panel')]") == [False, None]
    page.click(".bell")
    page.see("row('News')")
    assert asked_for(server) == 1


def test_who_comes_by_keyboard_has_it_fetched_ahead_too(page: Page, server: FakeInbox) -> None:
    page.goto(server.page())

    page.run("document.querySelector('#before').focus()")
    page.press("Tab")
    page.see(LOADED)

    assert page.run("[focused() === $('.bell'), inbox.isOpen, $('.panel')]") == [True, False, None]


def test_opened_before_it_came_it_is_shown_when_it_has_and_only_once(
    page: Page, server: FakeInbox, held: threading.Event
) -> None:
    server.add("News")
    page.before_scripts(TOLD)
    page.goto(server.page())
    page.equals("words($('.badge'))", "1")

    page.run("inbox.open(); inbox.close(); inbox.open(); inbox.open()")
    server.requests("GET /v1/inbox$", 1)
    assert page.run(STATE) == [True, "true", False, 0]
    assert page.run("[inbox.unseen, $('.arrival')]") == [1, None], "what nobody could see is not seen"
    held.set()

    page.see("row('News')")
    assert page.run(STATE) == [True, "true", True, 1]
    server.sent("POST .*/seen", 1)
    page.press("Escape")
    page.equals(STATE, [False, "false", False, 1])
    assert page.run("focused() === $('.bell')")


@pytest.mark.parametrize("closing", ["$('.bell').click()", "inbox.remove()", "Escape", "elsewhere"])
def test_closed_before_it_came_it_stays_closed(page: Page, server: FakeInbox, held: threading.Event, closing: str) -> None:
    page.before_scripts(TOLD)
    page.goto(server.page())
    page.run("$('.bell').focus(); inbox.open()")

    if closing == "Escape":
        page.press(closing)
    elif closing == "elsewhere":
        page.mouse("mousePressed", 900, 700, button="left", clickCount=1)
    else:
        page.run(closing)
    held.set()
    came = f"import('{PANEL}?v={version_of(WEB / 'tocsin-inbox-panel.js')}').then(() => new Promise((done) => setTimeout(done)))"

    assert page.run(f"{came}.then(() => {STATE})") == [False, "false", False, 0]
    page.run("inbox.isConnected || document.body.append(inbox); inbox.open()")
    page.equals(STATE, [True, "true", True, 1])
    assert asked_for(server) == 1


@pytest.mark.parametrize("browser", ["asks again", "keeps a failure in mind"])
def test_a_panel_that_does_not_come_is_told_in_the_console_and_asked_for_by_the_next_click(
    page: Page, server: FakeInbox, monkeypatch: pytest.MonkeyPatch, browser: str
) -> None:
    server.add("News")
    is_well, real = threading.Event(), server.answer

    def answer(asked: Asked) -> Answer:
        keeps = browser == "keeps a failure in mind" and "again" not in asked.query
        return Answer(503) if asked.path == PANEL and (keeps or not is_well.is_set()) else real(asked)

    monkeypatch.setattr(server, "answer", answer)
    page.before_scripts(f"{TOLD}; window.errors = []; console.error = (words) => errors.push(words)")
    page.goto(server.page())

    for number in (1, 2):
        page.run("$('.bell').click()")
        page.equals("errors.length", number)
        assert page.run(STATE) == [False, "false", False, 0]
    assert "panel did not come" in page.run("errors[0]")
    is_well.set()
    page.run("$('.bell').click()")

    page.see("row('News')")
    assert page.run(STATE) == [True, "true", True, 1]
    page.run("window.other = inbox.cloneNode(); document.body.append(other); other.open()")
    page.see("other.shadowRoot.querySelector('.row')")


def test_each_bell_has_its_own_panel_and_they_share_what_was_loaded(page: Page, server: FakeInbox) -> None:
    server.add("News")
    page.open_inbox(server.page())
    page.run("window.other = inbox.cloneNode(); document.body.append(other); inbox.close(); other.open()")

    page.equals("[...other.shadowRoot.querySelectorAll('.title')].map(words)", ["News"])

    assert page.run(f"[{IS_SHOWN}, inbox.isOpen, other.isOpen]") == [False, False, True]
    assert asked_for(server) == 1
