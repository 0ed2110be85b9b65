"""The connection of this execution environment, and the transactions that use cases open on it."""

import json
import random
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import psycopg
from psycopg import Connection, errors
from psycopg.pq import TransactionStatus

from tocsin.settings import Settings, settings

# psycopg reads statements above 4096 bytes anew each time, which takes up to 0.2 ms of ours.
psycopg._queries.MAX_CACHED_STATEMENT_LENGTH = 32_768
RDS_CERTIFICATES = Path(__file__).with_name("rds-certificates.pem")
_STALE_AFTER = 240.0  # seconds idle before the connection is tried before use
_REPEATABLE = (errors.DeadlockDetected, errors.SerializationFailure)

Result = TypeVar("Result")

_connection: Connection[Any] | None = None
_last_used = 0.0


class DatabaseUnavailable(Exception):
    """Postgres could not be reached or refuses to write. HTTP doors answer 503, queue doors leave the message on the queue."""


def run(work: Callable[[Connection[Any]], Result]) -> Result:
    """Run `work` with the connection; once more on a fresh one if it had died, and again after a deadlock.

    Work is safe to repeat: ids and lease tokens are made before it, and keys and fences refuse the second effect."""
    for trial in range(4):
        conn = _connected()
        try:
            return work(conn)
        except _REPEATABLE:
            if trial == 3:
                raise
            time.sleep(random.uniform(0.01, 0.05) * (trial + 1))  # noqa: S311 - spreads rivals, guards nothing
        except psycopg.OperationalError as error:
            died = conn.broken or conn.closed
            if died or isinstance(error, errors.ReadOnlySqlTransaction | errors.DiskFull):
                disconnect()
            if not died or trial > 0:
                raise DatabaseUnavailable(type(error).__name__) from error
        except errors.ReadOnlySqlTransaction as error:
            disconnect()  # the old primary after a failover: the next connection finds the new one
            raise DatabaseUnavailable(type(error).__name__) from error
    raise AssertionError("unreachable")


def insist(work: Callable[[Connection[Any]], Result], *, has_time: Callable[[], bool]) -> Result:
    """Run `work` until Postgres takes it or the time is up: for what must not be forgotten, such as a provider's answer."""
    while True:
        try:
            return run(work)
        except DatabaseUnavailable:
            if not has_time():
                raise
            time.sleep(0.5)


def worker_transaction(conn: Connection[Any]) -> AbstractContextManager[None]:
    """One transaction of a role that sees every tenant, for several statements that hold together."""
    return _seen_as(conn, "tocsin.tenant", "")


def tenant_transaction(conn: Connection[Any], tenant_id: UUID) -> AbstractContextManager[None]:
    """One transaction that sees one tenant."""
    return _seen_as(conn, "tocsin.tenant", str(tenant_id))


@contextmanager
def tenant_round_trip(conn: Connection[Any], tenant_id: UUID) -> Iterator[None]:
    """The same in one round trip, for what only writes or reads its results afterwards.

    What a pipeline sends before its end is one transaction without being asked; reading in between would end it early."""
    with conn.pipeline():
        conn.execute("SELECT set_config(%s, %s, true)", ["tocsin.tenant", str(tenant_id)])
        yield


def key_transaction(conn: Connection[Any], key_hash: bytes) -> AbstractContextManager[None]:
    """One transaction that sees the API key with this hash and nothing else: before its tenant is known."""
    return _seen_as(conn, "tocsin.key_hash", key_hash.hex())


@contextmanager
def _seen_as(conn: Connection[Any], setting: str, value: str) -> Iterator[None]:
    try:
        with conn.pipeline():
            conn.execute("BEGIN")
            conn.execute("SELECT set_config(%s, %s, true)", [setting, value])
            yield
            conn.execute("COMMIT")
    finally:
        if not conn.closed and conn.info.transaction_status != TransactionStatus.IDLE:
            conn.rollback()


def connect(config: Settings) -> Connection[Any]:
    """A new connection. Never inside a transaction of its own (autocommit): transactions are opened by name."""
    prepare_threshold = 2 if config.database_prepared else None
    if config.tocsin_database_url:
        return psycopg.connect(config.tocsin_database_url, autocommit=True, prepare_threshold=prepare_threshold)
    secret = _read_secret(config.database_secret_arn)
    return psycopg.connect(
        host=config.database_host,
        port=config.database_port,
        dbname=config.database_name,
        user=secret["username"],
        password=secret["password"],
        sslmode=config.database_sslmode,
        sslrootcert=str(RDS_CERTIFICATES) if config.database_sslmode == "verify-full" else None,
        connect_timeout=3,
        application_name="tocsin",
        autocommit=True,
        prepare_threshold=prepare_threshold,
    )


def disconnect() -> None:
    global _connection  # noqa: PLW0603 - one connection per execution environment
    if _connection is not None:
        _connection.close()
        _connection = None


def _connected() -> Connection[Any]:
    global _connection, _last_used  # noqa: PLW0603
    if _connection is not None and time.monotonic() - _last_used > _STALE_AFTER:
        try:
            _connection.execute("SELECT 1")
        except psycopg.OperationalError:
            disconnect()
    if _connection is None:
        try:
            _connection = connect(settings())
        except psycopg.OperationalError as error:
            raise DatabaseUnavailable(type(error).__name__) from error
    _last_used = time.monotonic()
    return _connection


def _read_secret(arn: str) -> dict[str, str]:
    # Read at each connect, so that a rotated password is found by the next connection.
    from tocsin import aws  # noqa: PLC0415 - the SDK is slow to import and only a new connection needs it

    try:
        text = aws.read_secret(arn)
    except Exception as error:  # whatever keeps the password from us keeps the database from us
        raise DatabaseUnavailable(f"secret: {type(error).__name__}") from error
    secret: dict[str, str] = json.loads(text)
    return secret
