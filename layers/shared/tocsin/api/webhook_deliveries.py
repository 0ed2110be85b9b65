"""What webhooks were told: the log of each, a test event, and the same message once more."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from typing_extensions import TypedDict

from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import as_uuid
from tocsin.http import filters, paging, problems
from tocsin.http.answers import PageOf, one_of
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem
from tocsin.store import webhook_deliveries, webhooks
from tocsin.webhooks import redeliver
from tocsin.webhooks.redeliver import NotEnqueued
from tocsin.webhooks.sign import message_id_of

_STATUSES = ("pending", "delivered", "failed")


class ShownWebhookDelivery(TypedDict):
    """A message to a webhook, and what became of it. `message_id` is its id as the receiver sees it."""

    id: UUID
    webhook_id: UUID
    notification_id: UUID | None
    event_type: str
    payload: dict[str, Any]
    message_id: str
    redelivery_of: UUID | None
    status: Annotated[str, one_of(*_STATUSES)]
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


def test_webhook(call: Call) -> Response:
    webhook_id = as_uuid(call.request.path_parameters.get("id", ""))
    sent = redeliver.send_test(call.conn, call.actor, webhook_id) if webhook_id else NotEnqueued.UNKNOWN
    return _enqueued(sent, "webhook")


def list_deliveries(call: Call) -> Response:
    status, event_type = filters.choice_of(call.request, "status", _STATUSES), call.request.query.get("event_type")
    notification_id = as_uuid(call.request.query.get("notification_id", ""))
    if "notification_id" in call.request.query and notification_id is None:
        raise problems.invalid_parameter("notification_id", "must be the id of a notification")
    limit, after = paging.limit_of(call.request), paging.cursor_of(call.request)
    webhook_id = as_uuid(call.request.path_parameters.get("id", ""))
    with tenant_transaction(call.conn, call.tenant_id):
        hook = webhooks.find(call.conn, call.tenant_id, webhook_id) if webhook_id else None
        if hook is None:
            raise problems.not_found("webhook")
        rows = webhook_deliveries.list_page(
            call.conn,
            call.tenant_id,
            hook.id,
            status=status,
            event_type=event_type,
            notification_id=notification_id,
            limit=limit + 1,
            after=after[1] if after else None,
        )
    return paging.page(rows, limit, shown=shown, place=lambda row: (row.created_at, row.id))


def redeliver_delivery(call: Call) -> Response:
    delivery_id = as_uuid(call.request.path_parameters.get("id", ""))
    sent = redeliver.redeliver(call.conn, call.actor, delivery_id) if delivery_id else NotEnqueued.UNKNOWN
    return _enqueued(sent, "delivery")


def _enqueued(sent: webhook_deliveries.WebhookDelivery | NotEnqueued, what: str) -> Response:
    match sent:
        case NotEnqueued.UNKNOWN:
            raise problems.not_found(what)
        case NotEnqueued.DISABLED:
            raise Problem(409, "webhook-disabled", "The webhook is disabled", "Switch it on first: PATCH `is_active` to true.")
        case _:
            return Response(202, shown(sent))


def shown(row: webhook_deliveries.WebhookDelivery) -> ShownWebhookDelivery:
    return {
        "id": row.id,
        "webhook_id": row.webhook_id,
        "notification_id": row.notification_id,
        "event_type": row.event_type,
        "payload": row.payload,
        "message_id": message_id_of(row.message_id),
        "redelivery_of": row.redelivery_of,
        "status": row.status,
        "delivered": row.delivered,
        "attempt_count": row.attempt_count,
        "response_status": row.response_status,
        "response_body": row.response_body,
        "error": row.error,
        "duration_ms": row.duration_ms,
        "next_retry_at": row.next_retry_at,
        "delivered_at": row.delivered_at,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }


_FILTERS: list[dict[str, Any]] = [
    filters.choice("status", _STATUSES),
    {"name": "event_type", "in": "query", "schema": {"type": "string"}},
    {"name": "notification_id", "in": "query", "schema": {"type": "string", "format": "uuid"}},
]
_UNKNOWN = {404: "No such webhook"}


ENDPOINTS = [
    Endpoint(
        "POST /v1/webhooks/{id}/test",
        "manage",
        test_webhook,
        "Send a test event",
        success=202,
        answers=_UNKNOWN | {409: "The webhook is disabled"},
        answer=ShownWebhookDelivery,
    ),
    Endpoint(
        "GET /v1/webhooks/{id}/deliveries",
        "manage",
        list_deliveries,
        "List what a webhook was told, and what it answered",
        parameters=[*_FILTERS, *paging.PARAMETERS],
        answer=PageOf[ShownWebhookDelivery],
        answers=_UNKNOWN,
    ),
    Endpoint(
        "POST /v1/webhooks/deliveries/{id}/redeliver",
        "manage",
        redeliver_delivery,
        "Deliver the same message again",
        success=202,
        answers={404: "No such delivery", 409: "The webhook is disabled"},
        answer=ShownWebhookDelivery,
    ),
]
