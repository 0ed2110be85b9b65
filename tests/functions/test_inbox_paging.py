"""The list, page by page: while rows come in and move up, nobody who stays where they are is shown twice or passed over."""

import random
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.functions.doors import Api
from tests.functions.readers import Reader, announce, arrive
from tests.functions.test_problems import assert_problem
from tests.world import TENANT, World

HOUR = timedelta(hours=1)


@pytest.fixture
def alice(world: World, api: Api) -> Reader:
    world.add_user("alice")
    return Reader(api, "alice")


def _fill(world: World, count: int, *, shared_every: int = 0) -> None:
    """Rows of alice's, some of them for everyone, each with a thread, three of each moment; `row 1` is the oldest."""
    world.admin.execute(
        """INSERT INTO notifications (id, tenant_id, user_id, kind, reason, thread_kind, thread_id, title, message, summary,
                                      last_event_at, shown_at, created_at, updated_at)
           SELECT gen_random_uuid(), %(tenant)s, CASE WHEN %(shared)s = 0 OR n %% NULLIF(%(shared)s, 0) > 0 THEN users.id END,
                  'k', 'intent', 'row', n::text, 'row ' || n, '', '{}', at, at, at, at
           FROM generate_series(1, %(count)s) AS n
           CROSS JOIN LATERAL (SELECT tocsin_now() - interval '1 day' + n / 3 * interval '1 second') AS moment (at), users
           WHERE users.external_id = 'alice'""",
        {"tenant": TENANT, "count": count, "shared": shared_every},
    )


def _pages(reader: Reader, limit: int, status: str = "all", **query: str) -> Iterator[list[dict[str, Any]]]:
    """Page after page, each asked for when it is wanted."""
    cursor = ""
    while True:
        asked: dict[str, Any] = {"limit": str(limit), "status": status} | query | ({"cursor": cursor} if cursor else {})
        answer = reader.get(**asked)
        assert answer.status == 200, answer.text
        yield answer.json["data"]
        cursor = answer.json["next_cursor"]
        if cursor is None:
            return


def test_the_pages_together_are_the_list_latest_first(world: World, alice: Reader) -> None:
    _fill(world, 40, shared_every=4)
    whole = alice.rows(limit="200")

    for limit in (1, 3, 7, 20, 39, 40, 41):
        pages = list(_pages(alice, limit))
        assert [row for page in pages for row in page] == whole
        assert [len(page) for page in pages[:-1]] == [limit] * (len(pages) - 1)
        assert 0 < len(pages[-1]) <= limit
    assert [row["last_event_at"] for row in whole] == sorted((row["last_event_at"] for row in whole), reverse=True)
    assert len({row["id"] for row in whole}) == 40


def test_a_page_has_fifty_rows_unless_told_and_two_hundred_at_most(world: World, alice: Reader) -> None:
    _fill(world, 210)

    assert (len(alice.rows()), len(alice.rows(limit="200"))) == (50, 200)
    for limit in ("0", "201", "-1", "x", ""):
        assert_problem(alice.get(limit=limit), 422, "invalid-request")


@pytest.mark.parametrize("cursor", ["x", "AAAA", "%FF", "0" * 500, "bm90IGEgdGltZXxub3QgYW4gaWQ"])
def test_a_cursor_that_is_not_ours_is_400(alice: Reader, cursor: str) -> None:
    assert_problem(alice.get(cursor=cursor), 400, "invalid-cursor")


CHANGES: dict[str, dict[str, Any]] = {"unread": {}, "read": {"read": True}, "done": {"done": True}, "saved": {"saved": True}}


@pytest.mark.parametrize("view", ["unread", "read", "done", "saved", "snoozed"])
def test_every_view_is_paged(world: World, alice: Reader, view: str) -> None:
    _fill(world, 11, shared_every=3)
    for n, row in enumerate(alice.rows()):
        change = CHANGES.get(view) or {"snoozed_until": (datetime.now(UTC) + HOUR * (n + 1)).isoformat()}
        if view != "unread":
            alice.change(row["id"], **change)

    pages = list(_pages(alice, 3, view))

    assert [len(page) for page in pages] == [3, 3, 3, 2]
    assert [row for page in pages for row in page] == alice.rows(view)
    assert len({row["id"] for page in pages for row in page}) == 11


def test_filters_are_paged(world: World, alice: Reader) -> None:
    _fill(world, 9)
    world.admin.execute("UPDATE notifications SET kind = 'wanted' WHERE thread_id::int % 2 = 1")

    pages = list(_pages(alice, 2, kind="wanted"))

    assert [row["title"] for page in pages for row in page] == [row["title"] for row in alice.rows(kind="wanted")]
    assert [len(page) for page in pages] == [2, 2, 1]


def _seen_while(world: World, reader: Reader, happen: Callable[[int], None], *, limit: int = 4) -> list[str]:
    seen: list[str] = []
    for n, page in enumerate(_pages(reader, limit)):
        seen += [row["title"] for row in page]
        happen(n)
    return seen


def test_rows_that_arrive_during_a_walk_neither_repeat_nor_hide_what_was_there(world: World, alice: Reader) -> None:
    _fill(world, 30, shared_every=5)
    there = alice.titles(limit="200")

    def arrivals(n: int) -> None:
        arrive(world, f"late {n}")
        announce(world, f"late for everyone {n}")

    assert _seen_while(world, alice, arrivals) == there


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rows_that_move_up_during_a_walk_take_nobody_with_them(world: World, alice: Reader, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - the same each time
    _fill(world, 30, shared_every=5)
    there = alice.titles(limit="200")
    moved: set[str] = set()

    def an_event_joins(n: int) -> None:
        row = chance.randint(1, 30)
        moved.add(f"row {row}")
        make = announce if row % 5 == 0 else arrive
        make(world, f"row {row}", thread={"kind": "row", "id": str(row)})

    seen = _seen_while(world, alice, an_event_joins, limit=3)

    assert len(set(seen)) == len(seen)
    assert [title for title in seen if title not in moved] == [title for title in there if title not in moved]


def test_a_walk_beside_a_busy_writer_shows_every_row_that_stays_once(world: World, alice: Reader) -> None:
    _fill(world, 200)
    staying = [title for title in alice.titles(limit="200") if int(title.removeprefix("row ")) % 4]
    writer, is_over, written = world.connect("postgres"), threading.Event(), threading.Event()

    def write() -> None:
        chance = random.Random(7)  # noqa: S311 - the same each time
        while not is_over.is_set():
            writer.execute(
                """INSERT INTO notifications (id, tenant_id, user_id, kind, reason, title, message, summary, last_event_at,
                                              shown_at, created_at, updated_at)
                   SELECT tocsin_uuid7(), tenant_id, user_id, 'k', 'intent', 'late', '', '{}', tocsin_now(), tocsin_now(),
                          tocsin_now(), tocsin_now()
                   FROM notifications LIMIT 3"""
            )
            writer.execute(
                "UPDATE notifications SET last_event_at = tocsin_now(), shown_at = tocsin_now() WHERE title = %s",
                [f"row {chance.randint(1, 50) * 4}"],
            )
            written.set()

    writing = threading.Thread(target=write)
    writing.start()
    try:
        written.wait(10)
        seen = [row for page in _pages(alice, 5) for row in page]
    finally:
        is_over.set()
        writing.join()

    assert len({row["id"] for row in seen}) == len(seen)
    assert [row["title"] for row in seen if row["title"] in set(staying)] == staying


def test_rows_that_leave_during_a_walk_take_nobody_with_them(world: World, alice: Reader) -> None:
    _fill(world, 30)
    there = alice.titles(limit="200")
    rows = {row["title"]: row["id"] for row in alice.rows(limit="200")}
    gone: list[str] = []

    def one_leaves(n: int) -> None:
        title = f"row {3 * n + 2}"
        gone.append(title)
        change: list[Callable[[str], object]] = [
            alice.hide,
            lambda row: alice.change(row, done=True),
            lambda row: alice.change(row, snoozed_until=(datetime.now(UTC) + HOUR).isoformat()),
        ]
        change[n % 3](rows[title])

    seen = _seen_while(world, alice, one_leaves)

    assert [title for title in seen if title not in gone] == [title for title in there if title not in gone]
    assert len(set(seen)) == len(seen)


def test_a_cursor_of_one_person_shows_another_only_their_own(world: World, api: Api, alice: Reader) -> None:
    world.add_user("bob")
    _fill(world, 5)
    cursor = alice.get(limit="2").json["next_cursor"]

    assert Reader(api, "bob").rows(cursor=cursor) == []
