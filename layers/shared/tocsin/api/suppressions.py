"""Suppressions: whom not to write to."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import Field

from tocsin.access import audit
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.fields import Closed, Name
from tocsin.foundation.ids import as_uuid, uuid7
from tocsin.http import paging, problems
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem
from tocsin.people import addresses
from tocsin.store import suppressions
from tocsin.store.suppressions import Suppression

_CHANNELS = ("email", "sms")


class SuppressionBody(Closed):
    channel: Literal["email", "sms"]
    address: Annotated[str, Field(min_length=3, max_length=254)]
    notification_type: Name | None = None


def list_suppressions(call: Call) -> Response:
    channel, address = call.request.query.get("channel"), call.request.query.get("address")
    if channel is not None and channel not in _CHANNELS:
        raise problems.invalid_parameter("channel", f"must be one of {', '.join(_CHANNELS)}")
    limit, after = paging.limit_of(call.request), paging.cursor_of(call.request)
    with tenant_transaction(call.conn, call.tenant_id):
        rows = suppressions.list_page(call.conn, call.tenant_id, channel=channel, address=address, limit=limit + 1, after=after)
    return paging.page(rows, limit, shown=asdict, place=lambda row: (row.created_at, row.id))


def post_suppression(call: Call) -> Response:
    body: SuppressionBody = call.request.parsed(SuppressionBody)
    try:
        address = addresses.email(body.address) if body.channel == "email" else addresses.phone(body.address)
    except ValueError as error:
        raise problems.invalid_field("/address", str(error)) from None
    with tenant_transaction(call.conn, call.tenant_id):
        suppressions.insert_or_strengthen(
            call.conn,
            suppression_id=uuid7(),
            tenant_id=call.tenant_id,
            channel=body.channel,
            address=address,
            notification_type=body.notification_type or "",
            reason="manual",
        )
        rows = suppressions.list_page(call.conn, call.tenant_id, channel=body.channel, address=address, limit=200, after=None)
        (row,) = [row for row in rows if row.notification_type == (body.notification_type or "")]
        audit.record(
            call.conn, call.actor, "suppress", "suppression", str(row.id), {"new": {"channel": row.channel, "reason": row.reason}}
        )
    return Response(201, asdict(row))


def delete_suppression(call: Call) -> Response:
    """Lift a suppression. A complaint was a person's word: lifting it takes an operator and a reason."""
    reason = call.request.query.get("reason", "").strip()
    with tenant_transaction(call.conn, call.tenant_id):
        row = _find(call)
        if row.reason == "complaint" and "operate" not in call.principal.scopes:
            raise problems.forbidden("operate")
        if row.reason == "complaint" and not reason:
            raise Problem(422, "reason-required", "A reason is required", "Say why with `?reason=`: a person complained.")
        suppressions.delete(call.conn, call.tenant_id, row.id)
        old = {"channel": row.channel, "reason": row.reason, "notification_type": row.notification_type}
        audit.record(call.conn, call.actor, "lift", "suppression", str(row.id), {"old": old, "reason": reason[:500]})
    return Response(204)


def _find(call: Call) -> Suppression:
    suppression_id = as_uuid(call.request.path_parameters.get("id", ""))
    row = suppressions.find(call.conn, call.tenant_id, suppression_id) if suppression_id else None
    if row is None:
        raise problems.not_found("suppression")
    return row


_FILTERS: list[dict[str, Any]] = [
    {"name": "channel", "in": "query", "schema": {"enum": list(_CHANNELS)}},
    {"name": "address", "in": "query", "schema": {"type": "string"}},
]


_REASON: list[dict[str, Any]] = [{"name": "reason", "in": "query", "schema": {"type": "string"}}]


ENDPOINTS = [
    Endpoint(
        "GET /v1/suppressions",
        "manage",
        list_suppressions,
        "List suppressed addresses",
        parameters=[*_FILTERS, *paging.PARAMETERS],
    ),
    Endpoint(
        "POST /v1/suppressions",
        "manage",
        post_suppression,
        "Suppress an address",
        success=201,
        body=SuppressionBody,
    ),
    Endpoint(
        "DELETE /v1/suppressions/{id}",
        "manage",
        delete_suppression,
        "Lift a suppression",
        success=204,
        parameters=_REASON,
        answers={404: "No such suppression", 422: "A complaint needs a reason, or a parameter is not valid"},
    ),
]
