"""Search: one text, and whatever of the tenant's it may mean."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from tocsin.api.notifications import state_of
from tocsin.api.words import EventOutcome, Mode, NotificationStatus, Resolution, WayWord
from tocsin.delivery.search import Found, search
from tocsin.http import problems
from tocsin.http.door import Call, Endpoint, Response

MOST_CHARACTERS = 255
TEXT: dict[str, Any] = {
    "name": "q",
    "in": "query",
    "required": True,
    "schema": {"type": "string", "minLength": 1, "maxLength": MOST_CHARACTERS},
    "description": "An id of a notification, an event or a dead letter, an idempotency key, a provider's message id, an email"
    " address, a phone number, or (its beginning is enough) a user's id, email or username",
}


class FoundNotification(TypedDict):
    """A notification that the text means; with a route, where it is one of several."""

    kind: Literal["notification"]
    matched: str
    id: UUID
    type: str
    status: NotificationStatus
    producer: str
    mode: Mode
    accepted_at: datetime
    recipient: str | None
    route_id: NotRequired[str]
    channel: NotRequired[WayWord]


class FoundUser(TypedDict):
    """A user whom the text means."""

    kind: Literal["user"]
    matched: str
    id: str
    email: str | None
    phone: str | None
    username: str | None


class FoundDeadLetter(TypedDict):
    """A dead letter that the text means."""

    kind: Literal["dead_letter"]
    matched: str
    id: UUID
    type: str | None
    notification_id: UUID | None
    route_id: str | None
    channel: str | None
    recipient: str | None
    classification: str
    resolution: Resolution | None
    created_at: datetime


class FoundEvent(TypedDict):
    """A domain event that the text means."""

    kind: Literal["event"]
    matched: str
    id: UUID
    type: str
    source: str
    event_id: str
    outcome: EventOutcome
    mode: Mode
    recorded_at: datetime


SearchHit = Annotated[FoundNotification | FoundUser | FoundDeadLetter | FoundEvent, Field(discriminator="kind")]


class SearchResult(TypedDict):
    """What a text may mean, the surest first."""

    q: str
    data: list[SearchHit]


def get_search(call: Call) -> Response:
    """Users are in it for keys that have `manage` too, dead letters for those that have `operate`."""
    text = call.request.query.get("q", "").strip()
    if not 1 <= len(text) <= MOST_CHARACTERS:
        raise problems.invalid_parameter("q", f"must have 1 to {MOST_CHARACTERS} characters")
    scopes = call.principal.scopes
    found = search(call.conn, call.tenant_id, text, sees_people="manage" in scopes, sees_letters="operate" in scopes)
    result: SearchResult = {"q": text, "data": [_SHOWN[one.kind](one) for one in found]}
    return Response(200, result)


def _shown_notification(one: Found) -> FoundNotification:
    row, more = one.row, one.more
    shown: FoundNotification = {
        "kind": "notification",
        "matched": one.matched,
        "id": row["notification_id"],
        "type": row["notification_type"],
        "status": state_of(row["routes"] or {}, is_dead=row["is_dead"], is_accepted=row["is_accepted"]),
        "producer": row["producer"],
        "mode": row["mode"],
        "accepted_at": row["accepted_at"],
        "recipient": more.get("recipient", row["only_recipient"]),
    }
    if "route_id" in more:
        shown["route_id"], shown["channel"] = more["route_id"], more["channel"]
    return shown


def _shown_user(one: Found) -> FoundUser:
    return {
        "kind": "user",
        "matched": one.matched,
        "id": str(one.id),
        "email": one.row.email,
        "phone": one.row.phone,
        "username": one.row.username,
    }


def _shown_letter(one: Found) -> FoundDeadLetter:
    row = one.row
    return {
        "kind": "dead_letter",
        "matched": one.matched,
        "id": row["id"],
        "type": row["notification_type"] or None,
        "notification_id": row["notification_id"],
        "route_id": row["route_id"],
        "channel": row["channel"] or None,
        "recipient": row["recipient_ref"] or None,
        "classification": row["failure_classification"],
        "resolution": row["resolution"],
        "created_at": row["created_at"],
    }


def _shown_event(one: Found) -> FoundEvent:
    row = one.row
    return {
        "kind": "event",
        "matched": one.matched,
        "id": row["notification_id"],
        "type": row["type"],
        "source": row["source"],
        "event_id": row["event_id"],
        "outcome": row["outcome"],
        "mode": row["mode"],
        "recorded_at": row["recorded_at"],
    }


_SHOWN: dict[str, Callable[[Found], FoundNotification | FoundUser | FoundDeadLetter | FoundEvent]] = {
    "notification": _shown_notification,
    "user": _shown_user,
    "dead_letter": _shown_letter,
    "event": _shown_event,
}

ENDPOINTS = [
    Endpoint(
        "GET /v1/search",
        "read",
        get_search,
        "Find what an id, a key, an address or a name means",
        parameters=[TEXT],
        answer=SearchResult,
    ),
]
