"""Whom not to write to."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
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


class Copy(NamedTuple):
    """Somebody who is to get a copy of a mail of this type."""

    tenant_id: UUID
    notification_type: str
    address: str


def find_copies(conn: Connection[Any], copies: list[Copy]) -> set[Copy]:
    """Those of them who must not be written to."""
    rows = conn.execute(
        """
        SELECT wanted.tenant_id, wanted.notification_type, wanted.address
        FROM unnest(%(tenant_ids)s::uuid[], %(types)s::text[], %(addresses)s::text[])
            AS wanted (tenant_id, notification_type, address)
        WHERE EXISTS (
            SELECT FROM suppressions
            WHERE suppressions.tenant_id = wanted.tenant_id AND suppressions.channel = 'email'
              AND suppressions.address_hash = tocsin_address_hash(wanted.tenant_id, 'email', wanted.address)
              AND suppressions.notification_type IN ('', wanted.notification_type)
              AND (suppressions.expires_at IS NULL OR suppressions.expires_at > tocsin_now()))
        """,
        {
            "tenant_ids": [one.tenant_id for one in copies],
            "types": [one.notification_type for one in copies],
            "addresses": [one.address for one in copies],
        },
    ).fetchall()
    return {Copy(*row) for row in rows}


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
) -> bool:
    """An unsubscribe by its token, which knows the address only by its hash. False: it stood before."""
    inserted = conn.execute(
        """
        INSERT INTO suppressions (id, tenant_id, channel, address_hash, notification_type, reason)
        VALUES (%(suppression_id)s, %(tenant_id)s, %(channel)s, %(address_hash)s, %(notification_type)s, 'unsubscribe')
        ON CONFLICT (tenant_id, channel, address_hash, notification_type) DO NOTHING
        RETURNING true
        """,
        {
            "suppression_id": suppression_id,
            "tenant_id": tenant_id,
            "channel": channel,
            "address_hash": address_hash,
            "notification_type": notification_type,
        },
    ).fetchone()
    return inserted is not None


def list_page(
    conn: Connection[Any],
    tenant_id: UUID,
    *,
    channel: str | None,
    address: str | None,
    limit: int,
    after: tuple[datetime, UUID] | None,
) -> list[Suppression]:
    wanted = {
        "tenant_id": tenant_id,
        "channel": channel,
        "channels": [channel] if channel else ["email", "sms"],
        "address": address,
        "after_at": after[0] if after else "infinity",
        "after_id": after[1] if after else UUID(int=2**128 - 1),
        "limit": limit,
    }
    return _list_newest(conn, wanted) if address is None else _list_of_address(conn, wanted)


def _list_newest(conn: Connection[Any], wanted: dict[str, Any]) -> list[Suppression]:
    return (
        conn.cursor(row_factory=class_row(Suppression))
        .execute(
            """
            SELECT id, channel, address, notification_type, reason, source_notification_id, expires_at, created_at
            FROM suppressions
            WHERE tenant_id = %(tenant_id)s
              AND (%(channel)s::text IS NULL OR channel = %(channel)s)
              AND (expires_at IS NULL OR expires_at > tocsin_now())
              AND (created_at, id) < (%(after_at)s, %(after_id)s)
            ORDER BY created_at DESC, id DESC
            LIMIT %(limit)s
            """,
            wanted,
        )
        .fetchall()
    )


def _list_of_address(conn: Connection[Any], wanted: dict[str, Any]) -> list[Suppression]:
    """By its hash, which is another one on each channel: one for everything at most, and one for each type."""
    return (
        conn.cursor(row_factory=class_row(Suppression))
        .execute(
            """
            SELECT id, channel, address, notification_type, reason, source_notification_id, expires_at, created_at
            FROM suppressions
            WHERE tenant_id = %(tenant_id)s AND channel = ANY(%(channels)s)
              AND address_hash = ANY(ARRAY[tocsin_address_hash(%(tenant_id)s, 'email', %(address)s),
                                           tocsin_address_hash(%(tenant_id)s, 'sms', %(address)s)])
              AND (expires_at IS NULL OR expires_at > tocsin_now())
              AND (created_at, id) < (%(after_at)s, %(after_id)s)
            ORDER BY created_at DESC, id DESC
            LIMIT %(limit)s
            """,
            wanted,
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


def reasons_at(conn: Connection[Any], tenant_id: UUID, address_hash: bytes, notification_type: str) -> list[tuple[str, str]]:
    """What keeps emails of this type from the address: for which type (none: all of them), and why."""
    return conn.execute(
        """
        SELECT notification_type, reason
        FROM suppressions
        WHERE tenant_id = %(tenant_id)s AND channel = 'email' AND address_hash = %(address_hash)s
          AND notification_type IN ('', %(notification_type)s)
          AND (expires_at IS NULL OR expires_at > tocsin_now())
        """,
        {"tenant_id": tenant_id, "address_hash": address_hash, "notification_type": notification_type},
    ).fetchall()


def delete_unsubscribe_at(conn: Connection[Any], tenant_id: UUID, address_hash: bytes, notification_type: str) -> UUID | None:
    """Forget that somebody unsubscribed from a type at an address. Returns which one; None: nobody had."""
    row = conn.execute(
        """
        DELETE FROM suppressions
        WHERE tenant_id = %(tenant_id)s AND channel = 'email' AND address_hash = %(address_hash)s
          AND notification_type = %(notification_type)s AND reason = 'unsubscribe'
        RETURNING id
        """,
        {"tenant_id": tenant_id, "address_hash": address_hash, "notification_type": notification_type},
    ).fetchone()
    return row[0] if row else None


def delete_unsubscribe(conn: Connection[Any], tenant_id: UUID, user_id: UUID, notification_type: str) -> UUID | None:
    """Forget that a user unsubscribed from a type, at the address that they have. Returns which one; None: they had not."""
    row = conn.execute(
        """
        DELETE FROM suppressions
        USING users
        WHERE users.tenant_id = %(tenant_id)s AND users.id = %(user_id)s
          AND suppressions.tenant_id = %(tenant_id)s AND suppressions.channel = 'email'
          AND suppressions.address_hash = tocsin_address_hash(%(tenant_id)s, 'email', users.email)
          AND suppressions.notification_type = %(notification_type)s AND suppressions.reason = 'unsubscribe'
        RETURNING suppressions.id
        """,
        {"tenant_id": tenant_id, "user_id": user_id, "notification_type": notification_type},
    ).fetchone()
    return row[0] if row else None


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
