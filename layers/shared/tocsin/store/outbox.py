"""The work to do: claimed under a lease, and gone when it is done."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import args_row, class_row
from psycopg.types.json import Jsonb

from tocsin.foundation.due import Due
from tocsin.store.rows import Choice


def need_not_last(conn: Connection[Any]) -> None:
    """Do not wait for the disk at the end of this transaction: a claim that a crash of the server undoes was never made.

    What is opened and sent under the claim is committed after it, durably, and takes the claim along."""
    conn.execute("SELECT set_config('synchronous_commit', 'off', true)")


def find_due(conn: Connection[Any], ids: list[UUID]) -> list[Due]:
    """On which queues these are, and whose."""
    rows = conn.execute("SELECT id, queue, tenant_id FROM outbox WHERE id = ANY(%(ids)s)", {"ids": ids}).fetchall()
    return [Due(*row) for row in rows]


FIRST_TENANT = UUID(int=0)


def choose_due(
    conn: Connection[Any],
    queue: str,
    *,
    limit: int,
    after: UUID = FIRST_TENANT,
    most_tenants: int = 100,
    most_per_tenant: int | None = None,
    not_nudged: bool = False,
) -> Cursor[tuple[UUID | None, UUID | None, UUID | None]]:
    """Look for due work that nobody leases, in turns between tenants; read the cursor with `choice`. Nothing is locked.

    The tenants after a given one (so many at most) take turns. Within a tenant `critical` comes first, `high` five minutes
    before its time, `low` ten minutes after it: so low waits ten minutes at most for what came later.
    `not_nudged`: only what nobody was nudged about lately."""
    return conn.execute(
        """
        WITH RECURSIVE walk AS (
            (SELECT outbox.tenant_id, 1 AS place
             FROM outbox
             WHERE outbox.queue = %(queue)s AND outbox.tenant_id > %(after)s
             ORDER BY outbox.tenant_id
             LIMIT 1)
            UNION ALL
            SELECT next.tenant_id, walk.place + 1
            FROM walk CROSS JOIN LATERAL (
                SELECT outbox.tenant_id
                FROM outbox
                WHERE outbox.queue = %(queue)s AND outbox.tenant_id > walk.tenant_id
                ORDER BY outbox.tenant_id
                LIMIT 1
            ) AS next
            WHERE walk.place < %(most_tenants)s
        ), urgency (priority, waits) AS (
            VALUES (1::smallint, interval '-1 year'), (2::smallint, interval '-5 minutes'), (3::smallint, interval '0'),
                   (4::smallint, interval '10 minutes')
        ), tenant AS MATERIALIZED (
            SELECT walk.tenant_id,
                   LEAST(ceil(2 * %(limit)s::float8 / count(*) OVER ()), %(most_per_tenant)s)::integer AS share
            FROM walk
            WHERE walk.tenant_id <> ALL(ARRAY(SELECT tenants.id FROM tenants WHERE tenants.status <> 'active')) AND EXISTS (
                SELECT
                FROM urgency CROSS JOIN LATERAL (
                    SELECT
                    FROM outbox
                    WHERE outbox.queue = %(queue)s AND outbox.tenant_id = walk.tenant_id
                      AND outbox.priority = urgency.priority AND outbox.due_at <= tocsin_now()
                      AND (outbox.leased_until IS NULL OR outbox.leased_until <= tocsin_now())
                    LIMIT 1
                ) AS any_due)
        ), due AS (
            SELECT tenant.tenant_id, first.id, first.turn,
                   row_number() OVER (PARTITION BY tenant.tenant_id ORDER BY first.turn) AS place
            FROM tenant CROSS JOIN LATERAL (
                SELECT piece.id, piece.due_at + urgency.waits AS turn
                FROM urgency CROSS JOIN LATERAL (
                    SELECT outbox.id, outbox.due_at
                    FROM outbox
                    WHERE outbox.queue = %(queue)s AND outbox.tenant_id = tenant.tenant_id
                      AND outbox.priority = urgency.priority AND outbox.due_at <= tocsin_now()
                      AND (outbox.leased_until IS NULL OR outbox.leased_until <= tocsin_now())
                      AND (NOT %(not_nudged)s
                           OR COALESCE(outbox.nudged_at + interval '5 minutes', outbox.due_at + interval '30 seconds')
                              <= tocsin_now())
                    ORDER BY outbox.due_at
                    LIMIT tenant.share
                ) AS piece
                ORDER BY turn
                LIMIT tenant.share
            ) AS first
            ORDER BY place, turn
            LIMIT %(limit)s
        )
        SELECT (SELECT walk.tenant_id FROM walk WHERE walk.place = %(most_tenants)s), due.tenant_id, due.id
        FROM (SELECT) AS always LEFT JOIN due ON true
        ORDER BY due.place, due.turn
        """,
        {
            "queue": queue,
            "limit": limit,
            "after": after,
            "most_tenants": most_tenants,
            "most_per_tenant": limit if most_per_tenant is None else most_per_tenant,
            "not_nudged": not_nudged,
        },
    )


def find_queues(conn: Connection[Any]) -> list[str]:
    """The queues that something waits on, whether this version serves them or not."""
    rows = conn.execute(
        """
        WITH RECURSIVE walk (queue) AS (
            SELECT min(queue) FROM outbox
            UNION ALL
            SELECT (SELECT min(outbox.queue) FROM outbox WHERE outbox.queue > walk.queue) FROM walk WHERE walk.queue IS NOT NULL
        )
        SELECT queue FROM walk WHERE queue IS NOT NULL
        """
    ).fetchall()
    return [row[0] for row in rows]


def choice(queue: str, cursor: Cursor[tuple[UUID | None, UUID | None, UUID | None]]) -> Choice:
    rows = cursor.fetchall()
    return Choice([Due(one, queue, tenant_id) for _, tenant_id, one in rows if one and tenant_id], rows[0][0])


def mark_nudged(conn: Connection[Any], due: list[Due]) -> list[Due]:
    """Note that a nudge for these is about to be sent. Returns what nobody else took or nudged meanwhile."""
    rows = conn.execute(
        """
        WITH free AS (
            SELECT id
            FROM outbox
            WHERE id = ANY(%(ids)s)
              AND due_at <= tocsin_now()
              AND (leased_until IS NULL OR leased_until <= tocsin_now())
              AND COALESCE(nudged_at + interval '5 minutes', due_at + interval '30 seconds') <= tocsin_now()
            FOR UPDATE SKIP LOCKED
        )
        UPDATE outbox SET nudged_at = tocsin_now()
        FROM free
        WHERE outbox.id = free.id
        RETURNING outbox.id
        """,
        {"ids": [one.id for one in due]},
    ).fetchall()
    marked = {row[0] for row in rows}
    return [one for one in due if one.id in marked]


def unmark_nudged(conn: Connection[Any], due: list[Due]) -> None:
    """The queue did not take these: the next sweep nudges them, not one in five minutes."""
    conn.execute("UPDATE outbox SET nudged_at = NULL WHERE id = ANY(%(ids)s)", {"ids": [one.id for one in due]})


def release(conn: Connection[Any], ids: list[UUID], *, lease_token: UUID, is_tried: bool = False) -> None:
    """Give back what was claimed. Unless it was tried, in vain, the claim does not count."""
    conn.execute(
        """
        UPDATE outbox SET lease_token = NULL, leased_until = NULL, claim_count = claim_count - (NOT %(is_tried)s)::integer
        WHERE id = ANY(%(ids)s) AND lease_token = %(lease_token)s
        """,
        {"ids": ids, "lease_token": lease_token, "is_tried": is_tried},
    )


@dataclass(frozen=True, slots=True)
class Backlog:
    depth: int
    oldest_due_seconds: float
    unknown_attempts: int


def measure(conn: Connection[Any]) -> Backlog:
    row = conn.execute(
        """
        SELECT count(*),
               COALESCE(extract(epoch FROM tocsin_now() - min(due_at) FILTER (
                   WHERE due_at <= tocsin_now() AND (leased_until IS NULL OR leased_until <= tocsin_now()))), 0)::float8,
               count(*) FILTER (WHERE attempt_open AND (leased_until IS NULL OR leased_until <= tocsin_now()))
        FROM outbox
        -- what a suspended tenant has does not wait for us
        WHERE tenant_id <> ALL(ARRAY(SELECT tenants.id FROM tenants WHERE tenants.status <> 'active'))
        """
    ).fetchone()
    assert row is not None  # noqa: S101 - an aggregate always has a row
    return Backlog(*row)


def count_unplanned(conn: Connection[Any], tenant_id: UUID, *, window: timedelta, mode: str) -> int:
    """How many of the records that were accepted lately have no routes yet."""
    row = conn.execute(
        """
        SELECT count(*)
        FROM outbox JOIN records USING (notification_id)
        WHERE outbox.tenant_id = %(tenant_id)s AND outbox.queue = 'plan' AND outbox.source_kind = 'plan'
          AND records.accepted_at >= tocsin_now() - %(window)s AND records.mode = %(mode)s
        """,
        {"tenant_id": tenant_id, "window": window, "mode": mode},
    ).fetchone()
    return int(row[0]) if row else 0


def find_newest_unplanned(conn: Connection[Any], wanted: dict[str, Any]) -> list[UUID] | None:
    """The notifications that have no routes yet, newest first. None: so many that sorting them takes longer than meeting them
    among the newest."""
    row = conn.execute(
        """
        WITH backlog AS MATERIALIZED (
            SELECT outbox.id
            FROM outbox
            WHERE outbox.tenant_id = %(tenant_id)s AND outbox.queue = 'plan'
            LIMIT %(most_sorted)s
        ), listed AS (
            SELECT record.accepted_at, record.notification_id
            FROM backlog
            CROSS JOIN LATERAL (
                -- LIMIT: one probe of the index each; as a join it would read the whole table
                SELECT records.accepted_at, records.notification_id
                FROM records
                WHERE records.notification_id = backlog.id AND records.tenant_id = %(tenant_id)s
                  AND (records.accepted_at, records.notification_id) < (%(before_at)s, %(before_id)s)
                  AND records.accepted_at >= %(since)s
                  AND (%(type)s::text IS NULL OR records.notification_type = %(type)s)
                  AND (%(producer)s::text IS NULL OR records.producer = %(producer)s)
                LIMIT 1
            ) AS record
            WHERE (SELECT count(*) FROM backlog) < %(most_sorted)s
              AND (
                  SELECT true
                  FROM routes
                  WHERE routes.tenant_id = %(tenant_id)s AND routes.notification_id = backlog.id
                  LIMIT 1) IS NULL
            ORDER BY record.accepted_at DESC, record.notification_id DESC
            LIMIT %(limit)s
        )
        SELECT (SELECT count(*) FROM backlog) < %(most_sorted)s,
               ARRAY(SELECT notification_id FROM listed ORDER BY accepted_at DESC, notification_id DESC)
        """,
        wanted,
    ).fetchone()
    return row[1] if row and row[0] else None


@dataclass(frozen=True, slots=True)
class Stuck:
    """Work that has not ended for long, and why as far as is known. A plan has no route yet."""

    id: UUID
    kind: str
    notification_id: UUID
    route_id: str | None
    channel: str | None
    recipient: str | None
    status: str
    reason: str
    attempt_count: int
    waits_for: str | None
    waiting_since: datetime
    next_attempt_at: datetime


def find_stuck(
    conn: Connection[Any], tenant_id: UUID, *, older_than: timedelta, limit: int, after: tuple[datetime, UUID] | None
) -> list[Stuck]:
    """Plans that have been due, and deliveries that have existed, for longer than this: the oldest first."""
    return (
        conn.cursor(row_factory=class_row(Stuck))
        .execute(
            """
            WITH stuck AS MATERIALIZED (
                SELECT *
                FROM outbox
                WHERE tenant_id = %(tenant_id)s AND queue = ANY('{plan,email,sms,push}')
                  AND created_at < tocsin_now() - %(older_than)s
                  AND (source_kind = 'deliver' OR source_kind = 'plan' AND due_at < tocsin_now() - %(older_than)s)
                  AND (%(after_at)s::timestamptz IS NULL OR (created_at, id) > (%(after_at)s, %(after_id)s))
                ORDER BY created_at, id
                LIMIT %(limit)s
            )
            SELECT stuck.id, stuck.source_kind AS kind, stuck.notification_id, stuck.route_id, routes.channel,
                   routes.recipient_ref AS recipient, COALESCE(routes.status, 'accepted') AS status,
                   COALESCE(NULLIF(routes.reason, ''), routes.last_error_classification, '') AS reason,
                   stuck.attempt_count, stuck.waits_for, stuck.created_at AS waiting_since, stuck.due_at AS next_attempt_at
            FROM stuck
            LEFT JOIN routes ON routes.notification_id = stuck.notification_id AND routes.route_id = stuck.route_id
            ORDER BY stuck.created_at, stuck.id
            """,
            {
                "tenant_id": tenant_id,
                "older_than": older_than,
                "limit": limit,
                "after_at": after[0] if after else None,
                "after_id": after[1] if after else None,
            },
        )
        .fetchall()
    )


MOST_COUNTED = 10_000  # pieces of work of one tenant on one queue, due and not yet due each


@dataclass(frozen=True, slots=True)
class Pile:
    """A tenant's work of one kind on one queue. `unknown`: sent, perhaps, and the answer is not known. `is_cut`: counted so far
    and no further, the most urgent first."""

    queue: str
    kind: str
    due: int
    leased: int
    waiting: int
    waiting_for_lane: int
    unknown: int
    oldest_due_at: datetime | None
    is_cut: bool


def measure_tenant(conn: Connection[Any], tenant_id: UUID, queues: list[str]) -> list[Pile]:
    """What a tenant has in the outbox, by queue and kind, at a cost that does not grow with it."""
    return (
        conn.cursor(row_factory=class_row(Pile))
        .execute(
            """
            WITH due AS MATERIALIZED (
                SELECT wanted.queue, piece.*
                FROM unnest(%(queues)s::text[]) AS wanted (queue) CROSS JOIN LATERAL (
                    SELECT outbox.source_kind, outbox.due_at, outbox.leased_until, outbox.attempt_open, outbox.waits_for
                    FROM generate_series(1, 4) AS urgency (priority) CROSS JOIN LATERAL (
                        SELECT *
                        FROM outbox
                        WHERE outbox.queue = wanted.queue AND outbox.tenant_id = %(tenant_id)s
                          AND outbox.priority = urgency.priority::smallint AND outbox.due_at <= tocsin_now()
                        ORDER BY outbox.due_at
                        LIMIT %(most_counted)s
                    ) AS outbox
                    LIMIT %(most_counted)s
                ) AS piece
            ), later AS MATERIALIZED (
                SELECT wanted.queue, piece.*
                FROM unnest(%(queues)s::text[]) AS wanted (queue) CROSS JOIN LATERAL (
                    SELECT outbox.source_kind, outbox.due_at, outbox.leased_until, outbox.attempt_open, outbox.waits_for
                    FROM generate_series(1, 4) AS urgency (priority) CROSS JOIN LATERAL (
                        SELECT *
                        FROM outbox
                        WHERE outbox.queue = wanted.queue AND outbox.tenant_id = %(tenant_id)s
                          AND outbox.priority = urgency.priority::smallint AND outbox.due_at > tocsin_now()
                        ORDER BY outbox.due_at
                        LIMIT %(most_counted)s
                    ) AS outbox
                    LIMIT %(most_counted)s
                ) AS piece
            ), piece AS (
                SELECT queue, source_kind, due_at, COALESCE(leased_until > tocsin_now(), false) AS is_leased, attempt_open,
                       waits_for, due_at <= tocsin_now() AS is_due
                FROM (SELECT * FROM due UNION ALL SELECT * FROM later) AS counted
            )
            SELECT queue, source_kind AS kind, count(*) FILTER (WHERE is_due AND NOT is_leased) AS due,
                   count(*) FILTER (WHERE is_leased) AS leased,
                   count(*) FILTER (WHERE NOT is_due AND NOT is_leased) AS waiting,
                   count(*) FILTER (WHERE NOT is_due AND NOT is_leased AND waits_for IS NOT NULL) AS waiting_for_lane,
                   count(*) FILTER (WHERE attempt_open AND NOT is_leased) AS unknown,
                   min(due_at) FILTER (WHERE is_due AND NOT is_leased) AS oldest_due_at,
                   (SELECT count(*) FROM due WHERE due.queue = piece.queue) >= %(most_counted)s
                   OR (SELECT count(*) FROM later WHERE later.queue = piece.queue) >= %(most_counted)s AS is_cut
            FROM piece
            GROUP BY queue, source_kind
            ORDER BY array_position(%(queues)s::text[], queue), source_kind
            """,
            {"tenant_id": tenant_id, "queues": queues, "most_counted": MOST_COUNTED},
        )
        .fetchall()
    )


def plan_now(conn: Connection[Any], tenant_id: UUID, notification_id: UUID) -> bool:
    """Make the planning of a notification due at once. False when it is planned already. (A plan has its record's id.)"""
    found = conn.execute(
        """
        UPDATE outbox SET due_at = LEAST(due_at, tocsin_now())
        WHERE tenant_id = %(tenant_id)s AND id = %(notification_id)s AND source_kind = 'plan'
        RETURNING true
        """,
        {"tenant_id": tenant_id, "notification_id": notification_id},
    ).fetchone()
    return found is not None


def hurry_proven(conn: Connection[Any], proven: list[tuple[UUID, str, int]]) -> list[Due]:
    """Make deliveries due of which an attempt (of this notification, route, generation) was proven, unless they are leased."""
    rows = conn.execute(
        """
        UPDATE outbox SET due_at = LEAST(outbox.due_at, tocsin_now())
        FROM jsonb_to_recordset(%(proven)s) AS proven (notification_id uuid, route_id text, generation smallint)
        JOIN routes USING (notification_id, route_id)
        WHERE outbox.id = routes.outbox_id AND outbox.generation = proven.generation
          AND EXISTS (
              SELECT FROM attempts
              WHERE attempts.notification_id = outbox.notification_id AND attempts.route_id = outbox.route_id
                AND attempts.generation = outbox.generation AND attempts.outcome = 'accepted')
          AND (outbox.leased_until IS NULL OR outbox.leased_until <= tocsin_now())
        RETURNING outbox.id, outbox.queue, outbox.tenant_id
        """,
        {
            "proven": Jsonb(
                [
                    {"notification_id": str(notification_id), "route_id": route_id, "generation": generation}
                    for notification_id, route_id, generation in proven
                ]
            )
        },
    ).fetchall()
    return [Due(*row) for row in rows]


def hurry_answered(conn: Connection[Any], ids: list[UUID]) -> None:
    """Make due what has just been put off to wait for evidence, if the evidence came while that was written."""
    conn.execute(
        """
        UPDATE outbox SET due_at = tocsin_now()
        FROM attempts
        WHERE outbox.id = ANY(%(ids)s) AND outbox.attempt_open
          AND attempts.notification_id = outbox.notification_id AND attempts.route_id = outbox.route_id
          AND attempts.generation = outbox.generation AND attempts.outcome = 'accepted'
        """,
        {"ids": ids},
    )


def bring_forward(conn: Connection[Any], lane: str, *, limit: int) -> Cursor[Due]:
    """Make due what waits for a lane: up to the limit if it is open, as many as may go if it recovers, nothing if it is closed.

    Each tenant that waits gets the same share, so that nobody waits behind another's millions. The cursor has what is to be
    nudged."""
    return conn.cursor(row_factory=args_row(Due)).execute(
        """
        WITH RECURSIVE tenant (id) AS (
            (SELECT tenant_id FROM outbox WHERE waits_for = %(lane)s ORDER BY tenant_id LIMIT 1)
            UNION ALL
            SELECT (SELECT tenant_id FROM outbox WHERE waits_for = %(lane)s AND tenant_id > tenant.id ORDER BY tenant_id LIMIT 1)
            FROM tenant
            WHERE tenant.id IS NOT NULL
        ), room AS (
            SELECT CASE WHEN lanes.lane IS NULL THEN %(limit)s
                        WHEN lanes.state = 'slowed' AND lanes.resume_at <= tocsin_now() THEN lanes.probe_size
                        ELSE 0 END AS messages
            FROM (VALUES (%(lane)s)) AS asked (lane) LEFT JOIN lanes ON lanes.lane = asked.lane
        ), due AS (
            SELECT waiting.id
            FROM (SELECT id FROM tenant WHERE id IS NOT NULL ORDER BY random()) AS tenant CROSS JOIN LATERAL (
                SELECT outbox.id
                FROM outbox
                WHERE outbox.waits_for = %(lane)s AND outbox.tenant_id = tenant.id AND outbox.due_at > tocsin_now()
                  AND (outbox.leased_until IS NULL OR outbox.leased_until <= tocsin_now())
                ORDER BY outbox.due_at
                LIMIT (SELECT ceil(messages::float8 / (SELECT count(id) FROM tenant)) FROM room)
                FOR UPDATE SKIP LOCKED
            ) AS waiting
            LIMIT (SELECT messages FROM room)
        )
        UPDATE outbox SET due_at = tocsin_now(), nudged_at = tocsin_now()
        FROM due
        WHERE outbox.id = due.id
        RETURNING outbox.id, outbox.queue, outbox.tenant_id
        """,
        {"lane": lane, "limit": limit},
    )


def find_reopened(conn: Connection[Any]) -> list[str]:
    """The lanes that something waits for although they are open: their row is gone."""
    rows = conn.execute(
        """
        WITH RECURSIVE waited (lane) AS (
            SELECT min(waits_for) FROM outbox WHERE waits_for IS NOT NULL
            UNION ALL
            SELECT (SELECT min(waits_for) FROM outbox WHERE waits_for > waited.lane) FROM waited WHERE waited.lane IS NOT NULL
        )
        SELECT lane FROM waited
        WHERE lane IS NOT NULL AND NOT EXISTS (SELECT FROM lanes WHERE lanes.lane = waited.lane)
        """
    ).fetchall()
    return [row[0] for row in rows]
