"""Webhooks: where a tenant's own systems hear what became of its notifications. A secret is shown once."""

from dataclasses import asdict
from typing import Annotated, Literal

from aws_lambda_powertools import Logger
from pydantic import AfterValidator, Field, StrictBool, StrictInt

from tocsin.foundation import encryption
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.destinations import MAX_URL
from tocsin.foundation.fields import Closed, unique
from tocsin.foundation.ids import as_uuid
from tocsin.http import problems
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
        raise egress_required() from None
    except TooManyWebhooks as error:
        raise Problem(
            409, "limit-reached", "There are too many webhooks", f"A tenant may have {error}; delete one that is not needed."
        ) from None
    except encryption.CannotSeal as error:
        raise _unsealed(call, error) from None
    return Response(201, asdict(row) | {"secret": secret})


def get_webhook(call: Call) -> Response:
    webhook_id = as_uuid(call.request.path_parameters.get("id", ""))
    with tenant_transaction(call.conn, call.tenant_id):
        row = webhooks.find(call.conn, call.tenant_id, webhook_id) if webhook_id else None
    if row is None:
        raise problems.not_found("webhook")
    return Response(200, asdict(row))


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
]
