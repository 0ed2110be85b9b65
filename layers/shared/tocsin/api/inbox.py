"""The inbox: what a person sees, and what they do with it."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
from pydantic import StrictBool, model_validator

from tocsin import http, paging, problems
from tocsin.database import tenant_round_trip, tenant_transaction
from tocsin.http import Endpoint, Response, Visit
from tocsin.ids import as_uuid
from tocsin.intents import Closed, Moment
from tocsin.store import notifications
from tocsin.store.notifications import COUNT_CAP, Change, View

VIEWS = ("all", "unread", "read", "done", "saved", "snoozed")
FARTHEST_SNOOZE = timedelta(days=365)
LONGEST_WAIT = 20
LOOK_EVERY = 0.4  # seconds between two looks at the inbox while a browser waits
WATCHED_ROWS = 20  # changes further down do not wake anybody
READ_BATCH = 1_000
MOST_READ = 10_000  # rows that one read-all marks; it says when there is more


class RowChange(Closed):
    read: StrictBool | None = None
    done: StrictBool | None = None
    saved: StrictBool | None = None
    snoozed_until: Moment | None = None

    @model_validator(mode="after")
    def _says_something(self) -> "RowChange":
        if not self.model_fields_set:
            raise ValueError("says nothing: name at least one of read, done, saved, snoozed_until")
        return self


class ReadAll(Closed):
    before: Moment | None = None


def list_inbox(visit: Visit) -> Response:
    limit = paging.limit_of(visit.request)
    view, after = _view(visit), paging.cursor_of(visit.request)
    with tenant_round_trip(visit.conn, visit.tenant_id):
        cursor = notifications.list_page(visit.conn, visit.tenant_id, visit.user_id, view, limit=limit + 1, after=after)
    page = paging.page(cursor.fetchall(), limit, shown=_shown, place=lambda row: (row["shown_at"], row["id"]))
    return http.conditional(visit.request, page)


def unread_count(visit: Visit) -> Response:
    with tenant_round_trip(visit.conn, visit.tenant_id):
        cursor = notifications.count_unread(visit.conn, visit.tenant_id, visit.user_id)
    return http.conditional(visit.request, Response(200, _badge(cursor.fetchone())))


def wait_for_news(visit: Visit) -> Response:
    """Answer when the inbox is not what the caller knows, or when the wait is over. Between two looks no transaction is open."""
    give_up_at = time.monotonic() + _wait(visit)
    answer = _news(visit)
    while answer.status == 304 and time.monotonic() + LOOK_EVERY <= give_up_at:
        time.sleep(LOOK_EVERY)
        try:
            answer = _news(visit)
        except psycopg.OperationalError:
            return answer  # as far as we know, nothing new; to begin again on another connection would be to wait twice
    return answer


def patch_row(visit: Visit) -> Response:
    row_id = _row_id(visit)
    body: RowChange = visit.request.parsed(RowChange)
    if body.snoozed_until is not None and not datetime.now(UTC) < body.snoozed_until <= datetime.now(UTC) + FARTHEST_SNOOZE:
        raise problems.invalid_field("/snoozed_until", "must be in the future, within 365 days")
    change = Change(body.read, body.done, body.saved, False, "snoozed_until" in body.model_fields_set, body.snoozed_until)
    with tenant_transaction(visit.conn, visit.tenant_id):
        _change(visit, row_id, change)
        row = notifications.find(visit.conn, visit.tenant_id, visit.user_id, row_id)
    if row is None:
        raise problems.not_found("notification")
    return Response(200, _shown(row))


def hide_row(visit: Visit) -> Response:
    with tenant_transaction(visit.conn, visit.tenant_id):
        _change(visit, _row_id(visit), Change(hide=True))
    return Response(204)


def read_all(visit: Visit) -> Response:
    body: ReadAll = visit.request.parsed(ReadAll) if visit.request.body else ReadAll()
    marked = 0
    for mark in (notifications.read_own, notifications.read_shared):
        while marked < MOST_READ:
            with tenant_transaction(visit.conn, visit.tenant_id):
                count = mark(visit.conn, visit.tenant_id, visit.user_id, before=body.before, limit=READ_BATCH)
            marked += count
            if count < READ_BATCH:
                break
    return Response(200, {"marked": marked, "more": marked >= MOST_READ})


def _news(visit: Visit) -> Response:
    with tenant_round_trip(visit.conn, visit.tenant_id):
        count = notifications.count_unread(visit.conn, visit.tenant_id, visit.user_id)
        rows = notifications.list_page(visit.conn, visit.tenant_id, visit.user_id, View(), limit=WATCHED_ROWS, after=None)
    seen = [[row["id"], row["unread"], row["shown_at"], row["saved_at"]] for row in rows]
    badge = _badge(count.fetchone())
    answer = http.conditional(visit.request, Response(200, [badge, seen]))
    return Response(answer.status, badge if answer.status == 200 else None, answer.headers)


def _change(visit: Visit, row_id: UUID, change: Change) -> None:
    person = (visit.conn, visit.tenant_id, visit.user_id, row_id)
    if not notifications.change_own(*person, change) and not notifications.change_shared(*person, change):
        raise problems.not_found("notification")


def _view(visit: Visit) -> View:
    query = visit.request.query
    name = query.get("status", "all")
    if name not in VIEWS:
        raise problems.invalid_parameter("status", f"must be one of {', '.join(VIEWS)}")
    thread_kind, colon, thread_id = query.get("thread", "").partition(":")
    if "thread" in query and not (thread_kind and colon and thread_id):
        raise problems.invalid_parameter("thread", "must be a kind and an id, such as order:A-17")
    return View(name, query.get("kind") or None, thread_kind or None, thread_id or None)


def _wait(visit: Visit) -> int:
    text = visit.request.query.get("wait", str(LONGEST_WAIT))
    if not text.isascii() or not text.isdigit() or len(text) > 2 or int(text) > LONGEST_WAIT:
        raise problems.invalid_parameter("wait", f"must be a number of seconds from 0 to {LONGEST_WAIT}")
    return int(text) if "if-none-match" in visit.request.headers else 0


def _row_id(visit: Visit) -> UUID:
    row_id = as_uuid(visit.request.path_parameters.get("id", ""))
    if row_id is None:
        raise problems.not_found("notification")
    return row_id


def _badge(row: tuple[int] | None) -> dict[str, Any]:
    unread = row[0] if row else 0
    return {"unread": unread, "capped": unread >= COUNT_CAP}


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    names = (
        "id", "kind", "reason", "scope", "title", "message", "summary", "event_count", "unread", "read_at", "last_event_at",
        "last_actor", "created_at", "done_at", "saved_at", "snoozed_until", "for_everyone",
    )  # fmt: skip
    thread = {"kind": row["thread_kind"], "id": row["thread_id"]} if row["thread_kind"] else None
    return {name: row[name] for name in names} | {"thread": thread}


_USER: dict[str, Any] = {
    "name": "user_id",
    "in": "query",
    "schema": {"type": "string"},
    "description": "Whose inbox, for a server key; a user token says it itself",
}
_KNOWN: dict[str, Any] = {"name": "If-None-Match", "in": "header", "schema": {"type": "string"}}
_VIEW: list[dict[str, Any]] = [
    {"name": "status", "in": "query", "schema": {"enum": list(VIEWS), "default": "all"}},
    {"name": "kind", "in": "query", "schema": {"type": "string"}},
    {"name": "thread", "in": "query", "schema": {"type": "string"}, "description": "kind:id"},
]


def personal(route: str, run: Any, summary: str, **details: Any) -> Endpoint:
    """An endpoint of one person: with their token, or with a key that names them."""
    parameters = [_USER, *details.pop("parameters", [])]
    answers = {404: "No such user"} | details.pop("answers", {})
    return Endpoint(route, "inbox", run, summary, parameters=parameters, answers=answers, is_personal=True, **details)


ENDPOINTS = [
    personal(
        "GET /v1/inbox", list_inbox, "List an inbox, latest first",
        parameters=[*_VIEW, _KNOWN, *paging.PARAMETERS], answers={304: "Nothing changed"},
    ),
    personal(
        "GET /v1/inbox/unread-count", unread_count, "Count what is unread (up to 1000)",
        parameters=[_KNOWN], answers={304: "Nothing changed"},
    ),
    personal(
        "PATCH /v1/inbox/{id}", patch_row, "Mark as read, done or saved, or put off", body=RowChange,
        answers={404: "No such notification"},
    ),
    personal("DELETE /v1/inbox/{id}", hide_row, "Hide", success=204, answers={404: "No such notification"}),
    personal(
        "POST /v1/inbox/read-all", read_all, "Mark everything as read, up to a time", body=ReadAll, body_is_optional=True,
    ),
]  # fmt: skip

LIVE_ENDPOINTS = [
    personal(
        "GET /v1/inbox/live", wait_for_news, "Wait until the inbox changes, up to 20 seconds",
        parameters=[
            _KNOWN,
            {"name": "wait", "in": "query", "schema": {"type": "integer", "minimum": 0, "maximum": LONGEST_WAIT}},
        ],
        answers={304: "Nothing changed in time"},
    ),
]  # fmt: skip
