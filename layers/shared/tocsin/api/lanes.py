"""Lanes: the ways out that are in trouble, and how to open one by hand."""

import re
from datetime import datetime
from typing import Annotated, Literal, NotRequired

from typing_extensions import TypedDict

from tocsin.api.system_events import ResolveBody, of_the_installation
from tocsin.api.words import AtLeast
from tocsin.delivery import open_lane as opening
from tocsin.foundation.database import NotYours, tenant_transaction
from tocsin.foundation.ids import as_uuid
from tocsin.http import cursors, paging, problems
from tocsin.http.answers import PageOf, one_of
from tocsin.http.door import Call, Endpoint, Response
from tocsin.store import lanes
from tocsin.store.lanes import MOST_COUNTED, TroubledLane

# nothing that a URL would have to spell in percents
_NAME = re.compile(r"[A-Za-z0-9_.~:-]{1,200}")
_ENDPOINTS = ("webhook", "handler")  # what comes before the id in the lane of an endpoint; else it is a provider's


class LaneOwner(TypedDict):
    """What is behind a lane: a provider or an endpoint by its id, or the installation."""

    kind: Annotated[str, one_of(*_ENDPOINTS, "provider", "installation")]
    id: NotRequired[str]


class ShownLane(TypedDict):
    """A way out that is in trouble, and how much of the tenant's own work waits for it."""

    id: str
    belongs_to: LaneOwner
    state: Annotated[str, one_of("failing", "slowed", "broken", "stopped")]
    trouble: str
    reason: str
    strikes: int
    failures: int
    timed_out: bool
    since: datetime
    resume_at: datetime
    is_closed: bool
    probe_until: datetime | None
    probe_size: int
    updated_at: datetime
    waiting: AtLeast


class ShownOpenedLane(TypedDict):
    """A lane that was opened by hand: how it was, and how much goes at once."""

    id: str
    state: Literal["open"]
    was: ShownLane
    woken: int


class OpenBody(ResolveBody):
    pass


def list_lanes(call: Call) -> Response:
    limit, asked = paging.limit_of(call.request), call.request.query.get("cursor")
    after = cursors.decode_name(asked, _NAME) if asked else ""
    with tenant_transaction(call.conn, call.tenant_id):
        rows = lanes.list_troubled(call.conn, call.tenant_id, limit=limit + 1, after=after)
    next_cursor = cursors.encode_name(rows[limit - 1].lane) if len(rows) > limit else None
    return paging.whole([shown(row) for row in rows[:limit]], next_cursor)


def post_open(call: Call) -> Response:
    body: OpenBody = call.request.parsed(OpenBody)
    lane = call.request.path_parameters.get("id", "")
    try:
        opened = (
            opening.open_lane(call.conn, call.actor, lane, opened_by=call.principal.key_id, reason=body.reason)
            if _NAME.fullmatch(lane)
            else None
        )
    except NotYours:
        raise of_the_installation("This lane") from None
    if opened is None:
        raise problems.not_found("lane in trouble: it is open, or it is nobody's")
    answer: ShownOpenedLane = {"id": lane, "state": "open", "was": shown(opened.was), "woken": opened.woken}
    return Response(200, answer)


def shown(row: TroubledLane) -> ShownLane:
    return {
        "id": row.lane,
        "belongs_to": _owner(row.lane),
        "state": row.state,
        "trouble": row.trouble,
        "reason": row.reason,
        "strikes": row.strikes,
        "failures": row.failures,
        "timed_out": row.timed_out,
        "since": row.since,
        "resume_at": row.resume_at,
        "is_closed": row.is_closed,
        "probe_until": row.probe_until,
        "probe_size": row.probe_size,
        "updated_at": row.updated_at,
        "waiting": {"count": min(row.waiting, MOST_COUNTED), "at_least": row.waiting > MOST_COUNTED},
    }


def _owner(lane: str) -> LaneOwner:
    what, _, last = lane.rpartition(":")
    if not as_uuid(last):
        return {"kind": "installation"}
    return {"kind": what if what in _ENDPOINTS else "provider", "id": last}


ENDPOINTS = [
    Endpoint(
        "GET /v1/lanes",
        "operate",
        list_lanes,
        "List the ways out that are in trouble, the tenant's own and the installation's",
        parameters=paging.PARAMETERS,
        answer=PageOf[ShownLane],
    ),
    Endpoint(
        "POST /v1/lanes/{id}/open",
        "operate",
        post_open,
        "Open a lane now, with a reason: what waits for it goes at once",
        body=OpenBody,
        answer=ShownOpenedLane,
        answers={404: "No such lane is in trouble", 403: "The key lacks the scope, or the lane is the installation's"},
    ),
]
