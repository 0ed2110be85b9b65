"""The email log: what one person was sent, for whoever looks into a complaint."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from typing_extensions import TypedDict

from tocsin.api.words import ThreadRef
from tocsin.foundation.database import tenant_transaction
from tocsin.http import filters, paging, problems
from tocsin.http.answers import PageOf, one_of
from tocsin.http.door import Call, Endpoint, Response
from tocsin.store import notification_email_log, users

CHANNELS = ("email", "sms", "push")


class SentMessage(TypedDict):
    """What one person was sent."""

    user_id: str
    notification_id: UUID
    route_id: str
    generation: int
    channel: Annotated[str, one_of(*CHANNELS)]
    type: str
    sent_at: datetime
    message_id: str
    thread: ThreadRef | None


def list_email_log(call: Call) -> Response:
    query = call.request.query
    if not query.get("user_id"):
        raise problems.invalid_parameter("user_id", "is required: the log is asked for by person")
    thread_kind, colon, thread_id = query.get("thread", "").partition(":")
    if "thread" in query and not (thread_kind and colon and thread_id):
        raise problems.invalid_parameter("thread", "must be a kind and an id, such as order:A-17")
    channel = filters.choice_of(call.request, "channel", CHANNELS) or "email"
    since, limit = filters.moment_of(call.request, "since"), paging.limit_of(call.request)
    after = paging.cursor_of(call.request, int)
    with tenant_transaction(call.conn, call.tenant_id):
        user = users.find(call.conn, call.tenant_id, query["user_id"])
        if user is None:
            raise problems.not_found("user")
        rows = notification_email_log.list_page(
            call.conn,
            call.tenant_id,
            user.id,
            channel=channel,
            thread=(thread_kind, thread_id) if "thread" in query else None,
            since=since,
            limit=limit + 1,
            after=after,
        )
    return paging.page(rows, limit, shown=_shown, place=lambda row: (row["sent_at"], row["id"]))


def _shown(row: dict[str, Any]) -> SentMessage:
    return {
        "user_id": row["user_id"],
        "notification_id": row["notification_id"],
        "route_id": row["route_id"],
        "generation": row["generation"],
        "channel": row["channel"],
        "type": row["type"],
        "sent_at": row["sent_at"],
        "message_id": row["message_id"],
        "thread": {"kind": row["thread_kind"], "id": row["thread_id"]} if row["thread_kind"] else None,
    }


ENDPOINTS = [
    Endpoint(
        "GET /v1/email-log",
        "operate",
        list_email_log,
        "List what one person was sent, newest first",
        parameters=[
            {"name": "user_id", "in": "query", "required": True, "schema": {"type": "string"}},
            {"name": "thread", "in": "query", "schema": {"type": "string"}, "description": "kind:id"},
            filters.choice("channel", CHANNELS, default="email"),
            {"name": "since", "in": "query", "schema": {"type": "string", "format": "date-time"}},
            *paging.PARAMETERS,
        ],
        answers={404: "No such user"},
        answer=PageOf[SentMessage],
    ),
]
