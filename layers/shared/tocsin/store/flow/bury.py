"""Bury: end work that automation gives up on as dead letters that keep what a replay needs."""

from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.types.json import Jsonb

from tocsin.store.rows import Buried


def bury(conn: Connection[Any], buried: list[Buried], *, lease_token: UUID) -> list[UUID]:
    """End work of any kind that has no route to settle. Returns what was still ours to bury.

    Where nothing counts attempts, each time a worker took it on before was one. The run of a trigger that a letter caused leaves
    no letter of its own: it marks that one."""
    rows = conn.execute(
        """
        WITH burial AS (
            SELECT * FROM jsonb_to_recordset(%(buried)s) AS burial (
                outbox_id uuid, classification text, message text, hint text)
        ), ended AS (
            DELETE FROM outbox USING burial
            WHERE outbox.id = burial.outbox_id AND outbox.lease_token = %(lease_token)s
            RETURNING outbox.*, burial.classification, burial.message, burial.hint,
                      CASE source_kind WHEN 'trigger' THEN tocsin_id_in(outbox.payload, 'trigger_id') END AS trigger_id,
                      CASE source_kind WHEN 'trigger' THEN tocsin_id_in(outbox.payload, 'dead_letter_id') END AS dead_letter_id
        ), told AS (
            UPDATE domain_events SET outcome = 'dead_letter'
            FROM ended
            WHERE ended.source_kind = 'fanout' AND domain_events.notification_id = ended.notification_id
        ), marked AS (
            UPDATE dead_letters
            SET resolution = 'handler_failed', resolved_at = tocsin_now(), resolved_by = ended.principal_id
            FROM ended
            WHERE dead_letters.id = ended.dead_letter_id AND dead_letters.tenant_id = ended.tenant_id
              AND dead_letters.resolution IS NULL
        ), webhook AS (
            UPDATE webhook_deliveries
            SET status = 'failed', error = ended.classification, next_retry_at = NULL, updated_at = tocsin_now()
            FROM ended
            WHERE ended.source_kind = 'webhook' AND webhook_deliveries.id = ended.id
        ), letter AS (
            INSERT INTO dead_letters (
                id, tenant_id, source_kind, outbox_id, notification_id, route_id, generation, queue, priority, payload,
                final_attempt_count, max_attempts, retry_backoff, retry_base_ms, principal_id, trigger_depth, trigger_id,
                handler_id, first_attempt_at, last_attempt_at, failure_classification, failure_message, recovery_hint, created_at,
                notification_type, template_id, accepted_at)
            SELECT tocsin_uuid7(), ended.tenant_id, ended.source_kind, ended.id,
                   COALESCE(ended.notification_id, delivery.notification_id), routes.route_id, ended.generation, ended.queue,
                   ended.priority, CASE WHEN delivery.id IS NULL THEN ended.payload
                       ELSE jsonb_build_object('webhook_id', delivery.webhook_id, 'delivery_id', delivery.id) END,
                   GREATEST(ended.attempt_count, ended.claim_count - 1), ended.max_attempts, ended.retry_backoff,
                   ended.retry_base_ms, ended.principal_id, ended.trigger_depth, ended.trigger_id, triggers.handler_id,
                   ended.first_claimed_at, tocsin_now(),
                   ended.classification, ended.message, ended.hint, tocsin_now(),
                   COALESCE(records.notification_type, event.type, ''), routes.template_id, records.accepted_at
            FROM ended
            LEFT JOIN routes ON routes.notification_id = ended.notification_id AND routes.route_id = ended.route_id
            LEFT JOIN triggers ON triggers.id = ended.trigger_id AND triggers.tenant_id = ended.tenant_id
            LEFT JOIN webhook_deliveries AS delivery ON delivery.id = ended.id AND ended.source_kind = 'webhook'
            LEFT JOIN records ON records.tenant_id = ended.tenant_id
                AND records.notification_id = COALESCE(ended.notification_id, delivery.notification_id)
            LEFT JOIN domain_events AS event ON event.tenant_id = ended.tenant_id
                AND event.notification_id = ended.notification_id AND ended.source_kind = 'fanout'
            WHERE ended.dead_letter_id IS NULL
        )
        SELECT id FROM ended
        """,
        {
            "buried": Jsonb(
                [
                    {
                        "outbox_id": str(one.outbox_id),
                        "classification": one.classification,
                        "message": one.message,
                        "hint": one.hint,
                    }
                    for one in buried
                ]
            ),
            "lease_token": lease_token,
        },
    ).fetchall()
    return [row[0] for row in rows]
