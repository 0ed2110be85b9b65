"""What each hook was told, or will be: one row per event and hook."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row


@dataclass(frozen=True, slots=True)
class WebhookDelivery:
    id: UUID
    webhook_id: UUID
    notification_id: UUID | None
    event_type: str
    payload: dict[str, Any]
    message_id: UUID
    redelivery_of: UUID | None
    status: str
    delivered: bool
    attempt_count: int
    response_status: int | None
    response_body: str
    error: str
    duration_ms: int | None
    next_retry_at: datetime | None
    delivered_at: datetime | None
    created_at: datetime
    updated_at: datetime


def list_page(
    conn: Connection[Any],
    tenant_id: UUID,
    webhook_id: UUID,
    *,
    status: str | None,
    event_type: str | None,
    notification_id: UUID | None,
    limit: int,
    after: UUID | None,
) -> list[WebhookDelivery]:
    """Newest first. (Ids grow with the time.)"""
    return (
        conn.cursor(row_factory=class_row(WebhookDelivery))
        .execute(
            """
            SELECT id, webhook_id, notification_id, event_type, payload, message_id, redelivery_of, status, delivered,
                   attempt_count, response_status, response_body, error, duration_ms, next_retry_at, delivered_at, created_at,
                   updated_at
            FROM webhook_deliveries
            WHERE tenant_id = %(tenant_id)s AND webhook_id = %(webhook_id)s
              AND (%(status)s::text IS NULL OR status = %(status)s)
              AND (%(event_type)s::text IS NULL OR event_type = %(event_type)s)
              AND (%(notification_id)s::uuid IS NULL OR notification_id = %(notification_id)s)
              AND (%(after)s::uuid IS NULL OR id < %(after)s)
            ORDER BY id DESC
            LIMIT %(limit)s
            """,
            {
                "tenant_id": tenant_id,
                "webhook_id": webhook_id,
                "status": status,
                "event_type": event_type,
                "notification_id": notification_id,
                "limit": limit,
                "after": after,
            },
        )
        .fetchall()
    )


def find(conn: Connection[Any], tenant_id: UUID, delivery_id: UUID) -> WebhookDelivery | None:
    return (
        conn.cursor(row_factory=class_row(WebhookDelivery))
        .execute(
            """
            SELECT id, webhook_id, notification_id, event_type, payload, message_id, redelivery_of, status, delivered,
                   attempt_count, response_status, response_body, error, duration_ms, next_retry_at, delivered_at, created_at,
                   updated_at
            FROM webhook_deliveries
            WHERE tenant_id = %(tenant_id)s AND id = %(delivery_id)s
            """,
            {"tenant_id": tenant_id, "delivery_id": delivery_id},
        )
        .fetchone()
    )


def delete_expired(conn: Connection[Any], *, age: timedelta, least: timedelta, limit: int) -> int:
    """What is still to be delivered is never forgotten."""
    return conn.execute(
        """
        WITH expired AS (
            SELECT old.id
            FROM tocsin_kept('webhook_deliveries_days', %(age)s, %(least)s) AS kept
            CROSS JOIN LATERAL (
                SELECT webhook_deliveries.id FROM webhook_deliveries
                WHERE webhook_deliveries.tenant_id = kept.tenant_id
                  AND webhook_deliveries.created_at < tocsin_now() - kept.age
                  AND webhook_deliveries.status <> 'pending'
                ORDER BY webhook_deliveries.created_at
                LIMIT %(limit)s
                FOR UPDATE SKIP LOCKED
            ) AS old
            LIMIT %(limit)s
        )
        DELETE FROM webhook_deliveries USING expired WHERE webhook_deliveries.id = expired.id
        """,
        {"age": age, "least": least, "limit": limit},
    ).rowcount
