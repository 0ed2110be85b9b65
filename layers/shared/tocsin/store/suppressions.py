"""Whom not to write to."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row


@dataclass(frozen=True, slots=True)
class Suppression:
    id: UUID
    channel: str
    address: str | None
    notification_type: str
    reason: str
    source_notification_id: UUID | None
    expires_at: datetime | None
    created_at: datetime


def insert_or_strengthen(
    conn: Connection[Any],
    *,
    suppression_id: UUID,
    tenant_id: UUID,
    channel: str,
    address: str,
    notification_type: str = "",
    reason: str,
    source_notification_id: UUID | None = None,
    lasts: timedelta | None = None,
) -> None:
    """Suppress an address. A complaint is never weakened, and a lasting suppression not by a passing one."""
    conn.execute(
        """
        INSERT INTO suppressions (
            id, tenant_id, channel, address, address_hash, notification_type, reason, source_notification_id, expires_at)
        VALUES (%(suppression_id)s, %(tenant_id)s, %(channel)s, %(address)s,
                tocsin_address_hash(%(tenant_id)s, %(channel)s, %(address)s), %(notification_type)s, %(reason)s,
                %(source_notification_id)s, tocsin_now() + %(lasts)s)
        ON CONFLICT (tenant_id, channel, address_hash, notification_type) DO UPDATE
            SET reason = EXCLUDED.reason, expires_at = EXCLUDED.expires_at, address = EXCLUDED.address,
                source_notification_id = EXCLUDED.source_notification_id
            WHERE suppressions.reason <> 'complaint' AND (suppressions.expires_at IS NOT NULL OR EXCLUDED.reason = 'complaint')
        """,
        {
            "suppression_id": suppression_id,
            "tenant_id": tenant_id,
            "channel": channel,
            "address": address,
            "notification_type": notification_type,
            "reason": reason,
            "source_notification_id": source_notification_id,
            "lasts": lasts,
        },
    )


def insert_hash(
    conn: Connection[Any], *, suppression_id: UUID, tenant_id: UUID, channel: str, address_hash: bytes, notification_type: str
) -> None:
    """An unsubscribe by its token, which knows the address only by its hash."""
    conn.execute(
        """
        INSERT INTO suppressions (id, tenant_id, channel, address_hash, notification_type, reason)
        VALUES (%(suppression_id)s, %(tenant_id)s, %(channel)s, %(address_hash)s, %(notification_type)s, 'unsubscribe')
        ON CONFLICT (tenant_id, channel, address_hash, notification_type) DO NOTHING
        """,
        {
            "suppression_id": suppression_id,
            "tenant_id": tenant_id,
            "channel": channel,
            "address_hash": address_hash,
            "notification_type": notification_type,
        },
    )


def list_page(
    conn: Connection[Any],
    tenant_id: UUID,
    *,
    channel: str | None,
    address: str | None,
    limit: int,
    after: tuple[datetime, UUID] | None,
) -> list[Suppression]:
    return (
        conn.cursor(row_factory=class_row(Suppression))
        .execute(
            """
            SELECT id, channel, address, notification_type, reason, source_notification_id, expires_at, created_at
            FROM suppressions
            WHERE tenant_id = %(tenant_id)s
              AND (%(channel)s::text IS NULL OR channel = %(channel)s)
              AND (%(address)s::text IS NULL OR address_hash = tocsin_address_hash(%(tenant_id)s, channel, %(address)s))
              AND (expires_at IS NULL OR expires_at > tocsin_now())
              AND (%(after_at)s::timestamptz IS NULL OR (created_at, id) < (%(after_at)s, %(after_id)s))
            ORDER BY created_at DESC, id DESC
            LIMIT %(limit)s
            """,
            {
                "tenant_id": tenant_id,
                "channel": channel,
                "address": address,
                "after_at": after[0] if after else None,
                "after_id": after[1] if after else None,
                "limit": limit,
            },
        )
        .fetchall()
    )


def find(conn: Connection[Any], tenant_id: UUID, suppression_id: UUID) -> Suppression | None:
    return (
        conn.cursor(row_factory=class_row(Suppression))
        .execute(
            """
            SELECT id, channel, address, notification_type, reason, source_notification_id, expires_at, created_at
            FROM suppressions
            WHERE tenant_id = %(tenant_id)s AND id = %(suppression_id)s
            """,
            {"tenant_id": tenant_id, "suppression_id": suppression_id},
        )
        .fetchone()
    )


def find_by_address(
    conn: Connection[Any], tenant_id: UUID, *, channel: str, address: str, notification_type: str
) -> Suppression | None:
    return (
        conn.cursor(row_factory=class_row(Suppression))
        .execute(
            """
            SELECT id, channel, address, notification_type, reason, source_notification_id, expires_at, created_at
            FROM suppressions
            WHERE tenant_id = %(tenant_id)s AND channel = %(channel)s
              AND address_hash = tocsin_address_hash(%(tenant_id)s, %(channel)s, %(address)s)
              AND notification_type = %(notification_type)s
            """,
            {"tenant_id": tenant_id, "channel": channel, "address": address, "notification_type": notification_type},
        )
        .fetchone()
    )


def delete(conn: Connection[Any], tenant_id: UUID, suppression_id: UUID) -> None:
    conn.execute(
        "DELETE FROM suppressions WHERE tenant_id = %(tenant_id)s AND id = %(suppression_id)s",
        {"tenant_id": tenant_id, "suppression_id": suppression_id},
    )


def delete_expired(conn: Connection[Any], *, limit: int) -> int:
    return conn.execute(
        """
        WITH expired AS (
            SELECT id FROM suppressions WHERE expires_at < tocsin_now() LIMIT %(limit)s FOR UPDATE SKIP LOCKED
        )
        DELETE FROM suppressions USING expired WHERE suppressions.id = expired.id
        """,
        {"limit": limit},
    ).rowcount
