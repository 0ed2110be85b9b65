"""The list: what is in a row, under which heading, and what is shown when there is nothing to show."""

from typing import Any

from tests.browser.fake_inbox import FakeInbox
from tests.browser.page import Page

TITLES = "$$('.title').map(words)"
MARIA = {"id": "u-17", "name": "Maria Silva", "avatar_url": None}


def test_a_row_says_what_happened_why_you_hear_of_it_and_when(page: Page, server: FakeInbox) -> None:
    thread = {"kind": "issue", "id": "17"}
    row = server.add(
        "Build fails", message="On arm64.", reason="mention", thread=thread, event_count=5, actor=MARIA, age=3 * 3600 + 60
    )
    server.add("For all", for_everyone=True, age=10, unread=False)

    page.open_inbox(server.page())

    assert page.run("words(row('Build fails').querySelector('.message'))") == "On arm64."
    assert page.run("[...row('Build fails').querySelectorAll('.meta > *')].map(words)") == [
        "mentioned you",
        "Maria Silva",
        "issue 17",
        "5 updates",
    ]
    time = "row('Build fails').querySelector('time')"
    assert page.run(f"[{time}.dateTime, words({time})]") == [row["last_event_at"], "3h ago"]
    assert page.run(f"{time}.title.includes('20')")
    assert page.run("[...row('For all').querySelectorAll('.meta > *')].map(words)") == ["for everyone"]
    assert page.run("[Boolean(row('Build fails').querySelector('.dot')), Boolean(row('For all').querySelector('.dot'))]") == [
        True,
        False,
    ]


def test_rows_are_newest_first_and_stand_under_their_scope_only_when_that_is_asked_for(page: Page, server: FakeInbox) -> None:
    server.add("Oldest of a", scope="repo:a", age=50)
    server.add("Of none", age=40)
    server.add("Of b", scope="repo:b", age=30)
    server.add("Newest of a", scope="repo:a", age=20)

    page.open_inbox(server.page())
    assert page.run(TITLES) == ["Newest of a", "Of b", "Of none", "Oldest of a"]
    assert page.run("[$$('h3').length, words(row('Of b').querySelector('.meta'))]") == [0, "repo:b"]
    page.run("inbox.setAttribute('group', 'scope')")

    assert page.run("$$('[role=group]').map((group) => [...group.querySelectorAll('h3, .title')].map(words))") == [
        ["repo:a", "Newest of a", "Oldest of a"],
        ["repo:b", "Of b"],
        ["Other", "Of none"],
    ]


def test_without_scopes_there_is_no_heading(page: Page, server: FakeInbox) -> None:
    server.add("One")

    page.open_inbox(server.page())

    assert page.run("$$('h3').length") == 0


HOSTILE = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>{{7*7}}\u202e&amp;"


def test_what_strangers_wrote_is_shown_to_the_letter_and_never_run(page: Page, server: FakeInbox) -> None:
    hostile: dict[str, Any] = dict.fromkeys(("message", "scope", "kind", "icon", "type_title"), HOSTILE)
    hostile |= {"actor": {"id": HOSTILE, "name": HOSTILE, "avatar_url": HOSTILE}, "severity": HOSTILE}
    hostile |= {"actions": [{"label": HOSTILE, "url": "https://example.com/"}, {"label": "No", "url": "javascript:hacked=1"}]}
    server.add(HOSTILE, reason="mention", thread={"kind": HOSTILE, "id": HOSTILE}, **hostile)

    page.open_inbox(server.page('token="good" group="scope"'))

    shown = HOSTILE.replace("\u202e", "")
    for where in (".title", ".message", "h3", ".actions a"):
        assert page.run(f"$({where!r}).textContent") == shown
    assert page.run("$$('.actions a').length") == 1
    assert page.run("$$('.panel img, .panel script').length") == 0
    page.click(".more")
    page.press("Escape")
    assert page.run("window.hacked") is None


LINKS: dict[str, tuple[object, str | None]] = {
    "https": ("https://example.com/a?b=1", "https://example.com/a?b=1"),
    "http": ("http://example.com/", "http://example.com/"),
    "script": ("javascript:window.hacked=1", None),
    "hidden script": (" java\nscript:window.hacked=1", None),
    "data": ("data:text/html,<script>1</script>", None),
    "no host": ("https://", None),
    "no string": ({"not": "a string"}, None),
    "none": (None, None),
}


def test_only_http_addresses_become_links(page: Page, server: FakeInbox) -> None:
    for title, (url, _) in LINKS.items():
        server.add(title, summary={"url": url})

    page.open_inbox(server.page())

    for title, (_, becomes) in LINKS.items():
        opens = f"row({title!r}).querySelector('.open')"
        assert page.run(f"[{opens}.href ?? null, {opens}.localName]") == [becomes, "a" if becomes else "button"], title


def test_every_tab_asks_for_its_own_rows(page: Page, server: FakeInbox) -> None:
    server.add("Unread")
    server.add("Read", unread=False, age=10)
    server.add("Saved", unread=False, saved_at="2026-01-01T00:00:00Z", age=20)
    server.add("Done", unread=False, done_at="2026-01-01T00:00:00Z", age=30)
    server.add("Later", snoozed_until="2999-01-01T00:00:00Z", age=40)
    page.open_inbox(server.page())
    page.equals(TITLES, ["Unread", "Read", "Saved"])

    for tab, titles in {"unread": ["Unread"], "saved": ["Saved"], "snoozed": ["Later"], "done": ["Done"]}.items():
        page.click(f"#tab-{tab}")
        page.equals(TITLES, titles)
        assert page.run(f"$('#tab-{tab}').ariaSelected") == "true"
    asked = [each.query["status"] for each in server.requests("GET /v1/inbox$")]
    assert list(dict.fromkeys(asked)) == ["all", "unread", "saved", "snoozed", "done"]


def test_an_empty_tab_says_something_kind(page: Page, server: FakeInbox) -> None:
    page.open_inbox(server.page())
    page.equals("words($('.state strong'))", "All caught up")

    page.click("#tab-saved")

    page.equals("words($('.state strong'))", "Nothing saved")


def test_more_is_loaded_on_demand_and_the_focus_goes_to_the_first_of_it(page: Page, server: FakeInbox) -> None:
    for number in range(60):
        server.add(f"Row {number}", age=number)
    page.open_inbox(server.page())
    page.equals("$$('.row').length", 25)

    page.run("$('.load').click()")
    page.equals("$$('.row').length", 50)
    assert page.run("words(focused().querySelector('.title'))") == "Row 25"
    page.run("$('.load').click()")
    page.equals("$$('.row').length", 60)

    assert page.run(f"new Set({TITLES}).size") == 60
    assert page.run("$('.load')") is None


def test_who_scrolls_to_the_end_gets_more_by_itself_and_keeps_the_focus(page: Page, server: FakeInbox) -> None:
    for number in range(60):
        server.add(f"Row {number}", age=number)
    page.open_inbox(server.page())
    page.equals("$$('.row').length", 25)
    focused = page.run("focused().id")

    page.run("$('.body').scrollTop = 1e6")
    page.equals("$$('.row').length", 50)
    assert page.run("focused().id") == focused
    page.run("$('.body').scrollTop = 1e6")

    page.equals("[$$('.row').length, $('.load')]", [60, None])


def test_more_that_does_not_come_is_left_to_the_button(page: Page, server: FakeInbox) -> None:
    for number in range(30):
        server.add(f"Row {number}", age=number)
    page.open_inbox(server.page())
    page.equals("$$('.row').length", 25)
    server.refuse("GET /v1/inbox$", 503, detail="Not now.")

    page.run("$('.body').scrollTop = 1e6")
    page.see("performance.getEntriesByType('resource').some((each) => each.name.includes('cursor='))")
    page.run("$('.body').scrollTop = 0; new Promise(requestAnimationFrame)")
    page.run("$('.body').scrollTop = 1e6; new Promise(requestAnimationFrame)")
    assert len([each for each in server.asked if "cursor" in each.query]) == 1
    page.see("$('.load').click(), words($('.toast span')) === 'Not now.'")

    server.well()
    page.see("$('.load')?.click(), $$('.row').length === 30")


def test_while_it_loads_there_is_a_skeleton(page: Page, server: FakeInbox) -> None:
    page.goto(server.page())
    page.run("window.fetch = () => new Promise(() => {})")

    page.click(".bell")

    page.see("$('.skeleton') && $('.body').ariaBusy === 'true'")
    assert page.run("words($('.body [role=status]'))") == "Loading…"


def test_a_failure_to_load_is_told_and_can_be_tried_again(page: Page, server: FakeInbox) -> None:
    server.add("News")
    server.refuse("GET /v1/inbox$", 503, detail="The database cannot be reached just now.")
    page.open_inbox(server.page())
    page.equals("words($('.state p'))", "The database cannot be reached just now.")

    server.well()
    page.click(".state .button")

    page.see("row('News')")


def test_mark_all_as_read_is_offered_only_where_all_is_what_is_shown(page: Page, server: FakeInbox) -> None:
    page.open_inbox(server.page())
    offered = "$('[aria-label=\"Mark all as read\"]').checkVisibility()"
    assert page.run(offered)

    page.click("#tab-saved")

    page.equals(offered, False)


def test_a_failure_to_refresh_leaves_what_is_shown(page: Page, server: FakeInbox) -> None:
    server.add("News")
    page.open_inbox(server.page())
    page.see("row('News')")

    server.refuse("GET /v1/inbox$", 500, title="Something went wrong")
    server.add("More")

    page.equals("words($('.note span'))", "Something went wrong")
    assert page.run("Boolean(row('News'))")
    server.well()
    page.click(".note button")
    page.see("row('More') && !$('.note')")


def test_offline_is_said_and_over_when_the_line_is_back(page: Page, server: FakeInbox) -> None:
    server.add("News")
    page.open_inbox(server.page())
    page.see("row('News')")
    cut = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    page.call("Network.enable")

    page.call("Network.emulateNetworkConditions", offline=True, **cut)
    page.equals("words($('.note span'))", "You are offline.")
    server.add("More")
    page.call("Network.emulateNetworkConditions", offline=False, **cut)

    page.see("row('More') && !$('.note')")


def test_an_answer_that_is_not_ours_is_an_error_not_an_empty_inbox(page: Page, server: FakeInbox) -> None:
    page.goto(server.page())
    page.run(
        "window.fetch = async () => new Response('<h1>Sign in to this Wi-Fi</h1>', {headers: {'Content-Type': 'text/html'}})"
    )

    page.click(".bell")

    page.equals("words($('.state p'))", "The server cannot be reached.")
