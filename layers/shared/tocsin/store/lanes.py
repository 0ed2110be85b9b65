"""The state of each way out, shared by all workers: the circuit breaker. A lane without a row is open."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import class_row

from tocsin.foundation.ids import as_uuid
from tocsin.store.rows import Lane

MOST_COUNTED = 1_000  # of what waits for one lane


@dataclass(frozen=True, slots=True)
class TroubledLane:
    """A lane as an operator sees it. `waiting`: how much of the tenant's own work waits for it, counted so far and no further."""

    lane: str
    tenant_id: UUID | None
    state: str
    trouble: str
    reason: str
    strikes: int
    failures: int
    timed_out: bool
    since: datetime
    resume_at: datetime
    is_closed: bool
    probe_until: datetime | None
    probe_size: int
    updated_at: datetime
    waiting: int


def list_troubled(conn: Connection[Any], tenant_id: UUID, *, limit: int, after: str = "") -> list[TroubledLane]:
    """The tenant's own lanes and the installation's that are not open, by name."""
    return (
        conn.cursor(row_factory=class_row(TroubledLane))
        .execute(
            """
            WITH listed AS (
                (SELECT * FROM lanes WHERE tenant_id = %(tenant_id)s AND lane > %(after)s ORDER BY lane LIMIT %(limit)s)
                UNION ALL
                (SELECT * FROM lanes WHERE tenant_id IS NULL AND lane > %(after)s ORDER BY lane LIMIT %(limit)s)
            )
            SELECT lane, tenant_id, state, trouble, reason, strikes, failures, timed_out, since, resume_at,
                   resume_at > tocsin_now() AS is_closed, probe_until, probe_size, updated_at, waiting.count AS waiting
            FROM listed CROSS JOIN LATERAL (
                SELECT count(*)
                FROM (SELECT FROM outbox WHERE waits_for = listed.lane AND outbox.tenant_id = %(tenant_id)s
                      ORDER BY due_at LIMIT %(most_counted)s + 1) AS counted
            ) AS waiting
            ORDER BY lane
            LIMIT %(limit)s
            """,
            {"tenant_id": tenant_id, "after": after, "limit": limit, "most_counted": MOST_COUNTED},
        )
        .fetchall()
    )


def find(conn: Connection[Any], tenant_id: UUID, lane: str) -> TroubledLane | None:
    """A lane of the tenant or of the installation; None if it is open, or another's."""
    return (
        conn.cursor(row_factory=class_row(TroubledLane))
        .execute(
            """
            SELECT lane, tenant_id, state, trouble, reason, strikes, failures, timed_out, since, resume_at,
                   resume_at > tocsin_now() AS is_closed, probe_until, probe_size, updated_at, waiting.count AS waiting
            FROM lanes CROSS JOIN LATERAL (
                SELECT count(*)
                FROM (SELECT FROM outbox WHERE waits_for = lanes.lane AND outbox.tenant_id = %(tenant_id)s
                      ORDER BY due_at LIMIT %(most_counted)s + 1) AS counted
            ) AS waiting
            WHERE lane = %(lane)s AND (lanes.tenant_id = %(tenant_id)s OR lanes.tenant_id IS NULL)
            """,
            {"tenant_id": tenant_id, "lane": lane, "most_counted": MOST_COUNTED},
        )
        .fetchone()
    )


def owner_of(lane: str, tenant_id: UUID) -> UUID | None:
    """Whose lane it is by which this tenant sends: its own if it ends with an id (of a provider, webhook or handler of theirs),
    else the installation's."""
    return tenant_id if as_uuid(lane.rpartition(":")[2]) else None


def all_troubled(conn: Connection[Any]) -> Cursor[Lane]:
    """Of the providers' lanes. There may be thousands of webhooks' and handlers': those are read with the work for them."""
    return conn.cursor(row_factory=class_row(Lane)).execute(
        """
        SELECT lane, state, reason, resume_at, resume_at > tocsin_now() AS is_closed, updated_at, timed_out, probe_size,
               probe_until
        FROM lanes
        WHERE lane NOT LIKE 'webhook:%' AND lane NOT LIKE 'handler:%'
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
    conn: Connection[Any],
    lane: str,
    *,
    owner: UUID | None,
    state: str,
    trouble: str,
    reason: str,
    pause: timedelta,
    longest: timedelta,
) -> None:
    """Close a lane for a while. Each further time for the same trouble, with nothing through in between, doubles the pause."""
    conn.execute(
        """
        INSERT INTO lanes (lane, tenant_id, state, trouble, reason, resume_at, strikes, updated_at)
        VALUES (%(lane)s, %(owner)s, %(state)s, %(trouble)s, %(reason)s, tocsin_now() + %(pause)s, 1, tocsin_now())
        ON CONFLICT (lane) DO UPDATE
            SET tenant_id = EXCLUDED.tenant_id, state = EXCLUDED.state, trouble = EXCLUDED.trouble, reason = EXCLUDED.reason,
                updated_at = EXCLUDED.updated_at,
                strikes = CASE WHEN lanes.trouble = EXCLUDED.trouble THEN LEAST(lanes.strikes + 1, 20) ELSE 1 END,
                resume_at = tocsin_now() + GREATEST(%(pause)s, LEAST(%(longest)s, %(pause)s
                    * power(2, CASE WHEN lanes.trouble = EXCLUDED.trouble THEN lanes.strikes ELSE 0 END))),
                failures = 0, timed_out = false, probe_until = NULL, probe_size = 1
            WHERE lanes.resume_at <= tocsin_now() OR lanes.state IN ('failing', 'broken')
               OR lanes.state = 'slowed' AND EXCLUDED.state = 'stopped'
        """,
        {
            "lane": lane,
            "owner": owner,
            "state": state,
            "trouble": trouble,
            "reason": reason,
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


def delete_forgotten(conn: Connection[Any], *, age: timedelta, limit: int) -> int:
    """Endpoints' lanes by which nothing went for so long: the endpoint has nothing to hear, or is no more. And failures of any
    lane that stayed open all the same: they are no sign of trouble any more."""
    return conn.execute(
        """
        WITH forgotten AS (
            SELECT lane FROM lanes
            WHERE (lane LIKE 'webhook:%%' OR lane LIKE 'handler:%%' OR state = 'failing') AND updated_at < tocsin_now() - %(age)s
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM lanes USING forgotten WHERE lanes.lane = forgotten.lane
        """,
        {"age": age, "limit": limit},
    ).rowcount
