"""GET /v1/inbox/live: wait until the inbox is not what the browser knows. The clock is ours, so nobody really waits."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.functions.doors import Answer, Api
from tests.functions.readers import Reader, announce, arrive
from tests.functions.test_problems import assert_problem
from tests.world import World
from tocsin.api import inbox
from tocsin.foundation import database
from tocsin.inbox import live

HOUR = timedelta(hours=1)
THREAD = {"kind": "order", "id": "1"}


class Clock:
    """Stands in for the time module: a nap passes at once, and something may happen during it."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.naps = 0
        self.happen: Callable[[int], object] = lambda nap: None

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.naps += 1
        self.now += seconds
        self.happen(self.naps)

    @property
    def waited(self) -> float:
        return self.now - 1_000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(live, "time", clock)
    return clock


@pytest.fixture
def alice(world: World, api: Api) -> Reader:
    world.add_user("alice")
    return Reader(api, "alice")


def _wait(reader: Reader, known: Answer | None = None, **query: Any) -> Answer:
    headers = {"if-none-match": known.headers["ETag"]} if known else {}
    return reader.get("/v1/inbox/live", headers=headers, **query)


@pytest.mark.parametrize("query", [{}, {"wait": "20"}, {"wait": "0"}], ids=str)
def test_who_knows_nothing_is_answered_at_once(world: World, alice: Reader, clock: Clock, query: dict[str, Any]) -> None:
    arrive(world, "row")

    answer = _wait(alice, **query)

    assert (answer.status, answer.json, clock.naps) == (200, {"unread": 1, "unseen": 1, "capped": False}, 0)
    assert answer.headers["ETag"]
    assert answer.headers["Cache-Control"] == "private, no-cache"


@pytest.mark.parametrize(("wait", "at_most"), [(None, 20.0), ("20", 20.0), ("7", 7.0), ("1", 1.0), ("0", 0.0)])
def test_when_nothing_changes_it_is_304_after_the_wait(
    world: World, alice: Reader, clock: Clock, wait: str | None, at_most: float
) -> None:
    arrive(world, "row")
    known = _wait(alice)

    answer = _wait(alice, known, **({"wait": wait} if wait else {}))

    assert (answer.status, answer.text, answer.headers["ETag"]) == (304, "", known.headers["ETag"])
    assert at_most - live.LOOK_EVERY <= clock.waited <= at_most


HAPPENINGS: dict[str, Callable[[World, Reader], object]] = {
    "a row arrives": lambda world, alice: arrive(world, "new"),
    "a row for everyone arrives": lambda world, alice: announce(world, "new"),
    "an event joins an unread row": lambda world, alice: arrive(world, "again", thread=THREAD),
    "a row is read elsewhere": lambda world, alice: alice.change(alice.row("row")["id"], read=True),
    "a read row is unread elsewhere": lambda world, alice: alice.change(alice.row("old")["id"], read=False),
    "a row is saved elsewhere": lambda world, alice: alice.change(alice.row("row")["id"], saved=True),
    "a read row is done elsewhere": lambda world, alice: alice.change(alice.row("old")["id"], done=True),
    "a read row is hidden elsewhere": lambda world, alice: alice.hide(alice.row("old")["id"]),
    "everything is read elsewhere": lambda world, alice: alice.read_all(),
    "everything is done elsewhere": lambda world, alice: alice.finish_all(),
    "the inbox is looked at elsewhere": lambda world, alice: alice.see(),
}


@pytest.mark.parametrize("happening", HAPPENINGS)
def test_a_change_meanwhile_is_answered_at_the_next_look(world: World, alice: Reader, clock: Clock, happening: str) -> None:
    arrive(world, "old")
    alice.read_all()
    arrive(world, "row", thread=THREAD)
    known = _wait(alice)
    database_connection = database._connection

    def happen(nap: int) -> None:
        if nap == 3:  # by another function, with a connection of its own
            database._connection = None
            HAPPENINGS[happening](world, alice)
            database.disconnect()
            database._connection = database_connection

    clock.happen = happen

    answer = _wait(alice, known)

    assert (answer.status, clock.naps) == (200, 3)
    assert answer.json == alice.get("/v1/inbox/unread-count").json
    assert answer.headers["ETag"] != known.headers["ETag"]
    assert _wait(alice, answer, wait="0").status == 304


def test_what_was_put_off_is_news_when_its_time_comes(world: World, alice: Reader, clock: Clock) -> None:
    arrive(world, "row")
    alice.change(alice.row("row")["id"], snoozed_until=(datetime.now(UTC) + HOUR).isoformat())
    known = _wait(alice)

    def time_comes(nap: int) -> None:
        assert database._connection is not None
        database._connection.execute("SELECT set_config('tocsin.clock_offset', '2 hours', false)")

    clock.happen = time_comes

    answer = _wait(alice, known)

    assert (known.json["unread"], answer.status, answer.json["unread"], clock.naps) == (0, 200, 1, 1)


def test_what_happens_to_others_wakes_nobody(world: World, alice: Reader, clock: Clock) -> None:
    world.add_user("bob")
    known = _wait(alice)
    clock.happen = lambda nap: arrive(world, f"{nap}", audience={"kind": "users", "user_ids": ["bob"]}) if nap < 4 else None

    assert _wait(alice, known, wait="5").status == 304


def test_what_happens_out_of_sight_wakes_nobody_unless_it_is_counted(world: World, alice: Reader, clock: Clock) -> None:
    for n in range(live.WATCHED_ROWS + 1):
        arrive(world, f"row {n}")
    known, last = _wait(alice), alice.row("row 0")

    alice.change(last["id"], saved=True)
    assert _wait(alice, known, wait="0").status == 304
    alice.change(last["id"], read=True)
    assert _wait(alice, known, wait="0").json == {"unread": live.WATCHED_ROWS, "unseen": live.WATCHED_ROWS, "capped": False}


def test_while_it_waits_no_transaction_is_open(world: World, alice: Reader, clock: Clock) -> None:
    arrive(world, "row")
    known = _wait(alice)
    states: list[dict[str, object]] = []
    clock.happen = lambda nap: states.extend(
        world.rows(
            """SELECT state, xact_start, backend_xmin::text, query LIKE '%%notifications%%' AS looked FROM pg_stat_activity
               WHERE datname = current_database() AND usename = 'tocsin_app'"""
        )
    )

    _wait(alice, known, wait="2")

    assert clock.naps == 5
    assert {(state["state"], state["xact_start"], state["backend_xmin"]) for state in states} == {("idle", None, None)}
    assert sum(bool(state["looked"]) for state in states) == 5


def test_a_wait_whose_connection_dies_goes_on_and_is_not_started_over(world: World, alice: Reader, clock: Clock) -> None:
    known = _wait(alice)

    def break_the_connection(nap: int) -> None:
        if nap == 40:
            world.admin.execute(
                """SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                   WHERE datname = current_database() AND usename = 'tocsin_app'"""
            )

    clock.happen = break_the_connection

    answer = _wait(alice, known)

    assert answer.status == 304
    assert clock.waited <= inbox.LONGEST_WAIT


@pytest.mark.parametrize("wait", ["-1", "21", "100", "x", "1.5", "", "٣"])
def test_a_wait_of_no_sense_is_422(alice: Reader, clock: Clock, wait: str) -> None:
    assert_problem(alice.get("/v1/inbox/live", headers={"if-none-match": '"x"'}, wait=wait), 422, "invalid-request")
    assert clock.naps == 0


def test_a_browser_waits_with_its_token(world: World, browser_of: Callable[[str], Reader], clock: Clock) -> None:
    world.add_user("alice")
    browser = browser_of("alice")
    clock.happen = lambda nap: arrive(world, "new") if nap == 1 else None

    answer = _wait(browser, _wait(browser))

    assert (answer.status, answer.json, clock.naps) == (200, {"unread": 1, "unseen": 1, "capped": False}, 1)
    assert_problem(Reader(Api(browser.api.key[:-4] + "AAAA")).get("/v1/inbox/live"), 401, "unauthorized")
