"""Events: domain events as CloudEvents, one or many, and what became of them."""

from datetime import datetime
from typing import Any, Literal, NotRequired
from uuid import UUID

from typing_extensions import TypedDict

from tocsin.access.rate_limits import Allowance
from tocsin.api.depth import HEADER_PARAMETER, depth_of
from tocsin.foundation.ids import uuid7
from tocsin.foundation.settings import settings
from tocsin.http import door, problems, rate_limits
from tocsin.http.answers import ShownProblem
from tocsin.http.door import Call, Endpoint, Request, Response
from tocsin.http.problems import Problem
from tocsin.intake import admission, cloud_events
from tocsin.intake.accept_events import Recorded, Told, record_events
from tocsin.intake.cloud_events import BATCHED, MAX_BATCH, MAX_DATA, STRUCTURED, CloudEvent

_LIMIT = "events"


class EventReceipt(TypedDict):
    """The event is recorded; who cares is found out. `duplicate`: it was before. Not `routed`: nobody will be told."""

    source: str
    event_id: str
    notification_id: UUID
    status: Literal["accepted", "duplicate"]
    recorded_at: datetime
    routed: bool


class EventResult(TypedDict):
    """What became of one event of a batch: its receipt, or its problem."""

    status: int
    outcome: NotRequired[EventReceipt]
    problem: NotRequired[ShownProblem]


class EventResults(TypedDict):
    """One result for each event, in their order."""

    results: list[EventResult]


def post_events(call: Call) -> Response:
    if call.request.media_type == BATCHED:
        return _post_batch(call)
    told = read_event(_single(call), uuid7(), depth_of(call))
    (recorded,), allowance = _record(call, [told])
    return Response(202, _receipt(told, recorded), rate_limits.headers_of(allowance, _LIMIT))


def _post_batch(call: Call) -> Response:
    items = call.request.json(BATCHED)
    if not isinstance(items, list) or not 1 <= len(items) <= MAX_BATCH:
        raise problems.invalid_field("", f"must be a list of 1 to {MAX_BATCH} events")
    ids = sorted(uuid7() for _ in items)  # in the order of the events, so that what comes of them keeps it
    depth = depth_of(call)
    read = [_try_told(item, notification_id, depth) for item, notification_id in zip(items, ids, strict=True)]
    told = [one for one in read if isinstance(one, Told)]
    headers: dict[str, str] = {}
    ends: list[Recorded] = []
    if told:
        ends, allowance = _record(call, told)
        headers = rate_limits.headers_of(allowance, _LIMIT)
    rest = iter(ends)
    results: list[EventResult] = [
        {"status": 202, "outcome": _receipt(one, next(rest))}
        if isinstance(one, Told)
        else {"status": one.status, "problem": one.body(call.request.request_id)}
        for one in read
    ]
    shown: EventResults = {"results": results}
    return Response(200, shown, headers)


def _single(call: Call) -> Any:
    """One event: whole as JSON, or its attributes in headers and its data as the body."""
    request = call.request
    if request.media_type == STRUCTURED:
        return request.json(STRUCTURED)
    if cloud_events.is_binary(request.headers):
        data = _data(request)
        try:
            return cloud_events.from_headers(request.headers, data)
        except ValueError as error:
            raise problems.invalid(str(error)) from None
    raise Problem(
        415,
        "unsupported-media-type",
        "The body is not a CloudEvent",
        f"Send `{STRUCTURED}`, `{BATCHED}`, or JSON data with the attributes in `ce-` headers.",
    )


def _data(request: Request) -> Any:
    """The body in binary mode: JSON also if nothing says so, and there may be none."""
    is_said = request.media_type and not request.media_type.endswith("+json")
    return request.json("application/json" if is_said else request.media_type) if request.body else None


def read_event(value: Any, notification_id: UUID, depth: int) -> Told:
    if cloud_events.data_is_too_large(value):
        raise problems.invalid_field("/data", f"has more than {MAX_DATA} bytes")
    event: CloudEvent = door.parse(CloudEvent, value)
    return Told(event, value.get("data") or {}, notification_id, depth)


def _try_told(value: Any, notification_id: UUID, depth: int) -> Told | Problem:
    try:
        return read_event(value, notification_id, depth)
    except Problem as problem:
        return problem


def _record(call: Call, told: list[Told]) -> tuple[list[Recorded], Allowance]:
    sender, request = admission.sender_of(call.principal, usual_limit=settings().rate_limit_per_minute), call.request
    try:
        with admission.admitted(sender, _LIMIT, len(told)):
            return record_events(call.conn, told, sender=sender, request_id=request.request_id, trace_id=request.trace_id)
    except admission.KeyInFlight:
        raise Problem(
            409,
            "event-in-flight",
            "The same event is being recorded",
            "Send it again in a second.",
            headers={"Retry-After": "1"},
        ) from None
    except admission.RateExceeded:
        raise rate_limits.too_many(sender.rate_limit, _LIMIT) from None


def _receipt(told: Told, recorded: Recorded) -> EventReceipt:
    return {
        "source": told.event.source,
        "event_id": told.event.id,
        "notification_id": recorded.notification_id,
        "status": "duplicate" if recorded.is_duplicate else "accepted",
        "recorded_at": recorded.recorded_at,
        "routed": recorded.is_routed,
    }


ENDPOINTS = [
    Endpoint(
        "POST /v1/events",
        "send",
        post_events,
        "Tell what happened (CloudEvents 1.0: structured, batched or binary); who cares is found out",
        success=202,
        body=CloudEvent,
        answer=EventReceipt,
        other_answers={200: EventResults},
        media_type=STRUCTURED,
        batch_media_type=BATCHED,
        parameters=[HEADER_PARAMETER],
        answers={
            200: "A batch: one result for each event",
            409: "The same event is in flight, or the call comes out of a loop",
            415: "Not a CloudEvent",
            429: "Rate limited",
        },
    ),
]
