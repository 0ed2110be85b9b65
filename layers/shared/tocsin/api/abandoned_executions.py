"""Abandoned executions: outcomes that came when whoever had waited for them was gone."""

from dataclasses import asdict
from typing import Any

from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import as_uuid
from tocsin.http import paging, problems
from tocsin.http.door import Call, Endpoint, Response
from tocsin.store import abandoned_executions

_FILTERS: list[dict[str, Any]] = [{"name": "notification_id", "in": "query", "schema": {"type": "string", "format": "uuid"}}]


def list_abandoned_executions(call: Call) -> Response:
    asked = call.request.query.get("notification_id")
    notification_id = as_uuid(asked) if asked is not None else None
    if asked is not None and notification_id is None:
        raise problems.invalid_parameter("notification_id", "must be the id of a notification")
    limit, after = paging.limit_of(call.request), paging.cursor_of(call.request)
    with tenant_transaction(call.conn, call.tenant_id):
        rows = abandoned_executions.list_page(
            call.conn, call.tenant_id, notification_id=notification_id, limit=limit + 1, after=after
        )
    return paging.page(rows, limit, shown=asdict, place=lambda row: (row.abandoned_at, row.id))


ENDPOINTS = [
    Endpoint(
        "GET /v1/abandoned-executions",
        "operate",
        list_abandoned_executions,
        "List outcomes that nobody waited for any more, newest first",
        parameters=[*_FILTERS, *paging.PARAMETERS],
    ),
]
