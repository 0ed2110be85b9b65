"""What triggers run: one handler may be several triggers'."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection


def find_kind(conn: Connection[Any], tenant_id: UUID, handler_id: UUID) -> str | None:
    row = conn.execute(
        "SELECT kind FROM trigger_handlers WHERE tenant_id = %(tenant_id)s AND id = %(handler_id)s",
        {"tenant_id": tenant_id, "handler_id": handler_id},
    ).fetchone()
    return row[0] if row else None


def rotate_secret(conn: Connection[Any], tenant_id: UUID, handler_id: UUID, *, secret: bytes, overlap: timedelta) -> datetime:
    """The secret before signs too until the overlap is over, which is returned; what it had itself replaced signs no more."""
    row = conn.execute(
        """
        UPDATE trigger_handlers
        SET previous_secret = secret, previous_secret_expires_at = tocsin_now() + %(overlap)s, secret = %(secret)s,
            updated_at = tocsin_now()
        WHERE tenant_id = %(tenant_id)s AND id = %(handler_id)s AND kind = 'webhook'
        RETURNING previous_secret_expires_at
        """,
        {"tenant_id": tenant_id, "handler_id": handler_id, "secret": secret, "overlap": overlap},
    ).fetchone()
    assert row is not None  # noqa: S101 - the caller holds a trigger that has it
    ends_at: datetime = row[0]
    return ends_at


def delete_unused(conn: Connection[Any], tenant_id: UUID, handler_id: UUID) -> None:
    """Delete the handler, unless a trigger has it. The caller holds its lock, so that two at once do not each leave it."""
    conn.execute(
        """
        DELETE FROM trigger_handlers
        WHERE tenant_id = %(tenant_id)s AND id = %(handler_id)s
          AND NOT EXISTS (SELECT FROM triggers WHERE triggers.handler_id = trigger_handlers.id)
        """,
        {"tenant_id": tenant_id, "handler_id": handler_id},
    )
