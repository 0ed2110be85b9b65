"""What was sent to whom: written before it is sent, so that concurrent workers see each other's sends."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from tocsin.store.rows import Claimed, State


def lock_recipients(conn: Connection[Any], user_ids: set[UUID]) -> None:
    """Until the end of the transaction nobody else decides what these people are told. In one order: no ring of waiters."""
    keys = sorted(int.from_bytes(user_id.bytes[8:], signed=True) for user_id in user_ids)
    conn.execute("SELECT pg_advisory_xact_lock(wanted.key) FROM unnest(%(keys)s::bigint[]) AS wanted (key)", {"keys": keys})


def read_states(
    conn: Connection[Any],
    wanted: list[tuple[Claimed, datetime | None, datetime | None]],
    *,
    lease_token: UUID,
    thread_window: timedelta,
    hour: timedelta,
    hourly_limit: int,
) -> list[State]:
    """What the log knows for each delivery (with the day its cap counts) that is still under our lease, oldest first."""
    return (
        conn.cursor(row_factory=class_row(State))
        .execute(
            """
            WITH wanted AS (
                SELECT *
                FROM jsonb_to_recordset(%(wanted)s) AS wanted (
                    outbox_id uuid, tenant_id uuid, user_id uuid, notification_id uuid, route_id text, generation smallint,
                    channel text, notification_type text, thread_kind text, thread_id text, cap_is_of_type boolean,
                    day_start timestamptz, day_end timestamptz, is_digest boolean)
            )
            SELECT wanted.outbox_id, tocsin_now() AS now,
                   -- a reservation of another window or another day is none: others may have been told since
                   COALESCE(own.sent_at > tocsin_now() - %(thread_window)s
                            AND own.sent_at >= COALESCE(wanted.day_start, own.sent_at), false) AS is_reserved,
                   COALESCE(hour.emails, 0) AS emails_this_hour,
                   CASE WHEN hour.emails = %(hourly_limit)s THEN hour.oldest + %(hour)s END AS hour_is_full_until,
                   COALESCE(today.sent, 0) AS sent_today, thread.sent_at AS thread_told_at,
                   digest.notification_id AS digest_id, digest.outbox_id AS digest_outbox_id,
                   COALESCE(NOT inbox.unread, false) AS is_read, records.payload_json AS payload
            FROM wanted
            JOIN outbox ON outbox.id = wanted.outbox_id AND outbox.lease_token = %(lease_token)s
            JOIN records ON records.notification_id = wanted.notification_id
            LEFT JOIN notification_email_log AS own
                ON own.notification_id = wanted.notification_id AND own.route_id = wanted.route_id
                AND own.generation = wanted.generation
            LEFT JOIN LATERAL (
                SELECT count(*) AS emails, min(recent.sent_at) AS oldest
                FROM (
                    SELECT log.sent_at
                    FROM notification_email_log AS log
                    WHERE log.tenant_id = wanted.tenant_id AND log.recipient_user_id = wanted.user_id
                      AND log.channel = 'email' AND log.sent_at > tocsin_now() - %(hour)s
                      AND log.id IS DISTINCT FROM own.id
                    ORDER BY log.sent_at DESC
                    LIMIT %(hourly_limit)s
                ) AS recent
            ) AS hour ON wanted.channel = 'email'
            LEFT JOIN LATERAL (
                SELECT count(*) AS sent
                FROM notification_email_log AS log
                WHERE log.tenant_id = wanted.tenant_id AND log.recipient_user_id = wanted.user_id
                  AND log.channel = wanted.channel AND log.sent_at >= wanted.day_start AND log.sent_at < wanted.day_end
                  AND (NOT wanted.cap_is_of_type OR log.notification_type = wanted.notification_type)
                  AND log.id IS DISTINCT FROM own.id
            ) AS today ON wanted.day_start IS NOT NULL
            LEFT JOIN LATERAL (
                SELECT log.sent_at
                FROM notification_email_log AS log
                WHERE log.tenant_id = wanted.tenant_id AND log.recipient_user_id = wanted.user_id
                  AND log.thread_kind = wanted.thread_kind AND log.thread_id = wanted.thread_id AND log.channel = 'email'
                  AND log.id IS DISTINCT FROM own.id
                ORDER BY log.sent_at DESC
                LIMIT 1
            ) AS thread ON wanted.thread_id IS NOT NULL
            LEFT JOIN LATERAL (
                -- one whose email is over, however it ended, collects no more
                SELECT digests.notification_id, digests.outbox_id
                FROM digests JOIN outbox AS waiting ON waiting.id = digests.outbox_id
                WHERE digests.tenant_id = wanted.tenant_id AND digests.user_id = wanted.user_id
                  AND digests.thread_kind = wanted.thread_kind AND digests.thread_id = wanted.thread_id
            ) AS digest ON wanted.thread_id IS NOT NULL
            LEFT JOIN notifications AS inbox
                ON wanted.is_digest AND inbox.tenant_id = wanted.tenant_id AND inbox.user_id = wanted.user_id
                AND inbox.thread_kind = wanted.thread_kind AND inbox.thread_id = wanted.thread_id
            ORDER BY wanted.notification_id, wanted.outbox_id
            FOR UPDATE OF outbox
            """,
            {
                "wanted": Jsonb([_wanted(*one) for one in wanted]),
                "hourly_limit": hourly_limit,
                "hour": hour,
                "thread_window": thread_window,
                "lease_token": lease_token,
            },
        )
        .fetchall()
    )


def reserve(conn: Connection[Any], granted: list[Claimed]) -> None:
    """The log row first, then the send: whoever decides next counts it."""
    conn.execute(
        """
        INSERT INTO notification_email_log (
            tenant_id, recipient_user_id, notification_id, route_id, generation, channel, notification_type, thread_kind,
            thread_id, sent_at)
        SELECT tenant_id, user_id, notification_id, route_id, generation, channel, notification_type, thread_kind, thread_id,
               tocsin_now()
        FROM jsonb_to_recordset(%(granted)s) AS granted (
            tenant_id uuid, user_id uuid, notification_id uuid, route_id text, generation smallint, channel text,
            notification_type text, thread_kind text, thread_id text)
        ON CONFLICT (notification_id, route_id, generation) DO UPDATE SET sent_at = EXCLUDED.sent_at
        """,
        {"granted": Jsonb([_wanted(one) for one in granted])},
    )


def delete_expired(conn: Connection[Any], *, age: timedelta, limit: int) -> int:
    return conn.execute(
        """
        WITH expired AS (
            SELECT id FROM notification_email_log
            WHERE sent_at < tocsin_now() - %(age)s
            ORDER BY sent_at
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM notification_email_log AS log USING expired WHERE log.id = expired.id
        """,
        {"age": age, "limit": limit},
    ).rowcount


def _wanted(one: Claimed, day_start: datetime | None = None, day_end: datetime | None = None) -> dict[str, Any]:
    return {
        "outbox_id": str(one.outbox_id),
        "tenant_id": str(one.tenant_id),
        "user_id": str(one.user_id),
        "notification_id": str(one.notification_id),
        "route_id": one.route_id,
        "generation": one.generation,
        "channel": one.channel,
        "notification_type": one.notification_type,
        "thread_kind": one.thread_kind,
        "thread_id": one.thread_id,
        "cap_is_of_type": one.cap_is_of_type,
        "day_start": day_start.isoformat() if day_start else None,
        "day_end": day_end.isoformat() if day_end else None,
        "is_digest": one.audience_kind == "digest",
    }
