"""Which migrations the database has, which one this code needs, and who is making one just now."""

from typing import Any

from psycopg import Connection

EXPECTED = "0014.crowds"
_LOCK = 0x746F6373696E  # "tocsin", a number of our own among the advisory locks of a database


def latest(conn: Connection[Any]) -> str | None:
    row = conn.execute("SELECT max(migration_id) FROM _yoyo_migration").fetchone()
    return row[0] if row else None


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
