"""Seen is not read: what the badge may count instead; and how a page may tell of news while the bell is closed."""

from tests.browser.core import Core
from tests.browser.fake_inbox import FakeInbox
from tests.browser.page import Page

ARRIVAL = "$('.arrival')?.matches(':popover-open')"


def test_who_opens_the_bell_has_seen_what_is_there_and_not_read_it(page: Page, server: FakeInbox) -> None:
    server.add("One")
    server.add("Two")
    page.goto(server.page('token="good" badge="unseen"'))
    page.equals("[words($('.badge')), $('.bell').ariaLabel]", ["2", "Notifications, 2 new"])

    page.click(".bell")
    page.see("$('.badge').hidden")

    assert server.sent("POST .*/seen", 1) == [{}]
    assert (server.unseen(), server.unread()) == (0, 2)
    assert page.run("[inbox.unseen, inbox.unread, $$('.dot').length]") == [0, 2, 2]
    page.press("Escape")
    server.add("Three")
    page.equals("[words($('.badge')), inbox.unread]", ["1", 3])


def test_without_that_wish_the_badge_counts_what_is_unread(page: Page, server: FakeInbox) -> None:
    server.add("One")

    page.open_inbox(server.page())
    server.sent("POST .*/seen", 1)

    assert page.run("[words($('.badge')), inbox.unseen]") == ["1", 0]


def test_what_comes_while_it_is_open_is_seen_and_where_nothing_is_unseen_nothing_is_told(core: Core) -> None:
    core.run("view.isOpen = true; inbox.use(session())")
    core.answer("GET /live", {"unread": 2, "unseen": 0, "capped": False}, ETag='"1"')
    core.rows(1, 2)
    core.rows(1, 2)
    assert core.waiting == []

    core.pass_time(0.4)
    core.answer("GET /live", {"unread": 3, "unseen": 1, "capped": False}, ETag='"2"')
    core.rows(0, 1, 2)

    assert core.waiting == ["POST /seen"]
    assert core.run("[inbox.unread, inbox.unseen]") == [3, 0]
    core.lose("POST /seen")  # the next opening tells it
    assert "arrived 0" in core.told


def test_the_title_of_the_page_has_the_number_if_it_wants_one_and_gets_its_own_back(page: Page, server: FakeInbox) -> None:
    row = server.add("One")
    page.goto(server.page('token="good" title-badge'))
    page.equals("document.title", "(1) Test")

    page.run("document.title = 'Orders (3)'")
    page.equals("document.title", "(1) Orders (3)")
    server.add("Two")
    page.equals("document.title", "(2) Orders (3)")
    page.run("inbox.removeAttribute('title-badge')")
    assert page.run("document.title") == "Orders (3)"

    page.run("inbox.toggleAttribute('title-badge')")
    assert page.run("document.title") == "(2) Orders (3)"
    page.run("inbox.remove()")
    assert (page.run("document.title"), row["unread"]) == ("Orders (3)", True)


def test_a_toast_says_what_came_and_leads_there(page: Page, server: FakeInbox) -> None:
    server.add("Old")
    page.goto(server.page('token="good" toast'))
    page.equals("words($('.badge'))", "1")
    assert page.run("document.title") == "Test"

    row = server.add("Your \u202einvoice", message="Due in June.", actor={"id": "1", "name": "Maria", "avatar_url": None})

    page.see(ARRIVAL)
    assert page.run("[words($('.arrival .title')), words($('.arrival .message')), words($('.arrival .figure'))]") == [
        "Your invoice",
        "Due in June.",
        "M",
    ]
    page.equals("$('.sr[role=status]').textContent", "New notification: Your invoice")
    page.click(".arrival .open")
    page.see("inbox.isOpen && $$('.dot').length === 1")
    assert server.sent(f"PATCH .*{row['id']}", 1) == [{"read": True}]
    assert page.run(ARRIVAL) is False


def test_a_toast_can_be_sent_away_and_comes_only_where_it_is_wanted(page: Page, server: FakeInbox) -> None:
    page.goto(server.page())
    server.requests("GET .*/live", 2)
    server.add("Unwanted")
    page.equals("words($('.badge'))", "1")
    assert page.run("$('.arrival')") is None

    page.run("inbox.toggleAttribute('toast')")
    server.add("Wanted")
    page.see(ARRIVAL)
    page.click(".arrival .icon")

    page.see(f"!({ARRIVAL})")
    assert page.run("inbox.isOpen") is False
