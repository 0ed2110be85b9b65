"""Decisions: what was decided lately, and why, over all notifications."""

from datetime import datetime
from typing import Any
from uuid import UUID

from typing_extensions import TypedDict

from tocsin.api import timelines
from tocsin.api.notifications import CHANNELS
from tocsin.api.routes import STATUSES
from tocsin.api.timelines import ShownTimelineEntry
from tocsin.api.words import Mode, WayWord
from tocsin.delivery.decisions import FURTHEST, ToldStep, TooFarBack, Wish, decisions
from tocsin.http import filters, paging, problems
from tocsin.http.door import Call, Endpoint, Response


class ShownDecision(ShownTimelineEntry):
    """Something that was decided about a notification, or happened to it."""

    id: str
    notification_id: UUID
    type: str
    producer: str
    mode: Mode
    channel: WayWord | None
    recipient: str | None


class ShownDecisions(TypedDict):
    """What was decided lately, oldest first. Ask on with `next_since`; `more`: at once."""

    data: list[ShownDecision]
    next_since: datetime
    more: bool


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
    data = [_shown(one) for one in found.data]
    shown: ShownDecisions = {"data": data, "next_since": found.next_since, "more": found.more}
    return Response(200, shown)


def _shown(one: ToldStep) -> ShownDecision:
    return {
        "id": one.id,
        "notification_id": one.record["notification_id"],
        "type": one.record["notification_type"],
        "producer": one.record["producer"],
        "mode": one.record["mode"],
        "channel": one.route["channel"] if one.route else None,
        "recipient": one.route["recipient_ref"] if one.route else None,
        **timelines.shown(one.entry),
    }


_PARAMETERS: list[dict[str, Any]] = [
    {
        "name": "since",
        "in": "query",
        "schema": {"type": "string", "format": "date-time"},
        "description": "next_since of the answer before, or at most 24 hours ago; without it, the last minute",
    },
    paging.LIMIT,
    *filters.text("type", "producer", "user_id"),
    filters.choice("channel", CHANNELS, "Of its route"),
    filters.choice("status", STATUSES, "Of its route, as it is now"),
]

ENDPOINTS = [
    Endpoint(
        "GET /v1/decisions", "read", list_decisions, "List what was decided lately, and why, oldest first",
        parameters=_PARAMETERS, answer=ShownDecisions,
    ),
]  # fmt: skip
