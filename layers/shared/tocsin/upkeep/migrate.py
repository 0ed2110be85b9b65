"""Migrate: roles, schema, passwords. Plain SQL files, each with its rollback beside it, and one run at a time."""

import math
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from aws_lambda_powertools import Logger
from psycopg import Connection, errors, sql
from psycopg.pq import TransactionStatus

from tocsin.foundation import deadlines
from tocsin.foundation.deadlines import BoundedConnection
from tocsin.store import migrations

PATIENCE = timedelta(minutes=5)  # how long one run waits for another: half of what the function has
_ENDS_EARLY = 5.0  # seconds before the deadline the server itself gives a statement up, so that it rolls back and we can say why
_LOOK_EVERY = 0.5  # seconds
_TELL_EVERY = 10.0  # seconds
_LOCK_PAUSES = (0.5, 1, 2, 4, 8, 15, 15, 15, 15, 15, 15, 15)  # seconds between tries to get a lock: two minutes in all
_CROSSED = (errors.InternalError_, errors.UniqueViolation, errors.DuplicateObject)
_MOST_CROSSINGS = 200

log = Logger(child=True)


class MigrationUnderWay(Exception):
    """Another run has held the lock for too long. The deployment fails with who it is, and may be repeated."""


def migrate(database_url: str, folder: Path) -> list[str]:
    """Bring the database to the newest schema; returns what was applied. Safe to run twice, and at once from two places."""
    with alone(database_url) as conn:
        return bring_up_to_date(conn, folder)


def roll_back(database_url: str, folder: Path, *, count: int | None = None) -> list[str]:
    """Undo the newest migrations (all of them by default); returns what was undone."""
    with alone(database_url) as conn:
        tool, known = _tool(conn), _read(folder)
        chosen = list(tool.to_rollback(known))[:count]
        for one in chosen:
            _step(conn, tool, one, "rollback")
        return [one.id for one in chosen]


@contextmanager
def alone(database_url: str) -> Iterator[Connection[Any]]:
    """The owner's connection while nobody else migrates this database. The lock ends with the connection, however that ends."""
    with BoundedConnection.connect(database_url, autocommit=True, connect_timeout=10) as conn:
        conn.longest_wait = math.inf  # an index may take its time; the invocation's own deadline holds
        migrations.end_with_the_client(conn)
        _take_turn(conn)
        yield conn


def bring_up_to_date(conn: Connection[Any], folder: Path) -> list[str]:
    """Roles and schema. A migration and the note that it was made are one transaction: a run may be killed at any point. One that
    builds indexes beside running traffic cannot be one; it says IF NOT EXISTS throughout, and begins again."""
    _despite_other_databases(lambda: conn.execute((folder / "setup" / "roles.sql").read_bytes()))
    tool = _tool(conn)
    pending = list(tool.to_apply(_read(folder)))
    for one in pending:
        try:
            _step(conn, tool, one, "apply")
        except Exception as error:
            error.add_note(f"migration {one.id}")
            raise
    return [one.id for one in pending]


def set_password(conn: Connection[Any], role: str, password: str) -> None:
    _despite_other_databases(
        lambda: conn.execute(sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier(role), sql.Literal(password)))
    )


def act_as_worker(conn: Connection[Any]) -> None:
    """From here on this connection sees every tenant, as dispatch does."""
    _despite_other_databases(lambda: conn.execute("GRANT tocsin_worker TO CURRENT_USER"))
    conn.execute("SET ROLE tocsin_worker")


def _step(conn: Connection[Any], tool: Any, one: Any, direction: str) -> None:
    """Make or undo one migration while the service goes on. Whoever waits for a lock on a table holds up all who come after, so a
    migration gives up before they do, lets them pass, and tries again."""
    for pause in (*_LOCK_PAUSES, None):
        try:
            if one.use_transactions:
                with tool.transaction():
                    migrations.give_up_locks_soon(conn)
                    _process(tool, one, direction)
            else:
                for index in migrations.unfinished_indexes(conn):
                    log.info("dropping an index that was never finished", extra={"index": index})
                    conn.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier(index)))
                _process(tool, one, direction)
            return
        except errors.LockNotAvailable:
            if pause is None:
                raise
            log.info("a table is in use; trying again", extra={"migration": one.id, "pause_seconds": pause})
            time.sleep(pause * random.uniform(0.75, 1.25))  # noqa: S311 - spreads rivals, guards nothing


def _process(tool: Any, one: Any, direction: str) -> None:
    one.process_steps(tool, direction)
    tool.log_migration(one, direction)
    if direction == "apply":
        tool.mark_one(one, log=False)
    else:
        tool.unmark_one(one, log=False)


def _limit_the_next_statement(conn: Connection[Any]) -> None:
    """A function that is killed tells nobody why. The server ends what would outlast it and rolls it back; then we can say so."""
    left = deadlines.time_left() - _ENDS_EARLY
    if left < math.inf and conn.info.transaction_status != TransactionStatus.INERROR:  # there only ROLLBACK is heard
        migrations.end_statements_after(conn, max(left, 0.001))


def _take_turn(conn: Connection[Any]) -> None:
    began, told = time.monotonic(), -math.inf
    while not migrations.try_to_lock(conn):
        waited = time.monotonic() - began
        holder = migrations.holder_of_the_lock(conn)
        if waited >= PATIENCE.total_seconds():
            raise MigrationUnderWay(f"another run migrates this database: {holder}; gave up after {waited:.0f} s")
        if waited - told >= _TELL_EVERY:
            told = waited
            log.info("another run migrates this database; waiting", extra={"holder": holder, "waited_seconds": round(waited)})
        time.sleep(_LOOK_EVERY)


def _despite_other_databases(change: Callable[[], object]) -> None:
    """Roles belong to the whole server, where a lock of one database holds nobody back. Whoever crosses the change of a run in
    another database is told so ("tuple concurrently updated") with nothing changed, and tries again."""
    for crossings in range(_MOST_CROSSINGS + 1):
        try:
            change()
            return
        except _CROSSED:
            if crossings == _MOST_CROSSINGS:
                raise
            time.sleep(random.uniform(0.005, 0.05))  # noqa: S311 - spreads rivals, guards nothing


def _read(folder: Path) -> Any:
    from yoyo import read_migrations  # noqa: PLC0415 - only the migrate function has it

    found = read_migrations(str(folder))
    for one in found:
        one.load()
    return found


def _tool(conn: Connection[Any]) -> Any:
    """The migration tool on the connection that holds our lock, without its own: that is a row, which outlives a killed run."""
    from yoyo.backends.core.postgresql import PostgresqlPsycopgBackend  # noqa: PLC0415 - the same

    class OnOurConnection(PostgresqlPsycopgBackend):  # type: ignore[misc]
        def connect(self, dburi: object) -> Connection[Any]:
            return conn

        def cursor(self) -> Any:
            _limit_the_next_statement(conn)
            return super().cursor()

        def lock(self, timeout: float = 0) -> nullcontext[None]:
            return nullcontext()

    return OnOurConnection(SimpleNamespace(database=conn.info.dbname), "_yoyo_migration")
