"""The devices a user can be pushed to."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row


@dataclass(frozen=True, slots=True)
class Device:
    id: UUID
    platform: str
    token: str
    enabled: bool
    disabled_reason: str | None
    last_seen_at: datetime
    created_at: datetime


def upsert(conn: Connection[Any], *, device_id: UUID, tenant_id: UUID, user_id: UUID, platform: str, token: str) -> Device:
    """Register the device, or note that it was seen; one that had been switched off is on again."""
    device = (
        conn.cursor(row_factory=class_row(Device))
        .execute(
            """
            INSERT INTO devices (id, tenant_id, user_id, platform, token)
            VALUES (%(device_id)s, %(tenant_id)s, %(user_id)s, %(platform)s, %(token)s)
            ON CONFLICT (tenant_id, user_id, token) DO UPDATE
                SET platform = EXCLUDED.platform, enabled = true, disabled_reason = NULL, disabled_at = NULL,
                    last_seen_at = tocsin_now(),
                    endpoint_arn = CASE WHEN devices.platform = EXCLUDED.platform AND devices.enabled
                                        THEN devices.endpoint_arn END
            RETURNING id, platform, token, enabled, disabled_reason, last_seen_at, created_at
            """,
            {
                "device_id": device_id,
                "tenant_id": tenant_id,
                "user_id": user_id,
                "platform": platform,
                "token": token,
            },
        )
        .fetchone()
    )
    assert device is not None  # noqa: S101 - an upsert without a WHERE always returns its row
    return device


def list_of(conn: Connection[Any], tenant_id: UUID, user_id: UUID) -> list[Device]:
    return (
        conn.cursor(row_factory=class_row(Device))
        .execute(
            """
            SELECT id, platform, token, enabled, disabled_reason, last_seen_at, created_at
            FROM devices
            WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s
            ORDER BY id DESC
            """,
            {"tenant_id": tenant_id, "user_id": user_id},
        )
        .fetchall()
    )


def lock(conn: Connection[Any], *, tenant_id: UUID, user_id: UUID, token: str) -> Device | None:
    """The device as it is until this transaction changes it."""
    return (
        conn.cursor(row_factory=class_row(Device))
        .execute(
            """
            SELECT id, platform, token, enabled, disabled_reason, last_seen_at, created_at
            FROM devices
            WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND token = %(token)s
            FOR NO KEY UPDATE
            """,
            {"tenant_id": tenant_id, "user_id": user_id, "token": token},
        )
        .fetchone()
    )


def delete(conn: Connection[Any], *, tenant_id: UUID, user_id: UUID, token: str) -> bool:
    deleted = conn.execute(
        """
        DELETE FROM devices
        WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND token = %(token)s
        RETURNING true
        """,
        {"tenant_id": tenant_id, "user_id": user_id, "token": token},
    ).fetchone()
    return deleted is not None


def keep_endpoint(conn: Connection[Any], device_id: UUID, endpoint_arn: str) -> None:
    conn.execute(
        "UPDATE devices SET endpoint_arn = %(endpoint_arn)s WHERE id = %(device_id)s",
        {"device_id": device_id, "endpoint_arn": endpoint_arn},
    )


def switch_off(conn: Connection[Any], device_id: UUID, reason: str) -> None:
    conn.execute(
        """
        UPDATE devices
        SET enabled = false, disabled_reason = %(reason)s, disabled_at = COALESCE(disabled_at, tocsin_now()), endpoint_arn = NULL
        WHERE id = %(device_id)s
        """,
        {"device_id": device_id, "reason": reason},
    )


def delete_disabled(conn: Connection[Any], *, age: timedelta, limit: int) -> int:
    """Forget devices that have been off for so long. One that comes back is registered anew."""
    return conn.execute(
        """
        WITH expired AS (
            SELECT id FROM devices
            WHERE NOT enabled AND COALESCE(disabled_at, last_seen_at) < tocsin_now() - %(age)s
            ORDER BY COALESCE(disabled_at, last_seen_at)
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM devices USING expired WHERE devices.id = expired.id
        """,
        {"age": age, "limit": limit},
    ).rowcount
