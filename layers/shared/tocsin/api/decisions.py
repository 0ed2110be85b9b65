"""Decisions: what was decided lately, and why, over all notifications."""

from typing import Any

from tocsin.api.notifications import CHANNELS, STATUSES
from tocsin.delivery import timeline
from tocsin.delivery.decisions import FURTHEST, ToldStep, TooFarBack, Wish, decisions
from tocsin.http import filters, paging, problems
from tocsin.http.door import Call, Endpoint, Response


def list_decisions(call: Call) -> Response:
    query = call.request.query
    wish = Wish(
        type=query.get("type"),
        producer=query.get("producer"),
        channel=filters.choice_of(call.request, "channel", CHANNELS),
        recipient=f"user:{query['user_id']}" if "user_id" in query else None,
        status=filters.choice_of(call.request, "status", STATUSES),
    )
    since, limit = filters.moment_of(call.request, "since"), paging.limit_of(call.request)
    try:
        found = decisions(call.conn, call.tenant_id, wish, since=since, limit=limit)
    except TooFarBack:
        hours = FURTHEST.total_seconds() / 3600
        raise problems.invalid_parameter("since", f"may be at most {hours:.0f} hours ago") from None
    return Response(200, {"data": [_shown(one) for one in found.data], "next_since": found.next_since, "more": found.more})


def _shown(one: ToldStep) -> dict[str, Any]:
    (entry,) = timeline.shown([one.entry])
    return {
        "id": one.id,
        "notification_id": one.record["notification_id"],
        "type": one.record["notification_type"],
        "producer": one.record["producer"],
        "mode": one.record["mode"],
        "channel": one.route["channel"] if one.route else None,
        "recipient": one.route["recipient_ref"] if one.route else None,
    } | entry


_PARAMETERS: list[dict[str, Any]] = [
    {
        "name": "since",
        "in": "query",
        "schema": {"type": "string", "format": "date-time"},
        "description": "next_since of the answer before, or at most 24 hours ago; without it, the last minute",
    },
    paging.LIMIT,
    *filters.text("type", "producer", "user_id"),
    {"name": "channel", "in": "query", "schema": {"enum": list(CHANNELS)}, "description": "Of its route"},
    {"name": "status", "in": "query", "schema": {"enum": list(STATUSES)}, "description": "Of its route, as it is now"},
]

ENDPOINTS = [
    Endpoint(
        "GET /v1/decisions", "read", list_decisions, "List what was decided lately, and why, oldest first",
        parameters=_PARAMETERS,
    ),
]  # fmt: skip
