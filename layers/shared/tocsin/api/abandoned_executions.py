"""Abandoned executions: outcomes that came when whoever had waited for them was gone."""

from datetime import datetime
from typing import Any
from uuid import UUID

from typing_extensions import TypedDict

from tocsin.api.words import WORK_KINDS, WorkKind
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import as_uuid
from tocsin.http import filters, paging, problems
from tocsin.http.answers import PageOf
from tocsin.http.door import Call, Endpoint, Response
from tocsin.store import abandoned_executions
from tocsin.store.abandoned_executions import AbandonedFilters

_FILTERS: list[dict[str, Any]] = [
    {"name": "notification_id", "in": "query", "schema": {"type": "string", "format": "uuid"}},
    filters.choice("source_kind", WORK_KINDS),
    *filters.SINCE_UNTIL,
]


class ShownAbandonedExecution(TypedDict):
    """An outcome that nobody waited for any more."""

    id: UUID
    source_kind: WorkKind
    outbox_id: UUID
    reply_to: UUID
    notification_id: UUID | None
    route_id: str | None
    outcome: dict[str, Any]
    abandoned_at: datetime


def list_abandoned_executions(call: Call) -> Response:
    asked = call.request.query.get("notification_id")
    notification_id = as_uuid(asked) if asked is not None else None
    if asked is not None and notification_id is None:
        raise problems.invalid_parameter("notification_id", "must be the id of a notification")
    wanted = AbandonedFilters(
        notification_id=notification_id,
        source_kind=filters.choice_of(call.request, "source_kind", WORK_KINDS),
        since=filters.moment_of(call.request, "since"),
        until=filters.moment_of(call.request, "until"),
    )
    limit, after = paging.limit_of(call.request), paging.cursor_of(call.request)
    with tenant_transaction(call.conn, call.tenant_id):
        rows = abandoned_executions.list_page(call.conn, call.tenant_id, wanted, limit=limit + 1, after=after)
    return paging.page(rows, limit, shown=_shown, place=lambda row: (row.abandoned_at, row.id))


def get_abandoned_execution(call: Call) -> Response:
    execution_id = as_uuid(call.request.path_parameters.get("id", ""))
    if execution_id is None:
        raise problems.not_found("abandoned execution")
    with tenant_transaction(call.conn, call.tenant_id):
        row = abandoned_executions.find(call.conn, call.tenant_id, execution_id)
    if row is None:
        raise problems.not_found("abandoned execution")
    return Response(200, _shown(row))


def _shown(row: abandoned_executions.AbandonedExecution) -> ShownAbandonedExecution:
    return {
        "id": row.id,
        "source_kind": row.source_kind,
        "outbox_id": row.outbox_id,
        "reply_to": row.reply_to,
        "notification_id": row.notification_id,
        "route_id": row.route_id,
        "outcome": row.outcome,
        "abandoned_at": row.abandoned_at,
    }


ENDPOINTS = [
    Endpoint(
        "GET /v1/abandoned-executions",
        "operate",
        list_abandoned_executions,
        "List outcomes that nobody waited for any more, newest first",
        parameters=[*_FILTERS, *paging.PARAMETERS],
        answer=PageOf[ShownAbandonedExecution],
    ),
    Endpoint(
        "GET /v1/abandoned-executions/{id}",
        "operate",
        get_abandoned_execution,
        "Show such an outcome",
        answers={404: "No such abandoned execution"},
        answer=ShownAbandonedExecution,
    ),
]
