"""POST /v1/inbox/seen: that a person looked. What was shown before is seen, and as unread as it was."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.functions.doors import Api
from tests.functions.readers import Reader, announce, arrive
from tests.functions.test_problems import assert_problem
from tests.world import OTHER_TENANT, World
from tocsin.access.key_format import SCOPES

HOUR = timedelta(hours=1)
THREAD = {"kind": "order", "id": "A-17"}


@pytest.fixture
def alice(world: World, api: Api) -> Reader:
    world.add_user("alice")
    return Reader(api, "alice")


def _seen(reader: Reader, status: str = "all") -> dict[str, bool]:
    return {row["title"]: row["seen"] for row in reader.rows(status)}


def test_who_never_looked_has_seen_nothing(world: World, alice: Reader) -> None:
    arrive(world, "own")
    announce(world, "everyone")

    assert _seen(alice) == {"own": False, "everyone": False}
    assert (alice.unread(), alice.unseen()) == (2, 2)


def test_what_was_there_is_seen_and_as_unread_as_before(world: World, alice: Reader) -> None:
    arrive(world, "own")
    announce(world, "everyone")

    assert alice.see().json == {"unseen": 0}

    arrive(world, "new")
    announce(world, "new to everyone")
    assert _seen(alice) == {"own": True, "everyone": True, "new": False, "new to everyone": False}
    assert (alice.unread(), alice.unseen()) == (4, 2)
    assert [row["unread"] for row in alice.rows()] == [True] * 4
    assert alice.change(alice.row("own")["id"], saved=True).json["seen"] is True
    assert alice.change(alice.row("new to everyone")["id"], saved=True).json["seen"] is False


def test_what_is_read_is_not_counted_as_unseen(world: World, alice: Reader) -> None:
    arrive(world, "own")
    arrive(world, "other")

    alice.change(alice.row("own")["id"], read=True)

    assert (alice.unread(), alice.unseen()) == (1, 1)


def test_something_new_in_a_thread_is_unseen_again(world: World, alice: Reader) -> None:
    arrive(world, "packed", thread=THREAD)
    alice.see()

    arrive(world, "shipped", thread=THREAD)

    assert (_seen(alice), alice.unseen()) == ({"shipped": False}, 1)


def test_what_was_put_off_is_unseen_when_it_comes_back(world: World, alice: Reader, later: Callable[[timedelta], None]) -> None:
    arrive(world, "own")
    announce(world, "everyone")
    for title in ("own", "everyone"):
        alice.change(alice.row(title)["id"], snoozed_until=(datetime.now(UTC) + HOUR).isoformat())
    alice.see()
    assert (_seen(alice, "snoozed"), alice.unseen()) == ({"own": False, "everyone": False}, 0)

    later(HOUR + timedelta(minutes=1))

    assert (_seen(alice), alice.unread(), alice.unseen()) == ({"own": False, "everyone": False}, 2, 2)
    assert [alice.change(row["id"], saved=True).json["seen"] for row in alice.rows()] == [False, False]
    assert (alice.see().json, _seen(alice)) == ({"unseen": 0}, {"own": True, "everyone": True})
    assert [alice.change(row["id"], saved=False).json["seen"] for row in alice.rows()] == [True, True]


def test_seen_until_a_row_leaves_what_came_after_it(world: World, alice: Reader) -> None:
    for title in ("1", "2", "3"):
        arrive(world, title)

    assert alice.see(before=alice.row("2")["last_event_at"]).json == {"unseen": 1}

    assert _seen(alice) == {"1": True, "2": True, "3": False}


def test_what_was_seen_stays_so_whatever_a_slower_tab_says(world: World, alice: Reader) -> None:
    arrive(world, "1")
    arrive(world, "2")
    alice.see()

    assert alice.see(before=alice.row("1")["last_event_at"]).json == {"unseen": 0}

    assert _seen(alice) == {"1": True, "2": True}


def test_a_time_to_come_is_now(world: World, alice: Reader, later: Callable[[timedelta], None]) -> None:
    alice.see(before=(datetime.now(UTC) + 9 * HOUR).isoformat())
    later(HOUR)

    arrive(world, "new")

    assert (_seen(alice), alice.unseen()) == ({"new": False}, 1)


def test_a_visit_is_one_persons_in_one_tenant_and_goes_with_them(world: World, api: Api, alice: Reader) -> None:
    world.add_tenant()
    world.add_user("bob")
    world.add_user("alice", tenant=OTHER_TENANT)
    theirs = Reader(Api(world.add_key(*SCOPES, tenant=OTHER_TENANT)), "alice")
    announce(world, "everyone")
    arrive(world, "theirs", tenant=OTHER_TENANT)

    alice.see()

    assert [reader.unseen() for reader in (alice, Reader(api, "bob"), theirs)] == [0, 1, 1]
    theirs.see()
    api.delete("/v1/users/alice")
    assert [row["tenant_id"] for row in world.rows("SELECT tenant_id FROM inbox_visits")] == [OTHER_TENANT]


@pytest.mark.parametrize("body", [{"before": "yesterday"}, {"before": 7}, {"after": "2026-01-01T00:00:00Z"}, []], ids=str)
def test_a_visit_of_another_shape_is_422(world: World, alice: Reader, body: Any) -> None:
    assert_problem(alice.api.post("/v1/inbox/seen", body, query={"user_id": "alice"}), 422, "invalid-request")
    assert world.count("inbox_visits") == 0
