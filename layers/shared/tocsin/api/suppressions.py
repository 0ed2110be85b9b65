"""Suppressions: whom not to write to."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import Field

from tocsin.feedback import suppress
from tocsin.feedback.suppress import NotAnAddress, NotLifted
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.fields import Closed, Name
from tocsin.foundation.ids import as_uuid
from tocsin.http import paging, problems
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem
from tocsin.store import suppressions

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
        row = suppress.suppress(call.conn, call.actor, body.channel, body.address, body.notification_type)
    except NotAnAddress as error:
        raise problems.invalid_field("/address", str(error)) from None
    return Response(201, asdict(row))


def delete_suppression(call: Call) -> Response:
    """Lift a suppression. A complaint was a person's word: lifting it takes an operator and a reason."""
    suppression_id = as_uuid(call.request.path_parameters.get("id", ""))
    if suppression_id is None:
        raise problems.not_found("suppression")
    reason, is_operator = call.request.query.get("reason", "").strip(), "operate" in call.principal.scopes
    match suppress.lift(call.conn, call.actor, suppression_id, reason=reason, is_operator=is_operator):
        case NotLifted.UNKNOWN:
            raise problems.not_found("suppression")
        case NotLifted.OPERATORS_ONLY:
            raise problems.forbidden("operate")
        case NotLifted.NO_REASON:
            raise Problem(422, "reason-required", "A reason is required", "Say why with `?reason=`: a person complained.")
    return Response(204)


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
