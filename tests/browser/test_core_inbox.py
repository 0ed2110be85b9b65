"""The core's inbox, without a page: rows and their pages, changes that are shown before they are made, and whose they are."""

import pytest

from tests.browser.core import Core

LIST = "GET ?status=all&limit=25"


@pytest.fixture
def opened(core: Core) -> Core:
    """An open inbox of three rows, newest first, of which all are unread."""
    core.run("view.isOpen = true; inbox.use(session())")
    core.rows(1, 2, 3)
    core.news(3)
    core.rows(1, 2, 3)
    assert (core.shown, core.waiting) == (("1 2 3", 3), [])
    core.run("told.splice(0)")
    return core


def change(core: Core, row: int, what: str) -> None:
    core.run(f"inbox.change(inbox.list.rows.find((each) => each.id === {row}), {what})")


# Reading.


def test_closed_it_only_counts_and_tells_when_there_are_more(core: Core) -> None:
    core.run("inbox.use(session())")
    core.news(3)
    core.pass_time(0.4)
    core.news(5, '"2"')
    core.pass_time(0.4)
    core.news(4, '"3"')

    assert core.told == ["forgot", "counted 3", "counted 5", "grew by 2", "counted 4"]
    assert core.waiting == []


def test_open_it_loads_its_rows_and_loads_them_again_with_every_news(core: Core) -> None:
    core.run("view.isOpen = true; inbox.use(session())")
    assert core.waiting == ["GET /live?wait=20", LIST]
    core.rows(2, 3, cursor="next")
    assert core.run("[shown()[0], inbox.list.cursor, inbox.list.state]") == ["2 3", "next", "ready"]
    core.news(3)

    core.rows(1, 2, 3)

    assert core.shown == ("1 2 3", 3)
    assert core.told == ["forgot", "counted 3", "arrived 1"]


def test_what_is_there_at_first_has_not_arrived(core: Core) -> None:
    core.run("view.isOpen = true; inbox.use(session())")

    core.rows(1, 2)

    assert core.told == ["forgot"]


def test_news_that_come_while_it_loads_make_it_load_once_more(core: Core) -> None:
    core.run("view.isOpen = true; inbox.use(session())")
    core.news(1)
    core.run("inbox.refresh(); inbox.refresh()")
    assert core.waiting == [LIST]

    core.rows(2)
    assert core.waiting == [LIST]
    core.rows(1, 2)

    assert (core.shown[0], core.waiting) == ("1 2", [])


def test_what_cannot_be_loaded_says_why_and_what_was_shown_stays(opened: Core) -> None:
    opened.run("inbox.refresh()")
    opened.answer(LIST, {"title": "Out of order"}, status=503)
    assert opened.run("[inbox.list.state, inbox.list.why, shown()[0]]") == ["ready", "Out of order", "1 2 3"]

    opened.run("inbox.switchTo('saved'); inbox.refresh()")
    opened.lose("GET ?status=saved&limit=25")

    assert opened.run("[inbox.list.state, inbox.list.why, shown()[0]]") == ["error", "no line", ""]


def test_what_could_not_be_loaded_is_loaded_when_the_server_is_well_again(core: Core) -> None:
    core.run("view.isOpen = true; inbox.use(session())")
    core.answer("GET /live", status=503)
    core.answer(LIST, status=503)
    core.pass_time(0.5)

    core.answer("GET /unread-count", status=304)

    assert LIST in core.waiting
    core.rows(1)
    assert core.run("[inbox.list.state, inbox.list.why]") == ["ready", ""]


def test_asked_to_try_again_it_does_not_wait_for_the_end_of_a_rest(core: Core) -> None:
    core.run("view.isOpen = true; inbox.use(session())")
    core.answer("GET /live", status=503, Retry_After="600")
    core.answer(LIST, status=503)

    core.run("inbox.retry()")

    assert core.waiting == [LIST, "GET /unread-count"]


def test_the_answer_for_a_tab_that_was_left_is_not_shown_in_another(opened: Core) -> None:
    opened.run("inbox.refresh(); inbox.switchTo('done'); inbox.refresh()")
    opened.rows(7, line=LIST)

    assert (opened.shown[0], opened.told) == ("", [])
    opened.rows(8, line="GET ?status=done")
    assert opened.shown[0] == "8"


# Pages.


def test_the_next_page_is_added_without_what_is_there_already(core: Core) -> None:
    core.run("view.isOpen = true; inbox.use(session())")
    core.rows(1, 2, cursor="a&b")
    core.run("globalThis.more = inbox.loadMore(); inbox.loadMore()")
    assert core.waiting == ["GET /live?wait=20", "GET ?status=all&limit=25&cursor=a%26b"]

    core.rows(2, 3, 4, line="GET ?status=all&limit=25&cursor")

    assert core.run("more.then((first) => first.id)") == 3
    assert (core.shown[0], core.run("inbox.list.cursor")) == ("1 2 3 4", None)


def test_a_page_that_is_refused_can_be_asked_for_again(core: Core) -> None:
    core.run("view.isOpen = true; inbox.use(session())")
    core.rows(1, cursor="next")
    core.run("globalThis.why = inbox.loadMore().catch((error) => error.message)")
    core.answer("GET ?status=all&limit=25&cursor", {"title": "Not now"}, status=503)
    assert core.run("why") == "Not now"

    core.run("inbox.loadMore()")
    core.rows(2, line="GET ?status=all&limit=25&cursor")

    assert core.shown[0] == "1 2"


@pytest.mark.parametrize(("there", "asked"), [(3, 25), (60, 60), (300, 200)])
def test_as_many_rows_as_are_shown_are_loaded_again(core: Core, there: int, asked: int) -> None:
    core.run("view.isOpen = true; inbox.use(session())")
    core.rows(*range(there))

    core.run("inbox.refresh()")

    assert f"GET ?status=all&limit={asked}" in core.waiting


def test_who_scrolled_farther_than_one_answer_reaches_keeps_the_rows_below(core: Core) -> None:
    core.run("view.isOpen = true; inbox.use(session())")
    core.rows(*range(1, 221), cursor="far")
    core.run("inbox.refresh()")

    core.rows(*range(200), cursor="near")

    assert core.run("[inbox.list.rows.length, inbox.list.rows[0].id, inbox.list.rows.at(-1).id, inbox.list.cursor]") == [
        221,
        0,
        220,
        "far",
    ]


def test_a_page_that_came_while_all_was_loaded_again_stays(core: Core) -> None:
    core.run("view.isOpen = true; inbox.use(session())")
    core.rows(1, 2, cursor="first")
    core.run("inbox.refresh(); inbox.loadMore()")
    core.rows(3, 4, line="GET ?status=all&limit=25&cursor")

    core.rows(1, 2, cursor="first", line=LIST)

    assert (core.shown[0], core.run("inbox.list.cursor")) == ("1 2 3 4", None)


def test_a_list_by_kind_asks_for_those_kinds_page_by_page(core: Core) -> None:
    core.run("inbox.switchTo({id: 'own-1', status: 'all', kinds: ['order.*', 'mention']})")
    core.run("view.isOpen = true; inbox.use(session())")
    core.rows(1, cursor="next")
    core.run("inbox.loadMore()")

    assert core.waiting[-1] == "GET ?status=all&limit=25&cursor=next&kind=order.*%2Cmention"


@pytest.mark.parametrize(
    ("chosen", "until"),
    [
        ("2030-05-15T15:31", "2030-05-15T15:31:00.000Z"),
        ("2030-05-15T15:30", None),
        ("2031-05-15T15:30", "2031-05-15T15:30:00.000Z"),
        ("2031-05-15T15:31", None),
        ("", None),
    ],
)
def test_a_time_of_ones_choice_is_to_come_and_within_a_year(core: Core, chosen: str, until: str | None) -> None:
    assert core.run(f"core.chosenTime({chosen!r})") == until


# Changes.


def test_a_change_is_shown_at_once_and_then_the_row_is_as_the_server_has_it(opened: Core) -> None:
    change(opened, 2, "{read: true}")
    assert opened.shown == ("1 2 3", 2)
    assert opened.run("asked('PATCH /2').body") == {"read": True}

    opened.run("answer('PATCH /2', 200, row(2, {unread: false, title: 'as the server has it'}))")

    assert opened.run("inbox.list.rows[1].title") == "as the server has it"
    assert (opened.shown, opened.told) == (("1 2 3", 2), ["counted 2"])


@pytest.mark.parametrize("what", ["{done: true}", "{snoozed_until: '2999-01-01T00:00:00Z'}"])
def test_a_change_that_is_refused_is_taken_back_to_its_place(opened: Core, what: str) -> None:
    change(opened, 2, what)
    assert opened.shown == ("1 3", 2)

    opened.answer("PATCH /2", {"title": "Not yours"}, status=404)

    assert (opened.shown, opened.told) == (("1 2 3", 3), ["counted 2", "counted 3", "undone Not yours"])


def test_a_change_that_never_arrived_is_taken_back_too(opened: Core) -> None:
    opened.run("inbox.hide(inbox.list.rows[0])")
    assert opened.shown == ("2 3", 2)

    opened.lose("DELETE /1")

    assert (opened.shown, opened.told[-1]) == (("1 2 3", 3), "undone no line")


def test_changes_are_sent_one_after_the_other_and_a_refused_one_does_not_stop_the_next(opened: Core) -> None:
    change(opened, 1, "{read: true}")
    change(opened, 2, "{read: true}")
    change(opened, 1, "{done: true}")
    assert (opened.shown, opened.waiting) == (("2 3", 1), ["PATCH /1"])

    opened.run("answer('PATCH /1', 200, row(1, {unread: false}))")
    assert (opened.shown, opened.waiting) == (("2 3", 1), ["PATCH /2"])
    opened.answer("PATCH /2", {"title": "No"}, status=409)
    assert opened.run("asked('PATCH /1').body") == {"done": True}
    opened.run("answer('PATCH /1', 200, row(1, {unread: false, done_at: '2030-05-15T15:30:00Z'}))")

    assert opened.shown == ("2 3", 2)


def test_a_change_can_be_changed_back(opened: Core) -> None:
    opened.run("globalThis.next = inbox.change(inbox.list.rows[1], {done: true}); inbox.change(next, {done: false})")

    assert opened.shown == ("1 2 3", 3)


def test_a_count_that_comes_while_a_change_is_on_its_way_waits_for_its_end(opened: Core) -> None:
    opened.pass_time(0.4)
    change(opened, 1, "{read: true}")
    opened.news(7, '"2"')
    assert (opened.shown[1], opened.waiting) == (2, ["PATCH /1"])

    opened.run("answer('PATCH /1', 200, row(1, {unread: false}))")

    assert opened.shown[1] == 7
    assert opened.waiting == [LIST]


def test_rows_that_were_read_before_a_change_do_not_undo_it(opened: Core) -> None:
    opened.run("inbox.refresh()")
    change(opened, 1, "{done: true}")
    opened.rows(1, 2, 3)
    assert opened.shown[0] == "2 3"

    opened.answer("PATCH /1", {"id": 1, "done_at": "2030-05-15T15:30:00Z", "last_event_at": "2030-05-15T12:00:59Z"})

    assert opened.waiting == [LIST]
    opened.rows(2, 3)
    assert opened.shown == ("2 3", 2)


def test_all_are_read_up_to_the_newest_that_is_shown_as_often_as_the_server_has_more(opened: Core) -> None:
    opened.run("inbox.readAll()")
    assert opened.shown == ("1 2 3", 0)
    newest = opened.run("inbox.list.rows[0].last_event_at")
    for more in (True, False):
        assert opened.run("asked('POST /read-all').body") == {"before": newest}
        opened.answer("POST /read-all", {"marked": 2, "more": more})

    assert opened.waiting == [LIST]


def test_all_that_could_not_be_read_are_unread_again(opened: Core) -> None:
    opened.run("inbox.switchTo('unread'); inbox.refresh()")
    opened.rows(1, 2, 3)
    opened.run("inbox.readAll()")
    assert opened.shown == ("", 0)

    opened.answer("POST /read-all", status=503)

    assert opened.shown == ("1 2 3", 3)


@pytest.mark.parametrize(("before", "undone_by"), [(True, "PUT"), (False, "DELETE"), (None, "DELETE")])
def test_a_thread_that_is_unmuted_is_what_it_was(opened: Core, before: bool | None, undone_by: str) -> None:
    path = "/threads/order/A%2F17"
    opened.run("globalThis.threaded = {...inbox.list.rows[0], thread: {kind: 'order', id: 'A/17'}}; inbox.toggleMute(threaded)")
    assert opened.run("inbox.isMuted(threaded)") is True
    opened.answer(f"GET {path}", {"subscribed": before})
    assert opened.run("asked('PUT /threads').body") == {"subscribed": False}
    opened.answer(f"PUT {path}", {})

    opened.run("inbox.toggleMute(threaded)")

    assert opened.run("inbox.isMuted(threaded)") is False
    assert opened.waiting == [f"{undone_by} {path}"]
    assert opened.run(f"asked('{undone_by}').body ?? null") == ({"subscribed": True} if before else None)


def test_a_thread_that_could_not_be_muted_is_not(opened: Core) -> None:
    opened.run("globalThis.threaded = {...inbox.list.rows[0], thread: {kind: 'order', id: '1'}}; inbox.toggleMute(threaded)")

    opened.answer("GET /threads/order/1", {"title": "No"}, status=403)

    assert (opened.run("inbox.isMuted(threaded)"), opened.told) == (False, ["undone No"])


@pytest.mark.parametrize(
    ("tab", "what", "stays"),
    [
        ("all", "{read: true}", True),
        ("all", "{saved: true}", True),
        ("all", "{done: true}", False),
        ("unread", "{read: true}", False),
        ("saved", "{done: true}", True),
        ("saved", "{saved: false}", False),
        ("snoozed", "{snoozed_until: null}", False),
        ("done", "{done: false}", False),
        ("done", "{read: true}", True),
    ],
)
def test_a_row_stays_in_a_tab_as_long_as_it_is_one_of_those(opened: Core, tab: str, what: str, stays: bool) -> None:
    like = {"saved": "{saved_at: 'x'}", "snoozed": "{snoozed_until: '2999-01-01T00:00:00Z'}", "done": "{done_at: 'x'}"}.get(
        tab, "{}"
    )
    opened.run(f"inbox.switchTo({tab!r}); inbox.refresh()")
    opened.run(f"answer('GET ?status={tab}', 200, {{data: [row(1, {like})], next_cursor: null}})")

    change(opened, 1, what)

    assert (opened.shown[0] == "1") is stays


@pytest.mark.parametrize(
    ("choice", "until"),
    [("hour", "2030-05-15T16:30:00.000Z"), ("tomorrow", "2030-05-16T09:00:00.000Z"), ("monday", "2030-05-20T09:00:00.000Z")],
)
def test_a_snoozed_row_comes_back_in_an_hour_or_in_a_morning(core: Core, choice: str, until: str) -> None:
    assert core.run(f"core.snoozeTime({choice!r})") == until


def test_a_row_whose_time_has_come_is_no_longer_snoozed(core: Core) -> None:
    core.run("globalThis.slept = row(1, {snoozed_until: core.snoozeTime('hour')})")
    before = core.run("core.isSnoozed(slept)")

    core.pass_time(3601)

    assert (before, core.run("core.isSnoozed(slept)")) == (True, False)


# Whose it is.


def test_of_one_person_nothing_is_left_for_the_next_from_the_first_moment(opened: Core) -> None:
    opened.run("inbox.toggleMute({...inbox.list.rows[0], thread: {kind: 'order', id: '1'}})")
    opened.run("inbox.use(session('other'))")

    assert opened.shown == ("", 0)
    assert opened.told == ["counted 0", "forgot"]
    assert opened.run("inbox.isMuted({thread: {kind: 'order', id: '1'}})") is False
    assert opened.run("asked('GET /live').headers.Authorization") == "Bearer other"


def test_what_was_asked_for_one_person_is_not_shown_to_the_next(opened: Core) -> None:
    opened.pass_time(0.4)
    opened.run("inbox.list.cursor = 'next'; inbox.refresh(); inbox.loadMore()")
    opened.run("inbox.use(session('other'))")
    assert opened.run("asked('GET /live').headers.Authorization") == "Bearer other"

    opened.rows(1, 2, 3, line=LIST)
    opened.rows(4, line=f"{LIST}&cursor")

    assert opened.shown == ("", 0)
    opened.rows(9, line=LIST)
    assert opened.shown == ("9", 0)


def test_a_count_that_waited_for_one_persons_change_is_not_the_next_ones(opened: Core) -> None:
    opened.pass_time(0.4)
    change(opened, 1, "{read: true}")
    opened.news(7, '"2"')

    opened.run("inbox.use(session('other'))")
    opened.run("answer('PATCH /1', 200, row(1, {unread: false}))")

    assert opened.shown == ("", 0)
    assert opened.waiting == ["GET /live?wait=20", LIST]


def test_what_the_next_person_is_known_to_have_is_shown_even_if_a_change_of_the_first_is_still_on_its_way(opened: Core) -> None:
    opened.run("session('other').join(listener())")
    opened.news(5)
    change(opened, 1, "{read: true}")

    opened.run("inbox.use(session('other'))")
    opened.run("answer('PATCH /1', 200, row(1, {unread: false}))")

    assert opened.shown == ("", 5)


def test_a_refusal_of_one_persons_change_changes_nothing_for_the_next(opened: Core) -> None:
    change(opened, 1, "{read: true}")
    opened.run("inbox.use(session('other'))")
    opened.run("told.splice(0)")

    opened.answer("PATCH /1", {"title": "No"}, status=409)

    assert (opened.shown, opened.told) == (("", 0), [])


def test_when_a_change_meets_a_token_that_ran_out_all_is_forgotten_and_then_told(opened: Core) -> None:
    opened.pass_time(0.4)
    change(opened, 1, "{done: true}")
    opened.news(7, '"2"')
    opened.run("told.splice(0)")

    opened.answer("PATCH /1", status=401)

    assert (opened.shown, opened.run("inbox.isSignedOut")) == (("", 0), True)
    assert opened.told == ["counted 0", "forgot", "expired"]


def test_once_left_it_hears_nothing_and_comes_back_well(opened: Core) -> None:
    opened.run("inbox.leave()")
    opened.pass_time(3600)
    opened.run("inbox.refresh()")
    assert (opened.waiting, opened.told) == ([], [])

    opened.run("inbox.use(session())")

    assert LIST in opened.waiting
