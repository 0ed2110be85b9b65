"""The state of each way out, shared by all workers: the circuit breaker. A lane without a row is open."""

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
    timed_out: bool = False  # its last failures were time-outs: they cost a sender's time, not only an answer
    probe_size: int = 1  # how many may go while it recovers
    probe_until: datetime | None = None  # somebody is trying it until then
    is_ours: bool = False  # and that is us

    @property
    def is_recovering(self) -> bool:
        """Its pause is over and nothing went through yet: it is tried, not used."""
        return not self.is_closed and self.state != "failing"


def all_troubled(conn: Connection[Any]) -> Cursor[Lane]:
    return conn.cursor(row_factory=class_row(Lane)).execute(
        """
        SELECT lane, state, reason, resume_at, resume_at > tocsin_now() AS is_closed, updated_at, timed_out, probe_size,
               probe_until
        FROM lanes
        """
    )


def take_probes(conn: Connection[Any], wanted: list[str], *, lease: timedelta) -> list[Lane]:
    """Ask to be the one who tries these lanes, and return them as they are now; one that is missing is open again.

    Of several who ask, one gets it. Whoever dies with it holds the lane up until the lease ends, and no longer."""
    return (
        conn.cursor(row_factory=class_row(Lane))
        .execute(
            """
            WITH taken AS (
                UPDATE lanes SET probe_until = tocsin_now() + %(lease)s
                WHERE lane = ANY(%(wanted)s) AND resume_at <= tocsin_now()
                  AND (probe_until IS NULL OR probe_until <= tocsin_now())
                RETURNING *
            )
            SELECT lane, state, reason, resume_at, resume_at > tocsin_now() AS is_closed, updated_at, timed_out, probe_size,
                   probe_until, is_ours
            FROM (
                SELECT *, true AS is_ours FROM taken
                UNION ALL
                SELECT *, false FROM lanes WHERE lane = ANY(%(wanted)s) AND lane NOT IN (SELECT lane FROM taken)
            ) AS lane
            """,
            {"wanted": wanted, "lease": lease},
        )
        .fetchall()
    )


def release_probe(conn: Connection[Any], lane: Lane) -> None:
    """Nothing was learned: the next one may try."""
    conn.execute(
        "UPDATE lanes SET probe_until = NULL WHERE lane = %(lane)s AND probe_until = %(probe_until)s",
        {"lane": lane.lane, "probe_until": lane.probe_until},
    )


def close(
    conn: Connection[Any], lane: str, *, state: str, trouble: str, reason: str, pause: timedelta, longest: timedelta
) -> None:
    """Close a lane for a while. Each further time for the same trouble, with nothing through in between, doubles the pause."""
    conn.execute(
        """
        INSERT INTO lanes (lane, state, trouble, reason, resume_at, strikes, updated_at)
        VALUES (%(lane)s, %(state)s, %(trouble)s, %(reason)s, tocsin_now() + %(pause)s, 1, tocsin_now())
        ON CONFLICT (lane) DO UPDATE
            SET state = EXCLUDED.state, trouble = EXCLUDED.trouble, reason = EXCLUDED.reason, updated_at = EXCLUDED.updated_at,
                strikes = CASE WHEN lanes.trouble = EXCLUDED.trouble THEN LEAST(lanes.strikes + 1, 20) ELSE 1 END,
                resume_at = tocsin_now() + GREATEST(%(pause)s, LEAST(%(longest)s, %(pause)s
                    * power(2, CASE WHEN lanes.trouble = EXCLUDED.trouble THEN lanes.strikes ELSE 0 END))),
                failures = 0, timed_out = false, probe_until = NULL, probe_size = 1
            WHERE lanes.resume_at <= tocsin_now() OR lanes.state IN ('failing', 'broken')
               OR lanes.state = 'slowed' AND EXCLUDED.state = 'stopped'
        """,
        {"lane": lane, "state": state, "trouble": trouble, "reason": reason, "pause": pause, "longest": longest},
    )


def count_failures(
    conn: Connection[Any],
    lane: str,
    *,
    failures: int,
    timed_out: bool,
    breaks_after: int,
    pause: timedelta,
    longest: timedelta,
) -> None:
    """Count failures in a row. From the limit on the lane is broken for a pause that doubles; the operator is told once."""
    conn.execute(
        """
        WITH counted AS (
            INSERT INTO lanes (lane, state, trouble, reason, resume_at, strikes, failures, timed_out, updated_at)
            VALUES (%(lane)s, CASE WHEN %(failures)s >= %(breaks_after)s THEN 'broken' ELSE 'failing' END, 'failures',
                    CASE WHEN %(timed_out)s THEN 'time-outs in a row' ELSE 'failures in a row' END,
                    tocsin_now() + CASE WHEN %(failures)s >= %(breaks_after)s THEN %(pause)s ELSE interval '0' END,
                    1, %(failures)s, %(timed_out)s, tocsin_now())
            ON CONFLICT (lane) DO UPDATE
                SET failures = lanes.failures + EXCLUDED.failures, timed_out = EXCLUDED.timed_out,
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
            "timed_out": timed_out,
            "breaks_after": breaks_after,
            "pause": pause,
            "longest": longest,
        },
    )


def widen(conn: Connection[Any], lane: Lane, *, widest: int) -> None:
    """What went through a slowed lane lets twice as many go next, as long as others wait for it and it is not wide enough."""
    conn.execute(
        """
        UPDATE lanes SET probe_size = probe_size * 2, probe_until = NULL, strikes = 0, updated_at = tocsin_now()
        WHERE lane = %(lane)s AND updated_at = %(updated_at)s AND state = 'slowed' AND probe_size * 2 <= %(widest)s
          AND EXISTS (
              SELECT FROM outbox
              WHERE outbox.waits_for = lanes.lane AND (leased_until IS NULL OR leased_until <= tocsin_now()))
        """,
        {"lane": lane.lane, "updated_at": lane.updated_at, "widest": widest},
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
        WHERE subject = reopened.lane AND tenant_id IS NULL AND NOT is_resolved
        """,
        {"lane": lane.lane, "updated_at": lane.updated_at},
    )
