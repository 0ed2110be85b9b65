"""A frozen Postgres: whatever is waited for, the wait ends at the deadline, and what was asked is safe to ask again."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import pytest
from psycopg import Connection

from devstack.postgres import Postgres
from tests.frozen import backend, frozen, whole
from tests.world import TENANT, World
from tocsin.foundation import connecting, database, deadlines
from tocsin.foundation.database import insist, run, tenant_round_trip, tenant_transaction, worker_transaction
from tocsin.foundation.deadlines import within
from tocsin.foundation.outages import DatabaseUnavailable, OutageReason
from tocsin.foundation.settings import Settings, settings
from tocsin.intake.accept_intents import Admitted

Freeze = Callable[[Connection[Any]], None]


@pytest.fixture
def freeze(world: World) -> Iterator[Freeze]:
    """Stop the process at the other end of a connection, until the test is over."""
    with ExitStack() as stack:
        yield lambda conn: stack.enter_context(frozen(conn.info.backend_pid))


def _statement(conn: Connection[Any], freeze: Freeze) -> None:
    freeze(conn)
    conn.execute("SELECT 1")


def _more_than_the_wire_holds(conn: Connection[Any], freeze: Freeze) -> None:
    freeze(conn)
    conn.execute("SELECT %s::text", ["x" * 50_000_000])


def _round_trip(conn: Connection[Any], freeze: Freeze) -> None:
    freeze(conn)
    with tenant_round_trip(conn, TENANT):
        conn.execute("SELECT 1")


def _reading_in_the_middle(conn: Connection[Any], freeze: Freeze) -> None:
    freeze(conn)
    with worker_transaction(conn):
        conn.execute("SELECT 1").fetchone()


def _commit(conn: Connection[Any], freeze: Freeze) -> None:
    with tenant_transaction(conn, TENANT):
        conn.execute("SELECT 1").fetchone()
        freeze(conn)


def _begin_of_psycopgs(conn: Connection[Any], freeze: Freeze) -> None:
    freeze(conn)
    with conn.transaction():
        raise AssertionError("it began")


def _commit_of_psycopgs(conn: Connection[Any], freeze: Freeze) -> None:
    with conn.transaction():
        conn.execute("SELECT 1")
        freeze(conn)


def _rollback(conn: Connection[Any], freeze: Freeze) -> None:
    conn.execute("BEGIN")
    freeze(conn)
    conn.rollback()


WAITS = [
    _statement, _more_than_the_wire_holds, _round_trip, _reading_in_the_middle, _commit, _begin_of_psycopgs, _commit_of_psycopgs,
    _rollback,
]  # fmt: skip


@pytest.mark.parametrize("wait", WAITS, ids=lambda wait: wait.__name__.strip("_"))
def test_every_wait_ends_at_the_deadline_and_the_connection_is_not_used_again(
    world: World, freeze: Freeze, wait: Callable[[Connection[Any], Freeze], None]
) -> None:
    used: list[Connection[Any]] = []

    def work(conn: Connection[Any]) -> None:
        used.append(conn)
        wait(conn, freeze)

    run(lambda conn: None)
    with pytest.raises(DatabaseUnavailable) as unavailable, within(0.5):
        run(work)

    assert unavailable.value.reason == OutageReason.TIMEOUT
    assert [conn.closed for conn in used] == [True]  # tried once: a second time would outlast the function
    assert run(lambda conn: conn) is not used[0]


def test_what_went_wrong_before_the_server_froze_is_what_is_told(world: World, freeze: Freeze) -> None:
    def work(conn: Connection[Any]) -> None:
        with tenant_transaction(conn, TENANT):
            conn.execute("SELECT 1").fetchone()
            freeze(conn)
            raise LookupError

    with pytest.raises(LookupError), within(0.5):
        run(work)

    assert run(lambda conn: conn.execute("SELECT 7").fetchone()) == (7,)


def test_a_frozen_connection_is_closed_without_waiting(world: World) -> None:
    with frozen(backend()):
        database.disconnect()


def test_work_is_done_on_another_connection_while_there_is_time(
    world: World, freeze: Freeze, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines.BoundedConnection, "longest_wait", 2.0)
    tries: list[int] = []

    def work(conn: Connection[Any]) -> int:
        tries.append(conn.info.backend_pid)
        if len(tries) == 1:
            freeze(conn)
        return conn.execute("SELECT 7").fetchone()[0]  # type: ignore[index, no-any-return]

    with within(60):
        assert run(work) == 7

    assert len(set(tries)) == 2


def test_insisting_leaves_a_frozen_connection_for_another(world: World, freeze: Freeze, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_INSISTS_FOR", 0.5)
    tries: list[int] = []

    def work(conn: Connection[Any]) -> str:
        tries.append(1)
        if len(tries) < 3:
            freeze(conn)
        conn.execute("SELECT 1")
        return "recorded"

    assert insist(work, has_time=lambda: True) == "recorded"
    assert len(tries) >= 3


def test_a_connection_that_froze_while_idle_is_replaced_unnoticed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "_TRIED_FOR", 0.3)
    before = backend()
    monkeypatch.setattr(database, "_STALE_AFTER", -1.0)

    with frozen(before), within(60):
        assert backend() != before


def test_an_intent_whose_commit_is_in_doubt_is_accepted_once_when_it_is_sent_again(world: World) -> None:
    world.add_user()
    asked = world.asked(key="k-1")
    run(lambda conn: None)

    with frozen(backend()), within(0.5), pytest.raises(DatabaseUnavailable):
        run(lambda conn: world.try_accept(asked, conn=conn))
    while not world.count("records"):  # what the server had been sent it carries out when it comes round
        world.one("SELECT 1 FROM pg_sleep(0.01)")
    (end,) = run(lambda conn: world.try_accept(world.asked(key="k-1"), conn=conn))

    assert isinstance(end, Admitted)
    assert (end.notification_id, end.is_replay, world.count("records")) == (asked.notification_id, True, 1)


def test_a_server_that_is_frozen_as_a_whole_takes_no_new_connection(world: World, server: Postgres) -> None:
    with frozen(*whole(server)), within(0.5), pytest.raises(DatabaseUnavailable) as unavailable:
        run(lambda conn: None)

    assert unavailable.value.reason == OutageReason.TIMEOUT


@contextmanager
def _listener(says: bytes) -> Iterator[int]:
    """A server that takes connections, says this much and no more."""
    held: list[socket.socket] = []
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:

        def serve() -> None:
            while True:
                try:
                    held.append(listening.accept()[0])
                    held[-1].sendall(says)
                except OSError:
                    return

        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
    for one in held:
        one.close()


@pytest.mark.parametrize(
    ("sslmode", "says"),
    [("disable", b""), ("require", b""), ("require", b"S"), ("disable", b"R\x00\x00\x00\x08\x00\x00\x00\x03")],
    ids=["before a word", "before TLS", "during TLS", "during authentication"],
)
def test_a_server_that_freezes_while_it_is_being_connected_to_is_left_at_the_deadline(sslmode: str, says: bytes) -> None:
    with _listener(says) as port, within(0.5), pytest.raises(DatabaseUnavailable) as unavailable:
        connecting.connect_in_time(
            Settings(tocsin_database_url=f"postgresql://tocsin_app:x@127.0.0.1:{port}/x?sslmode={sslmode}")
        )

    assert unavailable.value.reason == OutageReason.TIMEOUT


def test_a_name_server_that_does_not_answer_is_left_at_the_deadline_and_what_comes_late_is_closed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers, resolve = threading.Event(), socket.getaddrinfo

    def slow(*args: Any, **options: Any) -> Any:
        answers.wait(60)
        return resolve(*args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    monkeypatch.setenv("TOCSIN_DATABASE_URL", world.dsn("tocsin_app").replace("127.0.0.1", "localhost"))
    settings.cache_clear()
    threads = set(threading.enumerate())

    with within(0.5), pytest.raises(DatabaseUnavailable) as unavailable:
        run(lambda conn: None)
    answers.set()
    for late in set(threading.enumerate()) - threads:
        late.join(30)

    assert unavailable.value.reason == OutageReason.TIMEOUT
    while world.one("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tocsin'"):
        world.one("SELECT 1 FROM pg_sleep(0.01)")


def test_without_time_nothing_is_even_tried(world: World) -> None:
    tries: list[int] = []

    with within(0), pytest.raises(DatabaseUnavailable):
        run(lambda conn: tries.append(1))

    assert tries == []


def test_a_deadline_never_reaches_beyond_the_one_around_it() -> None:
    with within(10):
        with within(60):
            assert deadlines.time_left() <= 10
        with within(1):
            assert deadlines.time_left() <= 1
        assert deadlines.time_left() > 1
    assert deadlines.time_left() == float("inf")
