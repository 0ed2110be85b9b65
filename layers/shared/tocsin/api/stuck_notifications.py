"""Stuck notifications: what has waited for long, and for what."""

from datetime import datetime, timedelta
from uuid import UUID

from typing_extensions import TypedDict

from tocsin.foundation.database import tenant_transaction
from tocsin.http import paging, problems
from tocsin.http.answers import PageOf
from tocsin.http.door import Call, Endpoint, Request, Response
from tocsin.store import outbox

DEFAULT_AGE = 3_600  # seconds
HIGHEST_AGE = 31_622_400  # a year


class StuckNotification(TypedDict):
    """Work that has not ended for long, and why as far as is known. A plan has no route yet."""

    kind: str
    notification_id: UUID
    route_id: str | None
    channel: str | None
    recipient: str | None
    status: str
    reason: str
    attempt_count: int
    waits_for: str | None
    waiting_since: datetime
    next_attempt_at: datetime


def list_stuck_notifications(call: Call) -> Response:
    older_than = _older_than(call.request)
    limit, after = paging.limit_of(call.request), paging.cursor_of(call.request)
    with tenant_transaction(call.conn, call.tenant_id):
        rows = outbox.find_stuck(call.conn, call.tenant_id, older_than=older_than, limit=limit + 1, after=after)
    return paging.page(rows, limit, shown=_shown, place=lambda row: (row.waiting_since, row.id))


def _shown(row: outbox.Stuck) -> StuckNotification:
    return {
        "kind": row.kind,
        "notification_id": row.notification_id,
        "route_id": row.route_id,
        "channel": row.channel,
        "recipient": row.recipient,
        "status": row.status,
        "reason": row.reason,
        "attempt_count": row.attempt_count,
        "waits_for": row.waits_for,
        "waiting_since": row.waiting_since,
        "next_attempt_at": row.next_attempt_at,
    }


def _older_than(request: Request) -> timedelta:
    text = request.query.get("older_than", str(DEFAULT_AGE))
    if not text.isascii() or not text.isdigit() or len(text) > 8 or int(text) > HIGHEST_AGE:
        raise problems.invalid_parameter("older_than", f"must be a number of seconds from 0 to {HIGHEST_AGE}")
    return timedelta(seconds=int(text))


ENDPOINTS = [
    Endpoint(
        "GET /v1/stuck-notifications",
        "operate",
        list_stuck_notifications,
        "List what has not ended for an hour or longer, the oldest first",
        parameters=[
            {
                "name": "older_than",
                "in": "query",
                "schema": {"type": "integer", "minimum": 0, "maximum": HIGHEST_AGE, "default": DEFAULT_AGE},
                "description": "seconds",
            },
            *paging.PARAMETERS,
        ],
        answer=PageOf[StuckNotification],
    ),
]
