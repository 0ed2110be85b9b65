"""System events: what whoever operates the service should know of, and what was done about it."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from tocsin.foundation.database import NotYours
from tocsin.foundation.fields import Closed, ExternalId, Matching, Reason
from tocsin.http import filters, paging, problems
from tocsin.http.answers import PageOf, one_of
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem
from tocsin.store import admin_system_events
from tocsin.store.admin_system_events import MAX_DETAILS, SEVERITIES, SystemEventFilters
from tocsin.upkeep import system_events
from tocsin.upkeep.system_events import MOST_OPEN, NewEvent, StillOpen, TooManyDetails, TooManyOpen, UnknownPerson


class SystemEventBody(Closed):
    """`subject` says what it is about, so that one event is open for one condition; `user_id` whom it concerns."""

    event_type: Annotated[str, Matching(r"[a-z][a-z0-9_.]{0,99}", "1 to 100 of a-z, 0-9, _ and ., beginning with a letter")]
    severity: Literal["low", "medium", "high", "critical"]
    description: Annotated[str, Field(min_length=1, max_length=2000)]
    subject: Annotated[str, Matching(r"[A-Za-z0-9_.:/-]{0,200}", "up to 200 letters, digits and any of _ . : / -")] = ""
    details: dict[str, Any] | None = None
    user_id: ExternalId | None = None


class ResolveBody(Closed):
    reason: Reason


class ShownSystemEvent(TypedDict):
    """What whoever operates the service should know of. `is_shared`: it is the installation's."""

    id: str
    event_type: str
    severity: Annotated[str, one_of(*SEVERITIES)]
    subject: str
    description: str
    details: dict[str, Any] | None
    user_id: str | None
    is_shared: bool
    created_by: UUID | None
    created_at: datetime
    is_resolved: bool
    resolved_at: datetime | None
    resolved_by: UUID | None
    resolution_reason: str


def list_system_events(call: Call) -> Response:
    request = call.request
    wanted = SystemEventFilters(
        severity=filters.choice_of(request, "severity", SEVERITIES),
        event_type=request.query.get("event_type"),
        is_resolved=filters.flag_of(request, "is_resolved"),
        since=filters.moment_of(request, "since"),
        until=filters.moment_of(request, "until"),
    )
    limit, after = paging.limit_of(request), paging.cursor_of(request, row_number)
    rows = system_events.list_page(call.conn, call.tenant_id, wanted, limit=limit + 1, after=after)
    return paging.page(rows, limit, shown=_shown, place=lambda row: (row.created_at, row.id))


def get_system_event(call: Call) -> Response:
    event = system_events.find(call.conn, call.tenant_id, _event_id(call))
    if event is None:
        raise problems.not_found("system event")
    return Response(200, _shown(event))


def post_system_event(call: Call) -> Response:
    body: SystemEventBody = call.request.parsed(SystemEventBody)
    new = NewEvent(body.event_type, body.severity, body.subject, body.description, body.details, body.user_id)
    try:
        made = system_events.make(call.conn, call.actor, new, created_by=call.principal.key_id)
    except UnknownPerson:
        raise problems.invalid_field("/user_id", "is not known") from None
    except TooManyDetails:
        raise problems.invalid_field("/details", f"has more than {MAX_DETAILS} bytes") from None
    except StillOpen:
        raise Problem(
            409, "system-event-open", "Such an event is open", "One of this type and subject is not resolved yet."
        ) from None
    except TooManyOpen:
        raise Problem(
            409, "too-many-open", "Too many events are open", f"{MOST_OPEN} are not resolved yet: resolve some first."
        ) from None
    return Response(201, _shown(made))


def resolve_system_event(call: Call) -> Response:
    body: ResolveBody = call.request.parsed(ResolveBody)
    try:
        event = system_events.resolve(
            call.conn, call.actor, _event_id(call), resolved_by=call.principal.key_id, reason=body.reason
        )
    except NotYours:
        raise of_the_installation("This event") from None
    if event is None:
        raise problems.not_found("system event")
    return Response(200, _shown(event))


def of_the_installation(what: str) -> Problem:
    detail = f"{what} belongs to the whole installation: a key of its first tenant can do this."
    return Problem(403, "of-the-installation", "It belongs to the installation", detail)


def row_number(text: str) -> int:
    """A bigint as it stands in a URL or a cursor; ValueError for what is none."""
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise ValueError("no number of a row")
    return int(text)


def _event_id(call: Call) -> int:
    try:
        return row_number(call.request.path_parameters.get("id", ""))
    except ValueError:
        raise problems.not_found("system event") from None


def _shown(event: admin_system_events.SystemEvent) -> ShownSystemEvent:
    return {
        "id": str(event.id),  # text, as all ids are
        "event_type": event.event_type,
        "severity": event.severity,
        "subject": event.subject,
        "description": event.description,
        "details": event.details,
        "user_id": event.user_id,
        "is_shared": event.is_shared,
        "created_by": event.created_by,
        "created_at": event.created_at,
        "is_resolved": event.is_resolved,
        "resolved_at": event.resolved_at,
        "resolved_by": event.resolved_by,
        "resolution_reason": event.resolution_reason,
    }


_FILTERS: list[dict[str, Any]] = [
    filters.choice("severity", SEVERITIES),
    *filters.text("event_type"),
    filters.flag("is_resolved"),
    *filters.SINCE_UNTIL,
]
_UNKNOWN = {404: "No such system event"}

ENDPOINTS = [
    Endpoint(
        "GET /v1/system-events",
        "operate",
        list_system_events,
        "List system events, the tenant's own and the installation's, newest first",
        parameters=[*_FILTERS, *paging.PARAMETERS],
        answer=PageOf[ShownSystemEvent],
    ),
    Endpoint(
        "GET /v1/system-events/{id}",
        "operate",
        get_system_event,
        "Show a system event",
        answers=_UNKNOWN,
        answer=ShownSystemEvent,
    ),
    Endpoint(
        "POST /v1/system-events",
        "operate",
        post_system_event,
        "Make a system event, which is open until it is resolved",
        success=201,
        body=SystemEventBody,
        answer=ShownSystemEvent,
        answers={409: "One of this type and subject is open, or too many are"},
    ),
    Endpoint(
        "POST /v1/system-events/{id}/resolve",
        "operate",
        resolve_system_event,
        "Resolve a system event, with a reason",
        body=ResolveBody,
        answer=ShownSystemEvent,
        answers=_UNKNOWN | {403: "The key lacks the scope, or the event is the installation's"},
    ),
]
