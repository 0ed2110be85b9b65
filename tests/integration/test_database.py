"""The connection of an execution environment: it may die, be refused or be read-only, and the work is safe to repeat."""

import os
import socket
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from psycopg import Connection, errors

from tests.world import TENANT, World
from tocsin.foundation import database, settings
from tocsin.foundation.database import insist, run, tenant_transaction
from tocsin.foundation.outages import DatabaseUnavailable, OutageReason
from tocsin.outbox.dispatch import dispatch


def _kill(world: World) -> None:
    """What a failover does to every connection."""
    world.admin.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'tocsin_app'")


def _pid(conn: Connection[Any]) -> int:
    return conn.info.backend_pid


def test_one_connection_serves_one_invocation_after_another(world: World) -> None:
    assert run(_pid) == run(_pid)


def test_a_connection_that_died_while_idle_is_replaced_unnoticed(world: World) -> None:
    before = run(_pid)
    _kill(world)

    after = run(lambda conn: (conn.execute("SELECT 1"), _pid(conn))[1])

    assert after != before


def test_packets_that_nobody_acknowledges_end_the_connection_after_five_seconds(world: World) -> None:
    with socket.socket(fileno=os.dup(run(lambda conn: conn.fileno()))) as wire:
        assert wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 5_000


def test_work_whose_connection_dies_under_way_is_done_once_more_and_only_once(world: World) -> None:
    tries: list[int] = []

    def work(conn: Connection[Any]) -> None:
        tries.append(_pid(conn))
        _kill(world)
        conn.execute("SELECT 1")

    with pytest.raises(DatabaseUnavailable):
        run(work)

    assert len(tries) == len(set(tries)) == 2


def test_a_request_survives_the_death_of_its_connection_without_a_second_effect(world: World) -> None:
    world.add_user()
    asked = world.asked(key="k-1")
    lives = iter([True, False])

    def work(conn: Connection[Any]) -> Any:
        if next(lives):
            world.try_accept(asked, conn=conn)  # committed, and the answer is lost
            _kill(world)
            conn.execute("SELECT 1")
        return world.try_accept(asked, conn=conn)[0]

    end = run(work)

    assert (end.notification_id, end.is_replay) == (asked.notification_id, False)
    assert world.count("records") == 1


@pytest.mark.parametrize("error", [errors.DeadlockDetected, errors.SerializationFailure])
def test_a_deadlock_is_tried_again_up_to_three_times(world: World, error: type[psycopg.Error]) -> None:
    tries: list[int] = []

    def work(conn: Connection[Any], *, losing: int) -> str:
        tries.append(1)
        if len(tries) <= losing:
            raise error
        return "done"

    assert run(lambda conn: work(conn, losing=3)) == "done"
    assert len(tries) == 4
    tries.clear()
    with pytest.raises(DatabaseUnavailable) as unavailable:
        run(lambda conn: work(conn, losing=9))
    assert (len(tries), unavailable.value.reason) == (4, OutageReason.LOCKED)


def test_a_server_that_only_reads_is_unavailable_and_the_next_try_looks_for_another(world: World) -> None:
    first = run(_pid)

    def write(conn: Connection[Any]) -> None:
        conn.execute("SET default_transaction_read_only = on")
        with tenant_transaction(conn, TENANT):
            conn.execute("DELETE FROM outbox")

    with pytest.raises(DatabaseUnavailable):
        run(write)

    assert run(_pid) != first


def test_a_server_that_takes_no_more_connections_is_unavailable(world: World, server: Any) -> None:
    name = world.admin.info.dbname
    world.admin.execute(f"ALTER DATABASE {name} CONNECTION LIMIT 0")  # type: ignore[call-overload]
    try:
        with pytest.raises(DatabaseUnavailable):
            run(_pid)
    finally:
        world.admin.execute(f"ALTER DATABASE {name} CONNECTION LIMIT -1")  # type: ignore[call-overload]


def test_a_mistake_of_ours_is_not_called_an_outage(world: World) -> None:
    def work(conn: Connection[Any]) -> None:
        conn.execute("SELECT * FROM nowhere")

    with pytest.raises(errors.UndefinedTable):
        run(work)


def test_insisting_goes_on_until_the_work_is_done_or_time_is_up(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database.time, "sleep", lambda seconds: None)
    tries: list[int] = []

    def work(succeeds_at: int) -> Callable[[Connection[Any]], str]:
        def attempt(conn: Connection[Any]) -> str:
            tries.append(1)
            if len(tries) < succeeds_at:
                raise DatabaseUnavailable(OutageReason.LOST)
            return "recorded"

        return attempt

    assert insist(work(4), has_time=lambda: True) == "recorded"
    with pytest.raises(DatabaseUnavailable):
        insist(work(99), has_time=lambda: len(tries) < 10)


def test_an_answer_of_a_provider_is_recorded_although_the_connection_died_meanwhile(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add_user()
    asked = world.accept()
    monkeypatch.setenv("TOCSIN_DATABASE_URL", world.dsn("tocsin_worker"))
    settings.settings.cache_clear()
    database.disconnect()

    def failover(message: object) -> None:
        world.admin.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'tocsin_worker'")

    world.email.answers.append(failover)  # type: ignore[arg-type]
    worker = replace(world.worker_policy(), insist=lambda work: insist(work, has_time=lambda: True))
    run(lambda conn: dispatch(conn, [asked.notification_id], worker))

    assert (world.route()["status"], len(world.email.accepted)) == ("published", 1)
