"""Work whose handler calls other people's servers: a slow answer delays nobody, and every answer is recorded."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from threading import Event
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection

from tests.integration.endings import put
from tests.world import TENANT, World
from tocsin.foundation import notices
from tocsin.foundation.calls import Answered, OutboundCall
from tocsin.foundation.due import Due
from tocsin.foundation.ids import uuid7
from tocsin.outbox.dispatch import dispatch
from tocsin.outbox.handlers import HANDLERS, Handler
from tocsin.outbox.worker import Hold
from tocsin.store.rows import Work

PATIENCE = 20.0  # seconds: what is waited for comes, or the test fails


class Endpoints:
    """A kind of work that asks an endpoint: `answers` says how each piece is answered; what is recorded, is done."""

    def __init__(self, answers: dict[UUID, Callable[[], Any]]) -> None:
        self.answers = answers
        self.recorded: list[tuple[UUID, Any]] = []
        self.on_record: Callable[[Connection[Any], list[UUID]], list[Due]] = lambda conn, ids: []

    def handle(self, conn: Connection[Any], claimed: list[Work], hold: Hold) -> list[Due]:
        for one in claimed:
            ask = self.answers.get(one.id, lambda: "at once")
            hold.worker.calls.start(OutboundCall(str(one.id), one.id, ask, self.settle))
        return []

    def settle(self, conn: Connection[Any], answered: Answered) -> list[Due]:
        self.recorded += answered
        ids = [about for about, _ in answered]
        conn.execute("DELETE FROM outbox WHERE id = ANY(%s)", [ids])
        return self.on_record(conn, ids)


def one_round(time_is_up: Event) -> Callable[[], timedelta]:
    """What is left of an invocation that has the time for one round."""
    left = iter([timedelta(seconds=30)] * 2)  # asked for by the loop and by the claim

    def remaining() -> timedelta:
        found = next(left, None)
        if found is None:
            time_is_up.set()
        return found or timedelta(0)

    return remaining


@pytest.fixture
def endpoints(monkeypatch: pytest.MonkeyPatch) -> Endpoints:
    planted = Endpoints({})
    monkeypatch.setitem(HANDLERS, "webhook", Handler(planted.handle, frozenset({"webhook"})))  # type: ignore[arg-type]
    return planted


@pytest.fixture(params=[None, "webhook"], ids=["any queue", "its own queue"])
def queue(request: pytest.FixtureRequest) -> str | None:
    found: str | None = request.param
    return found


def test_a_slow_call_delays_no_other_work(queue: str | None, world: World, endpoints: Endpoints) -> None:
    """It answers when the others are recorded, and not before: whoever waited for it first would wait in vain."""
    others_are_recorded = Event()
    slow, *others = [put(world, "webhook", "webhook") for _ in range(4)]
    endpoints.answers[slow] = lambda: others_are_recorded.wait(PATIENCE)

    def note(conn: Connection[Any], ids: list[UUID]) -> list[Due]:
        if {about for about, _ in endpoints.recorded} >= set(others):
            others_are_recorded.set()
        return []

    endpoints.on_record = note
    worker = replace(world.worker_policy(batch_size=1), queue=queue)

    assert dispatch(world.worker, [slow, *others], worker) == 4

    assert endpoints.recorded[-1] == (slow, True)
    assert world.count("outbox") == 0


def test_work_that_comes_while_a_call_is_under_way_is_done(world: World, endpoints: Endpoints) -> None:
    later_is_recorded = Event()
    came: list[UUID] = []
    slow, quick = put(world, "webhook", "webhook"), put(world, "webhook", "webhook")
    endpoints.answers[slow] = lambda: later_is_recorded.wait(PATIENCE)

    def come(conn: Connection[Any], ids: list[UUID]) -> list[Due]:
        if ids == [quick]:
            came.append(put(world, "webhook", "webhook"))  # by somebody else, and nobody nudged us
        elif set(ids) <= set(came):
            later_is_recorded.set()
        return []

    endpoints.on_record = come

    dispatch(world.worker, [slow, quick], replace(world.worker_policy(), queue="webhook"))

    assert endpoints.recorded == [(quick, "at once"), (came[0], "at once"), (slow, True)]


def test_when_the_time_is_up_nothing_is_begun_and_every_answer_is_recorded(
    queue: str | None, world: World, endpoints: Endpoints
) -> None:
    time_is_up = Event()
    slow, left = put(world, "webhook", "webhook"), put(world, "webhook", "webhook")
    endpoints.answers[slow] = lambda: time_is_up.wait(PATIENCE)

    worker = replace(world.worker_policy(batch_size=1), queue=queue, remaining=one_round(time_is_up))

    assert dispatch(world.worker, [slow, left], worker) == 1

    assert endpoints.recorded == [(slow, True)]
    assert world.due() == [left]
    assert [nudge.ids for nudge in world.nudges()] == [[left]], "somebody else goes on"


@pytest.mark.parametrize("at_the_end", [False, True], ids=["meanwhile", "at the end"])
def test_what_the_database_made_due_with_an_answer_is_nudged(at_the_end: bool, world: World, endpoints: Endpoints) -> None:
    """What is for other workers is said by the database, not by the handler."""
    made: list[UUID] = []
    time_is_up = Event()
    one = put(world, "webhook", "webhook")
    if at_the_end:
        endpoints.answers[one] = lambda: time_is_up.wait(PATIENCE)

    def fire(conn: Connection[Any], ids: list[UUID]) -> list[Due]:
        made.append(uuid7())
        conn.execute(
            "INSERT INTO outbox (id, tenant_id, source_kind, queue, due_at, max_attempts, retry_backoff, retry_base_ms)"
            " VALUES (%s, %s, 'trigger', 'trigger', tocsin_now(), 5, 'exponential', 1000)",
            [made[0], TENANT],
        )
        return []

    endpoints.on_record = fire

    worker = replace(world.worker_policy(), queue="webhook")
    dispatch(world.worker, [one], replace(worker, remaining=one_round(time_is_up)) if at_the_end else worker)

    assert [(nudge.queue, nudge.ids) for nudge in world.nudges()] == [("trigger", made)]
    assert notices.heard(world.worker) == []


def test_what_follows_from_the_last_answers_is_left_to_somebody_else(world: World, endpoints: Endpoints) -> None:
    time_is_up = Event()
    slow = put(world, "webhook", "webhook")
    follower = put(world, "webhook", "webhook")
    world.admin.execute("UPDATE outbox SET due_at = due_at + interval '1 hour' WHERE id = %s", [follower])
    endpoints.answers[slow] = lambda: time_is_up.wait(PATIENCE)

    def wake(conn: Connection[Any], ids: list[UUID]) -> list[Due]:
        conn.execute("UPDATE outbox SET due_at = tocsin_now() WHERE id = %s", [follower])
        return [Due(follower, "webhook", TENANT)]

    endpoints.on_record = wake

    dispatch(world.worker, [slow], replace(world.worker_policy(), queue="webhook", remaining=one_round(time_is_up)))

    assert [nudge.ids for nudge in world.nudges()] == [[follower]]
