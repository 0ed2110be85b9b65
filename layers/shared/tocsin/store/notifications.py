"""The inbox: one row per person and thread."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import dict_row


def list_page(
    conn: Connection[Any],
    tenant_id: UUID,
    user_id: UUID,
    *,
    unread: bool | None,
    limit: int,
    after: tuple[datetime, UUID] | None,
) -> list[dict[str, Any]]:
    """A user's own rows and those for everyone, latest event first."""
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            SELECT id, kind, reason, scope, thread_kind, thread_id, title, message, summary, event_count, unread,
                   read_at, last_event_at, created_at
            FROM notifications
            WHERE tenant_id = %(tenant_id)s AND (user_id = %(user_id)s OR user_id IS NULL)
              AND deleted_at IS NULL AND (expires_at IS NULL OR expires_at > tocsin_now())
              AND (%(unread)s::boolean IS NULL OR unread = %(unread)s)
              AND (%(after_at)s::timestamptz IS NULL OR (last_event_at, id) < (%(after_at)s, %(after_id)s))
            ORDER BY last_event_at DESC, id DESC
            LIMIT %(limit)s
            """,
            {
                "tenant_id": tenant_id,
                "user_id": user_id,
                "unread": unread,
                "after_at": after[0] if after else None,
                "after_id": after[1] if after else None,
                "limit": limit,
            },
        )
        .fetchall()
    )


def count_unread(conn: Connection[Any], tenant_id: UUID, user_id: UUID) -> int:
    row = conn.execute(
        """
        SELECT count(*)
        FROM notifications
        WHERE tenant_id = %(tenant_id)s AND (user_id = %(user_id)s OR user_id IS NULL) AND unread AND deleted_at IS NULL
          AND (expires_at IS NULL OR expires_at > tocsin_now())
        """,
        {"tenant_id": tenant_id, "user_id": user_id},
    ).fetchone()
    return row[0] if row else 0


def delete_expired(conn: Connection[Any], *, age: timedelta, hidden_age: timedelta, limit: int) -> int:
    return conn.execute(
        """
        WITH expired AS (
            SELECT id FROM notifications
            WHERE expires_at < tocsin_now()
               OR deleted_at < tocsin_now() - %(hidden_age)s
               OR expires_at IS NULL AND last_event_at < tocsin_now() - %(age)s
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM notifications USING expired WHERE notifications.id = expired.id
        """,
        {"age": age, "hidden_age": hidden_age, "limit": limit},
    ).rowcount
