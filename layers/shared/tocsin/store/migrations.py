"""Which migrations the database has, and which one this code needs."""

from typing import Any

from psycopg import Connection

EXPECTED = "0014.rotation"


def latest(conn: Connection[Any]) -> str | None:
    row = conn.execute("SELECT max(migration_id) FROM _yoyo_migration").fetchone()
    return row[0] if row else None
