"""Settle webhooks: record what each endpoint answered, and what that means for its hook."""

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import args_row
from psycopg.types.json import Jsonb

FAILS_FOR = timedelta(days=5)  # nothing but failures for so long disables a hook


@dataclass(frozen=True, slots=True)
class WebhookSettlement:
    """How one claimed delivery ends, or, with a delay, goes on. What was not attempted keeps what is known of earlier tries."""

    outbox_id: UUID
    lease_token: UUID
    status: str
    attempted: bool = True
    delay: timedelta | None = None
    is_nudged: bool = False  # a delayed nudge will be sent, so the sweep need not
    response_status: int | None = None
    response_body: str = ""
    error: str = ""
    duration_ms: int | None = None
    failure_message: str = ""  # with it the end is a dead letter
    recovery_hint: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {
            "outbox_id": str(self.outbox_id),
            "lease_token": str(self.lease_token),
            "delay": None,
            "delay_ms": None if self.delay is None else self.delay.total_seconds() * 1000,
        }


@dataclass(frozen=True, slots=True)
class SettledWebhook:
    """What was still ours to settle; and whether further work waits for its endpoint."""

    outbox_id: UUID
    tenant_id: UUID
    is_awaited: bool


def settle_webhooks(conn: Connection[Any], settlements: list[WebhookSettlement]) -> Cursor[SettledWebhook]:
    """Deliveries, outbox, dead letters, hooks and the event that one was disabled, in one statement; hooks in the order of their
    ids, so that nobody waits in a ring.

    Fenced: only what is still under its lease is touched. A delivery that is gone, with its hook, ends without a trace."""
    return conn.cursor(row_factory=args_row(SettledWebhook)).execute(
        """
        WITH settlement AS (
            SELECT *, delay_ms IS NULL AS ends
            FROM jsonb_to_recordset(%(settlements)s) AS settlement (
                outbox_id uuid, lease_token uuid, status text, attempted boolean, delay_ms float8, is_nudged boolean,
                response_status smallint, response_body text, error text, duration_ms integer, failure_message text,
                recovery_hint text)
        ), ended AS (
            DELETE FROM outbox USING settlement
            WHERE outbox.id = settlement.outbox_id AND outbox.lease_token = settlement.lease_token AND settlement.ends
            RETURNING outbox.*
        ), kept AS (
            UPDATE outbox
            SET due_at = tocsin_now() + settlement.delay_ms * interval '1 millisecond', waits_for = NULL,
                attempt_count = outbox.attempt_count + settlement.attempted::integer, claim_count = 0, leased_until = NULL,
                lease_token = NULL,
                nudged_at = CASE WHEN settlement.is_nudged
                    THEN tocsin_now() + settlement.delay_ms * interval '1 millisecond' END
            FROM settlement
            WHERE outbox.id = settlement.outbox_id AND outbox.lease_token = settlement.lease_token AND NOT settlement.ends
            RETURNING outbox.id, outbox.tenant_id, outbox.due_at
        ), settled AS (
            SELECT held.*, settlement.*
            FROM (
                SELECT id, tenant_id, NULL::timestamptz AS due_at FROM ended
                UNION ALL
                SELECT * FROM kept
            ) AS held
            JOIN settlement ON settlement.outbox_id = held.id
        ), delivery AS (
            UPDATE webhook_deliveries AS told
            SET status = settled.status, attempt_count = told.attempt_count + settled.attempted::integer,
                response_status = CASE WHEN settled.attempted THEN settled.response_status ELSE told.response_status END,
                response_body = CASE WHEN settled.attempted THEN settled.response_body ELSE told.response_body END,
                duration_ms = CASE WHEN settled.attempted THEN settled.duration_ms ELSE told.duration_ms END,
                error = CASE WHEN settled.attempted OR settled.ends THEN settled.error ELSE told.error END,
                next_retry_at = settled.due_at,
                delivered_at = CASE WHEN settled.status = 'delivered' THEN tocsin_now() END, updated_at = tocsin_now()
            FROM settled
            WHERE told.id = settled.id
            RETURNING told.id, told.webhook_id, told.notification_id, told.attempt_count, settled.attempted, settled.error
        ), letter AS (
            INSERT INTO dead_letters (
                id, tenant_id, source_kind, outbox_id, notification_id, generation, queue, priority, payload,
                final_attempt_count, max_attempts, retry_backoff, retry_base_ms, trigger_depth, provider_code,
                first_attempt_at, last_attempt_at, failure_classification, failure_message, recovery_hint, created_at,
                notification_type)
            SELECT tocsin_uuid7(), ended.tenant_id, ended.source_kind, ended.id, delivery.notification_id, ended.generation,
                   ended.queue, ended.priority,
                   jsonb_build_object('webhook_id', delivery.webhook_id, 'delivery_id', delivery.id),
                   delivery.attempt_count, ended.max_attempts, ended.retry_backoff, ended.retry_base_ms, ended.trigger_depth,
                   COALESCE(settlement.response_status::text, settlement.error), ended.first_claimed_at, tocsin_now(),
                   'exhausted', settlement.failure_message, settlement.recovery_hint, tocsin_now(),
                   COALESCE(records.notification_type, '')
            FROM ended
            JOIN settlement ON settlement.outbox_id = ended.id AND settlement.failure_message <> ''
            JOIN delivery ON delivery.id = ended.id
            LEFT JOIN records ON records.tenant_id = ended.tenant_id AND records.notification_id = delivery.notification_id
        ), verdict AS (
            SELECT webhook_id, bool_or(error = '') AS succeeded, bool_or(error = 'gone') AS gone
            FROM delivery
            WHERE attempted
            GROUP BY webhook_id
        ), locked AS (
            SELECT webhooks.id
            FROM webhooks JOIN verdict ON verdict.webhook_id = webhooks.id
            ORDER BY webhooks.id
            FOR NO KEY UPDATE OF webhooks
        ), hook AS (
            UPDATE webhooks
            SET updated_at = tocsin_now(),
                failing_since = CASE WHEN NOT verdict.succeeded THEN COALESCE(webhooks.failing_since, tocsin_now()) END,
                last_success_at = CASE WHEN verdict.succeeded THEN tocsin_now() ELSE webhooks.last_success_at END,
                (disabled_reason, is_active, disabled_at) = (
                    SELECT reason, reason = '', CASE WHEN reason <> '' THEN COALESCE(webhooks.disabled_at, tocsin_now()) END
                    FROM (SELECT CASE WHEN NOT webhooks.is_active THEN webhooks.disabled_reason
                                      WHEN verdict.gone THEN 'gone'
                                      WHEN NOT verdict.succeeded AND webhooks.failing_since <= tocsin_now() - %(fails_for)s
                                      THEN 'failing' ELSE '' END AS reason) AS ruled)
            FROM locked JOIN verdict ON verdict.webhook_id = locked.id
            -- a success is noted once a minute: the row is one that every worker of this hook would write
            WHERE webhooks.id = locked.id
              AND (NOT verdict.succeeded OR webhooks.failing_since IS NOT NULL OR webhooks.last_success_at IS NULL
                   OR webhooks.last_success_at < tocsin_now() - interval '1 minute')
            RETURNING webhooks.id, webhooks.tenant_id, webhooks.disabled_reason, webhooks.disabled_at
        ), event AS (
            INSERT INTO admin_system_events (event_type, severity, subject, tenant_id, description, details)
            SELECT 'webhook_disabled', 'high', 'webhook:' || id, tenant_id,
                   CASE disabled_reason
                       WHEN 'gone' THEN 'A webhook is disabled: its endpoint answered 410, that it is gone.'
                       ELSE 'A webhook is disabled: its endpoint did nothing but fail for five days.' END,
                   jsonb_build_object('webhook_id', id, 'reason', disabled_reason)
            FROM hook
            WHERE disabled_reason IN ('gone', 'failing') AND disabled_at = tocsin_now()
            ON CONFLICT (event_type, subject, tenant_id) WHERE NOT is_resolved DO NOTHING
        )
        SELECT settled.id, settled.tenant_id,
               EXISTS (SELECT FROM outbox WHERE outbox.waits_for = 'webhook:' || delivery.webhook_id)
        FROM settled LEFT JOIN delivery ON delivery.id = settled.id
        """,
        {"settlements": Jsonb([one.as_json() for one in settlements]), "fails_for": FAILS_FOR},
    )
