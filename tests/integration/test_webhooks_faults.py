"""What goes wrong on our own side of a webhook: leases that lapse, workers that end, a database that goes away."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from tests.claiming import claim
from tests.crash.desk import Crew
from tests.crash.waiting import wait_until
from tests.webhooks import Gate, Receiver, add_hook, call_hooks, delivery, status, tell, webhook_worker
from tests.world import LEASE, World
from tocsin.webhooks import deliver

LATER = LEASE + timedelta(seconds=1)


def test_what_a_worker_took_and_never_finished_is_told_when_its_lease_ends(world: World, receiver: Receiver) -> None:
    add_hook(world, receiver.url)
    tell(world)
    claim(world.worker, world.due())

    call_hooks(world)
    assert receiver.heard == []
    world.pass_time(LATER)
    call_hooks(world)

    assert (delivery(world)["status"], delivery(world)["attempt_count"], len(receiver.heard)) == ("delivered", 1, 1)


def test_an_answer_that_comes_after_the_lease_is_not_recorded_over_what_another_worker_wrote(
    world: World, receiver: Receiver
) -> None:
    add_hook(world, receiver.url)
    tell(world)
    gate, crew = Gate(then=status(500, "too late")), Crew()
    receiver.answers.append(gate)
    slow = world.connect()

    crew.start(lambda: call_hooks(world, conn=slow))
    wait_until(lambda: gate.held == 1)
    world.admin.execute("UPDATE outbox SET leased_until = tocsin_now()")  # as after a pause
    call_hooks(world)
    assert delivery(world)["status"] == "delivered"
    gate.open()
    crew.join()

    row = delivery(world)
    assert (row["status"], row["attempt_count"], row["response_status"], row["error"]) == ("delivered", 1, 204, "")
    assert (len(receiver.ids), len(set(receiver.ids)), world.count("outbox")) == (2, 1, 0)


def test_work_that_ended_three_workers_is_buried_and_its_delivery_with_it(world: World, receiver: Receiver) -> None:
    add_hook(world, receiver.url)
    tell(world)
    for _ in range(3):
        claim(world.worker, world.due())
        world.pass_time(LATER)

    call_hooks(world)

    (letter,) = world.dead_letters()
    assert (letter["failure_classification"], letter["source_kind"]) == ("poison", "webhook")
    row = delivery(world)
    assert (row["status"], row["error"], row["next_retry_at"], receiver.heard) == ("failed", "poison", None, [])
    assert world.count("outbox") == 0


def test_an_answer_is_recorded_even_if_the_connection_died_meanwhile(world: World, receiver: Receiver) -> None:
    add_hook(world, receiver.url)
    tell(world)
    conn = world.connect()
    tries: list[Connection[Any]] = []

    def kill() -> Any:
        world.admin.execute("SELECT pg_terminate_backend(%s, 5000)", [conn.info.backend_pid])
        return status(200)

    def insist(work: Callable[[Connection[Any]], object]) -> object:
        tries.append(world.worker)
        return work(world.worker)

    receiver.answers.append(kill)
    with pytest.raises(psycopg.OperationalError):  # dispatch itself goes on with a connection that is gone
        call_hooks(world, replace(webhook_worker(), insist=insist), conn)
        call_hooks(world, webhook_worker(), conn)

    assert tries
    assert delivery(world)["status"] == "delivered"


def test_a_fault_of_ours_in_a_call_leaves_the_work_to_its_lease(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_hook(world, receiver.url)
    tell(world)

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("a fault of ours")

    with monkeypatch.context() as fault:
        fault.setattr(deliver, "ask", broken)
        call_hooks(world)
    assert (delivery(world)["status"], delivery(world)["attempt_count"]) == ("pending", 0)

    world.pass_time(LATER)
    call_hooks(world)
    assert delivery(world)["status"] == "delivered"


def test_no_transaction_is_open_while_an_endpoint_is_asked(world: World, receiver: Receiver) -> None:
    add_hook(world, receiver.url)
    tell(world)
    seen: list[str] = []

    def look() -> Any:
        query = "SELECT state FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        seen.extend(row["state"] for row in world.rows(query))
        return status(200)

    receiver.answers.append(look)
    call_hooks(world)

    assert seen
    assert "idle in transaction" not in " ".join(seen)
