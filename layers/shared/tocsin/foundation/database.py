"""The connection of this execution environment, and the transactions that use cases open on it."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar
from uuid import UUID

import psycopg
from psycopg import Connection, errors
from psycopg.pq import TransactionStatus

from tocsin.foundation import deadlines, notices, work_queue
from tocsin.foundation.connecting import connect_in_time, reason_of
from tocsin.foundation.outages import DatabaseUnavailable, OutageReason
from tocsin.foundation.settings import settings

# psycopg reads statements above 4096 bytes anew each time, which takes up to 0.2 ms of ours.
psycopg._queries.MAX_CACHED_STATEMENT_LENGTH = 32_768
_STALE_AFTER = 240.0  # seconds idle before the connection is tried before use
_TRIED_FOR = 2.0  # seconds
_INSISTS_FOR = 6.0  # seconds for each try: above the worker's lock_timeout, and short enough for another try
_REPEATABLE = (errors.DeadlockDetected, errors.SerializationFailure)
_MOST_NUDGES = 8  # to one tenant's workers for what one piece of work made due; they go on by themselves
_ELSEWHERE = (OutageReason.READ_ONLY, OutageReason.DISK_FULL)  # the next connection may find another server, as after a failover

Result = TypeVar("Result")
Insist = Callable[[Callable[[Connection[Any]], object]], object]  # `insist`, as whoever has something to record is given it

_connection: Connection[Any] | None = None
_last_used = 0.0


def run(work: Callable[[Connection[Any]], Result]) -> Result:
    """Run `work` with the connection; once more on a fresh one if it had died and there is time, and again after a deadlock.
    What the database made due meanwhile is nudged.

    Work is safe to repeat: ids and lease tokens are made before it, and keys and fences refuse the second effect."""
    for trial in range(4):
        conn = _connected()
        try:
            result = work(conn)
            work_queue.nudge(notices.heard(conn), most_per_tenant=_MOST_NUDGES)
            return result
        except _REPEATABLE as error:
            if trial == 3:
                raise DatabaseUnavailable(OutageReason.LOCKED) from error
            time.sleep(random.uniform(0.01, 0.05) * (trial + 1))  # noqa: S311 - spreads rivals, guards nothing
        except psycopg.Error as error:
            reason = reason_of(error) or (OutageReason.LOST if conn.closed else None)
            if reason is None:
                raise
            died = conn.closed
            if (died or reason in _ELSEWHERE) and conn is _connection:
                disconnect()
            if not died or trial > 0 or deadlines.time_left() <= 0:
                raise DatabaseUnavailable(reason) from error
    raise AssertionError("unreachable")


def insist(work: Callable[[Connection[Any]], Result], *, has_time: Callable[[], bool]) -> Result:
    """Run `work` until Postgres takes it or the time is up: for what must not be forgotten, such as a provider's answer."""
    while True:
        try:
            with deadlines.within(_INSISTS_FOR):
                return run(work)
        except DatabaseUnavailable:
            if not has_time():
                raise
            time.sleep(0.5)


def worker_transaction(conn: Connection[Any]) -> AbstractContextManager[None]:
    """One transaction of a role that sees every tenant, for several statements that hold together."""
    return _seen_as(conn, {"tocsin.tenant": ""})


@contextmanager
def worker_round_trip(conn: Connection[Any]) -> Iterator[None]:
    """The same in one round trip, for what only writes or reads its results afterwards.

    What a pipeline sends before its end is one transaction without being asked; reading in between would end it early."""
    with conn.pipeline():
        yield


def tenant_transaction(conn: Connection[Any], tenant_id: UUID) -> AbstractContextManager[None]:
    """One transaction that sees one tenant."""
    return _seen_as(conn, {"tocsin.tenant": str(tenant_id)})


def installation_transaction(conn: Connection[Any], tenant_id: UUID) -> AbstractContextManager[None]:
    """One transaction that sees all tenants as such, and of one (until `act_for` another) what it has. For whoever administers
    the installation, and nobody else."""
    return _seen_as(conn, {"tocsin.installation": "on", "tocsin.tenant": str(tenant_id)})


def act_for(conn: Connection[Any], tenant_id: UUID) -> None:
    """From here on, and until its end, this transaction of the installation is about another tenant."""
    conn.execute("SELECT set_config(%s, %s, true)", ["tocsin.tenant", str(tenant_id)])


def operator_transaction(conn: Connection[Any], tenant_id: UUID) -> AbstractContextManager[None]:
    """The same for whoever operates it: the installation's own tenant may change there what is everyone's."""
    is_installation = "on" if is_of_installation(tenant_id) else "off"
    return _seen_as(conn, {"tocsin.tenant": str(tenant_id), "tocsin.installation": is_installation})


class NotYours(Exception):
    """It belongs to the whole installation, whose own tenant alone may change it. Whoever asked asks them."""


def is_of_installation(tenant_id: UUID) -> bool:
    return tenant_id == settings().default_tenant_id


@contextmanager
def tenant_round_trip(conn: Connection[Any], tenant_id: UUID) -> Iterator[None]:
    """The same in one round trip, as `worker_round_trip`."""
    with conn.pipeline():
        conn.execute("SELECT set_config(%s, %s, true)", ["tocsin.tenant", str(tenant_id)])
        yield


@contextmanager
def tenant_attempt(conn: Connection[Any], tenant_id: UUID) -> Iterator[None]:
    """One transaction of a tenant, or a part of the one that is open: what raises `psycopg.Rollback` undoes this alone."""
    with conn.pipeline() as pipeline:
        pipeline.sync()  # else psycopg does not see the open one, and would end it
        with conn.transaction():
            conn.execute("SELECT set_config(%s, %s, true)", ["tocsin.tenant", str(tenant_id)])
            yield


def key_transaction(conn: Connection[Any], key_hash: bytes) -> AbstractContextManager[None]:
    """One transaction that sees the API key with this hash and nothing else: before its tenant is known."""
    return _seen_as(conn, {"tocsin.key_hash": key_hash.hex()})


@contextmanager
def _seen_as(conn: Connection[Any], seen: dict[str, str]) -> Iterator[None]:
    try:
        with conn.pipeline():
            conn.execute("BEGIN")
            for setting, value in seen.items():
                conn.execute("SELECT set_config(%s, %s, true)", [setting, value])
            yield
            conn.execute("COMMIT")
    finally:
        if not conn.closed and conn.info.transaction_status != TransactionStatus.IDLE:
            conn.rollback()


def disconnect() -> None:
    global _connection  # noqa: PLW0603 - one connection per execution environment
    if _connection is not None:
        _connection.close()
        _connection = None


def _connected() -> Connection[Any]:
    global _connection, _last_used  # noqa: PLW0603
    if _connection is not None and not _is_fit(_connection):
        disconnect()
    if _connection is None:
        _connection = connect_in_time(settings())
    _last_used = time.monotonic()
    return _connection


def _is_fit(conn: Connection[Any]) -> bool:
    if conn.closed:
        return False
    if time.monotonic() - _last_used <= _STALE_AFTER:
        return True
    try:
        with deadlines.within(_TRIED_FOR):
            conn.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True
