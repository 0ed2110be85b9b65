"""What webhooks were told: the log of each, a test event, and the same message once more."""

from dataclasses import asdict
from typing import Any

from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import as_uuid
from tocsin.http import paging, problems
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem
from tocsin.store import webhook_deliveries, webhooks
from tocsin.store.webhook_deliveries import WebhookDelivery
from tocsin.webhooks import redeliver
from tocsin.webhooks.redeliver import NotEnqueued
from tocsin.webhooks.sign import message_id_of

_STATUSES = ("pending", "delivered", "failed")


def test_webhook(call: Call) -> Response:
    webhook_id = as_uuid(call.request.path_parameters.get("id", ""))
    sent = redeliver.send_test(call.conn, call.actor, webhook_id) if webhook_id else NotEnqueued.UNKNOWN
    return _enqueued(sent, "webhook")


def list_deliveries(call: Call) -> Response:
    status, event_type = call.request.query.get("status"), call.request.query.get("event_type")
    if status is not None and status not in _STATUSES:
        raise problems.invalid_parameter("status", f"must be one of {', '.join(_STATUSES)}")
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
    return paging.page(rows, limit, shown=_shown, place=lambda row: (row.created_at, row.id))


def redeliver_delivery(call: Call) -> Response:
    delivery_id = as_uuid(call.request.path_parameters.get("id", ""))
    sent = redeliver.redeliver(call.conn, call.actor, delivery_id) if delivery_id else NotEnqueued.UNKNOWN
    return _enqueued(sent, "delivery")


def _enqueued(sent: WebhookDelivery | NotEnqueued, what: str) -> Response:
    match sent:
        case NotEnqueued.UNKNOWN:
            raise problems.not_found(what)
        case NotEnqueued.DISABLED:
            raise Problem(409, "webhook-disabled", "The webhook is disabled", "Switch it on first: PATCH `is_active` to true.")
        case _:
            return Response(202, _shown(sent))


def _shown(row: WebhookDelivery) -> dict[str, Any]:
    """The message's id as its receiver sees it."""
    return asdict(row) | {"message_id": message_id_of(row.message_id)}


_FILTERS: list[dict[str, Any]] = [
    {"name": "status", "in": "query", "schema": {"enum": list(_STATUSES)}},
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
    ),
    Endpoint(
        "GET /v1/webhooks/{id}/deliveries",
        "manage",
        list_deliveries,
        "List what a webhook was told, and what it answered",
        parameters=[*_FILTERS, *paging.PARAMETERS],
        answers=_UNKNOWN,
    ),
    Endpoint(
        "POST /v1/webhooks/deliveries/{id}/redeliver",
        "manage",
        redeliver_delivery,
        "Deliver the same message again",
        success=202,
        answers={404: "No such delivery", 409: "The webhook is disabled"},
    ),
]
