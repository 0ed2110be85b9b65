"""Circuit breaker: lanes that break and reopen, each with the system event that says so."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.store.rows import Lane


def count_failures(
    conn: Connection[Any],
    lane: str,
    *,
    failures: int,
    timed_out: bool,
    breaks_after: int,
    pause: timedelta,
    longest: timedelta,
    owner: UUID | None,
) -> None:
    """Count failures in a row. From the limit on the lane is broken for a pause that doubles; whoever the
    lane belongs to is told once: a tenant, or the installation."""
    conn.execute(
        """
        WITH counted AS (
            INSERT INTO lanes (
                lane, tenant_id, state, trouble, reason, resume_at, strikes, failures, timed_out, updated_at)
            VALUES (%(lane)s, %(owner)s, CASE WHEN %(failures)s >= %(breaks_after)s THEN 'broken' ELSE 'failing' END, 'failures',
                    CASE WHEN %(timed_out)s THEN 'time-outs in a row' ELSE 'failures in a row' END,
                    tocsin_now() + CASE WHEN %(failures)s >= %(breaks_after)s THEN %(pause)s ELSE interval '0' END,
                    1, %(failures)s, %(timed_out)s, tocsin_now())
            ON CONFLICT (lane) DO UPDATE
                SET tenant_id = EXCLUDED.tenant_id, failures = lanes.failures + EXCLUDED.failures, timed_out = EXCLUDED.timed_out,
                    state = CASE WHEN lanes.failures + EXCLUDED.failures >= %(breaks_after)s THEN 'broken' ELSE 'failing' END,
                    trouble = EXCLUDED.trouble, reason = EXCLUDED.reason, updated_at = EXCLUDED.updated_at,
                    strikes = CASE WHEN lanes.state = 'broken' THEN LEAST(lanes.strikes + 1, 20) ELSE 1 END,
                    resume_at = CASE WHEN lanes.failures + EXCLUDED.failures >= %(breaks_after)s
                        THEN tocsin_now() + LEAST(%(longest)s, %(pause)s
                            * power(2, CASE WHEN lanes.state = 'broken' THEN lanes.strikes ELSE 0 END))
                        ELSE tocsin_now() END,
                    probe_until = NULL, probe_size = 1
                WHERE lanes.resume_at <= tocsin_now()
            RETURNING lane, state, failures
        )
        INSERT INTO admin_system_events (event_type, severity, subject, tenant_id, description, details)
        SELECT 'breaker_opened', 'high', lane, %(owner)s,
               CASE WHEN lane LIKE 'webhook:%%' OR lane LIKE 'handler:%%'
                   THEN 'Calls to ' || lane || ' keep failing; it is tried now and then until it answers'
                   ELSE 'Sending on ' || lane || ' keeps failing; other ways are used where there are any' END,
               jsonb_build_object('lane', lane, 'failures', failures)
        FROM counted
        WHERE state = 'broken'
        ON CONFLICT (event_type, subject, tenant_id) WHERE NOT is_resolved DO NOTHING
        """,
        {
            "lane": lane,
            "failures": failures,
            "timed_out": timed_out,
            "breaks_after": breaks_after,
            "pause": pause,
            "longest": longest,
            "owner": owner,
        },
    )


def reopen(conn: Connection[Any], lane: Lane) -> None:
    """The lane is open again and its trouble is over, unless somebody changed it since we saw it."""
    conn.execute(
        """
        WITH reopened AS (
            DELETE FROM lanes WHERE lane = %(lane)s AND updated_at = %(updated_at)s RETURNING lane
        )
        UPDATE admin_system_events SET is_resolved = true, resolved_at = tocsin_now()
        FROM reopened
        WHERE subject = reopened.lane AND event_type <> 'webhook_disabled' AND NOT is_resolved
        """,
        {"lane": lane.lane, "updated_at": lane.updated_at},
    )
