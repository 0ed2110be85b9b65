"""Lanes: the ways out that are in trouble, and how to open one by hand."""

import re
from typing import Any

from tocsin.api.system_events import ResolveBody, of_the_installation
from tocsin.delivery import open_lane as opening
from tocsin.foundation.database import NotYours, tenant_transaction
from tocsin.foundation.ids import as_uuid
from tocsin.http import cursors, paging, problems
from tocsin.http.door import Call, Endpoint, Response
from tocsin.store import lanes
from tocsin.store.lanes import MOST_COUNTED, TroubledLane

# nothing that a URL would have to spell in percents
_NAME = re.compile(r"[A-Za-z0-9_.~:-]{1,200}")
_ENDPOINTS = ("webhook", "handler")  # what comes before the id in the lane of an endpoint; else it is a provider's


class OpenBody(ResolveBody):
    pass


def list_lanes(call: Call) -> Response:
    limit, asked = paging.limit_of(call.request), call.request.query.get("cursor")
    after = cursors.decode_name(asked, _NAME) if asked else ""
    with tenant_transaction(call.conn, call.tenant_id):
        rows = lanes.list_troubled(call.conn, call.tenant_id, limit=limit + 1, after=after)
    next_cursor = cursors.encode_name(rows[limit - 1].lane) if len(rows) > limit else None
    return Response(200, {"data": [shown(row) for row in rows[:limit]], "next_cursor": next_cursor})


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
    return Response(200, {"id": lane, "state": "open", "was": shown(opened.was), "woken": opened.woken})


def shown(row: TroubledLane) -> dict[str, Any]:
    """`belongs_to` leads to the provider or endpoint behind the lane."""
    what, _, last = row.lane.rpartition(":")
    belongs_to = {"kind": what if what in _ENDPOINTS else "provider", "id": last} if as_uuid(last) else {"kind": "installation"}
    names = (
        "state", "trouble", "reason", "strikes", "failures", "timed_out", "since", "resume_at", "is_closed", "probe_until",
        "probe_size", "updated_at",
    )  # fmt: skip
    waiting = {"count": min(row.waiting, MOST_COUNTED), "at_least": row.waiting > MOST_COUNTED}
    return {"id": row.lane, "belongs_to": belongs_to} | {name: getattr(row, name) for name in names} | {"waiting": waiting}


ENDPOINTS = [
    Endpoint(
        "GET /v1/lanes",
        "operate",
        list_lanes,
        "List the ways out that are in trouble, the tenant's own and the installation's",
        parameters=paging.PARAMETERS,
    ),
    Endpoint(
        "POST /v1/lanes/{id}/open",
        "operate",
        post_open,
        "Open a lane now, with a reason: what waits for it goes at once",
        body=OpenBody,
        answers={404: "No such lane is in trouble", 403: "The key lacks the scope, or the lane is the installation's"},
    ),
]
