"""How dead letters stand: what has become of the things they are about, and of their replays."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row

from tocsin.store.rows import LetterStanding


@dataclass(frozen=True, slots=True)
class ReplayState:
    """What became of a replay: `under_way`, `dead_letter` (with its letter), how its route or delivery ended, or `done`."""

    work_id: UUID
    generation: int
    status: str
    dead_letter_id: UUID | None


def look(conn: Connection[Any], tenant_id: UUID, ids: list[UUID]) -> list[LetterStanding]:
    """What stands in the way of a replay of these, or does not."""
    return (
        conn.cursor(row_factory=class_row(LetterStanding))
        .execute(
            """
            SELECT letter.id, letter.source_kind, letter.failure_classification, letter.resolution,
                   -- of a notification
                   records.notification_id IS NOT NULL AS has_record,
                   records.cancelled_at IS NOT NULL AS is_cancelled,
                   COALESCE(
                       COALESCE(records.expires_at, event.recorded_at + kind.expires_after_seconds * interval '1 second')
                       <= tocsin_now(), false) AS is_expired,
                   COALESCE(routes.status = 'dead_letter' AND routes.generation = letter.generation, false) AS is_dead_route,
                   routes.recipient_ref IS NULL OR NOT starts_with(routes.recipient_ref, 'user:') OR users.id IS NOT NULL
                       AS has_recipient,
                   EXISTS (
                       SELECT FROM attempts
                       WHERE attempts.notification_id = letter.notification_id AND attempts.route_id = letter.route_id
                         AND attempts.generation = letter.generation AND attempts.outcome = 'accepted') AS is_proven,
                   letter.failure_classification = 'ambiguous' OR COALESCE(routes.may_have_arrived, false) AS in_doubt,
                   -- of an event, a webhook, a trigger
                   event.id IS NOT NULL AS has_event,
                   delivery.id IS NOT NULL AS has_delivery,
                   COALESCE(webhooks.is_active, false) AS has_active_hook,
                   triggers.id IS NOT NULL AS has_trigger,
                   COALESCE(triggers.enabled, false) AS has_enabled_trigger,
                   EXISTS (SELECT FROM outbox WHERE outbox.id = letter.outbox_id) AS is_under_way
            FROM dead_letters AS letter
            LEFT JOIN records ON records.tenant_id = letter.tenant_id AND records.notification_id = letter.notification_id
            LEFT JOIN routes ON routes.tenant_id = letter.tenant_id AND routes.notification_id = letter.notification_id
                AND routes.route_id = letter.route_id
            LEFT JOIN users ON users.tenant_id = letter.tenant_id AND users.id = routes.user_id
            LEFT JOIN domain_events AS event ON letter.source_kind = 'fanout'
                AND event.tenant_id = letter.tenant_id AND event.notification_id = letter.notification_id
            LEFT JOIN notification_types AS kind ON kind.tenant_id = event.tenant_id AND kind.name = event.type
            LEFT JOIN webhook_deliveries AS delivery ON letter.source_kind = 'webhook'
                AND delivery.tenant_id = letter.tenant_id AND delivery.id = letter.outbox_id
            LEFT JOIN webhooks ON webhooks.tenant_id = letter.tenant_id AND webhooks.id = delivery.webhook_id
            LEFT JOIN triggers ON triggers.tenant_id = letter.tenant_id AND triggers.id = letter.trigger_id
            WHERE letter.tenant_id = %(tenant_id)s AND letter.id = ANY(%(ids)s)
            """,
            {"tenant_id": tenant_id, "ids": ids},
        )
        .fetchall()
    )


def find_replay(conn: Connection[Any], tenant_id: UUID, letter_id: UUID) -> ReplayState | None:
    """None: the letter was not replayed."""
    return (
        conn.cursor(row_factory=class_row(ReplayState))
        .execute(
            """
            SELECT letter.replayed_as AS work_id, letter.generation + 1 AS generation, next.id AS dead_letter_id,
                   CASE WHEN outbox.id IS NOT NULL THEN 'under_way'
                        WHEN next.id IS NOT NULL THEN 'dead_letter'
                        WHEN letter.source_kind = 'deliver' THEN routes.status
                        WHEN letter.source_kind = 'webhook' THEN COALESCE(delivery.status, 'forgotten')
                        ELSE 'done' END AS status
            FROM dead_letters AS letter
            LEFT JOIN outbox ON outbox.id = letter.replayed_as AND outbox.generation = letter.generation + 1
            LEFT JOIN dead_letters AS next ON next.tenant_id = letter.tenant_id AND next.outbox_id = letter.replayed_as
                AND next.generation = letter.generation + 1
            LEFT JOIN routes ON routes.notification_id = letter.notification_id AND routes.route_id = letter.route_id
            LEFT JOIN webhook_deliveries AS delivery ON letter.source_kind = 'webhook' AND delivery.id = letter.replayed_as
            WHERE letter.tenant_id = %(tenant_id)s AND letter.id = %(letter_id)s AND letter.resolution = 'replayed'
            """,
            {"tenant_id": tenant_id, "letter_id": letter_id},
        )
        .fetchone()
    )
