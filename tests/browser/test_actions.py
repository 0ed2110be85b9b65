"""What a person does with a row: shown at once, sent to the server, and taken back if the server refuses."""

import pytest

from tests.browser.fake_inbox import FakeInbox
from tests.browser.page import HOLD_CHANGES, Page

TITLES = "$$('.title').map(words)"
ITEM = "$$('.menu button').find((each) => words(each) === {label!r})"
ORDER = {"kind": "order", "id": "A/17 ü"}


def from_menu(page: Page, title: str, label: str) -> None:
    page.click(f"row({title!r}).querySelector('.more')")
    page.click(ITEM.format(label=label))


def test_a_row_is_marked_read_and_unread_again(page: Page, server: FakeInbox) -> None:
    row = server.add("News")
    page.open_inbox(server.page())

    page.click("[data-act=read]")
    page.equals("[$('.dot'), $('.badge').hidden]", [None, True])
    page.click("[data-act=read]")
    page.equals("[Boolean($('.dot')), words($('.badge'))]", [True, "1"])

    page.equals("$('[data-act=read]').title", "Mark as read")
    assert server.sent(f"PATCH /v1/inbox/{row['id']}", 2) == [{"read": True}, {"read": False}]
    assert server.unread() == 1


def test_a_row_that_is_done_leaves_and_undo_brings_it_back_to_its_place(page: Page, server: FakeInbox) -> None:
    for age, title in enumerate(["First", "Second", "Third"]):
        server.add(title, age=age)
    page.open_inbox(server.page())

    page.click("row('Second').querySelector('[data-act=done]')")
    page.equals(TITLES, ["First", "Third"])
    page.equals("words($('.badge'))", "2")
    page.click(".toast button")

    page.equals(TITLES, ["First", "Second", "Third"])
    page.equals("words($('.badge'))", "3")
    assert server.sent("PATCH", 2) == [{"done": True}, {"done": False, "read": False}]


def test_a_done_row_can_be_moved_back_to_the_inbox(page: Page, server: FakeInbox) -> None:
    server.add("Old", done_at="2026-01-01T00:00:00Z")
    page.open_inbox(server.page())
    page.click("#tab-done")
    page.see("row('Old')")

    from_menu(page, "Old", "Move to inbox")

    page.equals(TITLES, [])
    page.click("#tab-all")
    page.equals(TITLES, ["Old"])


def test_a_row_is_saved_and_removed_from_saved(page: Page, server: FakeInbox) -> None:
    server.add("News")
    page.open_inbox(server.page())

    page.click("[data-act=save]")
    page.equals("$('[data-act=save]').title", "Remove from saved")
    page.click("#tab-saved")
    page.equals(TITLES, ["News"])
    page.click("[data-act=save]")

    page.equals(TITLES, [])
    assert server.sent("PATCH", 2) == [{"saved": True}, {"saved": False}]


# A Wednesday, half past three in the afternoon (the browser's time zone is UTC here).
WEDNESDAY = """Date = class extends Date {
    constructor(...given) { super(...(given.length ? given : ['2030-05-15T15:30:00Z'])) }
    static now() { return +new Date() }
}"""


@pytest.mark.parametrize(
    ("label", "until"),
    [
        ("Snooze for 1 hour", "2030-05-15T16:30:00.000Z"),
        ("Snooze until tomorrow, 9:00", "2030-05-16T09:00:00.000Z"),
        ("Snooze until Monday, 9:00", "2030-05-20T09:00:00.000Z"),
    ],
)
def test_a_snoozed_row_comes_back_when_it_was_told_to(page: Page, server: FakeInbox, label: str, until: str) -> None:
    server.add("News")
    page.before_scripts(WEDNESDAY)
    page.open_inbox(server.page())

    from_menu(page, "News", label)

    page.equals(f"[{TITLES}, words($('.toast span')), $('.badge').hidden]", [[], "Snoozed.", True])
    page.see("$('.state')")
    assert server.sent("PATCH", 1) == [{"snoozed_until": until}]


def test_snoozing_on_a_monday_is_for_the_next_one(page: Page, server: FakeInbox) -> None:
    server.add("News")
    page.before_scripts(WEDNESDAY.replace("05-15", "05-20"))
    page.open_inbox(server.page())

    from_menu(page, "News", "Snooze until Monday, 9:00")

    page.see("$('.state')")
    assert server.sent("PATCH", 1) == [{"snoozed_until": "2030-05-27T09:00:00.000Z"}]


def test_snoozing_can_be_stopped(page: Page, server: FakeInbox) -> None:
    server.add("Later", snoozed_until="2999-01-01T00:00:00Z")
    page.open_inbox(server.page())
    page.click("#tab-snoozed")
    page.see("row('Later')")
    assert "2999" in page.run("words($('.meta'))")

    from_menu(page, "Later", "Stop snoozing")

    page.equals(TITLES, [])
    assert server.sent("PATCH", 1) == [{"snoozed_until": None}]


@pytest.mark.parametrize("before", [True, None])
def test_a_muted_thread_is_marked_and_undo_makes_it_what_it_was(page: Page, server: FakeInbox, before: bool | None) -> None:
    server.add("News", thread=ORDER)
    if before is not None:
        server.threads["order/A/17 ü"] = before
    page.open_inbox(server.page())

    from_menu(page, "News", "Mute this thread")
    page.see("words($('.meta')).includes('muted')")
    page.see("$('.toast button')")
    server.sent("PUT .*/threads/order/A%2F17%20%C3%BC$", 1)
    assert server.threads == {"order/A/17 ü": False}
    page.click(".toast button")

    page.see("!words($('.meta')).includes('muted')")
    server.sent("/threads/", 3)
    assert server.threads.get("order/A/17 ü") is before


def test_a_row_without_a_thread_has_nothing_to_mute(page: Page, server: FakeInbox) -> None:
    server.add("News")
    page.open_inbox(server.page())

    page.click(".more")
    page.see("!$('.menu').hidden")

    assert page.run("$$('.menu button').map(words).includes('Mute this thread')") is False


def test_a_hidden_row_is_gone(page: Page, server: FakeInbox) -> None:
    row = server.add("News")
    page.open_inbox(server.page())

    from_menu(page, "News", "Hide")

    page.see("$('.state') && $('.badge').hidden")
    assert len(server.sent(f"DELETE /v1/inbox/{row['id']}$", 1)) == 1


def test_mark_all_as_read_spares_what_came_later_and_asks_until_nothing_is_left(page: Page, server: FakeInbox) -> None:
    for number in range(5):
        newest = server.add(f"Row {number}", age=10 - number)
    page.open_inbox(server.page())
    page.equals("$$('.dot').length", 5)

    page.click("[aria-label='Mark all as read']")
    page.equals("[$$('.dot').length, $('.badge').hidden]", [0, True])

    assert server.sent("POST .*/read-all", 3) == [{"before": newest["last_event_at"]}] * 3
    assert server.unread() == 0


def from_list_menu(page: Page, label: str) -> None:
    page.click(".head .dots")
    page.click(ITEM.format(label=label))


def test_all_are_done_at_once_and_undo_brings_them_back(page: Page, server: FakeInbox) -> None:
    for number in range(3):
        newest = server.add(f"Row {number}", age=10 - number, unread=number != 1)
    page.open_inbox(server.page())

    from_list_menu(page, "Mark all as done")
    page.equals("[$$('.row').length, $('.badge').hidden]", [0, True])
    before = {"status": "all", "before": newest["last_event_at"]}
    assert server.sent("POST .*/done-all", 2) == [before, before]
    page.click(".toast button")

    page.equals(TITLES, ["Row 2", "Row 1", "Row 0"])
    page.equals("words($('.badge'))", "2")
    server.sent("PATCH", 3)
    assert [row["done_at"] for row in server.rows] == [None] * 3


def test_only_what_is_read_can_be_done_at_once(page: Page, server: FakeInbox) -> None:
    server.add("Unread")
    server.add("Read", unread=False)
    page.open_inbox(server.page())

    from_list_menu(page, "Mark what is read as done")

    page.equals(TITLES, ["Unread"])
    assert server.sent("POST .*/done-all", 1)[0]["status"] == "read"
    assert [bool(row["done_at"]) for row in server.rows] == [False, True]


def test_what_could_not_all_be_done_comes_back_and_what_is_not_all_known_cannot_be_undone(page: Page, server: FakeInbox) -> None:
    for number in range(30):
        server.add(f"Row {number}", age=number)
    server.refuse("POST .*/done-all", 503, detail="Not now.")
    page.open_inbox(server.page())

    from_list_menu(page, "Mark all as done")
    page.equals("[words($('.toast span')), $$('.row').length >= 25, words($('.badge'))]", ["Not changed. Not now.", True, "30"])
    server.well()
    from_list_menu(page, "Mark all as done")

    page.equals("words($('.toast span'))", "All of them are under Done now.")
    assert page.run("$('.toast button')") is None


def test_a_row_sleeps_until_a_time_of_ones_choice(page: Page, server: FakeInbox) -> None:
    server.add("News")
    page.before_scripts(WEDNESDAY)
    page.open_inbox(server.page())
    from_menu(page, "News", "Snooze until…")
    page.equals("[focused().id, focused().value]", ["until", "2030-05-16T09:00"])

    page.run("focused().value = '2030-05-15T15:29'")
    page.press("Enter")
    page.equals("words($('dialog .error'))", "Choose a time from now on, within a year.")
    assert page.run("[focused().id, focused().ariaInvalid]") == ["until", "true"]
    page.press("Escape")
    page.see("!$('dialog') && inbox.isOpen && focused().matches('.more')")

    from_menu(page, "News", "Snooze until…")
    page.run("focused().value = '2030-05-17T18:30'")
    page.click("dialog .primary")
    page.equals("[$$('.row').length, words($('.toast span'))]", [0, "Snoozed."])
    assert server.sent("PATCH", 1) == [{"snoozed_until": "2030-05-17T18:30:00.000Z"}]


def test_opening_a_row_tells_the_page_and_marks_it_read(page: Page, server: FakeInbox) -> None:
    server.add("News", message="A long story.", summary={"url": "https://example.com/1"})
    page.open_inbox(server.page())
    page.run("addEventListener('tocsin-select', (event) => { window.selected = event.detail; event.preventDefault() })")

    page.click(".open")

    page.equals("[selected.row.title, selected.url]", ["News", "https://example.com/1"])
    page.equals("$('.dot')", None)
    assert server.sent("PATCH", 1) == [{"read": True}]
    assert page.run("location.pathname") == "/page"


def test_a_row_with_an_address_is_followed_and_still_marked_read(page: Page, server: FakeInbox) -> None:
    server.add("News", summary={"url": f"{server.url}/page?dir=ltr&attributes=id='other'"})
    page.open_inbox(server.page())

    page.click(".open")

    page.see("document.querySelector('#other')")
    assert server.sent("PATCH", 1) == [{"read": True}]


def test_a_row_without_an_address_shows_its_whole_message(page: Page, server: FakeInbox) -> None:
    server.add("News", message="word " * 200)
    page.open_inbox(server.page())
    height = page.run("$('.row').offsetHeight")

    page.click(".open")

    page.see(f"$('.row').offsetHeight > {height} + 100")


@pytest.mark.parametrize("act", ["read", "done", "save"])
def test_a_change_is_seen_before_the_server_answers_and_taken_back_when_it_refuses(
    page: Page, server: FakeInbox, act: str
) -> None:
    for age, title in enumerate(["First", "Second", "Third"]):
        server.add(title, age=age)
    page.open_inbox(server.page())
    before = page.run("words($('.body'))")
    server.refuse("PATCH", 409, detail="Somebody was faster.")
    page.run(HOLD_CHANGES)

    page.click(f"row('Second').querySelector('[data-act={act}]')")
    page.see("window.go")
    changed = page.run("$$('.row').map((each) => each.outerHTML).join()")
    page.run("go()")

    page.equals("words($('.toast span'))", "Not changed. Somebody was faster.")
    page.equals("words($('.body'))", before)
    page.equals("words($('.badge'))", "3")
    assert page.run("$$('.row').map((each) => each.outerHTML).join()") != changed


def test_mark_all_as_read_is_taken_back_too(page: Page, server: FakeInbox) -> None:
    server.add("News")
    page.open_inbox(server.page())
    server.refuse("POST .*/read-all", 503, detail="The database cannot be reached just now.")

    page.click("[aria-label='Mark all as read']")

    page.equals("words($('.toast span'))", "Not changed. The database cannot be reached just now.")
    page.equals("[$$('.dot').length, words($('.badge'))]", [1, "1"])


def test_muting_that_is_refused_is_taken_back(page: Page, server: FakeInbox) -> None:
    server.add("News", thread=ORDER)
    page.open_inbox(server.page())
    server.refuse("PUT", 500)

    from_menu(page, "News", "Mute this thread")

    page.equals("words($('.toast span'))", "Not changed. Refused")
    page.see("!words($('.meta')).includes('muted')")


def test_changes_reach_the_server_in_the_order_in_which_they_were_made(page: Page, server: FakeInbox) -> None:
    server.add("News")
    page.open_inbox(server.page())
    server.gate.clear()

    page.run("$('.open').focus()")
    page.press("r", "r", "s", "r")
    server.gate.set()

    page.see("$('[data-act=save]').title === 'Remove from saved' && !$('.dot')")
    assert server.sent("PATCH", 4) == [{"read": True}, {"read": False}, {"saved": True}, {"read": True}]
