"""What each person did with a row that is for everyone."""

from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.store.notifications import Change


def change(conn: Connection[Any], tenant_id: UUID, user_id: UUID, row_id: UUID, change: Change) -> bool:
    """Change one person's state of a row for everyone, as `notifications.change_own` does with their own rows."""
    found = conn.execute(
        """
        INSERT INTO notification_reads AS mine (
            notification_id, user_id, tenant_id, read_at, hidden_at, done_at, saved_at, snoozed_until, snoozed_at,
            updated_at)
        SELECT shared.id, %(user_id)s, shared.tenant_id, CASE WHEN %(read)s THEN tocsin_now() END,
               CASE WHEN %(hide)s THEN tocsin_now() END, CASE WHEN %(done)s THEN tocsin_now() END,
               CASE WHEN %(saved)s THEN tocsin_now() END, %(snoozed_until)s::timestamptz,
               CASE WHEN %(snoozed_until)s::timestamptz IS NOT NULL THEN tocsin_now() END, tocsin_now()
        FROM notifications AS shared
        LEFT JOIN notification_reads AS before ON before.notification_id = shared.id AND before.user_id = %(user_id)s
        WHERE shared.tenant_id = %(tenant_id)s AND shared.id = %(row_id)s AND shared.user_id IS NULL
          AND (shared.expires_at IS NULL OR shared.expires_at > tocsin_now())
          AND (before.hidden_at IS NULL OR before.hidden_at < shared.last_event_at)
        ON CONFLICT (notification_id, user_id) DO UPDATE
            SET read_at = CASE WHEN %(read)s::boolean IS NULL THEN mine.read_at ELSE EXCLUDED.read_at END,
                hidden_at = COALESCE(EXCLUDED.hidden_at, mine.hidden_at),
                done_at = CASE WHEN %(done)s::boolean IS NULL THEN mine.done_at ELSE EXCLUDED.done_at END,
                saved_at = CASE WHEN %(saved)s::boolean IS NULL THEN mine.saved_at ELSE EXCLUDED.saved_at END,
                snoozed_until = CASE WHEN %(snooze)s THEN EXCLUDED.snoozed_until ELSE mine.snoozed_until END,
                snoozed_at = CASE WHEN %(snooze)s THEN EXCLUDED.snoozed_at ELSE mine.snoozed_at END,
                updated_at = EXCLUDED.updated_at
        RETURNING true
        """,
        {"tenant_id": tenant_id, "user_id": user_id, "row_id": row_id} | change.as_parameters(),
    ).fetchone()
    return found is not None


def read_all(conn: Connection[Any], tenant_id: UUID, user_id: UUID, *, before: datetime | None, limit: int) -> int:
    """Mark rows for everyone as read for one person, as `notifications.read_own` does; returns how many."""
    row = conn.execute(
        """
        WITH marked AS (
            INSERT INTO notification_reads AS mine (notification_id, user_id, tenant_id, read_at, updated_at)
            SELECT shared.id, %(user_id)s, shared.tenant_id, tocsin_now(), tocsin_now()
            FROM notifications AS shared
            LEFT JOIN notification_reads AS before ON before.notification_id = shared.id AND before.user_id = %(user_id)s
            WHERE shared.tenant_id = %(tenant_id)s AND shared.user_id IS NULL AND shared.box = 'unread'
              AND shared.last_event_at <= COALESCE(%(before)s, tocsin_now())
              AND GREATEST(before.read_at, before.hidden_at, before.done_at) >= shared.last_event_at IS NOT TRUE
              AND (before.snoozed_until > tocsin_now() AND before.snoozed_at >= shared.last_event_at) IS NOT TRUE
              AND (shared.expires_at IS NULL OR shared.expires_at > tocsin_now())
            ORDER BY shared.id
            LIMIT %(limit)s
            ON CONFLICT (notification_id, user_id) DO UPDATE
                SET read_at = EXCLUDED.read_at, updated_at = EXCLUDED.updated_at
            RETURNING notification_id
        )
        SELECT count(*) FROM marked
        """,
        {"tenant_id": tenant_id, "user_id": user_id, "before": before, "limit": limit},
    ).fetchone()
    return row[0] if row else 0


def finish_all(
    conn: Connection[Any], tenant_id: UUID, user_id: UUID, *, only_read: bool, before: datetime | None, limit: int
) -> int:
    """Mark rows for everyone as done for one person, as `notifications.finish_own` does; returns how many."""
    row = conn.execute(
        """
        WITH marked AS (
            INSERT INTO notification_reads AS mine (notification_id, user_id, tenant_id, read_at, done_at, updated_at)
            SELECT shared.id, %(user_id)s, shared.tenant_id,
                   CASE WHEN before.read_at >= shared.last_event_at THEN before.read_at ELSE tocsin_now() END, tocsin_now(),
                   tocsin_now()
            FROM notifications AS shared
            LEFT JOIN notification_reads AS before ON before.notification_id = shared.id AND before.user_id = %(user_id)s
            WHERE shared.tenant_id = %(tenant_id)s AND shared.user_id IS NULL AND shared.box = 'unread'
              AND shared.last_event_at <= COALESCE(%(before)s, tocsin_now())
              AND (NOT %(only_read)s OR before.read_at >= shared.last_event_at)
              AND GREATEST(before.hidden_at, before.done_at) >= shared.last_event_at IS NOT TRUE
              AND (before.snoozed_until > tocsin_now() AND before.snoozed_at >= shared.last_event_at) IS NOT TRUE
              AND (shared.expires_at IS NULL OR shared.expires_at > tocsin_now())
            ORDER BY shared.id
            LIMIT %(limit)s
            ON CONFLICT (notification_id, user_id) DO UPDATE
                SET read_at = EXCLUDED.read_at, done_at = EXCLUDED.done_at, snoozed_until = NULL, snoozed_at = NULL,
                    updated_at = EXCLUDED.updated_at
            RETURNING notification_id
        )
        SELECT count(*) FROM marked
        """,
        {"tenant_id": tenant_id, "user_id": user_id, "only_read": only_read, "before": before, "limit": limit},
    ).fetchone()
    return row[0] if row else 0
