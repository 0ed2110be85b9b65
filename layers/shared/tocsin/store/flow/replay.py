"""Replay: do once more what died, one generation later. The letter stays, and says that it was replayed and as what."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row

from tocsin.foundation.due import Due


@dataclass(frozen=True, slots=True)
class Again:
    """A letter's work as it is to be done again."""

    letter_id: UUID
    source_kind: str
    outbox_id: UUID
    queue: str
    generation: int
    tenant_id: UUID

    @property
    def due(self) -> Due:
        return Due(self.outbox_id, self.queue, self.tenant_id)


def lock(conn: Connection[Any], tenant_id: UUID, ids: list[UUID]) -> None:
    """Whoever else would replay or resolve these waits, and then sees what was done. In one order: no ring of waiters."""
    conn.execute(
        "SELECT FROM dead_letters WHERE tenant_id = %(tenant_id)s AND id = ANY(%(ids)s) ORDER BY id FOR UPDATE",
        {"tenant_id": tenant_id, "ids": ids},
    )


def replay_deliveries(conn: Connection[Any], tenant_id: UUID, ids: list[UUID], *, by: UUID, past_expiry: bool) -> list[Again]:
    """The routes are pending again, with no attempt made, to wherever their people are reached now. What could not be rendered
    is rendered with the version that planning would choose today."""
    return (
        conn.cursor(row_factory=class_row(Again))
        .execute(
            """
            WITH letter AS (
                SELECT * FROM dead_letters WHERE tenant_id = %(tenant_id)s AND id = ANY(%(ids)s) AND source_kind = 'deliver'
            ), route AS (
                UPDATE routes
                SET status = 'pending', reason = '', generation = letter.generation + 1, outbox_id = tocsin_uuid7(),
                    attempt_count = 0, next_attempt_at = NULL, dead_lettered_at = NULL, updated_at = tocsin_now(),
                    duplicate_suspected = routes.may_have_arrived, may_have_arrived = false,
                    resolved_email = CASE WHEN person.id IS NULL THEN routes.resolved_email ELSE COALESCE(person.email, '') END,
                    resolved_phone = CASE WHEN person.id IS NULL THEN routes.resolved_phone ELSE COALESCE(person.phone, '') END,
                    template_id = COALESCE(wording.template_id, routes.template_id),
                    worded_at = CASE letter.failure_classification WHEN 'unrenderable' THEN tocsin_now()
                                     ELSE routes.worded_at END
                FROM letter
                JOIN records ON records.notification_id = letter.notification_id
                JOIN routes AS dead ON dead.notification_id = letter.notification_id AND dead.route_id = letter.route_id
                LEFT JOIN users AS person ON person.tenant_id = letter.tenant_id AND person.id = dead.user_id
                LEFT JOIN LATERAL tocsin_wording(letter.tenant_id, records.template, letter.channel, dead.resolved_locale)
                    AS wording ON letter.failure_classification = 'unrenderable'
                WHERE routes.tenant_id = %(tenant_id)s AND routes.notification_id = letter.notification_id
                  AND routes.route_id = letter.route_id AND routes.generation = letter.generation
                  AND routes.status = 'dead_letter'
                RETURNING letter.id AS letter_id, routes.outbox_id, routes.generation
            ), work AS (
                INSERT INTO outbox (
                    id, tenant_id, source_kind, queue, priority, notification_id, route_id, generation, payload, due_at,
                    max_attempts, retry_backoff, retry_base_ms, principal_id, trigger_depth)
                SELECT route.outbox_id, letter.tenant_id, 'deliver', letter.queue, letter.priority, letter.notification_id,
                       letter.route_id, route.generation,
                       CASE WHEN %(past_expiry)s THEN jsonb_build_object('past_expiry', true) END, tocsin_now(),
                       letter.max_attempts, letter.retry_backoff, letter.retry_base_ms, letter.principal_id,
                       letter.trigger_depth
                FROM route JOIN letter ON letter.id = route.letter_id
            ), marked AS (
                UPDATE dead_letters
                SET resolution = 'replayed', resolved_at = tocsin_now(), resolved_by = %(by)s, resolution_reason = '',
                    replayed_as = route.outbox_id
                FROM route
                WHERE dead_letters.id = route.letter_id
            )
            SELECT route.letter_id, letter.source_kind, route.outbox_id, letter.queue, route.generation, letter.tenant_id
            FROM route JOIN letter ON letter.id = route.letter_id
            """,
            {"tenant_id": tenant_id, "ids": ids, "by": by, "past_expiry": past_expiry},
        )
        .fetchall()
    )


def replay_work(conn: Connection[Any], tenant_id: UUID, ids: list[UUID], *, by: UUID, past_expiry: bool) -> list[Again]:
    """Plans and audiences go on where they died, under the id of their notification; jobs too; runs of triggers begin anew, as
    the key that they ran as."""
    return (
        conn.cursor(row_factory=class_row(Again))
        .execute(
            """
            WITH letter AS MATERIALIZED (
                SELECT *, CASE source_kind WHEN 'trigger' THEN tocsin_uuid7() ELSE outbox_id END AS again_id
                FROM dead_letters
                WHERE tenant_id = %(tenant_id)s AND id = ANY(%(ids)s)
                  AND source_kind IN ('plan', 'fanout', 'trigger', 'replay')
            ), work AS (
                INSERT INTO outbox (
                    id, tenant_id, source_kind, queue, priority, notification_id, generation, payload, due_at, max_attempts,
                    retry_backoff, retry_base_ms, principal_id, trigger_depth)
                SELECT again_id, tenant_id, source_kind, queue, priority,
                       CASE WHEN source_kind IN ('plan', 'fanout') THEN notification_id END, generation + 1,
                       CASE WHEN source_kind NOT IN ('plan', 'fanout') THEN payload
                            WHEN %(past_expiry)s THEN COALESCE(payload, '{}') || jsonb_build_object('past_expiry', true)
                            ELSE payload - 'past_expiry' END,
                       tocsin_now(), max_attempts, retry_backoff, retry_base_ms, principal_id, trigger_depth
                FROM letter
                ON CONFLICT (id) DO NOTHING
                RETURNING id, generation
            ), event AS (
                UPDATE domain_events SET outcome = 'waiting'
                FROM letter JOIN work ON work.id = letter.again_id
                WHERE letter.source_kind = 'fanout' AND domain_events.tenant_id = letter.tenant_id
                  AND domain_events.notification_id = letter.notification_id
            ), job AS (
                UPDATE jobs SET status = 'queued', finished_at = NULL, updated_at = tocsin_now()
                FROM letter JOIN work ON work.id = letter.again_id
                WHERE letter.source_kind = 'replay' AND jobs.tenant_id = letter.tenant_id AND jobs.id = letter.again_id
            ), marked AS (
                UPDATE dead_letters
                SET resolution = 'replayed', resolved_at = tocsin_now(), resolved_by = %(by)s, resolution_reason = '',
                    replayed_as = work.id
                FROM letter JOIN work ON work.id = letter.again_id
                WHERE dead_letters.id = letter.id
            )
            SELECT letter.id AS letter_id, letter.source_kind, work.id AS outbox_id, letter.queue, work.generation,
                   letter.tenant_id
            FROM letter JOIN work ON work.id = letter.again_id
            """,
            {"tenant_id": tenant_id, "ids": ids, "by": by, "past_expiry": past_expiry},
        )
        .fetchall()
    )


def replay_webhooks(conn: Connection[Any], tenant_id: UUID, ids: list[UUID], *, by: UUID) -> list[Again]:
    """The same messages under the same message ids, as new deliveries with all their tries before them."""
    return (
        conn.cursor(row_factory=class_row(Again))
        .execute(
            """
            WITH letter AS (
                SELECT * FROM dead_letters WHERE tenant_id = %(tenant_id)s AND id = ANY(%(ids)s) AND source_kind = 'webhook'
            ), delivery AS (
                INSERT INTO webhook_deliveries (
                    id, tenant_id, webhook_id, notification_id, event_type, payload, message_id, trace_id, redelivery_of,
                    next_retry_at, created_at)
                SELECT tocsin_uuid7(), first.tenant_id, first.webhook_id, first.notification_id, first.event_type, first.payload,
                       first.message_id, first.trace_id, first.id, tocsin_now(), tocsin_now()
                FROM letter
                JOIN webhook_deliveries AS first ON first.tenant_id = letter.tenant_id AND first.id = letter.outbox_id
                JOIN webhooks ON webhooks.id = first.webhook_id AND webhooks.is_active
                RETURNING id, webhook_id, redelivery_of
            ), work AS (
                INSERT INTO outbox (
                    id, tenant_id, source_kind, queue, priority, generation, due_at, max_attempts, retry_backoff, retry_base_ms,
                    trigger_depth)
                SELECT delivery.id, letter.tenant_id, 'webhook', letter.queue, letter.priority, letter.generation + 1,
                       tocsin_now(), webhooks.retry_count, letter.retry_backoff, letter.retry_base_ms, letter.trigger_depth
                FROM delivery
                JOIN letter ON letter.outbox_id = delivery.redelivery_of
                JOIN webhooks ON webhooks.id = delivery.webhook_id
            ), marked AS (
                UPDATE dead_letters
                SET resolution = 'replayed', resolved_at = tocsin_now(), resolved_by = %(by)s, resolution_reason = '',
                    replayed_as = delivery.id
                FROM letter JOIN delivery ON delivery.redelivery_of = letter.outbox_id
                WHERE dead_letters.id = letter.id
            )
            SELECT letter.id AS letter_id, letter.source_kind, delivery.id AS outbox_id, letter.queue,
                   (letter.generation + 1)::smallint AS generation, letter.tenant_id
            FROM letter JOIN delivery ON delivery.redelivery_of = letter.outbox_id
            """,
            {"tenant_id": tenant_id, "ids": ids, "by": by},
        )
        .fetchall()
    )
