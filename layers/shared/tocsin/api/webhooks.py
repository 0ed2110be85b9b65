"""Webhooks: where a tenant's own systems hear what became of its notifications. A secret is shown once."""

from datetime import datetime
from typing import Annotated, Literal, get_args
from uuid import UUID

from aws_lambda_powertools import Logger
from pydantic import AfterValidator, Field, StrictBool, StrictInt
from typing_extensions import TypedDict

from tocsin.api.words import Mode
from tocsin.foundation import encryption
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.destinations import MAX_URL
from tocsin.foundation.fields import Closed, unique
from tocsin.foundation.ids import as_uuid
from tocsin.http import paging, problems
from tocsin.http.answers import PageOf, one_of
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem
from tocsin.store import webhooks
from tocsin.webhooks import register
from tocsin.webhooks.register import DeniedUrl, NewWebhook, NoEgress, TooManyWebhooks, WebhookChange

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


class ShownWebhook(TypedDict):
    """Where a tenant's own systems hear what became of its notifications."""

    id: UUID
    url: str
    description: str
    events: list[Annotated[str, one_of(*get_args(EventType))]]
    modes: list[Mode]
    is_active: bool
    disabled_reason: Annotated[str, one_of("", "request", "gone", "failing")]
    disabled_at: datetime | None
    retry_count: int
    timeout_seconds: int
    failing_since: datetime | None
    last_success_at: datetime | None
    previous_secret_expires_at: datetime | None
    created_by: UUID
    created_at: datetime
    updated_at: datetime


class WebhookWithSecret(ShownWebhook):
    """A webhook with the secret that signs what it is told, which is shown this once."""

    secret: str


def list_webhooks(call: Call) -> Response:
    with tenant_transaction(call.conn, call.tenant_id):
        rows = webhooks.find_all(call.conn, call.tenant_id)
    return paging.whole([_shown(row) for row in rows])


def post_webhook(call: Call) -> Response:
    body: WebhookBody = call.request.parsed(WebhookBody)
    try:
        row, secret = register.add(call.conn, call.actor, NewWebhook(**body.model_dump()), created_by=call.principal.key_id)
    except DeniedUrl as error:
        raise problems.invalid_field("/url", str(error)) from None
    except NoEgress:
        raise egress_required() from None
    except TooManyWebhooks as error:
        raise Problem(
            409, "limit-reached", "There are too many webhooks", f"A tenant may have {error}; delete one that is not needed."
        ) from None
    except encryption.CannotSeal as error:
        raise _unsealed(call, error) from None
    return Response(201, _shown_with(row, secret))


def get_webhook(call: Call) -> Response:
    webhook_id = as_uuid(call.request.path_parameters.get("id", ""))
    with tenant_transaction(call.conn, call.tenant_id):
        row = webhooks.find(call.conn, call.tenant_id, webhook_id) if webhook_id else None
    if row is None:
        raise problems.not_found("webhook")
    return Response(200, _shown(row))


def patch_webhook(call: Call) -> Response:
    body: WebhookPatch = call.request.parsed(WebhookPatch)
    webhook_id = as_uuid(call.request.path_parameters.get("id", ""))
    wanted = WebhookChange(**body.model_dump())
    try:
        row = register.change(call.conn, call.actor, webhook_id, wanted) if webhook_id else None
    except DeniedUrl as error:
        raise problems.invalid_field("/url", str(error)) from None
    except NoEgress:
        raise egress_required() from None
    if row is None:
        raise problems.not_found("webhook")
    return Response(200, _shown(row))


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
    return Response(200, _shown_with(row, secret))


def egress_required() -> Problem:
    return Problem(
        409,
        "internet-egress-required",
        "No way leads to the internet",
        "This installation cannot call anybody: deploy it with the parameter InternetEgress=true, then try again.",
    )


def _unsealed(call: Call, error: encryption.CannotSeal) -> Problem:
    log.error("a secret cannot be sealed", extra={"request_id": call.request.request_id, "error": str(error)})
    return problems.unavailable("Secrets cannot be sealed just now.")


def _shown_with(row: webhooks.Webhook, secret: str) -> WebhookWithSecret:
    return {**_shown(row), "secret": secret}


def _shown(row: webhooks.Webhook) -> ShownWebhook:
    return {
        "id": row.id,
        "url": row.url,
        "description": row.description,
        "events": row.events,
        "modes": row.modes,
        "is_active": row.is_active,
        "disabled_reason": row.disabled_reason,
        "disabled_at": row.disabled_at,
        "retry_count": row.retry_count,
        "timeout_seconds": row.timeout_seconds,
        "failing_since": row.failing_since,
        "last_success_at": row.last_success_at,
        "previous_secret_expires_at": row.previous_secret_expires_at,
        "created_by": row.created_by,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }


_UNKNOWN = {404: "No such webhook"}


ENDPOINTS = [
    Endpoint("GET /v1/webhooks", "manage", list_webhooks, "List the webhooks", answer=PageOf[ShownWebhook]),
    Endpoint(
        "POST /v1/webhooks",
        "manage",
        post_webhook,
        "Add a webhook; its secret is shown once",
        success=201,
        body=WebhookBody,
        answer=WebhookWithSecret,
        answers={409: "There are too many, or no way leads to the internet"},
    ),
    Endpoint("GET /v1/webhooks/{id}", "manage", get_webhook, "Show a webhook", answers=_UNKNOWN, answer=ShownWebhook),
    Endpoint(
        "PATCH /v1/webhooks/{id}",
        "manage",
        patch_webhook,
        "Change a webhook, or switch it off and on",
        body=WebhookPatch,
        answer=ShownWebhook,
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
        answer=WebhookWithSecret,
        answers=_UNKNOWN,
    ),
]
