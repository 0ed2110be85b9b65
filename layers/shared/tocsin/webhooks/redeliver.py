"""Deliveries that somebody asks for: a test event, and the same message once more."""

from enum import Enum, auto
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.foundation.database import tenant_transaction
from tocsin.store import webhook_deliveries, webhooks
from tocsin.store.flow.enqueue_webhook import enqueue_redelivery, enqueue_test
from tocsin.store.webhook_deliveries import WebhookDelivery


class NotEnqueued(Enum):
    UNKNOWN = auto()
    DISABLED = auto()


def send_test(conn: Connection[Any], actor: Actor, webhook_id: UUID) -> WebhookDelivery | NotEnqueued:
    """A `webhook.test` event to that hook, whatever events it wants."""
    with tenant_transaction(conn, actor.tenant_id):
        delivery = enqueue_test(conn, actor.tenant_id, webhook_id)
        if delivery is None:
            is_known = webhooks.find(conn, actor.tenant_id, webhook_id) is not None
            return NotEnqueued.DISABLED if is_known else NotEnqueued.UNKNOWN
        audit.record(conn, actor, "test", "webhook", str(webhook_id), {"new": {"delivery_id": str(delivery.id)}})
    return delivery


def redeliver(conn: Connection[Any], actor: Actor, delivery_id: UUID) -> WebhookDelivery | NotEnqueued:
    """The same message again, under the same message id, whatever became of it before: its receiver knows it by that."""
    with tenant_transaction(conn, actor.tenant_id):
        clone = enqueue_redelivery(conn, actor.tenant_id, delivery_id)
        if clone is None:
            is_known = webhook_deliveries.find(conn, actor.tenant_id, delivery_id) is not None
            return NotEnqueued.DISABLED if is_known else NotEnqueued.UNKNOWN
        changes = {"new": {"delivery_id": str(clone.id)}}
        audit.record(conn, actor, "redeliver", "webhook_delivery", str(delivery_id), changes)
    return clone
