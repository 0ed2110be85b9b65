"""GET /v1/inbox: a person's rows and those for everyone, in one of six views, latest first; and how many are unread."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.events import fan_out_all, happen, route
from tests.functions.doors import Api
from tests.functions.readers import Reader, announce, arrive
from tests.functions.test_problems import assert_problem
from tests.world import World

HOUR = timedelta(hours=1)
THREAD = {"kind": "order", "id": "A-17"}
VIEWS = ["all", "unread", "read", "done", "saved", "snoozed"]


@pytest.fixture
def alice(world: World, api: Api) -> Reader:
    world.add_user("alice")
    return Reader(api, "alice")


def _soon() -> str:
    return (datetime.now(UTC) + HOUR).isoformat()


def test_an_inbox_shows_its_users_rows_and_those_for_everyone_and_nobody_elses(world: World, alice: Reader) -> None:
    world.add_user("bob")
    arrive(world, "for alice")
    arrive(world, "for bob", audience={"kind": "users", "user_ids": ["bob"]})
    announce(world, "for everyone")

    assert alice.titles() == ["for everyone", "for alice"]
    assert alice.get("/v1/inbox/unread-count").json == {"unread": 2, "unseen": 2, "capped": False}


def test_a_row_says_what_happened_where_and_how_often(world: World, alice: Reader) -> None:
    for n in range(3):
        arrive(world, f"update {n}", thread=THREAD)

    (row,) = alice.rows()

    assert (row["title"], row["message"], row["event_count"]) == ("update 2", "about update 2", 3)
    assert (row["thread"], row["unread"], row["read_at"]) == (THREAD, True, None)
    assert (row["kind"], row["reason"], row["for_everyone"]) == ("order.shipped", "intent", False)
    assert set(row) == {
        "id", "kind", "reason", "scope", "thread", "title", "message", "summary", "event_count", "unread", "read_at",
        "last_event_at", "last_actor", "created_at", "done_at", "saved_at", "snoozed_until", "for_everyone",
        "updated_at", "source_event", "source_notification_id", "type_title", "url", "actions",
        "severity", "icon", "actor", "seen",
    }  # fmt: skip


def test_a_row_of_an_event_says_who_did_it_why_it_is_here_and_where_it_leads(world: World, alice: Reader) -> None:
    world.add_user("bob")
    route(world)
    happen(
        world, mentions=["alice"], actor="bob", scope="repo:7", title="A comment", message="@alice?", url="https://example.com/7"
    )
    fan_out_all(world)

    (row,) = alice.rows()

    assert (row["reason"], row["scope"], row["last_actor"]) == ("mention", "repo:7", "bob")
    assert (row["title"], row["message"]) == ("A comment", "@alice?")
    assert row["summary"] == {"url": "https://example.com/7"}


def _rows_of_every_kind(world: World, alice: Reader) -> None:
    """One row in each state, each later than the one before."""
    changes: list[tuple[str, dict[str, Any]]] = [
        ("new", {}),
        ("read", {"read": True}),
        ("done", {"done": True}),
        ("saved new", {"saved": True}),
        ("saved and done", {"saved": True, "done": True}),
        ("put off", {"snoozed_until": _soon()}),
    ]
    for title, change in changes:
        arrive(world, title)
        if change:
            assert alice.change(alice.row(title)["id"], **change).status == 200
    arrive(world, "hidden")
    alice.hide(alice.row("hidden")["id"])
    arrive(world, "expired", expires_at=_soon())
    world.admin.execute("UPDATE notifications SET expires_at = tocsin_now() WHERE title = 'expired'")


@pytest.mark.parametrize(
    ("view", "titles"),
    [
        ("all", ["saved new", "read", "new"]),
        ("unread", ["saved new", "new"]),
        ("read", ["read"]),
        ("done", ["saved and done", "done"]),
        ("saved", ["saved and done", "saved new"]),
        ("snoozed", ["put off"]),
    ],
)
def test_each_view_shows_its_rows_and_never_what_is_hidden_or_expired(
    world: World, alice: Reader, view: str, titles: list[str]
) -> None:
    _rows_of_every_kind(world, alice)

    assert alice.titles(view) == titles
    assert alice.unread() == 2


def test_without_a_status_everything_that_is_not_dealt_with_is_shown(world: World, alice: Reader) -> None:
    _rows_of_every_kind(world, alice)

    assert alice.get().text == alice.get(status="all").text


def test_a_view_that_does_not_exist_is_422(alice: Reader) -> None:
    problem = assert_problem(alice.get(status="lost"), 422, "invalid-request")

    assert all(view in problem["detail"] for view in VIEWS)


def test_a_row_that_expires_meanwhile_is_shown_and_counted_no_more(
    world: World, alice: Reader, later: Callable[[timedelta], None]
) -> None:
    arrive(world, "brief", expires_at=_soon())
    announce(world, "brief for everyone", expires_at=_soon())
    arrive(world, "lasting")
    assert alice.unread() == 3

    later(HOUR + timedelta(minutes=1))

    assert (alice.titles(), alice.unread()) == (["lasting"], 1)


@pytest.mark.parametrize("view", ["all", "unread", "read", "done", "saved", "snoozed"])
def test_filters_by_kind_and_thread_hold_in_every_view_for_ones_own_rows_and_those_for_everyone(
    world: World, alice: Reader, view: str
) -> None:
    changes: dict[str, dict[str, Any]] = {
        "read": {"read": True},
        "done": {"done": True},
        "saved": {"saved": True},
        "snoozed": {"snoozed_until": _soon()},
    }
    for make in (arrive, announce):
        make(world, f"{make.__name__} wanted", type="order.paid", thread={"kind": "order", "id": "a:b"})
        make(world, f"{make.__name__} other kind", type="order.lost", thread={"kind": "order", "id": "2"})
        make(world, f"{make.__name__} other thread", type="order.paid", thread={"kind": "invoice", "id": "a:b"})
        make(world, f"{make.__name__} no thread", type="order.paid")
    if view in changes:
        for row in alice.rows():
            alice.change(row["id"], **changes[view])

    both = {"announce wanted", "arrive wanted"}
    assert set(alice.titles(view, kind="order.paid", thread="order:a:b")) == both
    assert set(alice.titles(view, thread="order:a:b")) == both
    assert len(alice.rows(view, kind="order.paid")) == 6
    assert alice.rows(view, kind="order.none") == []
    assert alice.rows(view, thread="order:none") == []
    assert len(alice.rows(view)) == 8


@pytest.mark.parametrize("thread", ["", "order", "order:", ":7", ":"])
def test_a_thread_without_a_kind_or_an_id_is_422(alice: Reader, thread: str) -> None:
    assert_problem(alice.get(thread=thread), 422, "invalid-request")


@pytest.mark.parametrize("change", ["hide", "done", "read", "snoozed_until"])
def test_a_new_event_brings_a_thread_back_to_the_top_as_news_whatever_was_done_with_it(
    world: World, alice: Reader, change: str
) -> None:
    arrive(world, "first", thread=THREAD)
    row_id = alice.row("first")["id"]
    arrive(world, "between")
    if change == "hide":
        assert alice.hide(row_id).status == 204
    else:
        assert alice.change(row_id, **{change: _soon() if change == "snoozed_until" else True}).status == 200
    assert alice.titles("unread") == ["between"]

    arrive(world, "second", thread=THREAD)

    assert alice.titles("unread") == ["second", "between"]
    row = alice.row("second")
    assert (row["id"], row["event_count"], row["unread"]) == (row_id, 2, True)
    assert (row["read_at"], row["done_at"], row["snoozed_until"]) == (None, None, None)
    assert (alice.titles("done"), alice.titles("snoozed"), alice.unread()) == ([], [], 2)


def test_a_saved_row_stays_saved_when_something_new_happens(world: World, alice: Reader) -> None:
    arrive(world, "first", thread=THREAD)
    saved_at = alice.change(alice.row("first")["id"], saved=True).json["saved_at"]

    arrive(world, "second", thread=THREAD)

    assert alice.row("second", "saved")["saved_at"] == saved_at


@pytest.mark.parametrize(
    ("rows", "badge"),
    [
        (999, {"unread": 999, "unseen": 999, "capped": False}),
        (1_000, {"unread": 1_000, "unseen": 1_000, "capped": True}),
        (1_100, {"unread": 1_000, "unseen": 1_000, "capped": True}),
    ],
)
def test_the_badge_says_when_there_is_more_than_it_counts(
    world: World, alice: Reader, rows: int, badge: dict[str, int | bool]
) -> None:
    arrive(world, "one")
    world.admin.execute(
        """INSERT INTO notifications (id, tenant_id, user_id, kind, reason, title, message, last_event_at, shown_at, created_at,
                                      updated_at)
           SELECT tocsin_uuid7(), tenant_id, user_id, kind, reason, title, message, last_event_at, shown_at, created_at,
                  updated_at
           FROM notifications, generate_series(2, %s)""",
        [rows],
    )

    assert alice.get("/v1/inbox/unread-count").json == alice.get("/v1/inbox/live").json == badge


@pytest.mark.parametrize("path", ["/v1/inbox", "/v1/inbox/unread-count", "/v1/inbox/live", "/v1/inbox/preferences"])
def test_a_server_key_says_whose_inbox_it_means(world: World, api: Api, path: str) -> None:
    assert_problem(api.get(path), 422, "invalid-request")
    assert_problem(api.get(path, query="user_id="), 422, "invalid-request")
    assert_problem(api.get(path, query="user_id=nobody"), 404, "not-found")


PATHS = ["/v1/inbox", "/v1/inbox/unread-count"]


@pytest.mark.parametrize("path", PATHS)
def test_what_the_caller_has_already_is_304_without_a_body(world: World, alice: Reader, path: str) -> None:
    arrive(world, "one")
    first = alice.get(path)
    tag = first.headers["ETag"]

    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = alice.get(path, headers={"if-none-match": known})
        assert (again.status, again.text, again.headers["ETag"]) == (304, "", tag)
    assert first.headers["Cache-Control"] == "private, no-cache"
    assert alice.get(path, headers={"if-none-match": '"other"'}).status == 200


# what happens, and whether the badge shows it too (None: neither shows it)
HAPPENINGS: dict[str, tuple[Callable[[World, Reader], object], bool | None]] = {
    "a row arrives": (lambda world, alice: arrive(world, "new"), True),
    "one for everyone arrives": (lambda world, alice: announce(world, "new"), True),
    "an event joins a row": (lambda world, alice: arrive(world, "one", thread=THREAD), False),
    "one is read": (lambda world, alice: alice.change(alice.row("one")["id"], read=True), True),
    "one is done": (lambda world, alice: alice.change(alice.row("one")["id"], done=True), True),
    "one is saved": (lambda world, alice: alice.change(alice.row("one")["id"], saved=True), False),
    "one is put off": (lambda world, alice: alice.change(alice.row("one")["id"], snoozed_until=_soon()), True),
    "one is hidden": (lambda world, alice: alice.hide(alice.row("one")["id"]), True),
    "all are read": (lambda world, alice: alice.read_all(), True),
    "all are seen": (lambda world, alice: alice.see(), True),
    "one for everyone is read": (lambda world, alice: alice.change(alice.row("everyone")["id"], read=True), True),
    "somebody else gets one": (lambda world, alice: arrive(world, "x", audience={"kind": "users", "user_ids": ["bob"]}), None),
}


@pytest.mark.parametrize("happening", HAPPENINGS)
def test_the_tag_changes_when_anything_shown_changes_and_not_otherwise(world: World, alice: Reader, happening: str) -> None:
    happens, is_counted = HAPPENINGS[happening]
    world.add_user("bob")
    announce(world, "everyone")
    arrive(world, "one", thread=THREAD)
    listed, counted = (alice.get(path).headers["ETag"] for path in PATHS)

    happens(world, alice)

    assert alice.get(PATHS[0], headers={"if-none-match": listed}).status == (304 if is_counted is None else 200)
    assert alice.get(PATHS[1], headers={"if-none-match": counted}).status == (200 if is_counted else 304)


def test_two_people_never_share_a_tag_by_sharing_a_cache(world: World, api: Api, alice: Reader) -> None:
    world.add_user("bob")
    arrive(world, "for alice")

    answer = Reader(api, "bob").get(headers={"if-none-match": alice.get().headers["ETag"]})

    assert (answer.status, answer.json["data"]) == (200, [])
    assert "private" in answer.headers["Cache-Control"]
