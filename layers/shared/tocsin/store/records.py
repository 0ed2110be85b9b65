"""What was asked: one durable record per accepted intent, which is also its idempotency reservation."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import class_row, dict_row

from tocsin.store import dead_letters, outbox, routes

_CHANNELS = ["email", "sms", "push", "in_app", "webhook"]
_MOST_SORTED = 10_000  # of what is unfinished, or unplanned
# a notification's own state, and the statuses of which one of its routes has one
_OWN: dict[str, list[str] | None] = {"accepted": None, "in_progress": ["pending", "failed"], "finished": None}


@dataclass(frozen=True, slots=True)
class Reservation:
    notification_id: UUID
    idempotency_key: str
    request_fingerprint: bytes
    accepted_at: datetime
    is_expired: bool
    is_fresh: bool  # of this minute: its first nudge may not have been sent


@dataclass(frozen=True, slots=True)
class ExpiredRecord:
    notification_id: UUID
    tenant_id: UUID
    accepted_at: datetime
    routes: int
    changed_at: datetime  # when anything about it was last changed: its routes, its letters


def find_reservations(conn: Connection[Any], *, tenant_id: UUID, producer: str, keys: list[str]) -> Cursor[Reservation]:
    return conn.cursor(row_factory=class_row(Reservation)).execute(
        """
        SELECT notification_id, idempotency_key, request_fingerprint, accepted_at,
               idempotency_expires_at <= tocsin_now() AS is_expired,
               accepted_at > tocsin_now() - interval '1 minute' AS is_fresh
        FROM records
        WHERE tenant_id = %(tenant_id)s AND producer = %(producer)s AND idempotency_key = ANY(%(keys)s) AND holds_key
        """,
        {"tenant_id": tenant_id, "producer": producer, "keys": keys},
    )


def release_keys(conn: Connection[Any], *, tenant_id: UUID, producer: str, keys: list[str]) -> None:
    """Let go of keys whose window has ended, so that they can be used anew before retention comes by."""
    conn.execute(
        """
        UPDATE records SET holds_key = false, updated_at = tocsin_now()
        WHERE tenant_id = %(tenant_id)s AND producer = %(producer)s AND idempotency_key = ANY(%(keys)s) AND holds_key
          AND idempotency_expires_at <= tocsin_now()
        """,
        {"tenant_id": tenant_id, "producer": producer, "keys": keys},
    )


def find(conn: Connection[Any], tenant_id: UUID, notification_id: UUID) -> dict[str, Any] | None:
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            SELECT notification_id, notification_type, producer, mode, audience_kind, recipient_user_ids,
                   audience ->> 'scope' AS scope, payload_json,
                   idempotency_key, request_id, trace_id, template, channels, priority, thread_kind, thread_id,
                   occurred_at, accepted_at, send_at, expires_at, cancelled_at, updated_at,
                   (SELECT true FROM routes WHERE routes.notification_id = records.notification_id LIMIT 1) IS NULL
                   AND (SELECT true FROM outbox WHERE outbox.id = records.notification_id LIMIT 1) IS NOT NULL AS is_accepted
            FROM records
            WHERE tenant_id = %(tenant_id)s AND notification_id = %(notification_id)s
            """,
            {"tenant_id": tenant_id, "notification_id": notification_id},
        )
        .fetchone()
    )


def list_page(
    conn: Connection[Any], tenant_id: UUID, *, filters: dict[str, Any], limit: int, after: tuple[datetime, UUID] | None
) -> list[dict[str, Any]]:
    """Newest first. Filters that are None do not filter; those on routes ask for one route that matches them all.

    `status` is that of a route, or the notification's own: accepted, in_progress, finished. No dead one has any of those."""
    before = after or (datetime.max.replace(tzinfo=UTC), UUID(int=2**128 - 1))
    if filters["until"]:
        before = min(before, (filters["until"], UUID(int=0)))
    wanted = filters | {
        "tenant_id": tenant_id,
        "own": filters["status"] if filters["status"] in _OWN else None,
        "statuses": _OWN.get(filters["status"], [filters["status"]]) if filters["status"] else None,
        "channels": [filters["channel"]] if filters["channel"] else _CHANNELS,
        "since": filters["since"] or "-infinity",
        "limit": limit,
        "most_sorted": _MOST_SORTED,
    }
    rows: list[dict[str, Any]] = []
    while True:  # once: those with routes whose plan or audience is dead are few
        ids = _find_page(conn, wanted | {"before_at": before[0], "before_id": before[1]})
        found = list_some(conn, tenant_id, ids) if ids else []
        rows += [row for row in found if wanted["own"] is None or not row["is_dead"]]
        if len(found) < limit or len(rows) >= limit:
            return rows[:limit]
        before = (found[-1]["accepted_at"], found[-1]["notification_id"])


def _find_page(conn: Connection[Any], wanted: dict[str, Any]) -> list[UUID]:
    """By the narrowest way there is; what was published (nearly all), or is unfinished in great number, is met soon anyway."""
    if wanted["own"] == "accepted":
        return _find_accepted(conn, wanted)
    if wanted["recipient"] is not None:
        return routes.find_newest_to(conn, wanted)
    if wanted["status"] == "dead_letter" and wanted["channel"] is None:
        return _newest(wanted["limit"], routes.find_newest_ended(conn, wanted), dead_letters.find_newest_unplanned(conn, wanted))
    if wanted["status"] in ("dead_letter", "skipped", "cancelled"):
        return _newest(wanted["limit"], routes.find_newest_ended(conn, wanted))
    if wanted["status"] in ("pending", "failed", "in_progress"):
        unfinished = routes.find_newest_unfinished(conn, wanted)
        return _find_newest(conn, wanted, is_near=True) if unfinished is None else unfinished
    if wanted["own"] == "finished" and wanted["channel"]:
        return routes.find_newest_finished_by(conn, wanted)
    if wanted["channel"] and not wanted["type"] and not wanted["producer"]:
        return routes.find_newest_by(conn, wanted)
    return _find_newest(conn, wanted, is_near=not wanted["channel"])


def _find_accepted(conn: Connection[Any], wanted: dict[str, Any]) -> list[UUID]:
    """What is still to be planned has no route that could be to somebody or on a channel."""
    if wanted["recipient"] is not None or wanted["channel"]:
        return []
    unplanned = outbox.find_newest_unplanned(conn, wanted)
    return _find_newest(conn, wanted, is_near=True) if unplanned is None else unplanned


def _newest(limit: int, *found: list[tuple[datetime, UUID]]) -> list[UUID]:
    return [
        notification_id for _, notification_id in sorted({place for places in found for place in places}, reverse=True)[:limit]
    ]


def _find_newest(conn: Connection[Any], wanted: dict[str, Any], *, is_near: bool) -> list[UUID]:
    """Along the records. `is_near`: their routes match so often that looking at those of each is quickest; else the planner may
    read all that match at once."""
    rows = conn.execute(
        """
        SELECT notification_id
        FROM records
        WHERE tenant_id = %(tenant_id)s
          AND (accepted_at, notification_id) < (%(before_at)s, %(before_id)s) AND accepted_at >= %(since)s
          AND (%(type)s::text IS NULL OR notification_type = %(type)s)
          AND (%(producer)s::text IS NULL OR producer = %(producer)s)
          AND (NOT %(is_near)s OR %(statuses)s::text[] IS NULL OR (
              SELECT true
              FROM routes
              WHERE routes.tenant_id = %(tenant_id)s AND routes.notification_id = records.notification_id
                AND routes.status = ANY(%(statuses)s) AND routes.channel = ANY(%(channels)s)
              LIMIT 1))
          AND (%(is_near)s OR EXISTS (
              SELECT
              FROM routes
              WHERE routes.tenant_id = %(tenant_id)s AND routes.notification_id = records.notification_id
                AND (%(statuses)s::text[] IS NULL OR routes.status = ANY(%(statuses)s)) AND routes.channel = ANY(%(channels)s)))
          -- accepted: it waits to be planned; finished: none of its routes is unfinished, and it neither waits nor died of it
          AND (%(own)s::text IS DISTINCT FROM 'finished' OR (
              SELECT true
              FROM routes
              WHERE routes.tenant_id = %(tenant_id)s AND routes.notification_id = records.notification_id
                AND routes.status IN ('pending', 'failed')
              LIMIT 1) IS NULL AND (
              SELECT true
              FROM dead_letters
              WHERE dead_letters.tenant_id = %(tenant_id)s AND dead_letters.notification_id = records.notification_id
                AND dead_letters.route_id IS NULL AND dead_letters.source_kind IN ('plan', 'fanout')
                AND dead_letters.resolution IS DISTINCT FROM 'replayed'
              LIMIT 1) IS NULL)
          AND (%(own)s::text IS NULL OR %(own)s = 'in_progress' OR (%(own)s = 'accepted') = ((
              SELECT true
              FROM routes
              WHERE routes.tenant_id = %(tenant_id)s AND routes.notification_id = records.notification_id
              LIMIT 1) IS NULL AND (
              SELECT true
              FROM outbox
              WHERE outbox.tenant_id = %(tenant_id)s AND outbox.id = records.notification_id
              LIMIT 1) IS NOT NULL))
        ORDER BY accepted_at DESC, notification_id DESC
        LIMIT %(limit)s
        """,
        wanted | {"is_near": is_near},
    ).fetchall()
    return [row[0] for row in rows]


def list_some(conn: Connection[Any], tenant_id: UUID, ids: list[UUID]) -> list[dict[str, Any]]:
    """These, newest first. One that retention takes meanwhile is missing; what would come after it is as old."""
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            SELECT notification_id, notification_type, producer, mode, audience_kind, audience ->> 'scope' AS scope, template,
                   priority, thread_kind,
                   thread_id, occurred_at, accepted_at, send_at, expires_at, cancelled_at, updated_at,
                   CASE WHEN jsonb_array_length(recipient_user_ids) = 1 THEN 'user:' || (recipient_user_ids ->> 0)
                        WHEN audience_kind = 'address' THEN 'address' END AS only_recipient,
                   EXISTS (
                       SELECT FROM dead_letters AS letter
                       WHERE letter.notification_id = records.notification_id AND letter.tenant_id = %(tenant_id)s
                         AND letter.route_id IS NULL AND letter.source_kind IN ('plan', 'fanout')
                         AND letter.resolution IS DISTINCT FROM 'replayed') AS is_dead,
                   (SELECT true FROM routes WHERE routes.notification_id = records.notification_id LIMIT 1) IS NULL
                   AND (SELECT true FROM outbox WHERE outbox.id = records.notification_id LIMIT 1) IS NOT NULL AS is_accepted,
                   (SELECT jsonb_object_agg(counted.status, counted.routes)
                    FROM (SELECT status, count(*) AS routes FROM routes
                          WHERE routes.notification_id = records.notification_id AND routes.tenant_id = %(tenant_id)s
                          GROUP BY status) AS counted) AS routes
            FROM records
            WHERE tenant_id = %(tenant_id)s AND notification_id = ANY(%(ids)s)
            ORDER BY accepted_at DESC, notification_id DESC
            """,
            {"tenant_id": tenant_id, "ids": ids},
        )
        .fetchall()
    )


def find_by_key(conn: Connection[Any], tenant_id: UUID, idempotency_key: str, *, limit: int) -> list[UUID]:
    """The notifications that came with this key, newest first: from whichever producer, and also after the key was free again."""
    rows = conn.execute(
        """
        SELECT notification_id
        FROM records
        WHERE tenant_id = %(tenant_id)s AND idempotency_key = %(idempotency_key)s
          AND accepted_at > '-infinity'  -- always so: of times the planner knows that they are close together
        ORDER BY accepted_at DESC, notification_id DESC
        LIMIT %(limit)s
        """,
        {"tenant_id": tenant_id, "idempotency_key": idempotency_key, "limit": limit},
    ).fetchall()
    return [row[0] for row in rows]


def find_newest_to_email(conn: Connection[Any], tenant_id: UUID, email: str, *, limit: int) -> list[UUID]:
    """The intents to a bare address, in either case, newest first."""
    rows = conn.execute(
        """
        SELECT notification_id
        FROM records
        WHERE tenant_id = %(tenant_id)s AND address_email = lower(%(email)s)
        ORDER BY accepted_at DESC, notification_id DESC
        LIMIT %(limit)s
        """,
        {"tenant_id": tenant_id, "email": email, "limit": limit},
    ).fetchall()
    return [row[0] for row in rows]


def find_newest_to_phone(conn: Connection[Any], tenant_id: UUID, phone: str, *, limit: int) -> list[UUID]:
    rows = conn.execute(
        """
        SELECT notification_id
        FROM records
        WHERE tenant_id = %(tenant_id)s AND address_phone = %(phone)s
        ORDER BY accepted_at DESC, notification_id DESC
        LIMIT %(limit)s
        """,
        {"tenant_id": tenant_id, "phone": phone, "limit": limit},
    ).fetchall()
    return [row[0] for row in rows]


def find_lately(conn: Connection[Any], tenant_id: UUID, since: datetime, until: datetime, *, limit: int | None) -> list[UUID]:
    """The records that were accepted, or whose cancelling was asked for, in this time."""
    rows = conn.execute(
        """
        WITH found AS MATERIALIZED (  -- planned as if all were wanted
            SELECT notification_id
            FROM records
            WHERE tenant_id = %(tenant_id)s AND accepted_at >= %(since)s AND accepted_at < %(until)s
            UNION ALL
            SELECT notification_id
            FROM records
            WHERE tenant_id = %(tenant_id)s AND cancelled_at >= %(since)s AND cancelled_at < %(until)s
        )
        SELECT * FROM found LIMIT %(limit)s
        """,
        {"tenant_id": tenant_id, "since": since, "until": until, "limit": limit},
        prepare=False,  # seconds, or minutes
    ).fetchall()
    return [row[0] for row in rows]


def find_some(conn: Connection[Any], tenant_id: UUID, ids: list[UUID]) -> list[dict[str, Any]]:
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            SELECT notification_id, notification_type, producer, mode, audience_kind, accepted_at, send_at, cancelled_at
            FROM records
            WHERE tenant_id = %(tenant_id)s AND notification_id = ANY(%(ids)s)
            """,
            {"tenant_id": tenant_id, "ids": ids},
        )
        .fetchall()
    )


def mark_cancelled(conn: Connection[Any], tenant_id: UUID, notification_id: UUID) -> bool:
    """Note the wish; what is planned from now on is planned as cancelled. False when there is no such record."""
    marked = conn.execute(
        """
        UPDATE records SET cancelled_at = COALESCE(cancelled_at, tocsin_now()), updated_at = tocsin_now()
        WHERE tenant_id = %(tenant_id)s AND notification_id = %(notification_id)s
        RETURNING true
        """,
        {"tenant_id": tenant_id, "notification_id": notification_id},
    ).fetchone()
    return marked is not None


def release_expired_keys(conn: Connection[Any], *, limit: int) -> int:
    """Give up reservations whose window has ended; the record itself stays for its own time."""
    return conn.execute(
        """
        WITH expired AS (
            SELECT notification_id FROM records
            WHERE holds_key AND idempotency_expires_at <= tocsin_now()
            ORDER BY idempotency_expires_at
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        UPDATE records SET holds_key = false, updated_at = tocsin_now()
        FROM expired
        WHERE records.notification_id = expired.notification_id
        """,
        {"limit": limit},
    ).rowcount


def find_expired(conn: Connection[Any], *, age: timedelta, least: timedelta, limit: int) -> list[ExpiredRecord]:
    """Old records; never one that is unplanned, has a live route, is still to be told of, or holds its idempotency key."""
    return (
        conn.cursor(row_factory=class_row(ExpiredRecord))
        .execute(
            """
            SELECT old.notification_id, old.tenant_id, old.accepted_at, old.routes, old.changed_at
            FROM tocsin_kept('records_days', %(age)s, %(least)s) AS kept
            CROSS JOIN LATERAL (
                SELECT records.notification_id, records.tenant_id, records.accepted_at, route.routes,
                       GREATEST(records.updated_at, route.updated_at, letter.resolved_at) AS changed_at
                FROM records
                CROSS JOIN LATERAL (
                    SELECT count(*) AS routes, max(updated_at) AS updated_at, bool_or(status IN ('pending', 'failed')) AS is_live
                    FROM routes
                    WHERE routes.notification_id = records.notification_id
                ) AS route
                CROSS JOIN LATERAL (
                    SELECT max(resolved_at) AS resolved_at
                    FROM dead_letters
                    WHERE dead_letters.notification_id = records.notification_id
                ) AS letter
                WHERE records.tenant_id = kept.tenant_id AND records.accepted_at < tocsin_now() - kept.age
                  AND NOT (records.holds_key AND records.idempotency_expires_at > tocsin_now())
                  AND route.is_live IS NOT TRUE
                  AND NOT EXISTS (SELECT FROM outbox WHERE outbox.id = records.notification_id)
                  AND NOT EXISTS (
                      SELECT FROM webhook_deliveries AS told
                      WHERE told.notification_id = records.notification_id AND told.status = 'pending')
                ORDER BY records.accepted_at
                LIMIT %(limit)s
            ) AS old
            LIMIT %(limit)s
            """,
            {"age": age, "least": least, "limit": limit},
        )
        .fetchall()
    )


def delete_unchanged(conn: Connection[Any], expired: list[ExpiredRecord]) -> int:
    """Forget these with their routes, attempts and dead letters, but for those about which anything has changed since then.

    Whatever brings one to life again changes its routes, or gives it work. Of one that somebody holds just now, or a route of it,
    nothing is touched: it stays for the next run."""
    return conn.execute(
        """
        WITH held AS MATERIALIZED (
            SELECT notification_id, updated_at FROM records WHERE notification_id = ANY(%(ids)s) FOR UPDATE SKIP LOCKED
        ), free_route AS MATERIALIZED (
            SELECT notification_id, updated_at FROM routes WHERE notification_id = ANY(%(ids)s) FOR UPDATE SKIP LOCKED
        ), route AS (
            SELECT notification_id, count(*) AS routes, max(updated_at) AS updated_at FROM free_route GROUP BY notification_id
        ), expired AS MATERIALIZED (
            SELECT held.notification_id
            FROM unnest(%(ids)s::uuid[], %(routes)s::bigint[], %(changed)s::timestamptz[])
                AS found (notification_id, routes, changed_at)
            JOIN held USING (notification_id)
            LEFT JOIN route USING (notification_id)
            WHERE found.routes = COALESCE(route.routes, 0)
              AND found.changed_at >= GREATEST(held.updated_at, route.updated_at)
              AND NOT EXISTS (
                  SELECT FROM dead_letters AS letter
                  WHERE letter.notification_id = held.notification_id AND letter.resolved_at > found.changed_at)
              AND NOT EXISTS (SELECT FROM outbox WHERE outbox.id = held.notification_id)
              AND NOT EXISTS (
                  SELECT FROM webhook_deliveries AS told
                  WHERE told.notification_id = held.notification_id AND told.status = 'pending')
        )
        DELETE FROM records WHERE notification_id = ANY(ARRAY(SELECT notification_id FROM expired))
        """,
        {
            "ids": [one.notification_id for one in expired],
            "routes": [one.routes for one in expired],
            "changed": [one.changed_at for one in expired],
        },
    ).rowcount
