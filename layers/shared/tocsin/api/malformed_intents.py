"""Malformed intents: what came by queue or event bus and could not be accepted. Repaired and accepted, or put aside."""

from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Annotated, Any
from uuid import UUID

from typing_extensions import TypedDict

from tocsin.access.authenticate import Principal
from tocsin.api import events, intents
from tocsin.api.intent_refusals import refusal
from tocsin.api.system_events import ResolveBody
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.foundation.settings import settings
from tocsin.http import filters, paging, problems
from tocsin.http.answers import PageOf, one_of
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem
from tocsin.intake import accept_malformed, admission
from tocsin.intake.accept_events import Told
from tocsin.intake.accept_intents import Asked
from tocsin.intake.accept_malformed import Resolved
from tocsin.intake.accept_messages import ENVELOPE
from tocsin.intake.intents import KEY, Intent
from tocsin.store import malformed_intents
from tocsin.store.malformed_intents import MalformedFilters

_LONGEST_ID = 255


class RepairedIntent(Intent):
    """The intent as it should have been. Without a key of its own it has the message's. (A repaired event is a CloudEvent.)"""

    idempotency_key: str | None = None


class ShownMalformedIntent(TypedDict):
    """What came by queue or event bus and could not be accepted, without what came in."""

    id: str
    type: str
    producer: str
    idempotency_key: str
    failure_code: str
    failure_message: str
    recorded_at: datetime
    resolved_at: datetime | None
    resolution: Annotated[str, one_of("accepted", "ignored")] | None
    resolution_reason: str
    notification_id: UUID | None
    resolved_by: UUID | None


class MalformedIntentDetail(ShownMalformedIntent):
    """What came by queue or event bus and could not be accepted, with what came in."""

    raw_fields: dict[str, Any]


def list_malformed_intents(call: Call) -> Response:
    request = call.request
    wanted = MalformedFilters(
        **{name: request.query.get(name) for name in ("failure_code", "producer", "type", "idempotency_key")},
        is_resolved=filters.flag_of(request, "is_resolved"),
        since=filters.moment_of(request, "since"),
        until=filters.moment_of(request, "until"),
    )
    limit, after = paging.limit_of(request), paging.cursor_of(request, _read_id)
    with tenant_transaction(call.conn, call.tenant_id):
        rows = malformed_intents.list_page(call.conn, call.tenant_id, wanted, limit=limit + 1, after=after)
    return paging.page(rows, limit, shown=_shown, place=lambda row: (row.recorded_at, row.stream_entry_id))


def get_malformed_intent(call: Call) -> Response:
    row = _found(call)
    shown: MalformedIntentDetail = {**_shown(row), "raw_fields": row.raw_fields}
    return Response(200, shown)


def accept_malformed_intent(call: Call) -> Response:
    row = _found(call)
    is_repaired = bool(call.request.body)
    fields = call.request.json() if is_repaired else row.raw_fields
    if row.resolution is not None:
        return _resolved(Resolved(row, is_ours=False), "accepted")
    if call.principal.mode != "live":
        raise Problem(403, "live-key-required", "This came in live", "A test key would accept it and send nothing.")
    asked = _asked(row, fields, call.principal)
    sender = admission.sender_of(call.principal, usual_limit=settings().rate_limit_per_minute, actor=call.actor)
    end = intents.admit(
        call,
        1,
        partial(
            accept_malformed.accept_again,
            asked=asked,
            actor=call.actor,
            entry_id=row.stream_entry_id,
            resolved_by=call.principal.key_id,
            is_repaired=is_repaired,
        ),
        sender=replace(sender, producer=row.producer[:100] or "queue"),
    )
    if end is None:
        raise problems.not_found("malformed intent")
    if not isinstance(end, Resolved):
        raise refusal(end)
    return _resolved(end, "accepted")


def resolve_malformed_intent(call: Call) -> Response:
    body: ResolveBody = call.request.parsed(ResolveBody)
    entry_id = _found(call).stream_entry_id
    done = accept_malformed.ignore(call.conn, call.actor, entry_id, resolved_by=call.principal.key_id, reason=body.reason)
    if done is None:
        raise problems.not_found("malformed intent")
    return _resolved(done, "ignored")


def _resolved(done: Resolved, wanted: str) -> Response:
    """The same again is answered the same; what was resolved in another way stays so."""
    if done.row.resolution != wanted:
        detail = f"It is {done.row.resolution} already, and stays so."
        raise Problem(409, "already-resolved", "It is resolved already", detail)
    return Response(200, _shown(done.row))


def _asked(row: malformed_intents.MalformedIntent, fields: Any, principal: Principal) -> Asked | Told:
    """What is to be taken in, strictly read; a Problem with pointers to what is still wrong."""
    if not isinstance(fields, dict):
        raise problems.invalid_field("", "must be an object")
    if fields is row.raw_fields:
        if set(fields) == {"beginning", "length"}:
            raise problems.invalid("Only the beginning of this message was kept. Send the repaired intent as the body.")
        if not isinstance(fields.get("producer", ""), str) or len(fields.get("producer", "")) > 100:
            raise problems.invalid_field("/producer", "must be a string of at most 100 characters")
        if fields.get("tenant_id", str(principal.tenant_id)) != str(principal.tenant_id):
            raise problems.invalid_field("/tenant_id", "names another tenant; a repaired intent would be this tenant's")
        fields = {name: part for name, part in fields.items() if name not in ("producer", "tenant_id")}
    if "specversion" in fields:
        return events.read_event({name: part for name, part in fields.items() if name not in ENVELOPE}, uuid7(), 0)
    usual = row.idempotency_key if KEY.fullmatch(row.idempotency_key) else row.stream_entry_id
    key = fields.get("idempotency_key", usual)
    if not isinstance(key, str) or not KEY.fullmatch(key):
        raise problems.invalid_field("/idempotency_key", "must be 1 to 255 printable ASCII characters")
    said = {name: part for name, part in fields.items() if name != "idempotency_key"}
    return intents.asked(key, said, 0, principal, mode="live")


def _found(call: Call) -> malformed_intents.MalformedIntent:
    entry_id = call.request.path_parameters.get("id", "")
    row = accept_malformed.find(call.conn, call.tenant_id, entry_id) if len(entry_id) <= _LONGEST_ID else None
    if row is None:
        raise problems.not_found("malformed intent")
    return row


def _read_id(text: str) -> str:
    if not 1 <= len(text) <= _LONGEST_ID or not text.isprintable():
        raise ValueError("no id of a message")
    return text


def _shown(row: malformed_intents.MalformedIntent) -> ShownMalformedIntent:
    return {
        "id": row.stream_entry_id,
        "type": row.notification_type,
        "producer": row.producer,
        "idempotency_key": row.idempotency_key,
        "failure_code": row.failure_code,
        "failure_message": row.failure_message,
        "recorded_at": row.recorded_at,
        "resolved_at": row.resolved_at,
        "resolution": row.resolution,
        "resolution_reason": row.resolution_reason,
        "notification_id": row.notification_id,
        "resolved_by": row.resolved_by,
    }


_FILTERS: list[dict[str, Any]] = [
    *filters.text("failure_code", "producer", "type", "idempotency_key"),
    filters.flag("is_resolved"),
    *filters.SINCE_UNTIL,
]
_UNKNOWN = {404: "No such malformed intent"}

ENDPOINTS = [
    Endpoint(
        "GET /v1/malformed-intents",
        "operate",
        list_malformed_intents,
        "List what came by queue and could not be accepted, newest first",
        parameters=[*_FILTERS, *paging.PARAMETERS],
        answer=PageOf[ShownMalformedIntent],
    ),
    Endpoint(
        "GET /v1/malformed-intents/{id}",
        "operate",
        get_malformed_intent,
        "Show such a message, with what came in",
        answers=_UNKNOWN,
        answer=MalformedIntentDetail,
    ),
    Endpoint(
        "POST /v1/malformed-intents/{id}/accept",
        "operate",
        accept_malformed_intent,
        "Accept it after all, as it came or repaired; twice is once",
        body=RepairedIntent,
        body_is_optional=True,
        answer=ShownMalformedIntent,
        answers=_UNKNOWN
        | {
            403: "The key lacks the scope, or `manage` for the users that are given, or is a test key",
            409: "It was put aside, its key is in flight, or an address is another user's",
            429: "Rate limited",
        },
    ),
    Endpoint(
        "POST /v1/malformed-intents/{id}/resolve",
        "operate",
        resolve_malformed_intent,
        "Put it aside for good, with a reason",
        body=ResolveBody,
        answers=_UNKNOWN | {409: "It was accepted"},
        answer=ShownMalformedIntent,
    ),
]
