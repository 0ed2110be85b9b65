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
            WHERE lanes.resume_at <= tocsin_now() OR lanes.state IN ('failing', 'broken')
               OR lanes.state = 'slowed' AND EXCLUDED.state = 'stopped'
        """,
        {"lane": lane, "state": state, "reason": reason, "pause": pause, "longest": longest},
    )


def count_failures(
    conn: Connection[Any], lane: str, *, failures: int, breaks_after: int, pause: timedelta, longest: timedelta
) -> None:
    """Count failures in a row. From the limit on the lane is broken for a pause that doubles; the operator is told once."""
    conn.execute(
        """
        WITH counted AS (
            INSERT INTO lanes (lane, state, reason, resume_at, strikes, failures, updated_at)
            VALUES (%(lane)s, CASE WHEN %(failures)s >= %(breaks_after)s THEN 'broken' ELSE 'failing' END, 'failures in a row',
                    tocsin_now() + CASE WHEN %(failures)s >= %(breaks_after)s THEN %(pause)s ELSE interval '0' END,
                    1, %(failures)s, tocsin_now())
            ON CONFLICT (lane) DO UPDATE
                SET failures = lanes.failures + EXCLUDED.failures, updated_at = EXCLUDED.updated_at,
                    state = CASE WHEN lanes.failures + EXCLUDED.failures >= %(breaks_after)s THEN 'broken' ELSE 'failing' END,
                    reason = EXCLUDED.reason,
                    strikes = LEAST(lanes.strikes + (lanes.state = 'broken')::integer, 20),
                    resume_at = CASE WHEN lanes.failures + EXCLUDED.failures >= %(breaks_after)s
                        THEN tocsin_now()
                            + LEAST(%(pause)s * power(2, lanes.strikes - 1 + (lanes.state = 'broken')::integer), %(longest)s)
                        ELSE tocsin_now() END
                WHERE lanes.resume_at <= tocsin_now()
            RETURNING lane, state, failures
        )
        INSERT INTO admin_system_events (event_type, severity, subject, description, details)
        SELECT 'breaker_opened', 'high', lane, 'Sending on ' || lane || ' keeps failing; other ways are used where there are any',
               jsonb_build_object('lane', lane, 'failures', failures)
        FROM counted
        WHERE state = 'broken'
        ON CONFLICT (event_type, subject, tenant_id) WHERE NOT is_resolved DO NOTHING
        """,
        {
            "lane": lane,
            "failures": failures,
            "breaks_after": breaks_after,
            "pause": pause,
            "longest": longest,
        },
    )


def reopen(conn: Connection[Any], lane: Lane) -> None:
    """A message went through: the lane is open again, unless someone closed it anew meanwhile."""
    conn.execute(
        "DELETE FROM lanes WHERE lane = %(lane)s AND updated_at = %(updated_at)s",
        {"lane": lane.lane, "updated_at": lane.updated_at},
    )
