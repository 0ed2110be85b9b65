"""What was sent to whom: written before it is sent, so that concurrent workers see each other's sends."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.types.json import Jsonb

from tocsin.store.rows import Delivery


def lock_recipients(conn: Connection[Any], user_ids: set[UUID]) -> None:
    """Until the end of the transaction nobody else decides what these people are told. In one order: no ring of waiters."""
    keys = sorted(int.from_bytes(user_id.bytes[8:], signed=True) for user_id in user_ids)
    conn.execute("SELECT pg_advisory_xact_lock(wanted.key) FROM unnest(%(keys)s::bigint[]) AS wanted (key)", {"keys": keys})


def reserve(conn: Connection[Any], granted: list[Delivery]) -> None:
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
        {"granted": Jsonb([entry(one) for one in granted])},
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


def entry(one: Delivery) -> dict[str, Any]:
    """A delivery as the log names it."""
    return {
        "tenant_id": str(one.work.tenant_id),
        "user_id": str(one.route.user_id),
        "notification_id": str(one.record.notification_id),
        "route_id": one.route.route_id,
        "generation": one.work.generation,
        "channel": one.route.channel,
        "notification_type": one.record.notification_type,
        "thread_kind": one.record.thread_kind,
        "thread_id": one.record.thread_id,
    }
