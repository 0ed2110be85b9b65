"""Sending: intents, one or many, and taking them back."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Any, Literal, NotRequired, TypeVar
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from tocsin.access.authenticate import Principal
from tocsin.api.depth import HEADER_PARAMETER, depth_of
from tocsin.api.idempotency import KEY_HEADER, idempotency_key
from tocsin.api.intent_refusals import refusal
from tocsin.foundation import strict_json
from tocsin.foundation.fields import Closed
from tocsin.foundation.ids import as_uuid
from tocsin.foundation.settings import settings
from tocsin.http import door, prefer, problems, rate_limits
from tocsin.http.answers import ShownProblem
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem
from tocsin.intake import accept_intents as accepting
from tocsin.intake import admission
from tocsin.intake.accept_intents import (
    Admitted,
    Asked,
    IntakeEnd,
    Unreachable,
)
from tocsin.intake.admission import Sender
from tocsin.intake.cancel import cancel as cancel_notification
from tocsin.intake.intents import KEY, MAX_BATCH, Intent
from tocsin.intake.reserve import Entangled

LIMIT = "intents"
WAIT_PATH = "/v1/intents/wait"  # of another function: API Gateway routes by the path alone
_TOO_LATE = "Every route has ended or is in the provider's hands. What the provider does not take is not sent again."

_LACKING = {"email": "email address", "sms": "phone number", "push": "device", "in_app": "inbox"}

Result = TypeVar("Result")


class BatchItem(Intent):
    idempotency_key: Annotated[str, Field(min_length=1, max_length=255)]


class Batch(Closed):
    """Described for the documentation; each item is checked on its own, so that one bad item does not spoil the others."""

    intents: Annotated[list[BatchItem], Field(min_length=1, max_length=MAX_BATCH)]


class _AnyItems(Closed):
    intents: Annotated[list[Any], Field(min_length=1, max_length=MAX_BATCH)]


class IntentWarning(TypedDict):
    """Somebody whom a channel cannot reach as they are now."""

    pointer: str
    message: str


class IntentAccepted(TypedDict):
    """The notification will be sent, whatever happens from here on. `warnings`: whom it will not reach, up to twenty."""

    notification_id: UUID
    status: Literal["accepted"]
    accepted_at: datetime
    warnings: NotRequired[list[IntentWarning]]


class BatchResult(TypedDict):
    """What became of one intent of a batch: its notification, or its problem."""

    idempotency_key: str | None
    status: int
    notification_id: NotRequired[UUID]
    replayed: NotRequired[Literal[True]]
    warnings: NotRequired[list[IntentWarning]]
    problem: NotRequired[ShownProblem]


class BatchResults(TypedDict):
    """One result for each intent, in their order."""

    results: list[BatchResult]


class ShownCancelled(TypedDict):
    """How many routes were stopped, and for how many it was too late."""

    notification_id: UUID
    status: Literal["cancelled"]
    stopped: int
    too_late: int


class WaitElsewhere(TypedDict):
    """The path that waits; the same request goes there."""

    location: str


def post_intent(call: Call) -> Response:
    if prefer.wait_of(call.request.headers) is not None:
        elsewhere: WaitElsewhere = {"location": WAIT_PATH}
        return Response(307, elsewhere, {"Location": WAIT_PATH})
    value = call.request.json()
    key = idempotency_key(call.request.headers.get("idempotency-key"))
    one = asked(key, value, depth_of(call), call.principal)
    (end,), allowance = admit(call, 1, partial(accepting.accept, asked=[one]))
    if not isinstance(end, Admitted):
        raise refusal(end)
    replay = {"Idempotency-Replayed": "true"} if end.is_replay else {}
    return Response(202, receipt(end), replay | rate_limits.headers_of(allowance, LIMIT))


def post_batch(call: Call) -> Response:
    items = call.request.parsed(_AnyItems).intents
    depth = depth_of(call)
    read = [_read_item(item, depth, call.principal) for item in items]
    readable = [one for one in read if isinstance(one, Asked)]
    headers: dict[str, str] = {}
    ends: list[IntakeEnd] = []
    if readable:
        ends, allowance = admit(call, len(readable), partial(accepting.accept, asked=readable))
        headers = rate_limits.headers_of(allowance, LIMIT)
    rest = iter(ends)
    results: list[BatchResult] = [
        _result(one.idempotency_key, next(rest), call.request.request_id)
        if isinstance(one, Asked)
        else _refused(_key_of(item), one, call.request.request_id)
        for item, one in zip(items, read, strict=True)
    ]
    shown: BatchResults = {"results": results}
    return Response(200, shown, headers)


def post_cancel(call: Call) -> Response:
    notification_id = as_uuid(call.request.path_parameters.get("id", ""))
    cancelled = cancel_notification(call.conn, call.actor, notification_id) if notification_id else None
    if cancelled is None or notification_id is None:
        raise problems.not_found("notification")
    if cancelled.is_too_late:
        raise Problem(409, "too-late", "It is too late to cancel", _TOO_LATE)
    shown: ShownCancelled = {
        "notification_id": notification_id,
        "status": "cancelled",
        "stopped": cancelled.stopped,
        "too_late": cancelled.too_late,
    }
    return Response(200, shown)


def asked(key: str, value: Any, depth: int, principal: Principal, *, mode: str | None = None) -> Asked:
    """The intent, strictly read. `mode` is the key's own, unless it says otherwise."""
    intent: Intent = door.parse(Intent, value, context=admission.context())
    if intent.given_users and not admission.may_give_users(principal):
        raise problems.forbidden("manage", what="A user in place of an id makes them known or changes them, which")
    if accepting.asks_for_more(intent, mode or principal.mode):
        raise problems.invalid_field("/mode", "cannot be live: this is a test key, and what it sends reaches nobody")
    if accepting.send_at_is_too_far(intent):
        raise problems.invalid_field("/send_at", "must be within 365 days")
    return Asked(key, intent, strict_json.fingerprint(value), trigger_depth=depth)


def _read_item(item: Any, depth: int, principal: Principal) -> Asked | Problem:
    try:
        if not isinstance(item, dict):
            raise problems.invalid("An intent must be an object.", [{"pointer": "", "message": "must be an object"}])
        key = item.get("idempotency_key")
        if not isinstance(key, str) or not KEY.fullmatch(key):
            wrong = "is required" if key is None else "must be 1 to 255 printable ASCII characters"
            raise problems.invalid_field("/idempotency_key", wrong)
        return asked(key, {name: part for name, part in item.items() if name != "idempotency_key"}, depth, principal)
    except Problem as problem:
        return problem


def _key_of(item: Any) -> str | None:
    key = item.get("idempotency_key") if isinstance(item, dict) else None
    return key if isinstance(key, str) else None


def admit(call: Call, size: int, accept: Callable[..., Result], *, sender: Sender | None = None) -> Result:
    """Run a use case that takes in so many intents of this caller (or of another sender); what keeps them out is a problem."""
    config = settings()
    sender = sender or admission.sender_of(call.principal, usual_limit=config.rate_limit_per_minute, actor=call.actor)
    try:
        with admission.admitted(sender, LIMIT, size):
            return accept(
                call.conn,
                sender=sender,
                request_id=call.request.request_id,
                trace_id=call.request.trace_id,
                window=timedelta(days=config.idempotency_days),
            )
    except admission.KeyInFlight:
        raise Problem(
            409,
            "idempotency-key-in-flight",
            "A request with this key is still running",
            "Send it again in a second.",
            headers={"Retry-After": "1"},
        ) from None
    except admission.RateExceeded:
        raise rate_limits.too_many(sender.rate_limit, LIMIT) from None
    except Entangled:
        message = "need users whom only other, refused intents of the batch give: give each user where they are needed"
        raise problems.invalid_field("/intents", message) from None


def receipt(end: Admitted) -> IntentAccepted:
    shown: IntentAccepted = {"notification_id": end.notification_id, "status": "accepted", "accepted_at": end.accepted_at}
    if end.unreachable:
        shown["warnings"] = warnings(end)
    return shown


def warnings(end: Admitted) -> list[IntentWarning]:
    """Whom the channels cannot reach as they are now; none where all can be."""
    return [_warning(one) for one in end.unreachable]


def _warning(one: Unreachable) -> IntentWarning:
    pointer = f"/audience/user_ids/{one.place}" if one.place else "/audience"
    who = one.name or "the address"
    return {"pointer": pointer, "message": f"{who} has no {_LACKING[one.channel]}: {one.channel} cannot reach them"}


def _result(key: str, end: IntakeEnd, request_id: str) -> BatchResult:
    if not isinstance(end, Admitted):
        return _refused(key, refusal(end, key_at="/idempotency_key"), request_id)
    result: BatchResult = {"idempotency_key": key, "status": 202, "notification_id": end.notification_id}
    if end.is_replay:
        result["replayed"] = True
    if end.unreachable:
        result["warnings"] = warnings(end)
    return result


def _refused(key: str | None, problem: Problem, request_id: str) -> BatchResult:
    return {"idempotency_key": key, "status": problem.status, "problem": problem.body(request_id)}


def prefer_header(*, required: bool) -> dict[str, Any]:
    return {
        "name": "Prefer",
        "in": "header",
        "required": required,
        "schema": {"type": "string", "examples": ["wait=5"]},
        "description": f"wait=N: wait up to N seconds (1 to {prefer.LONGEST_WAIT}) for the outcome",
    }


ENDPOINTS = [
    Endpoint(
        "POST /v1/intents",
        "send",
        post_intent,
        "Ask for a notification",
        success=202,
        body=Intent,
        answer=IntentAccepted,
        other_answers={307: WaitElsewhere},
        answers={
            307: "With `Prefer: wait=N`: the same request, to the path that waits",
            400: "Not JSON, or without a valid Idempotency-Key",
            403: "The key lacks the scope, or `manage` for the users that are given",
            409: "The key is in flight, an address is another user's, or the call comes out of a loop",
            429: "Rate limited",
        },
        parameters=[KEY_HEADER, prefer_header(required=False), HEADER_PARAMETER],
    ),
    Endpoint(
        "POST /v1/intents/batch",
        "send",
        post_batch,
        "Ask for up to 500 notifications in one transaction",
        body=Batch,
        answer=BatchResults,
        parameters=[HEADER_PARAMETER],
        answers={409: "A key is in flight, or the call comes out of a loop", 429: "Rate limited"},
    ),
    Endpoint(
        "POST /v1/notifications/{id}/cancel",
        "send",
        post_cancel,
        "Stop what has not been sent",
        answers={404: "No such notification", 409: "Too late"},
        answer=ShownCancelled,
    ),
]
