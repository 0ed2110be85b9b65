"""What the database server says of itself."""

from dataclasses import dataclass
from typing import Any

from psycopg import Connection


@dataclass(frozen=True, slots=True)
class Server:
    """`allowed`: how many connections roles such as ours may have in all, in every database of this server."""

    version: str
    version_number: int  # 170004 is 17.4
    connections: int
    allowed: int
    is_read_only: bool


def describe(conn: Connection[Any]) -> Server:
    row = conn.execute(
        """
        SELECT current_setting('server_version'), current_setting('server_version_num')::integer,
               (SELECT sum(numbackends) FROM pg_stat_database)::integer,
               current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
                   - COALESCE(current_setting('reserved_connections', true), '0')::integer,
               pg_is_in_recovery()
        """
    ).fetchone()
    assert row is not None  # noqa: S101 - it reads no table of ours
    return Server(*row)
