"""The mailboxes of synchronous callers: there while somebody waits for the outcome of a notification."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor


def insert_or_prolong(conn: Connection[Any], tenant_id: UUID, notification_id: UUID, *, stay: timedelta) -> datetime:
    """Wait at the mailbox of a notification too, or again. Returns until when; another may stay longer."""
    row = conn.execute(
        """
        INSERT INTO reply_inboxes (id, tenant_id, expires_at)
        VALUES (%(notification_id)s, %(tenant_id)s, tocsin_now() + %(stay)s)
        ON CONFLICT (id) DO UPDATE
            SET expires_at = GREATEST(reply_inboxes.expires_at, EXCLUDED.expires_at)
            WHERE reply_inboxes.tenant_id = EXCLUDED.tenant_id
        RETURNING tocsin_now() + %(stay)s
        """,
        {"tenant_id": tenant_id, "notification_id": notification_id, "stay": stay},
    ).fetchone()
    assert row is not None  # noqa: S101 - the mailbox of a tenant's own notification is the tenant's
    until: datetime = row[0]
    return until


def look(conn: Connection[Any], tenant_id: UUID, notification_id: UUID) -> Cursor[tuple[bool]]:
    """Is anything of it still under way? A first outcome of each route is awaited: its end, or that it was put off.

    Of work that nobody waited for when it began (it came without a wish to wait), that is its first recorded outcome."""
    return conn.execute(
        """
        SELECT EXISTS (SELECT FROM outbox WHERE tenant_id = %(tenant_id)s AND reply_to = %(notification_id)s)
            OR EXISTS (SELECT FROM outbox WHERE tenant_id = %(tenant_id)s AND id = %(notification_id)s)
            OR EXISTS (
                SELECT
                FROM routes JOIN outbox ON outbox.id = routes.outbox_id
                WHERE routes.tenant_id = %(tenant_id)s AND routes.notification_id = %(notification_id)s
                  AND routes.status = 'pending' AND routes.next_attempt_at IS NULL)
        """,
        {"tenant_id": tenant_id, "notification_id": notification_id},
    )


def delete(conn: Connection[Any], tenant_id: UUID, notification_id: UUID, *, until: datetime) -> None:
    """Leave, unless somebody stays longer. Waits for whoever is replying; whoever replies from now on finds nobody."""
    conn.execute(
        "DELETE FROM reply_inboxes WHERE tenant_id = %(tenant_id)s AND id = %(notification_id)s AND expires_at <= %(until)s",
        {"tenant_id": tenant_id, "notification_id": notification_id, "until": until},
    )


def delete_expired(conn: Connection[Any], *, limit: int) -> int:
    """Those of callers who died while they waited."""
    return conn.execute(
        """
        WITH expired AS (
            SELECT id FROM reply_inboxes
            WHERE expires_at < tocsin_now()
            ORDER BY expires_at
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM reply_inboxes USING expired WHERE reply_inboxes.id = expired.id
        """,
        {"limit": limit},
    ).rowcount
