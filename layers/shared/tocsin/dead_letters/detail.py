"""A dead letter with all there is to know of it: what was tried, what it was about, and what was done about it since."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.dead_letters.obstacles import Obstacle, obstacle_of
from tocsin.foundation.database import tenant_transaction
from tocsin.store import attempts, dead_letters, records, webhook_deliveries
from tocsin.store.flow import letter_standing
from tocsin.store.flow.letter_standing import ReplayState
from tocsin.store.webhook_deliveries import WebhookDelivery


@dataclass(frozen=True, slots=True)
class LetterDetail:
    """`obstacle`: why it cannot be replayed just now."""

    letter: dict[str, Any]
    attempts: list[dict[str, Any]]
    record: dict[str, Any] | None
    delivery: WebhookDelivery | None
    obstacle: Obstacle | None
    in_doubt: bool
    replay: ReplayState | None


def detail(conn: Connection[Any], tenant_id: UUID, letter_id: UUID) -> LetterDetail | None:
    """None: there is no such letter."""
    with tenant_transaction(conn, tenant_id):
        found = dead_letters.find(conn, tenant_id, [letter_id])
        if not found:
            return None
        letter, (standing,) = found[0], letter_standing.look(conn, tenant_id, [letter_id])
        notification_id, route_id = letter["notification_id"], letter["route_id"]
        tried = (
            attempts.list_of_route(conn, tenant_id, notification_id, route_id, generation=letter["generation"])
            if route_id
            else []
        )
        record = records.find(conn, tenant_id, notification_id) if notification_id else None
        is_webhook = letter["source_kind"] == "webhook"
        delivery = webhook_deliveries.find(conn, tenant_id, letter["outbox_id"]) if is_webhook else None
        replay = letter_standing.find_replay(conn, tenant_id, letter_id)
    return LetterDetail(letter, tried, record, delivery, obstacle_of(standing, past_expiry=False), standing.in_doubt, replay)
