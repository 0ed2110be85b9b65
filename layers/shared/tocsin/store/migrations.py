"""Which migrations the database has, which one this code needs, and who is making one just now."""

from dataclasses import dataclass
from typing import Any

from psycopg import Connection

EXPECTED = "0037a.copies_index"
_LOCK = 0x746F6373696E  # "tocsin", a number of our own among the advisory locks of a database


@dataclass(frozen=True, slots=True)
class Schema:
    latest: str | None
    has_expected: bool
    serves_since: str | None = None  # the number of the migration that code must know to live with this schema; None: any code

    @property
    def is_left_behind(self) -> bool:
        """Whether this code is too old for the schema."""
        return self.serves_since is not None and EXPECTED.partition(".")[0] < self.serves_since


def schema(conn: Connection[Any]) -> Schema:
    """How far the database is. Each migration depends on the one before, so whoever has the expected one has them all. Newer ones
    suit this code too, because a release only adds and a later one removes; one that does not says so in its name: what is called
    `0042.less.since-0040` leaves code behind that does not know 0040."""
    row = conn.execute(
        r"""
        SELECT max(migration_id), COALESCE(bool_or(migration_id = %s), false), max(substring(migration_id FROM '\.since-(\w+)$'))
        FROM _yoyo_migration
        """,
        [EXPECTED],
    ).fetchone()
    return Schema(*row) if row else Schema(None, False)


def try_to_lock(conn: Connection[Any]) -> bool:
    """Take the lock of this database for this session, unless another one has it."""
    row = conn.execute("SELECT pg_try_advisory_lock(%s)", [_LOCK]).fetchone()
    return bool(row and row[0])


def holder_of_the_lock(conn: Connection[Any]) -> str:
    """Who has it, for people to read."""
    row = conn.execute(
        """
        SELECT format('process %%s of %%s, connected since %%s', pid, COALESCE(client_addr::text, 'this host'), backend_start)
        FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE locktype = 'advisory' AND granted AND objsubid = 1
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
          AND (classid::bigint << 32) + objid::bigint = %s
        """,
        [_LOCK],
    ).fetchone()
    return str(row[0]) if row else "one that has just ended"


def end_with_the_client(conn: Connection[Any]) -> None:
    """Let the server notice within seconds that this session's client is gone: killed, or cut off without a word."""
    conn.execute(
        """
        SELECT set_config('client_connection_check_interval', '2s', false), set_config('tcp_keepalives_idle', '10', false),
               set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false)
        """
    )


def give_up_locks_soon(conn: Connection[Any]) -> None:
    """In this transaction: wait for a lock for less long than intake does (setup/roles.sql), which would wait behind us. What a
    statement does once it has its locks may take its time, up to the deadline (`end_statements_after`)."""
    conn.execute("SELECT set_config('lock_timeout', '500ms', true), set_config('statement_timeout', '0', true)")


def end_statements_after(conn: Connection[Any], seconds: float) -> None:
    """From here on in this session, over what its role or its transaction says."""
    conn.execute("SELECT set_config('statement_timeout', %s, false)", [f"{max(1, round(seconds * 1000))}ms"])


def unfinished_indexes(conn: Connection[Any]) -> list[str]:
    """What a CREATE INDEX CONCURRENTLY left behind that failed: an index that is written and never read, and whose name is taken.
    Not one that somebody is building just now."""
    rows = conn.execute(
        """
        SELECT pg_class.relname
        FROM pg_index JOIN pg_class ON pg_class.oid = pg_index.indexrelid
        WHERE NOT pg_index.indisvalid AND pg_class.relnamespace = 'public'::regnamespace
          AND NOT EXISTS (SELECT FROM pg_stat_progress_create_index AS built WHERE built.index_relid = pg_index.indexrelid)
        """
    ).fetchall()
    return [name for (name,) in rows]
