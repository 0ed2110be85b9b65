"""Triggers: what is to run when a value changes, or when work has died."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, cast, get_args
from uuid import UUID

from aws_lambda_powertools import Logger
from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, StrictInt
from typing_extensions import TypedDict

from tocsin.api.webhooks import egress_required
from tocsin.api.words import Backoff
from tocsin.foundation import encryption
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.fields import Closed, RowId, unique
from tocsin.foundation.ids import as_uuid
from tocsin.http import paging, problems
from tocsin.http.answers import PageOf, one_of
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem
from tocsin.store import triggers
from tocsin.triggers import register
from tocsin.triggers.handler_configs import FIELDS as HANDLER_FIELDS
from tocsin.triggers.handler_configs import UnusableTrigger
from tocsin.triggers.names import checked_glob
from tocsin.triggers.register import DETAILS, NewTrigger, OtherMode, ScopeRequired, TooManyTriggers
from tocsin.webhooks.register import NoEgress

log = Logger(child=True)


def _asynchronous(mode: object) -> object:
    if mode != "async":
        raise ValueError("must be async: nobody who writes waits for what a trigger runs, so other modes do not exist yet")
    return mode


Glob = Annotated[str, AfterValidator(checked_glob)]
Ops = Annotated[list[Literal["insert", "update", "delete"]], AfterValidator(unique)]
Source = Literal["plan", "deliver", "fanout", "webhook", "trigger"]
DispatchMode = Annotated[Literal["async"], BeforeValidator(_asynchronous)]
TriggerName = Annotated[str, Field(max_length=100)]
HandlerTimeout = Annotated[StrictInt, Field(ge=1, le=15)]


class RetryBody(Closed):
    """What is not said is as the installation's settings have it at this moment."""

    max_attempts: Annotated[StrictInt, Field(ge=1, le=20)] | None = None
    backoff: Literal["exponential", "linear", "constant"] | None = None
    base_ms: Annotated[StrictInt, Field(ge=100, le=3_600_000)] | None = None


class HandlerChangeBody(Closed):
    intent: dict[str, Any] | None = None
    url: str | None = None
    timeout_seconds: HandlerTimeout | None = None
    function_arn: str | None = None


class HandlerBody(HandlerChangeBody):
    """A new handler by its `kind`, or the `id` of one that another trigger has."""

    id: RowId | None = None
    kind: Literal["intent", "webhook", "lambda"] | None = None


class TriggerChangeBody(Closed):
    """What is not said stays as it is. For the filters null means any."""

    name: TriggerName | None = None
    enabled: StrictBool | None = None
    retry: RetryBody | None = None
    collection_glob: Glob | None = None
    ops: Ops | None = None
    source_filter: Source | None = None
    trigger_id_filter: RowId | None = None
    script_id_filter: RowId | None = None
    handler: HandlerChangeBody | None = None


class TriggerBody(Closed):
    """`collection_glob` and `ops` are for the kind `kv`, the filters for the kind `dead_letter`."""

    kind: Literal["kv", "dead_letter"]
    handler: HandlerBody
    name: TriggerName = ""
    enabled: StrictBool = True
    dispatch_mode: DispatchMode = "async"
    retry: RetryBody = RetryBody()
    collection_glob: Glob | None = None
    ops: Ops | None = None
    source_filter: Source | None = None
    trigger_id_filter: RowId | None = None
    script_id_filter: RowId | None = None


class TriggerRetry(TypedDict):
    """How often a trigger tries, and how long it waits in between."""

    max_attempts: int
    backoff: Backoff
    base_ms: int


class TriggerHandler(TypedDict):
    """What a trigger runs, with what its kind needs. `secret`: of a new webhook, or a new one of it, shown this once; beside a
    new one, until when the one before signs too."""

    id: UUID
    kind: Annotated[str, one_of(*HANDLER_FIELDS)]
    intent: NotRequired[dict[str, Any]]
    url: NotRequired[str]
    timeout_seconds: NotRequired[int]
    function_arn: NotRequired[str]
    secret: NotRequired[str]
    previous_secret_expires_at: NotRequired[datetime]


class ShownTrigger(TypedDict):
    """What is to run when a value changes (`kv`), or when work has died (`dead_letter`)."""

    id: UUID
    kind: Annotated[str, one_of(*DETAILS)]
    name: str
    enabled: bool
    dispatch_mode: str
    collection_glob: NotRequired[str | None]
    ops: NotRequired[list[Annotated[str, one_of("insert", "update", "delete")]]]
    source_filter: NotRequired[Annotated[str, one_of(*get_args(Source))] | None]
    trigger_id_filter: NotRequired[UUID | None]
    script_id_filter: NotRequired[UUID | None]
    retry: TriggerRetry
    handler: TriggerHandler
    registered_by: UUID
    created_at: datetime
    updated_at: datetime


def post_trigger(call: Call) -> Response:
    body: TriggerBody = call.request.parsed(TriggerBody)
    said = body.model_dump(exclude_none=True)
    handler = said["handler"]
    handler_id, handler_kind = handler.pop("id", None), handler.pop("kind", None)
    if handler_id and (handler_kind or handler):
        raise problems.invalid_field("/handler/id", "names a handler that there is, so nothing else can be said of it here")
    if not handler_id and not handler_kind:
        raise problems.invalid_field("/handler/kind", "is required: intent, webhook or lambda")
    if body.kind == "kv" and body.collection_glob is None:
        raise problems.invalid_field("/collection_glob", "is required")
    new = NewTrigger(
        body.kind, _details(said), handler_id, handler_kind or "", handler, body.name, body.enabled, _retry(said["retry"])
    )
    with _refusals(call):
        made = register.register(call.conn, call.actor, call.principal, new)
    shown = _shown(made.trigger)
    if made.secret:
        shown["handler"]["secret"] = made.secret
    return Response(201, shown)


def list_triggers(call: Call) -> Response:
    limit, cursor = paging.limit_of(call.request), paging.cursor_of(call.request)
    with tenant_transaction(call.conn, call.tenant_id):
        rows = triggers.list_page(call.conn, call.tenant_id, limit=limit + 1, before=cursor[1] if cursor else None)
    return paging.page(rows, limit, shown=_shown, place=lambda row: (row.created_at, row.id))


def get_trigger(call: Call) -> Response:
    trigger_id = as_uuid(call.request.path_parameters.get("id", ""))
    with tenant_transaction(call.conn, call.tenant_id):
        trigger = triggers.find(call.conn, call.tenant_id, trigger_id) if trigger_id else None
    if trigger is None:
        raise problems.not_found("trigger")
    return Response(200, _shown(trigger))


def patch_trigger(call: Call) -> Response:
    body: TriggerChangeBody = call.request.parsed(TriggerChangeBody)
    said = body.model_dump(exclude_none=True)
    any_again = {name: None for name in DETAILS["dead_letter"] if name in body.model_fields_set and getattr(body, name) is None}
    changes = _retry(said.pop("retry", {})) | said | any_again
    trigger_id = as_uuid(call.request.path_parameters.get("id", ""))
    with _refusals(call):
        trigger = register.change(call.conn, call.actor, call.principal, trigger_id, changes) if trigger_id else None
    if trigger is None:
        raise problems.not_found("trigger")
    return Response(200, _shown(trigger))


def rotate_trigger_secret(call: Call) -> Response:
    trigger_id = as_uuid(call.request.path_parameters.get("id", ""))
    with _refusals(call):
        rotated = register.rotate_secret(call.conn, call.actor, call.principal, trigger_id) if trigger_id else None
    if rotated is None:
        raise problems.not_found("trigger")
    shown = _shown(rotated.trigger)
    shown["handler"]["secret"] = rotated.secret
    shown["handler"]["previous_secret_expires_at"] = rotated.previous_ends_at
    return Response(200, shown)


def delete_trigger(call: Call) -> Response:
    trigger_id = as_uuid(call.request.path_parameters.get("id", ""))
    if trigger_id is None or not register.remove(call.conn, call.actor, trigger_id):
        raise problems.not_found("trigger")
    return Response(204)


@contextmanager
def _refusals(call: Call) -> Iterator[None]:
    try:
        yield
    except UnusableTrigger as error:
        faults = [{"pointer": pointer, "message": message} for pointer, message in error.faults[:20]]
        raise problems.invalid_fields(faults, "The trigger cannot be used.") from None
    except ScopeRequired as error:
        detail = f"The trigger would act as the key that registers it, so that one needs the scope `{error.scope}` itself."
        raise Problem(403, "forbidden", "The API key lacks a scope", detail) from None
    except OtherMode:
        detail = f"A key of another mode registered it; this one is a {call.principal.mode} key. Use one of its own mode."
        raise Problem(409, "other-mode", "The trigger is of another mode", detail) from None
    except TooManyTriggers as error:
        detail = f"This tenant may have {error.limit} triggers (TriggersPerTenant). Delete one first; nothing was stored."
        raise Problem(409, "too-many-triggers", "There are too many triggers", detail) from None
    except NoEgress:
        raise egress_required() from None
    except encryption.CannotSeal as error:
        log.error("a secret cannot be sealed", extra={"request_id": call.request.request_id, "error": str(error)})
        raise problems.unavailable("Secrets cannot be sealed just now.") from None


def _details(said: dict[str, Any]) -> dict[str, Any]:
    return {name: said[name] for names in DETAILS.values() for name in names if name in said}


def _retry(said: dict[str, Any]) -> dict[str, Any]:
    return {f"retry_{name}": value for name, value in said.items()}


def _shown(trigger: triggers.Trigger) -> ShownTrigger:
    shown: ShownTrigger = {
        "id": trigger.id,
        "kind": trigger.kind,
        "name": trigger.name,
        "enabled": trigger.enabled,
        "dispatch_mode": trigger.dispatch_mode,
        "retry": {
            "max_attempts": trigger.retry_max_attempts,
            "backoff": trigger.retry_backoff,
            "base_ms": trigger.retry_base_ms,
        },
        "handler": cast(TriggerHandler, {"id": trigger.handler_id, "kind": trigger.handler_kind} | trigger.handler_config),
        "registered_by": trigger.registered_by_principal,
        "created_at": trigger.created_at,
        "updated_at": trigger.updated_at,
    }
    if trigger.kind == "kv":
        shown["collection_glob"], shown["ops"] = trigger.collection_glob, trigger.ops
    else:
        shown["source_filter"] = trigger.source_filter
        shown["trigger_id_filter"], shown["script_id_filter"] = trigger.trigger_id_filter, trigger.script_id_filter
    return shown


_NONE = {404: "No such trigger"}
_CLASH = "no way leads to the internet, or a key of the other mode registered it"

ENDPOINTS = [
    Endpoint(
        "GET /v1/triggers", "manage", list_triggers, "List triggers", parameters=paging.PARAMETERS, answer=PageOf[ShownTrigger]
    ),
    Endpoint(
        "POST /v1/triggers",
        "manage",
        post_trigger,
        "Register a trigger; the secret of a webhook is never shown again",
        success=201,
        body=TriggerBody,
        answer=ShownTrigger,
        answers={409: f"The tenant has as many as it may, or {_CLASH}"},
    ),
    Endpoint("GET /v1/triggers/{id}", "manage", get_trigger, "Show a trigger", answers=_NONE, answer=ShownTrigger),
    Endpoint(
        "PATCH /v1/triggers/{id}",
        "manage",
        patch_trigger,
        "Change a trigger, or its handler for all triggers that share it",
        body=TriggerChangeBody,
        answer=ShownTrigger,
        answers=_NONE | {409: _CLASH.capitalize()},
    ),
    Endpoint(
        "POST /v1/triggers/{id}/rotate-secret",
        "manage",
        rotate_trigger_secret,
        "Make a new secret for its webhook, shown once; the one before signs too for 24 hours",
        answer=ShownTrigger,
        answers=_NONE | {409: "A key of the other mode registered it", 422: "It calls no webhook"},
    ),
    Endpoint("DELETE /v1/triggers/{id}", "manage", delete_trigger, "Delete a trigger", success=204, answers=_NONE),
]
