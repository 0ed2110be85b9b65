"""Search: one text, and whatever of the tenant's it may mean."""

from typing import Any

from tocsin.api.notifications import state_of
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


def get_search(call: Call) -> Response:
    """Users are in it for keys that have `manage` too, dead letters for those that have `operate`."""
    text = call.request.query.get("q", "").strip()
    if not 1 <= len(text) <= MOST_CHARACTERS:
        raise problems.invalid_parameter("q", f"must have 1 to {MOST_CHARACTERS} characters")
    scopes = call.principal.scopes
    found = search(call.conn, call.tenant_id, text, sees_people="manage" in scopes, sees_letters="operate" in scopes)
    return Response(200, {"q": text, "data": [_shown(one) for one in found]})


def _shown(one: Found) -> dict[str, Any]:
    return {"kind": one.kind, "matched": one.matched, "id": one.id} | _SHOWN[one.kind](one)


def _shown_notification(one: Found) -> dict[str, Any]:
    row = one.row
    return {
        "type": row["notification_type"],
        "status": state_of(row["routes"] or {}, is_dead=row["is_dead"], is_accepted=row["is_accepted"]),
        "producer": row["producer"],
        "mode": row["mode"],
        "accepted_at": row["accepted_at"],
        "recipient": row["only_recipient"],
    } | one.more


def _shown_user(one: Found) -> dict[str, Any]:
    return {"email": one.row.email, "phone": one.row.phone, "username": one.row.username}


def _shown_letter(one: Found) -> dict[str, Any]:
    row = one.row
    return {
        "type": row["notification_type"] or None,
        "notification_id": row["notification_id"],
        "route_id": row["route_id"],
        "channel": row["channel"] or None,
        "recipient": row["recipient_ref"] or None,
        "classification": row["failure_classification"],
        "resolution": row["resolution"],
        "created_at": row["created_at"],
    }


def _shown_event(one: Found) -> dict[str, Any]:
    return {name: one.row[name] for name in ("type", "source", "event_id", "outcome", "mode", "recorded_at")}


_SHOWN = {"notification": _shown_notification, "user": _shown_user, "dead_letter": _shown_letter, "event": _shown_event}

ENDPOINTS = [
    Endpoint("GET /v1/search", "read", get_search, "Find what an id, a key, an address or a name means", parameters=[TEXT]),
]
