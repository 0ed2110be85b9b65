"""What was asked: one durable record per accepted intent, which is also its idempotency reservation."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import class_row, dict_row


@dataclass(frozen=True, slots=True)
class Reservation:
    notification_id: UUID
    idempotency_key: str
    request_fingerprint: bytes
    accepted_at: datetime
    is_expired: bool
    is_fresh: bool  # of this minute: its first hint may not have been sent


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
                   occurred_at, accepted_at, send_at, expires_at, cancelled_at
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
    """Newest first. Filters that are None do not filter; those on routes ask for one matching route."""
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            SELECT notification_id, notification_type, producer, mode, audience_kind, audience ->> 'scope' AS scope, template,
                   priority, thread_kind,
                   thread_id, occurred_at, accepted_at, send_at, expires_at, cancelled_at,
                   (SELECT jsonb_object_agg(counted.status, counted.routes)
                    FROM (SELECT status, count(*) AS routes FROM routes
                          WHERE routes.notification_id = records.notification_id AND routes.tenant_id = %(tenant_id)s
                          GROUP BY status) AS counted) AS routes
            FROM records
            WHERE tenant_id = %(tenant_id)s
              AND (%(type)s::text IS NULL OR notification_type = %(type)s)
              AND (%(producer)s::text IS NULL OR producer = %(producer)s)
              AND (%(since)s::timestamptz IS NULL OR accepted_at >= %(since)s)
              AND (%(until)s::timestamptz IS NULL OR accepted_at < %(until)s)
              AND (%(after_at)s::timestamptz IS NULL OR (accepted_at, notification_id) < (%(after_at)s, %(after_id)s))
              AND (NOT %(by_route)s OR EXISTS (
                  SELECT FROM routes
                  WHERE routes.notification_id = records.notification_id AND routes.tenant_id = %(tenant_id)s
                    AND (%(status)s::text IS NULL OR routes.status = %(status)s)
                    AND (%(channel)s::text IS NULL OR routes.channel = %(channel)s)
                    AND (%(recipient)s::text IS NULL OR routes.recipient_ref = %(recipient)s)))
            ORDER BY accepted_at DESC, notification_id DESC
            LIMIT %(limit)s
            """,
            filters
            | {
                "tenant_id": tenant_id,
                "by_route": any(filters[name] is not None for name in ("status", "channel", "recipient")),
                "after_at": after[0] if after else None,
                "after_id": after[1] if after else None,
                "limit": limit,
            },
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


def delete_expired(
    conn: Connection[Any], *, age: timedelta, limit: int, only: UUID | None = None, except_for: list[UUID] | None = None
) -> int:
    """Forget old records with their routes, attempts and dead letters; never one that is unplanned or has a live route."""
    return conn.execute(
        """
        WITH candidate AS (
            SELECT notification_id
            FROM records
            WHERE accepted_at < tocsin_now() - %(age)s
              AND (%(only)s::uuid IS NULL OR tenant_id = %(only)s)
              AND tenant_id <> ALL(%(except_for)s)
              AND NOT EXISTS (SELECT FROM outbox WHERE outbox.id = records.notification_id)
              AND NOT EXISTS (
                  SELECT FROM routes
                  WHERE routes.notification_id = records.notification_id AND routes.status IN ('pending', 'failed'))
            ORDER BY accepted_at
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        ), free_route AS (
            SELECT routes.notification_id
            FROM routes JOIN candidate USING (notification_id)
            FOR UPDATE OF routes SKIP LOCKED
        ), expired AS (
            -- a record whose route someone holds just now stays for the next run
            SELECT notification_id
            FROM candidate
            WHERE (SELECT count(*) FROM routes WHERE routes.notification_id = candidate.notification_id)
                = (SELECT count(*) FROM free_route WHERE free_route.notification_id = candidate.notification_id)
        )
        DELETE FROM records USING expired WHERE records.notification_id = expired.notification_id
        """,
        {"age": age, "limit": limit, "only": only, "except_for": except_for or []},
    ).rowcount
