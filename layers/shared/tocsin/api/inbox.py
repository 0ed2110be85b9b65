"""The inbox: what a person sees, and what they do with it."""

from typing import Any, Literal
from uuid import UUID

from pydantic import StrictBool, model_validator
from typing_extensions import TypedDict

from tocsin.access.recognise import recognise
from tocsin.api.inbox_row import InboxRow, shown
from tocsin.foundation import tally
from tocsin.foundation.database import tenant_round_trip
from tocsin.foundation.fields import Closed, Moment
from tocsin.foundation.ids import as_uuid
from tocsin.http import door, filters, paging, problems
from tocsin.http.answers import PageOf
from tocsin.http.door import Endpoint, Response, Visit
from tocsin.inbox import live, mark, see
from tocsin.inbox.live import Glance
from tocsin.inbox.mark import BadSnooze
from tocsin.store import notifications
from tocsin.store.notifications import COUNT_CAP, Change, View

VIEWS = ("all", "unread", "read", "done", "saved", "snoozed")
LONGEST_WAIT = 20
MOST_KINDS = 10


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


class DoneAll(Closed):
    status: Literal["all", "read"] = "all"
    before: Moment | None = None


class Seen(Closed):
    before: Moment | None = None


class UnreadBadge(TypedDict):
    """How many are unread, and how many of these came since their reader last looked. `capped`: that many, or more."""

    unread: int
    unseen: int
    capped: bool


class Unseen(TypedDict):
    """How many unread ones came since the time that was given."""

    unseen: int


class Marked(TypedDict):
    """How many were marked as read, or as done. `more`: there are more; ask again."""

    marked: int
    more: bool


def list_inbox(visit: Visit) -> Response:
    limit = paging.limit_of(visit.request)
    view, after = _view(visit), paging.cursor_of(visit.request)
    with tenant_round_trip(visit.conn, visit.tenant_id):
        cursor = notifications.list_page(visit.conn, visit.tenant_id, visit.user_id, view, limit=limit + 1, after=after)
    page = paging.page(cursor.fetchall(), limit, shown=shown, place=lambda row: (row["shown_at"], row["id"]))
    return door.conditional(visit.request, page)


def unread_count(visit: Visit) -> Response:
    with tenant_round_trip(visit.conn, visit.tenant_id):
        cursor = notifications.count_unread(visit.conn, visit.tenant_id, visit.user_id)
    return door.conditional(visit.request, Response(200, _badge(*(cursor.fetchone() or (0, 0)))))


def wait_for_news(visit: Visit) -> Response:
    """Answer when the inbox is not what the caller knows, or when the wait is over."""

    def answer(glance: Glance) -> Response:
        return door.conditional(visit.request, Response(200, [_badge(glance.unread, glance.unseen), glance.rows]))

    glance = live.wait(
        visit.conn,
        visit.tenant_id,
        visit.user_id,
        is_known=lambda glance: answer(glance).status == 304,
        seconds=_wait(visit),
    )
    told = answer(glance)
    return Response(told.status, _badge(glance.unread, glance.unseen) if told.status == 200 else None, told.headers)


def patch_row(visit: Visit) -> Response:
    row_id = _row_id(visit)
    body: RowChange = visit.request.parsed(RowChange)
    change = Change(body.read, body.done, body.saved, False, "snoozed_until" in body.model_fields_set, body.snoozed_until)
    try:
        row = mark.mark(visit.conn, visit.tenant_id, visit.user_id, row_id, change)
    except BadSnooze as error:
        raise problems.invalid_field("/snoozed_until", str(error)) from None
    if row is None:
        raise problems.not_found("notification")
    for action in (name for name in body.model_fields_set if getattr(body, name)):
        tally.write("InboxActions", 1, action=action.removesuffix("_until"))
    return Response(200, shown(row))


def hide_row(visit: Visit) -> Response:
    if not mark.hide(visit.conn, visit.tenant_id, visit.user_id, _row_id(visit)):
        raise problems.not_found("notification")
    tally.write("InboxActions", 1, action="hidden")
    return Response(204)


def read_all(visit: Visit) -> Response:
    body: ReadAll = visit.request.parsed(ReadAll) if visit.request.body else ReadAll()
    marked = mark.read_all(visit.conn, visit.tenant_id, visit.user_id, before=body.before)
    tally.write("InboxActions", marked, action="read")
    told: Marked = {"marked": marked, "more": marked >= mark.MOST_READ}
    return Response(200, told)


def finish_all(visit: Visit) -> Response:
    body: DoneAll = visit.request.parsed(DoneAll) if visit.request.body else DoneAll()
    only_read = body.status == "read"
    marked = mark.finish_all(visit.conn, visit.tenant_id, visit.user_id, only_read=only_read, before=body.before)
    tally.write("InboxActions", marked, action="done")
    told: Marked = {"marked": marked, "more": marked >= mark.MOST_READ}
    return Response(200, told)


def see_all(visit: Visit) -> Response:
    body: Seen = visit.request.parsed(Seen) if visit.request.body else Seen()
    told: Unseen = {"unseen": see.see(visit.conn, visit.tenant_id, visit.user_id, before=body.before)}
    return Response(200, told)


def _view(visit: Visit) -> View:
    query = visit.request.query
    name = filters.choice_of(visit.request, "status", VIEWS) or "all"
    thread_kind, colon, thread_id = query.get("thread", "").partition(":")
    if "thread" in query and not (thread_kind and colon and thread_id):
        raise problems.invalid_parameter("thread", "must be a kind and an id, such as order:A-17")
    return View(name, *_kinds(query.get("kind", "")), thread_kind or None, thread_id or None)


def _kinds(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The kinds that are wanted by name, and the beginnings of others."""
    wanted = text.split(",") if text else []
    if len(wanted) > MOST_KINDS or not all(wanted):
        raise problems.invalid_parameter("kind", f"must be 1 to {MOST_KINDS} kinds, separated by commas")
    return (
        tuple(one for one in wanted if not one.endswith("*")),
        tuple(one.removesuffix("*") for one in wanted if one.endswith("*")),
    )


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


def _badge(unread: int, unseen: int) -> UnreadBadge:
    return {"unread": unread, "unseen": unseen, "capped": unread >= COUNT_CAP}


_USER: dict[str, Any] = {
    "name": "user_id",
    "in": "query",
    "schema": {"type": "string"},
    "description": "Whose inbox, for a server key; a user token says it itself",
}
_KNOWN: dict[str, Any] = {"name": "If-None-Match", "in": "header", "schema": {"type": "string"}}
_VIEW: list[dict[str, Any]] = [
    filters.choice("status", VIEWS, default="all"),
    {
        "name": "kind",
        "in": "query",
        "schema": {"type": "string"},
        "description": f"Up to {MOST_KINDS} kinds, separated by commas; `order.*` are those that begin so",
    },
    {"name": "thread", "in": "query", "schema": {"type": "string"}, "description": "kind:id"},
]


def personal(route: str, run: Any, summary: str, **details: Any) -> Endpoint:
    """An endpoint of one person: with their token, or with a key that names them."""
    parameters = [_USER, *details.pop("parameters", [])]
    answers = {404: "No such user"} | details.pop("answers", {})
    return Endpoint(route, "inbox", run, summary, parameters=parameters, answers=answers, recognise=recognise, **details)


ENDPOINTS = [
    personal(
        "GET /v1/inbox", list_inbox, "List an inbox, latest first",
        parameters=[*_VIEW, _KNOWN, *paging.PARAMETERS], answers={304: "Nothing changed"}, answer=PageOf[InboxRow],
    ),
    personal(
        "GET /v1/inbox/unread-count", unread_count, "Count what is unread, and unseen (up to 1000)",
        parameters=[_KNOWN], answers={304: "Nothing changed"}, answer=UnreadBadge,
    ),
    personal(
        "PATCH /v1/inbox/{id}", patch_row, "Mark as read, done or saved, or put off", body=RowChange,
        answers={404: "No such notification"}, answer=InboxRow,
    ),
    personal("DELETE /v1/inbox/{id}", hide_row, "Hide", success=204, answers={404: "No such notification"}),
    personal(
        "POST /v1/inbox/read-all", read_all, "Mark everything as read, up to a time", body=ReadAll, body_is_optional=True,
        answer=Marked,
    ),
    personal(
        "POST /v1/inbox/done-all", finish_all, "Mark everything as done, or what is read, up to a time", body=DoneAll,
        body_is_optional=True, answer=Marked,
    ),
    personal(
        "POST /v1/inbox/seen", see_all, "Say that the inbox was looked at; what is unread stays so", body=Seen,
        body_is_optional=True, answer=Unseen,
    ),
]  # fmt: skip

LIVE_ENDPOINTS = [
    personal(
        "GET /v1/inbox/live", wait_for_news, "Wait until the inbox changes, up to 20 seconds",
        parameters=[
            _KNOWN,
            {"name": "wait", "in": "query", "schema": {"type": "integer", "minimum": 0, "maximum": LONGEST_WAIT}},
        ],
        answers={304: "Nothing changed in time"}, answer=UnreadBadge,
    ),
]  # fmt: skip
