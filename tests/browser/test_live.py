"""News come in by themselves: at once while somebody looks, sparingly while nobody does, gently when the server is in trouble."""

from tests.browser.fake_inbox import FakeInbox, serving
from tests.browser.page import HOLD_CHANGES, Page

RESTS = "window.rests = []; const wait = setTimeout; window.setTimeout = (run, time) => (rests.push(time), wait(run, time))"
HIDE = """Object.defineProperty(document, 'hidden', {value: %s, configurable: true});
    document.dispatchEvent(new Event('visibilitychange'))"""


def test_a_new_notification_shows_within_two_seconds_without_a_reload(page: Page, server: FakeInbox) -> None:
    server.add("First")
    page.open_inbox(server.page())
    page.run("window.sameWorld = true")
    server.requests("GET .*/live", 2)

    server.add("Just in")

    page.see("row('Just in') && words($('.badge')) === '2'", seconds=2)
    assert page.run("sameWorld")
    page.equals("$$('.sr[role=status]').map((each) => each.textContent).join('')", "New notification: Just in")


def test_with_the_panel_closed_the_badge_counts_and_the_number_is_announced(page: Page, server: FakeInbox) -> None:
    server.add("First")
    page.goto(server.page())
    page.equals("words($('.badge'))", "1")

    server.add("Just in")

    page.equals("words($('.badge'))", "2", seconds=2)
    page.equals("$('.sr[role=status]').textContent", "Notifications, 2 unread")
    assert server.requests("GET /v1/inbox$") == []


def test_a_row_that_was_read_elsewhere_is_read_here_too(page: Page, server: FakeInbox) -> None:
    row = server.add("News")
    page.open_inbox(server.page())
    server.requests("GET .*/live", 2)

    with server.changed:
        row["unread"] = False
        server.version += 1
        server.changed.notify_all()

    page.see("!$('.dot') && $('.badge').hidden", seconds=2)


def test_a_question_names_what_was_seen_last(page: Page, server: FakeInbox) -> None:
    page.goto(server.page())
    server.requests("GET .*/live", 2)

    first, second = server.requests("GET .*/live", 2)
    assert ("if-none-match" in first.headers, second.headers["if-none-match"]) == (False, '"1"')
    assert second.query == {"wait": "20"}


def test_a_hidden_tab_asks_nothing_and_catches_up_when_it_is_looked_at(page: Page, server: FakeInbox) -> None:
    page.before_scripts(RESTS)
    page.goto(server.page())
    server.requests("GET .*/live", 2)

    page.run(HIDE % "true")
    page.see("rests.at(-1) > 24 * 3600e3")
    server.add("News")
    asked = len(server.asked)
    page.run(HIDE % "false")

    page.equals("words($('.badge'))", "1", seconds=2)
    assert asked == 2


def test_when_nobody_has_moved_for_five_minutes_it_only_polls_and_a_movement_wakes_it(page: Page, server: FakeInbox) -> None:
    page.before_scripts("""window.later = 0; const now = Date.now; Date.now = () => now() + later;
        const wait = setTimeout; window.setTimeout = (run, time) => wait(run, time === 30_000 ? 300 : time)""")
    page.goto(server.page())
    server.requests("GET .*/live", 2)

    page.run("later = 6 * 60_000")
    server.add("News")
    server.requests("GET .*/unread-count", 1)
    waiting = len(server.requests("GET .*/live"))
    page.mouse("mouseMoved", 50, 50)
    server.requests("GET .*/live", waiting + 1)

    server.add("More")
    page.equals("words($('.badge'))", "2", seconds=2)


def test_a_server_in_trouble_is_asked_less_and_less_and_its_recovery_is_noticed(page: Page, server: FakeInbox) -> None:
    server.refuse("GET", 503)
    page.before_scripts("Math.random = () => 0")  # half of 1, 2, 4 … seconds
    page.goto(server.page())

    first, _, third = server.requests("GET", 3)[:3]
    server.well()
    server.add("News")

    assert third.at - first.at >= 1.5
    page.equals("words($('.badge'))", "1")


def test_when_the_server_is_well_again_what_failed_is_loaded_by_itself(page: Page, server: FakeInbox) -> None:
    server.add("News")
    server.refuse("GET", 503)
    page.open_inbox(server.page())
    page.see("$('.state .button')")
    server.well()
    page.see("row('News')")
    server.requests("GET .*/live", 2)

    server.refuse("GET", 503)
    page.run(HIDE % "true")
    page.run(HIDE % "false")
    page.click("#tab-saved")
    page.see("$('.state .button')")
    server.well()  # and nothing is new

    page.equals("words($('.state strong'))", "Nothing saved")


def test_the_time_that_the_server_names_is_waited_for(page: Page, server: FakeInbox) -> None:
    server.refuse("GET", 429, headers={"Retry-After": "2"})
    page.goto(server.page())

    first, second = server.requests("GET", 2)[:2]

    assert second.at - first.at >= 2


def test_when_no_place_to_wait_is_free_the_count_is_still_right(page: Page, server: FakeInbox) -> None:
    server.add("News")
    server.refuse("GET .*/live", 503)

    page.goto(server.page())

    page.equals("words($('.badge'))", "1")
    assert len(server.requests("GET .*/unread-count")) >= 1


def test_a_server_that_does_not_really_wait_is_not_asked_in_a_tight_loop(page: Page, server: FakeInbox) -> None:
    page.before_scripts("""const real = window.fetch; window.fetch = async (...all) => { const answer = await real(...all);
        return new Response(await answer.text(), {status: answer.status}) }""")  # as if CORS hid the ETag
    page.before_scripts(RESTS)

    page.goto(server.page())

    page.see("rests.at(-1) === 30_000")
    assert len(server.requests("GET .*/live")) == 1


def test_a_token_that_ran_out_is_renewed_once_and_nobody_notices(page: Page, server: FakeInbox) -> None:
    server.add("News")
    server.tokens = {"fresh"}
    page.before_scripts("addEventListener('tocsin-token-expired', () => (window.expired = true))")
    page.goto(server.page(""))
    page.run("window.renewals = 0; inbox.tokenProvider = async () => { renewals += 1; return 'fresh' }; inbox.token = 'stale'")

    page.click(".bell")

    page.see("row('News') && words($('.badge')) === '1'")
    assert page.run("[renewals, window.expired ?? false]") == [1, False]


def test_without_a_way_to_renew_it_the_page_is_told_and_the_inbox_is_quietly_signed_out(page: Page, server: FakeInbox) -> None:
    server.add("News")
    page.before_scripts("window.expired = 0; addEventListener('tocsin-token-expired', () => (expired += 1))")
    page.goto(server.page())
    page.equals("words($('.badge'))", "1")

    server.tokens = {"fresh"}
    page.click(".bell")
    page.equals("words($('.state strong'))", "Signed out")
    asked = len(server.asked)
    page.see("expired === 1 && $('.badge').hidden")
    page.run("inbox.token = 'fresh'")

    page.see("row('News') && words($('.badge')) === '1'")
    assert page.run("expired") == 1
    assert {each.headers["authorization"] for each in server.asked[asked:]} == {"Bearer fresh"}


def test_a_change_that_meets_a_token_that_ran_out_leaves_nothing_of_the_person_behind(page: Page, server: FakeInbox) -> None:
    server.add("Secret")
    page.open_inbox(server.page())
    page.equals("words($('.badge'))", "1")

    server.tokens = set()
    page.click("[data-act=read]")

    page.equals("words($('.state strong'))", "Signed out")
    page.see("$('.badge').hidden")
    assert "Secret" not in page.run("inbox.shadowRoot.textContent")


def test_a_token_that_runs_out_in_the_preferences_closes_them(page: Page, server: FakeInbox) -> None:
    page.open_inbox(server.page())
    page.click("[aria-label=Preferences]")
    page.see("$$('form').length === 4")

    server.tokens = set()
    page.click("[role=switch]")

    page.equals("words($('.state strong'))", "Signed out")
    assert page.run("$$('form').length") == 0


def test_a_count_that_comes_while_a_change_is_on_its_way_is_not_lost(page: Page, server: FakeInbox) -> None:
    server.add("First")
    page.open_inbox(server.page())
    server.requests("GET .*/live", 2)
    page.run(HOLD_CHANGES)
    page.click("[data-act=read]")
    page.see("window.go && $('.badge').hidden")

    server.add("Second")
    server.requests("GET .*/live", 3)
    server.refuse("PATCH", 409)
    page.run("go()")

    page.equals("words($('.badge'))", "2")
    page.see("row('Second') && $$('.dot').length === 2")


def test_another_person_does_not_see_what_the_first_one_saw(page: Page, server: FakeInbox) -> None:
    server.add("Secret")
    server.tokens |= {"other"}
    page.open_inbox(server.page())
    page.click("[aria-label=Preferences]")
    page.see("$$('form').length === 4")
    server.rows.clear()

    page.run("inbox.token = 'other'")

    page.equals("words($('.state strong'))", "All caught up")
    assert page.run("[$('.badge').hidden, $$('form').length]") == [True, 0]
    assert {each.headers["authorization"] for each in server.requests("live")[-1:]} == {"Bearer other"}


def test_a_provider_that_has_no_token_any_more_signs_out(page: Page, server: FakeInbox) -> None:
    page.before_scripts("window.expired = 0; addEventListener('tocsin-token-expired', () => (expired += 1))")
    page.goto(server.page(""))

    page.run("inbox.tokenProvider = async () => null")

    page.see("expired === 1")
    assert server.asked == []


def test_without_a_token_nothing_is_asked(page: Page, server: FakeInbox) -> None:
    page.open_inbox(server.page(""))

    assert page.run("words($('.state strong'))") == "Signed out"
    assert server.asked == []


def test_the_token_goes_only_to_the_server_that_is_named_which_may_be_of_another_origin(page: Page, server: FakeInbox) -> None:
    other = FakeInbox()
    other.add("From there")
    with serving(other):
        page.open_inbox(server.page(f'token="good" api="{other.url}/"'))
        page.see("row('From there')")
        other.add("Just in")

        page.see("row('Just in') && words($('.badge')) === '2'", seconds=2)
        page.click("[data-act=read]")
        assert other.sent("PATCH", 1) == [{"read": True}]

    assert server.asked == []
