"""What a person wants to hear of one thread: their own word, or that they took part."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row

OWN_WORD = "manual"


@dataclass(frozen=True, slots=True)
class Subscription:
    subscribed: bool
    reason: str
    updated_at: datetime


def find(conn: Connection[Any], tenant_id: UUID, user_id: UUID, kind: str, thread_id: str) -> Subscription | None:
    return (
        conn.cursor(row_factory=class_row(Subscription))
        .execute(
            """
            SELECT subscribed, reason, updated_at
            FROM notification_threads
            WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND thread_kind = %(kind)s AND thread_id = %(thread_id)s
            """,
            {"tenant_id": tenant_id, "user_id": user_id, "kind": kind, "thread_id": thread_id},
        )
        .fetchone()
    )


def lock(conn: Connection[Any], tenant_id: UUID, user_id: UUID, kind: str, thread_id: str) -> Subscription | None:
    """What they want until this transaction changes it."""
    return (
        conn.cursor(row_factory=class_row(Subscription))
        .execute(
            """
            SELECT subscribed, reason, updated_at
            FROM notification_threads
            WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND thread_kind = %(kind)s AND thread_id = %(thread_id)s
            FOR NO KEY UPDATE
            """,
            {"tenant_id": tenant_id, "user_id": user_id, "kind": kind, "thread_id": thread_id},
        )
        .fetchone()
    )


def choose(conn: Connection[Any], tenant_id: UUID, user_id: UUID, kind: str, thread_id: str, *, subscribed: bool) -> Subscription:
    """A person's own word, in place of whatever was there."""
    row = (
        conn.cursor(row_factory=class_row(Subscription))
        .execute(
            """
            INSERT INTO notification_threads (tenant_id, user_id, thread_kind, thread_id, subscribed, reason, updated_at)
            VALUES (%(tenant_id)s, %(user_id)s, %(kind)s, %(thread_id)s, %(subscribed)s, %(reason)s, tocsin_now())
            ON CONFLICT (tenant_id, user_id, thread_kind, thread_id) DO UPDATE
                SET subscribed = EXCLUDED.subscribed, reason = EXCLUDED.reason, updated_at = EXCLUDED.updated_at
            RETURNING subscribed, reason, updated_at
            """,
            {
                "tenant_id": tenant_id,
                "user_id": user_id,
                "kind": kind,
                "thread_id": thread_id,
                "subscribed": subscribed,
                "reason": OWN_WORD,
            },
        )
        .fetchone()
    )
    assert row is not None  # noqa: S101 - an upsert without a WHERE always returns its row
    return row


def forget(conn: Connection[Any], tenant_id: UUID, user_id: UUID, kind: str, thread_id: str) -> None:
    conn.execute(
        """
        DELETE FROM notification_threads
        WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND thread_kind = %(kind)s AND thread_id = %(thread_id)s
        """,
        {"tenant_id": tenant_id, "user_id": user_id, "kind": kind, "thread_id": thread_id},
    )


def delete_expired(conn: Connection[Any], *, age: timedelta, limit: int) -> int:
    """Forget that people took part long ago. What they chose themselves stays."""
    return conn.execute(
        """
        WITH expired AS (
            SELECT tenant_id, user_id, thread_kind, thread_id
            FROM notification_threads
            WHERE reason <> 'manual' AND updated_at < tocsin_now() - %(age)s
            ORDER BY updated_at
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM notification_threads AS thread
        USING expired
        WHERE thread.tenant_id = expired.tenant_id AND thread.user_id = expired.user_id
          AND thread.thread_kind = expired.thread_kind AND thread.thread_id = expired.thread_id
        """,
        {"age": age, "limit": limit},
    ).rowcount
