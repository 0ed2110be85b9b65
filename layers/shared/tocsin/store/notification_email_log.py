"""What was sent to whom: written before it is sent, so that concurrent workers see each other's sends."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from tocsin.store.rows import Delivery


def lock_recipients(conn: Connection[Any], user_ids: set[UUID]) -> None:
    """Until the end of the transaction nobody else decides what these people are told. In one order: no ring of waiters."""
    keys = sorted(int.from_bytes(user_id.bytes[8:], signed=True) for user_id in user_ids)
    conn.execute("SELECT pg_advisory_xact_lock(wanted.key) FROM unnest(%(keys)s::bigint[]) AS wanted (key)", {"keys": keys})


def reserve(conn: Connection[Any], granted: list[tuple[Delivery, bytes | None]]) -> None:
    """The log row first, then the send: whoever decides next counts it. With the hash of the address where that is guarded."""
    conn.execute(
        """
        INSERT INTO notification_email_log (
            tenant_id, recipient_user_id, notification_id, route_id, generation, channel, notification_type, thread_kind,
            thread_id, sent_at, address_hash)
        SELECT tenant_id, user_id, notification_id, route_id, generation, channel, notification_type, thread_kind, thread_id,
               tocsin_now(), decode(address_hash, 'hex')
        FROM jsonb_to_recordset(%(granted)s) AS granted (
            tenant_id uuid, user_id uuid, notification_id uuid, route_id text, generation smallint, channel text,
            notification_type text, thread_kind text, thread_id text, address_hash text)
        ON CONFLICT (notification_id, route_id, generation) DO UPDATE
            SET sent_at = EXCLUDED.sent_at, address_hash = EXCLUDED.address_hash
        """,
        {"granted": Jsonb([entry(one) | {"address_hash": known.hex() if known else None} for one, known in granted])},
    )


def list_page(
    conn: Connection[Any],
    tenant_id: UUID,
    user_id: UUID,
    *,
    channel: str,
    thread: tuple[str, str] | None,
    since: datetime | None,
    limit: int,
    after: tuple[datetime, int] | None,
) -> list[dict[str, Any]]:
    """What a person was sent on a channel, newest first. Without a message_id no provider has taken it yet, as far as is known.

    Planned anew each time: with a thread and without one there are different indexes."""
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            SELECT log.id, users.external_id AS user_id, log.notification_id, log.route_id, log.generation, log.channel,
                   log.notification_type AS type, log.thread_kind, log.thread_id, log.sent_at, log.message_id
            FROM notification_email_log AS log
            JOIN users ON users.tenant_id = log.tenant_id AND users.id = log.recipient_user_id
            WHERE log.tenant_id = %(tenant_id)s AND log.recipient_user_id = %(user_id)s AND log.channel = %(channel)s
              AND (%(thread_kind)s::text IS NULL OR log.thread_kind = %(thread_kind)s AND log.thread_id = %(thread_id)s)
              AND (%(since)s::timestamptz IS NULL OR log.sent_at >= %(since)s)
              AND (%(after_at)s::timestamptz IS NULL OR (log.sent_at, log.id) < (%(after_at)s, %(after_id)s::bigint))
            ORDER BY log.sent_at DESC, log.id DESC
            LIMIT %(limit)s
            """,
            {
                "tenant_id": tenant_id,
                "user_id": user_id,
                "channel": channel,
                "thread_kind": thread[0] if thread else None,
                "thread_id": thread[1] if thread else None,
                "since": since,
                "after_at": after[0] if after else None,
                "after_id": after[1] if after else None,
                "limit": limit,
            },
            prepare=False,
        )
        .fetchall()
    )


def delete_expired(conn: Connection[Any], *, age: timedelta, least: timedelta, limit: int) -> int:
    return conn.execute(
        """
        WITH expired AS (
            SELECT old.id
            FROM tocsin_kept('email_log_days', %(age)s, %(least)s) AS kept
            CROSS JOIN LATERAL (
                SELECT notification_email_log.id FROM notification_email_log
                WHERE notification_email_log.tenant_id = kept.tenant_id AND notification_email_log.id > 0  -- as its index says
                  AND notification_email_log.sent_at AT TIME ZONE 'UTC' < (tocsin_now() - kept.age) AT TIME ZONE 'UTC'
                ORDER BY notification_email_log.sent_at AT TIME ZONE 'UTC'
                LIMIT %(limit)s
                FOR UPDATE SKIP LOCKED
            ) AS old
            LIMIT %(limit)s
        )
        DELETE FROM notification_email_log USING expired WHERE notification_email_log.id = expired.id
        """,
        {"age": age, "least": least, "limit": limit},
    ).rowcount


def entry(one: Delivery) -> dict[str, Any]:
    """A delivery as the log names it."""
    return {
        "tenant_id": str(one.work.tenant_id),
        "user_id": str(one.route.user_id) if one.route.user_id else None,
        "notification_id": str(one.record.notification_id),
        "route_id": one.route.route_id,
        "generation": one.work.generation,
        "channel": one.route.channel,
        "notification_type": one.record.notification_type,
        "thread_kind": one.record.thread_kind,
        "thread_id": one.record.thread_id,
    }
