"""Calls under way: how many at once, whose answers wait for whom, and what becomes of what fails."""

from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from threading import Event
from typing import Any
from uuid import uuid4

import pytest

from tocsin.foundation.calls import MOST_CALLS, MOST_PER_ENDPOINT, Answered, Calls, OutboundCall
from tocsin.foundation.due import Due

CONN: Any = object()
PATIENCE = 10.0  # seconds: an answer that is there is never waited for


class Recorder:
    """A settle function that keeps what it was given."""

    def __init__(self, due: list[Due] | None = None) -> None:
        self.given: list[Answered] = []
        self.due = due or []

    def __call__(self, conn: Any, answered: Answered) -> list[Due]:
        assert conn is CONN
        self.given.append(sorted(answered))
        return self.due


@contextmanager
def held(calls: Calls, count: int, endpoint: str = "slow", settle: Any = None) -> Iterator[Event]:
    """That many calls which answer when they are let."""
    go = Event()
    for n in range(count):
        calls.start(OutboundCall(endpoint, n, lambda: go.wait(PATIENCE), settle or Recorder()))
    try:
        yield go
    finally:
        go.set()


def settle_all(calls: Calls) -> list[Due]:
    due = []
    while calls.are_under_way:
        due += calls.settle(CONN, patience=PATIENCE)
    return due


def answer(calls: Calls, *numbers: int, settle: Any, endpoint: str = "quick") -> None:
    """Calls that have answered, before anybody looks."""
    for n in numbers:
        calls.start(OutboundCall(endpoint, n, lambda n=n: f"answer {n}", settle))  # type: ignore[misc]
    wait([future for future, call in calls._under_way.items() if call.endpoint == endpoint])


def test_one_endpoint_has_room_for_so_many_and_others_beside_it() -> None:
    calls = Calls()

    with held(calls, MOST_PER_ENDPOINT - 1):
        assert calls.has_room_for("slow")
        with held(calls, 1):
            assert not calls.has_room_for("slow")
            assert calls.has_room_for("another")
            assert not calls.has_room_for("slow", most=MOST_PER_ENDPOINT - 1)


def test_a_worker_has_room_for_so_many_in_all() -> None:
    calls = Calls()

    with held(calls, MOST_CALLS - 1):
        assert calls.has_room_for("another")
        with held(calls, 1, endpoint="one more"):
            assert not calls.has_room_for("another")


def test_an_answer_that_is_recorded_makes_room() -> None:
    calls = Calls()
    with held(calls, MOST_PER_ENDPOINT):
        assert not calls.has_room_for("slow")

    settle_all(calls)

    assert calls.has_room_for("slow")
    assert not calls.are_under_way


def test_as_many_as_there_is_room_for_run_at_once() -> None:
    calls, together = Calls(), [Event() for _ in range(MOST_CALLS)]

    def meet(n: int) -> bool:
        together[n].set()
        return all(one.wait(PATIENCE) for one in together)

    recorder = Recorder()
    for n in range(MOST_CALLS):
        calls.start(OutboundCall(str(n), n, lambda n=n: meet(n), recorder))  # type: ignore[misc]
    settle_all(calls)

    assert sorted(one for given in recorder.given for one in given) == [(n, True) for n in range(MOST_CALLS)]


def test_a_slow_call_keeps_no_other_answer_waiting() -> None:
    calls, recorder = Calls(), Recorder()

    with held(calls, 1):
        answer(calls, 1, 2, settle=recorder)
        calls.settle(CONN, patience=PATIENCE)
        assert recorder.given == [[(1, "answer 1"), (2, "answer 2")]]
        assert calls.are_under_way


def test_without_patience_nobody_is_waited_for() -> None:
    calls, recorder = Calls(), Recorder()

    with held(calls, 1, settle=recorder):
        assert calls.settle(CONN, patience=0) == []
        assert (recorder.given, calls.are_under_way) == ([], True)


def test_nothing_under_way_is_nothing_to_wait_for() -> None:
    assert Calls().settle(CONN, patience=PATIENCE) == []


def test_answers_are_recorded_together_by_kind_and_what_follows_is_returned() -> None:
    dues = [Due(uuid4(), queue, uuid4()) for queue in ("webhook", "trigger")]
    calls, hooks, handlers = Calls(), Recorder(dues[:1]), Recorder(dues[1:])
    answer(calls, 1, 2, 3, settle=hooks)
    answer(calls, 4, settle=handlers)

    assert set(calls.settle(CONN, patience=PATIENCE)) == set(dues)

    assert hooks.given == [[(n, f"answer {n}") for n in (1, 2, 3)]]
    assert handlers.given == [[(4, "answer 4")]]


def test_a_fault_of_ours_in_a_call_is_logged_and_spoils_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[dict[str, Any]] = []
    monkeypatch.setattr("tocsin.foundation.calls.log.error", lambda words, **more: logged.append(more))
    calls, recorder = Calls(), Recorder()

    def fail() -> None:
        raise ZeroDivisionError

    calls.start(OutboundCall("quick", 0, fail, recorder))
    answer(calls, 1, settle=recorder)
    settle_all(calls)

    assert recorder.given == [[(1, "answer 1")]]
    assert [type(one["exc_info"]) for one in logged] == [ZeroDivisionError]


def test_an_answer_that_could_not_be_recorded_is_recorded_the_next_time() -> None:
    """As when the connection died: the endpoint is not asked twice for that."""
    calls, recorder = Calls(), Recorder()
    failures = iter([True])

    def record(conn: Any, answered: Answered) -> list[Due]:
        if next(failures, False):
            raise ConnectionError
        return recorder(conn, answered)

    answer(calls, 1, settle=record)

    with pytest.raises(ConnectionError):
        calls.settle(CONN, patience=PATIENCE)
    assert calls.are_under_way
    settle_all(calls)

    assert recorder.given == [[(1, "answer 1")]]
