"""The state of each way out, shared by all workers. A lane without a row is open."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from psycopg import Connection, Cursor
from psycopg.rows import class_row


@dataclass(frozen=True, slots=True)
class Lane:
    lane: str
    state: str
    reason: str
    resume_at: datetime
    is_closed: bool
    updated_at: datetime


def all_troubled(conn: Connection[Any]) -> Cursor[Lane]:
    return conn.cursor(row_factory=class_row(Lane)).execute(
        "SELECT lane, state, reason, resume_at, resume_at > tocsin_now() AS is_closed, updated_at FROM lanes"
    )


def close(conn: Connection[Any], lane: str, *, state: str, reason: str, pause: timedelta, longest: timedelta) -> None:
    """Close a lane for a while; each further closing after it resumed doubles the pause, up to the longest."""
    conn.execute(
        """
        INSERT INTO lanes (lane, state, reason, resume_at, strikes, updated_at)
        VALUES (%(lane)s, %(state)s, %(reason)s, tocsin_now() + %(pause)s, 1, tocsin_now())
        ON CONFLICT (lane) DO UPDATE
            SET state = EXCLUDED.state, reason = EXCLUDED.reason, updated_at = EXCLUDED.updated_at,
                strikes = LEAST(lanes.strikes + 1, 20),
                resume_at = tocsin_now()
                    + GREATEST(%(pause)s, LEAST(%(pause)s * power(2, lanes.strikes), %(longest)s))
            WHERE lanes.resume_at <= tocsin_now() OR lanes.state < EXCLUDED.state
        """,
        {"lane": lane, "state": state, "reason": reason, "pause": pause, "longest": longest},
    )


def reopen(conn: Connection[Any], lane: Lane) -> None:
    """A message went through: the lane is open again, unless someone closed it anew meanwhile."""
    conn.execute(
        "DELETE FROM lanes WHERE lane = %(lane)s AND updated_at = %(updated_at)s",
        {"lane": lane.lane, "updated_at": lane.updated_at},
    )
