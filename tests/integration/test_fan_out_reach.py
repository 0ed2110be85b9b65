"""Who joins a thread between the reading of a batch and its telling hears of the later events of that batch, too."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.crash.mutations import _rewrite
from tests.events import fan_out_all, happen_together, inbox, outcomes, route, subscriptions, took_part, wait_until_readable
from tests.world import World
from tocsin.store.flow import fan_out as statements

THREAD = {"kind": "issue", "id": "1"}


@pytest.fixture
def quiet(world: World) -> World:
    """Three events of one thread wait, which nobody joins by them: alice and bob take part already, and zed is not there."""
    for person in ("alice", "bob"):
        world.add_user(person)
        took_part(world, person, "comment")
    route(world)
    said = [{"actor": "bob", "mentions": ["alice", "zed"]}, {"actor": "bob"}, {"actor": "bob"}]
    happen_together(world, [{"title": str(n), "thread": THREAD} | one for n, one in enumerate(said, 1)])
    wait_until_readable(world)
    return world


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many events each batch told."""
    told: list[int] = []
    original = statements.fan_out

    def counted(*args: Any, **options: Any) -> statements.FanOutStep:
        made = original(*args, **options)
        told.append(made.finished)
        return made

    monkeypatch.setattr(statements, "fan_out", counted)
    return told


def _meanwhile(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Let something happen when the first batch has been read and is not told yet."""
    original, left = statements.find_newcomers, [happens]

    def found(*args: Any) -> Any:
        answer = original(*args)
        if left:
            left.pop()()
        return answer

    monkeypatch.setattr(statements, "find_newcomers", found)


def test_events_of_a_thread_that_nobody_joins_are_told_together(quiet: World, batches: list[int]) -> None:
    fan_out_all(quiet)

    assert {person: row["event_count"] for person, row in inbox(quiet).items()} == {"alice": 3}
    assert batches == [3]


def test_somebody_who_is_created_meanwhile_is_told_of_what_follows(
    quiet: World, batches: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    _meanwhile(monkeypatch, lambda: quiet.add_user("zed"))

    fan_out_all(quiet)

    assert {person: row["event_count"] for person, row in inbox(quiet).items()} == {"alice": 3, "zed": 3}
    assert subscriptions(quiet)["zed"] == (True, "mention")
    assert outcomes(quiet) == [("notified", 2)] * 3
    assert (batches[0], sum(batches)) == (1, 3)


def test_somebody_whose_part_is_forgotten_meanwhile_takes_part_anew_and_is_told_of_what_follows(
    quiet: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    _meanwhile(monkeypatch, lambda: quiet.admin.execute("DELETE FROM notification_threads"))

    fan_out_all(quiet)

    assert {person: row["event_count"] for person, row in inbox(quiet).items()} == {"alice": 3}
    assert subscriptions(quiet) == {"alice": (True, "mention"), "bob": (True, "comment")}


def test_a_rule_that_lets_actors_join_meanwhile_holds_for_what_follows(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for person in ("alice", "bob"):
        world.add_user(person)
    route(world, subscribe_actor=False)
    happen_together(world, [{"thread": THREAD, "actor": actor} for actor in ("bob", "alice")])
    wait_until_readable(world)
    _meanwhile(monkeypatch, lambda: route(world, subscribe_actor=True))

    fan_out_all(world)

    assert {person: row["event_count"] for person, row in inbox(world).items()} == {"bob": 1}


def test_a_writer_that_trusts_what_was_read_is_noticed(quiet: World, monkeypatch: pytest.MonkeyPatch) -> None:
    _rewrite(monkeypatch, statements.fan_out, "WHERE batch.place <= reach.until", "", times=1)

    with pytest.raises(AssertionError):
        test_somebody_who_is_created_meanwhile_is_told_of_what_follows(quiet, [1, 2], monkeypatch)
