"""Enqueue a delivery that somebody asked for: a row of the log and its work, in one statement."""

from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from tocsin.store.webhook_deliveries import WebhookDelivery

TEST = "webhook.test"


def enqueue_test(conn: Connection[Any], tenant_id: UUID, webhook_id: UUID) -> WebhookDelivery | None:
    """To that hook, whatever events it wants, and tried once. None: there is no such hook, or it is disabled."""
    return (
        conn.cursor(row_factory=class_row(WebhookDelivery))
        .execute(
            """
            WITH delivery AS (
                INSERT INTO webhook_deliveries (
                    id, tenant_id, webhook_id, event_type, payload, message_id, next_retry_at, created_at)
                SELECT tocsin_uuid7(), tenant_id, id, %(event_type)s,
                       jsonb_build_object('type', %(event_type)s::text, 'timestamp', tocsin_rfc3339(tocsin_now()),
                                          'data', %(data)s::jsonb),
                       tocsin_uuid7(), tocsin_now(), tocsin_now()
                FROM webhooks
                WHERE tenant_id = %(tenant_id)s AND id = %(webhook_id)s AND is_active
                RETURNING *
            ), work AS (
                INSERT INTO outbox (
                    id, tenant_id, source_kind, queue, due_at, max_attempts, retry_backoff, retry_base_ms)
                SELECT id, tenant_id, 'webhook', 'webhook', tocsin_now(), 1, 'exponential', 5000 FROM delivery
            )
            SELECT id, webhook_id, notification_id, event_type, payload, message_id, redelivery_of, status, delivered,
                   attempt_count, response_status, response_body, error, duration_ms, next_retry_at, delivered_at, created_at,
                   updated_at
            FROM delivery
            """,
            {
                "tenant_id": tenant_id,
                "webhook_id": webhook_id,
                "event_type": TEST,
                "data": Jsonb({"webhook_id": str(webhook_id)}),
            },
        )
        .fetchone()
    )


def enqueue_redelivery(conn: Connection[Any], tenant_id: UUID, delivery_id: UUID) -> WebhookDelivery | None:
    """A clone with the same message id, due now, with all tries before it. None: no such delivery, or its hook is disabled."""
    return (
        conn.cursor(row_factory=class_row(WebhookDelivery))
        .execute(
            """
            WITH delivery AS (
                INSERT INTO webhook_deliveries (
                    id, tenant_id, webhook_id, notification_id, event_type, payload, message_id, trace_id, redelivery_of,
                    next_retry_at, created_at)
                SELECT tocsin_uuid7(), first.tenant_id, first.webhook_id, first.notification_id, first.event_type, first.payload,
                       first.message_id, first.trace_id, first.id, tocsin_now(), tocsin_now()
                FROM webhook_deliveries AS first
                JOIN webhooks ON webhooks.id = first.webhook_id AND webhooks.is_active
                WHERE first.tenant_id = %(tenant_id)s AND first.id = %(delivery_id)s
                RETURNING *
            ), work AS (
                INSERT INTO outbox (
                    id, tenant_id, source_kind, queue, due_at, max_attempts, retry_backoff, retry_base_ms, trigger_depth)
                SELECT delivery.id, delivery.tenant_id, 'webhook', 'webhook', tocsin_now(), webhooks.retry_count, 'exponential',
                       5000, COALESCE(records.trigger_depth, 0)
                FROM delivery
                JOIN webhooks ON webhooks.id = delivery.webhook_id
                LEFT JOIN records ON records.notification_id = delivery.notification_id
            )
            SELECT id, webhook_id, notification_id, event_type, payload, message_id, redelivery_of, status, delivered,
                   attempt_count, response_status, response_body, error, duration_ms, next_retry_at, delivered_at, created_at,
                   updated_at
            FROM delivery
            """,
            {"tenant_id": tenant_id, "delivery_id": delivery_id},
        )
        .fetchone()
    )
