"""The one clock: the database's."""

from datetime import datetime
from typing import Any

from psycopg import Connection


def now(conn: Connection[Any]) -> datetime:
    row = conn.execute("SELECT tocsin_now()").fetchone()
    assert row is not None  # noqa: S101 - it reads no table
    moment: datetime = row[0]
    return moment
