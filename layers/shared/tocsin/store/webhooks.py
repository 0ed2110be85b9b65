"""Where a tenant's own systems hear what became of its notifications. Secrets are ciphertexts."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row


@dataclass(frozen=True, slots=True)
class Webhook:
    id: UUID
    url: str
    description: str
    events: list[str]
    modes: list[str]
    is_active: bool
    disabled_reason: str
    disabled_at: datetime | None
    retry_count: int
    timeout_seconds: int
    failing_since: datetime | None
    last_success_at: datetime | None
    previous_secret_expires_at: datetime | None
    created_by: UUID
    created_at: datetime
    updated_at: datetime


def insert_within_cap(
    conn: Connection[Any],
    *,
    webhook_id: UUID,
    tenant_id: UUID,
    url: str,
    description: str,
    secret: bytes,
    events: list[str],
    modes: list[str],
    is_active: bool,
    retry_count: int,
    timeout_seconds: int,
    created_by: UUID,
    cap: int,
) -> Webhook | None:
    """None: the tenant has as many as it may have. Two at once take turns, so that they do not both take the last place."""
    conn.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended(concat_ws('|', 'webhooks', %(tenant_id)s::text), 0))",
        {"tenant_id": tenant_id},
    )
    return (
        conn.cursor(row_factory=class_row(Webhook))
        .execute(
            """
            INSERT INTO webhooks (
                id, tenant_id, url, description, secret, events, modes, is_active, disabled_reason, disabled_at, retry_count,
                timeout_seconds, created_by)
            SELECT %(webhook_id)s, %(tenant_id)s, %(url)s, %(description)s, %(secret)s, %(events)s, %(modes)s, %(is_active)s,
                   CASE WHEN %(is_active)s THEN '' ELSE 'request' END, CASE WHEN NOT %(is_active)s THEN tocsin_now() END,
                   %(retry_count)s, %(timeout_seconds)s, %(created_by)s
            WHERE (SELECT count(*) FROM webhooks WHERE tenant_id = %(tenant_id)s) < %(cap)s
            RETURNING id, url, description, events, modes, is_active, disabled_reason, disabled_at, retry_count,
                      timeout_seconds, failing_since, last_success_at, previous_secret_expires_at, created_by, created_at,
                      updated_at
            """,
            {
                "webhook_id": webhook_id,
                "tenant_id": tenant_id,
                "url": url,
                "description": description,
                "secret": secret,
                "events": events,
                "modes": modes,
                "is_active": is_active,
                "retry_count": retry_count,
                "timeout_seconds": timeout_seconds,
                "created_by": created_by,
                "cap": cap,
            },
        )
        .fetchone()
    )


def find_all(conn: Connection[Any], tenant_id: UUID) -> list[Webhook]:
    """The oldest first."""
    return (
        conn.cursor(row_factory=class_row(Webhook))
        .execute(
            """
            SELECT id, url, description, events, modes, is_active, disabled_reason, disabled_at, retry_count, timeout_seconds,
                   failing_since, last_success_at, previous_secret_expires_at, created_by, created_at, updated_at
            FROM webhooks
            WHERE tenant_id = %(tenant_id)s
            ORDER BY id
            """,
            {"tenant_id": tenant_id},
        )
        .fetchall()
    )


def lock(conn: Connection[Any], tenant_id: UUID, webhook_id: UUID) -> Webhook | None:
    """The hook, which nobody else changes until the end of the transaction."""
    conn.execute(
        "SELECT FROM webhooks WHERE tenant_id = %(tenant_id)s AND id = %(webhook_id)s FOR NO KEY UPDATE",
        {"tenant_id": tenant_id, "webhook_id": webhook_id},
    )
    return find(conn, tenant_id, webhook_id)


def find(conn: Connection[Any], tenant_id: UUID, webhook_id: UUID) -> Webhook | None:
    return (
        conn.cursor(row_factory=class_row(Webhook))
        .execute(
            """
            SELECT id, url, description, events, modes, is_active, disabled_reason, disabled_at, retry_count, timeout_seconds,
                   failing_since, last_success_at, previous_secret_expires_at, created_by, created_at, updated_at
            FROM webhooks
            WHERE tenant_id = %(tenant_id)s AND id = %(webhook_id)s
            """,
            {"tenant_id": tenant_id, "webhook_id": webhook_id},
        )
        .fetchone()
    )


def update(
    conn: Connection[Any],
    tenant_id: UUID,
    webhook_id: UUID,
    *,
    url: str | None,
    description: str | None,
    events: list[str] | None,
    modes: list[str] | None,
    is_active: bool | None,
    retry_count: int | None,
    timeout_seconds: int | None,
) -> Webhook | None:
    """Change what is given. What is switched on again, or leads elsewhere, has not failed yet."""
    return (
        conn.cursor(row_factory=class_row(Webhook))
        .execute(
            """
            UPDATE webhooks
            SET url = COALESCE(%(url)s, url), description = COALESCE(%(description)s, description),
                events = COALESCE(%(events)s, events), modes = COALESCE(%(modes)s, modes),
                retry_count = COALESCE(%(retry_count)s, retry_count),
                timeout_seconds = COALESCE(%(timeout_seconds)s, timeout_seconds),
                is_active = COALESCE(%(is_active)s, is_active),
                disabled_reason = CASE WHEN %(is_active)s THEN '' WHEN NOT %(is_active)s AND is_active THEN 'request'
                                       ELSE disabled_reason END,
                disabled_at = CASE WHEN %(is_active)s THEN NULL WHEN NOT %(is_active)s AND is_active THEN tocsin_now()
                                   ELSE disabled_at END,
                failing_since = CASE WHEN (%(is_active)s AND NOT is_active) OR %(url)s <> url THEN NULL ELSE failing_since END,
                updated_at = tocsin_now()
            WHERE tenant_id = %(tenant_id)s AND id = %(webhook_id)s
            RETURNING id, url, description, events, modes, is_active, disabled_reason, disabled_at, retry_count,
                      timeout_seconds, failing_since, last_success_at, previous_secret_expires_at, created_by, created_at,
                      updated_at
            """,
            {
                "tenant_id": tenant_id,
                "webhook_id": webhook_id,
                "url": url,
                "description": description,
                "events": events,
                "modes": modes,
                "is_active": is_active,
                "retry_count": retry_count,
                "timeout_seconds": timeout_seconds,
            },
        )
        .fetchone()
    )


def rotate_secret(
    conn: Connection[Any], tenant_id: UUID, webhook_id: UUID, *, secret: bytes, overlap: timedelta
) -> Webhook | None:
    """The secret before signs too until the overlap is over; what it had itself replaced signs no more."""
    return (
        conn.cursor(row_factory=class_row(Webhook))
        .execute(
            """
            UPDATE webhooks
            SET previous_secret = secret, previous_secret_expires_at = tocsin_now() + %(overlap)s, secret = %(secret)s,
                updated_at = tocsin_now()
            WHERE tenant_id = %(tenant_id)s AND id = %(webhook_id)s
            RETURNING id, url, description, events, modes, is_active, disabled_reason, disabled_at, retry_count,
                      timeout_seconds, failing_since, last_success_at, previous_secret_expires_at, created_by, created_at,
                      updated_at
            """,
            {"tenant_id": tenant_id, "webhook_id": webhook_id, "secret": secret, "overlap": overlap},
        )
        .fetchone()
    )


def delete(conn: Connection[Any], tenant_id: UUID, webhook_id: UUID) -> None:
    """Its deliveries go with it. Their work finds nothing, and ends."""
    conn.execute(
        "DELETE FROM webhooks WHERE tenant_id = %(tenant_id)s AND id = %(webhook_id)s",
        {"tenant_id": tenant_id, "webhook_id": webhook_id},
    )
