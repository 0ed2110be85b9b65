"""Notifications: what became of a notification, or of an event."""

from typing import Any

from tocsin.delivery import timeline as timelines
from tocsin.delivery.history import history, standing
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import as_uuid
from tocsin.http import filters, paging, problems
from tocsin.http.door import Call, Endpoint, Response
from tocsin.store import dead_letters, domain_events, records

STATES = ("accepted", "in_progress", "finished", "dead_letter")  # a notification's own, as `state_of` tells
STATUSES = ("pending", "failed", "published", "dead_letter", "skipped", "cancelled")  # a route's
EITHER = tuple(dict.fromkeys((*STATES, *STATUSES)))
CHANNELS = ("email", "sms", "push", "in_app", "webhook")


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
    return Response(
        200,
        _shown_record(found.record, found.counts, is_dead=found.dead is not None)
        | {
            "dead_letter": shown_letter(found.dead),
            "payload": found.record["payload_json"],
            "routes": [shown_route(route, found.attempts) for route in found.routes],
            "timeline": timelines.shown(
                timelines.timeline(found.record, found.routes, found.attempts, found.events, found.letters)
            ),
        },
    )


def get_event(call: Call) -> Response:
    notification_id = as_uuid(call.request.path_parameters.get("id", ""))
    if notification_id is None:
        raise problems.not_found("event")
    with tenant_transaction(call.conn, call.tenant_id):
        event = domain_events.find(call.conn, call.tenant_id, notification_id)
        letters = dead_letters.list_of(call.conn, call.tenant_id, notification_id, limit=100)
    if event is None:
        raise problems.not_found("event")
    thread = {"kind": event["thread_kind"], "id": event["thread_id"]} if event["thread_kind"] else None
    shown = {name: value for name, value in event.items() if not name.startswith("thread_")}
    return Response(200, shown | {"thread": thread, "dead_letter": shown_letter(standing(letters))})


def shown_letter(letter: dict[str, Any] | None) -> dict[str, Any] | None:
    """Why a notification, or the rest of its audience, was given up."""
    names = ("id", "failure_classification", "failure_message", "recovery_hint", "resolution", "created_at")
    return {name.removeprefix("failure_"): letter[name] for name in names} if letter else None


def state_of(counts: dict[str, int], *, is_dead: bool = False, is_accepted: bool = False) -> str:
    """Of a notification with so many routes of each status. `is_accepted`: it is still to be planned."""
    if is_dead:
        return "dead_letter"
    if is_accepted and not counts:
        return "accepted"
    return "in_progress" if counts.get("pending") or counts.get("failed") else "finished"


def _shown_record(record: dict[str, Any], counts: dict[str, int], *, is_dead: bool) -> dict[str, Any]:
    return {
        "notification_id": record["notification_id"],
        "type": record["notification_type"],
        "status": state_of(counts, is_dead=is_dead, is_accepted=record["is_accepted"]),
        "route_counts": counts,
        "producer": record["producer"],
        "mode": record["mode"],
        "audience": {"kind": record["audience_kind"]}
        | ({"user_ids": record["recipient_user_ids"]} if record.get("recipient_user_ids") else {})
        | ({"scope": record["scope"]} if record["scope"] else {}),
        "template": record["template"],
        "priority": record["priority"],
        "thread": {"kind": record["thread_kind"], "id": record["thread_id"]} if record["thread_kind"] else None,
        "occurred_at": record["occurred_at"],
        "accepted_at": record["accepted_at"],
        "send_at": record["send_at"],
        "expires_at": record["expires_at"],
        "cancelled_at": record["cancelled_at"],
        "updated_at": record["updated_at"],
    } | {name: record[name] for name in ("idempotency_key", "request_id", "trace_id") if name in record}


def _shown_summary(record: dict[str, Any]) -> dict[str, Any]:
    return _shown_record(record, record["routes"] or {}, is_dead=record["is_dead"])


def shown_route(route: dict[str, Any], its_attempts: list[dict[str, Any]]) -> dict[str, Any]:
    shown = {
        name: route[name]
        for name in (
            "route_id", "channel", "status", "reason", "audience_reason", "attempt_count", "max_attempts", "generation",
            "provider", "provider_message_id", "provider_response", "feedback", "feedback_at", "duplicate_suspected",
            "may_have_arrived",
            "next_attempt_at", "created_at", "updated_at", "published_at", "dead_lettered_at", "skipped_at", "cancelled_at",
        )
    }  # fmt: skip
    return shown | {
        "recipient": route["recipient_ref"],
        "template": {"id": route["template_id"], "name": route["template_name"], "version": route["template_version"]}
        if route["template_id"]
        else None,
        "answer_unknown": bool(route["attempt_open"]),
        "last_error": {
            "classification": route["last_error_classification"],
            "message": route["last_error_message"],
            "at": route["last_error_at"],
        }
        if route["last_error_at"]
        else None,
        "dead_letter": {
            "id": route["dead_letter_id"],
            "recovery_hint": route["recovery_hint"],
            "resolution": route["resolution"],
        }
        if route["dead_letter_id"]
        else None,
        "attempts": [
            {name: value for name, value in attempt.items() if name != "route_id"}
            for attempt in its_attempts
            if attempt["route_id"] == route["route_id"]
        ],
    }


_FILTERS: list[dict[str, Any]] = [
    *filters.text("type", "producer", "user_id"),
    {
        "name": "status",
        "in": "query",
        "schema": {"enum": list(EITHER)},
        "description": "Its own, as shown (accepted, in_progress, finished, dead_letter), or that of one of its routes",
    },
    {"name": "channel", "in": "query", "schema": {"enum": list(CHANNELS)}, "description": "Of one of its routes"},
    *filters.SINCE_UNTIL,
]

ENDPOINTS = [
    Endpoint(
        "GET /v1/notifications", "read", list_notifications, "List notifications, newest first",
        parameters=[*_FILTERS, *paging.PARAMETERS],
    ),
    Endpoint(
        "GET /v1/notifications/{id}", "read", get_notification, "Show a notification and why it went as it did",
        answers={404: "No such notification"},
    ),
    Endpoint(
        "GET /v1/events/{id}", "read", get_event, "Show an event and what came of it (by its notification_id)",
        answers={404: "No such event"},
    ),
]  # fmt: skip
