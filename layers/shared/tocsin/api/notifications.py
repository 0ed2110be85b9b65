"""Notifications: what became of a notification, or of an event."""

from datetime import datetime
from typing import Annotated, Any, NotRequired
from uuid import UUID

from typing_extensions import TypedDict

from tocsin.api import routes, timelines
from tocsin.api.routes import STATUSES, NotificationRoute
from tocsin.api.timelines import ShownTimelineEntry
from tocsin.api.words import (
    AUDIENCES,
    NOTIFICATION_STATUSES,
    WAYS,
    EventOutcome,
    Mode,
    NotificationStatus,
    Priority,
    Resolution,
    ThreadRef,
)
from tocsin.delivery import timeline
from tocsin.delivery.history import history, standing
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import as_uuid
from tocsin.http import filters, paging, problems
from tocsin.http.answers import PageOf, one_of
from tocsin.http.door import Call, Endpoint, Response
from tocsin.store import dead_letters, domain_events, records

STATES = NOTIFICATION_STATUSES  # its own, as `state_of` tells
EITHER = tuple(dict.fromkeys((*STATES, *STATUSES)))  # or that of one of its routes
CHANNELS = WAYS


class NotificationAudience(TypedDict):
    """Whom a notification is for."""

    kind: Annotated[str, one_of(*AUDIENCES)]
    user_ids: NotRequired[list[str]]
    scope: NotRequired[str]


class Notification(TypedDict):
    """A notification, and how far it has come. The last three are told of one alone."""

    notification_id: UUID
    type: str
    status: NotificationStatus
    route_counts: dict[str, int]
    producer: str
    mode: Mode
    audience: NotificationAudience
    template: str | None
    priority: Priority
    thread: ThreadRef | None
    occurred_at: datetime
    accepted_at: datetime
    send_at: datetime | None
    expires_at: datetime | None
    cancelled_at: datetime | None
    updated_at: datetime
    idempotency_key: NotRequired[str]
    request_id: NotRequired[str]
    trace_id: NotRequired[str]


class GivenUp(TypedDict):
    """Why a notification, or the rest of its audience, was given up."""

    id: UUID
    classification: str
    message: str
    recovery_hint: str
    resolution: Resolution | None
    created_at: datetime


class NotificationDetail(Notification):
    """A notification with all its routes, and why it went as it did."""

    dead_letter: GivenUp | None
    payload: dict[str, Any]
    routes: list[NotificationRoute]
    timeline: list[ShownTimelineEntry]


class DomainEvent(TypedDict):
    """Something that happened in a producer's domain, and what came of it."""

    notification_id: UUID
    source: str
    event_id: str
    type: str
    scope: str | None
    actor: str | None
    data: Any
    mode: Mode
    occurred_at: datetime
    recorded_at: datetime
    outcome: EventOutcome
    recipient_count: int
    thread: ThreadRef | None
    dead_letter: GivenUp | None


def list_notifications(call: Call) -> Response:
    query = call.request.query
    limit = paging.limit_of(call.request)
    wanted = {
        "type": query.get("type"),
        "producer": query.get("producer"),
        "status": filters.choice_of(call.request, "status", EITHER),
        "channel": filters.choice_of(call.request, "channel", CHANNELS),
        "recipient": f"user:{query['user_id']}" if "user_id" in query else None,
        "since": filters.moment_of(call.request, "since"),
        "until": filters.moment_of(call.request, "until"),
    }
    after = paging.cursor_of(call.request)
    with tenant_transaction(call.conn, call.tenant_id):
        rows = records.list_page(call.conn, call.tenant_id, filters=wanted, limit=limit + 1, after=after)
    return paging.page(rows, limit, shown=_shown_summary, place=lambda row: (row["accepted_at"], row["notification_id"]))


def get_notification(call: Call) -> Response:
    notification_id = as_uuid(call.request.path_parameters.get("id", ""))
    found = history(call.conn, call.tenant_id, notification_id) if notification_id else None
    if found is None:
        raise problems.not_found("notification")
    told = timeline.timeline(found.record, found.routes, found.attempts, found.events, found.letters)
    shown: NotificationDetail = {
        **_shown_record(found.record, found.counts, is_dead=found.dead is not None),
        "dead_letter": shown_letter(found.dead),
        "payload": found.record["payload_json"],
        "routes": [routes.shown(route, found.attempts) for route in found.routes],
        "timeline": [timelines.shown(entry) for entry in told],
    }
    return Response(200, shown)


def get_event(call: Call) -> Response:
    notification_id = as_uuid(call.request.path_parameters.get("id", ""))
    if notification_id is None:
        raise problems.not_found("event")
    with tenant_transaction(call.conn, call.tenant_id):
        event = domain_events.find(call.conn, call.tenant_id, notification_id)
        letters = dead_letters.list_of(call.conn, call.tenant_id, notification_id, limit=100)
    if event is None:
        raise problems.not_found("event")
    shown: DomainEvent = {
        "notification_id": event["notification_id"],
        "source": event["source"],
        "event_id": event["event_id"],
        "type": event["type"],
        "scope": event["scope"],
        "actor": event["actor"],
        "data": event["data"],
        "mode": event["mode"],
        "occurred_at": event["occurred_at"],
        "recorded_at": event["recorded_at"],
        "outcome": event["outcome"],
        "recipient_count": event["recipient_count"],
        "thread": {"kind": event["thread_kind"], "id": event["thread_id"]} if event["thread_kind"] else None,
        "dead_letter": shown_letter(standing(letters)),
    }
    return Response(200, shown)


def shown_letter(letter: dict[str, Any] | None) -> GivenUp | None:
    if letter is None:
        return None
    return {
        "id": letter["id"],
        "classification": letter["failure_classification"],
        "message": letter["failure_message"],
        "recovery_hint": letter["recovery_hint"],
        "resolution": letter["resolution"],
        "created_at": letter["created_at"],
    }


def state_of(counts: dict[str, int], *, is_dead: bool = False, is_accepted: bool = False) -> str:
    """Of a notification with so many routes of each status. `is_accepted`: it is still to be planned."""
    if is_dead:
        return "dead_letter"
    if is_accepted and not counts:
        return "accepted"
    return "in_progress" if counts.get("pending") or counts.get("failed") else "finished"


def _shown_record(record: dict[str, Any], counts: dict[str, int], *, is_dead: bool) -> Notification:
    shown: Notification = {
        "notification_id": record["notification_id"],
        "type": record["notification_type"],
        "status": state_of(counts, is_dead=is_dead, is_accepted=record["is_accepted"]),
        "route_counts": counts,
        "producer": record["producer"],
        "mode": record["mode"],
        "audience": {"kind": record["audience_kind"]},
        "template": record["template"],
        "priority": record["priority"],
        "thread": {"kind": record["thread_kind"], "id": record["thread_id"]} if record["thread_kind"] else None,
        "occurred_at": record["occurred_at"],
        "accepted_at": record["accepted_at"],
        "send_at": record["send_at"],
        "expires_at": record["expires_at"],
        "cancelled_at": record["cancelled_at"],
        "updated_at": record["updated_at"],
    }
    if record.get("recipient_user_ids"):
        shown["audience"]["user_ids"] = record["recipient_user_ids"]
    if record["scope"]:
        shown["audience"]["scope"] = record["scope"]
    if "idempotency_key" in record:
        shown["idempotency_key"], shown["request_id"] = record["idempotency_key"], record["request_id"]
        shown["trace_id"] = record["trace_id"]
    return shown


def _shown_summary(record: dict[str, Any]) -> Notification:
    return _shown_record(record, record["routes"] or {}, is_dead=record["is_dead"])


_FILTERS: list[dict[str, Any]] = [
    *filters.text("type", "producer", "user_id"),
    filters.choice(
        "status", EITHER, "Its own, as shown (accepted, in_progress, finished, dead_letter), or that of one of its routes"
    ),
    filters.choice("channel", CHANNELS, "Of one of its routes"),
    *filters.SINCE_UNTIL,
]

ENDPOINTS = [
    Endpoint(
        "GET /v1/notifications", "read", list_notifications, "List notifications, newest first",
        parameters=[*_FILTERS, *paging.PARAMETERS], answer=PageOf[Notification],
    ),
    Endpoint(
        "GET /v1/notifications/{id}", "read", get_notification, "Show a notification and why it went as it did",
        answers={404: "No such notification"}, answer=NotificationDetail,
    ),
    Endpoint(
        "GET /v1/events/{id}", "read", get_event, "Show an event and what came of it (by its notification_id)",
        answers={404: "No such event"}, answer=DomainEvent,
    ),
]  # fmt: skip
