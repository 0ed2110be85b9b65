"""Webhooks: where a tenant's own systems hear what became of its notifications. A secret is shown once."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from aws_lambda_powertools import Logger
from pydantic import AfterValidator, Field, StrictBool, StrictInt

from tocsin.foundation import encryption
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.destinations import MAX_URL
from tocsin.foundation.fields import Closed, unique
from tocsin.foundation.ids import as_uuid
from tocsin.http import paging, problems
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem
from tocsin.store import webhook_deliveries, webhooks
from tocsin.store.webhook_deliveries import WebhookDelivery
from tocsin.store.webhooks import Webhook
from tocsin.webhooks import redeliver, register
from tocsin.webhooks.redeliver import NotEnqueued
from tocsin.webhooks.register import DeniedUrl, NewWebhook, NoEgress, TooManyWebhooks, WebhookChange
from tocsin.webhooks.sign import message_id_of

log = Logger(child=True)

EventType = Literal[
    "notification.published",
    "notification.delivered",
    "notification.bounced",
    "notification.complained",
    "notification.dead_lettered",
    "notification.skipped",
    "notification.cancelled",
]
_STATUSES = ("pending", "delivered", "failed")

Url = Annotated[str, Field(min_length=1, max_length=MAX_URL)]
Events = Annotated[list[EventType], Field(min_length=1), AfterValidator(unique)]
Modes = Annotated[list[Literal["live", "test"]], Field(min_length=1), AfterValidator(unique)]
Description = Annotated[str, Field(max_length=200)]
RetryCount = Annotated[StrictInt, Field(ge=1, le=10)]
Seconds = Annotated[StrictInt, Field(ge=1, le=15)]


class WebhookBody(Closed):
    url: Url
    events: Events
    description: Description = ""
    modes: Modes = Field(default=["live"])
    is_active: StrictBool = True
    retry_count: RetryCount = 10
    timeout_seconds: Seconds = 10


class WebhookPatch(Closed):
    url: Url | None = None
    events: Events | None = None
    description: Description | None = None
    modes: Modes | None = None
    is_active: StrictBool | None = None
    retry_count: RetryCount | None = None
    timeout_seconds: Seconds | None = None


def list_webhooks(call: Call) -> Response:
    with tenant_transaction(call.conn, call.tenant_id):
        rows = webhooks.find_all(call.conn, call.tenant_id)
    return Response(200, {"data": [asdict(row) for row in rows], "next_cursor": None})


def post_webhook(call: Call) -> Response:
    body: WebhookBody = call.request.parsed(WebhookBody)
    try:
        row, secret = register.add(call.conn, call.actor, NewWebhook(**body.model_dump()), created_by=call.principal.key_id)
    except DeniedUrl as error:
        raise problems.invalid_field("/url", str(error)) from None
    except NoEgress:
        raise _egress_required() from None
    except TooManyWebhooks as error:
        raise Problem(
            409, "limit-reached", "There are too many webhooks", f"A tenant may have {error}; delete one that is not needed."
        ) from None
    except encryption.CannotSeal as error:
        raise _unsealed(call, error) from None
    return Response(201, asdict(row) | {"secret": secret})


def get_webhook(call: Call) -> Response:
    return Response(200, asdict(_found(call)))


def patch_webhook(call: Call) -> Response:
    body: WebhookPatch = call.request.parsed(WebhookPatch)
    webhook_id = as_uuid(call.request.path_parameters.get("id", ""))
    wanted = WebhookChange(**body.model_dump())
    try:
        row = register.change(call.conn, call.actor, webhook_id, wanted) if webhook_id else None
    except DeniedUrl as error:
        raise problems.invalid_field("/url", str(error)) from None
    except NoEgress:
        raise _egress_required() from None
    if row is None:
        raise problems.not_found("webhook")
    return Response(200, asdict(row))


def delete_webhook(call: Call) -> Response:
    webhook_id = as_uuid(call.request.path_parameters.get("id", ""))
    if webhook_id is None or not register.remove(call.conn, call.actor, webhook_id):
        raise problems.not_found("webhook")
    return Response(204)


def rotate_secret(call: Call) -> Response:
    webhook_id = as_uuid(call.request.path_parameters.get("id", ""))
    try:
        rotated = register.rotate_secret(call.conn, call.actor, webhook_id) if webhook_id else None
    except encryption.CannotSeal as error:
        raise _unsealed(call, error) from None
    if rotated is None:
        raise problems.not_found("webhook")
    row, secret = rotated
    return Response(200, asdict(row) | {"secret": secret})


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
    hook = _found(call)
    with tenant_transaction(call.conn, call.tenant_id):
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


def _found(call: Call) -> Webhook:
    webhook_id = as_uuid(call.request.path_parameters.get("id", ""))
    with tenant_transaction(call.conn, call.tenant_id):
        row = webhooks.find(call.conn, call.tenant_id, webhook_id) if webhook_id else None
    if row is None:
        raise problems.not_found("webhook")
    return row


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


def _egress_required() -> Problem:
    return Problem(
        409,
        "internet-egress-required",
        "No way leads to the internet",
        "This installation cannot call anybody: deploy it with the parameter InternetEgress=true, then try again.",
    )


def _unsealed(call: Call, error: encryption.CannotSeal) -> Problem:
    log.error("a secret cannot be sealed", extra={"request_id": call.request.request_id, "error": str(error)})
    return problems.unavailable("Secrets cannot be sealed just now.")


_FILTERS: list[dict[str, Any]] = [
    {"name": "status", "in": "query", "schema": {"enum": list(_STATUSES)}},
    {"name": "event_type", "in": "query", "schema": {"type": "string"}},
    {"name": "notification_id", "in": "query", "schema": {"type": "string", "format": "uuid"}},
]
_UNKNOWN = {404: "No such webhook"}


ENDPOINTS = [
    Endpoint("GET /v1/webhooks", "manage", list_webhooks, "List the webhooks"),
    Endpoint(
        "POST /v1/webhooks",
        "manage",
        post_webhook,
        "Add a webhook; its secret is shown once",
        success=201,
        body=WebhookBody,
        answers={409: "There are too many, or no way leads to the internet"},
    ),
    Endpoint("GET /v1/webhooks/{id}", "manage", get_webhook, "Show a webhook", answers=_UNKNOWN),
    Endpoint(
        "PATCH /v1/webhooks/{id}",
        "manage",
        patch_webhook,
        "Change a webhook, or switch it off and on",
        body=WebhookPatch,
        answers=_UNKNOWN | {409: "No way leads to the internet"},
    ),
    Endpoint(
        "DELETE /v1/webhooks/{id}", "manage", delete_webhook, "Delete a webhook and its deliveries", success=204, answers=_UNKNOWN
    ),
    Endpoint(
        "POST /v1/webhooks/{id}/rotate-secret",
        "manage",
        rotate_secret,
        "Make a new secret, shown once; the one before signs too for 24 hours",
        answers=_UNKNOWN,
    ),
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
