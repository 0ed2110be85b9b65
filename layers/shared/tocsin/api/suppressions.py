"""Suppressions: whom not to write to."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from tocsin.feedback import suppress
from tocsin.feedback.suppress import NotAnAddress, NotLifted
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.fields import Closed, Name
from tocsin.foundation.ids import as_uuid
from tocsin.http import filters, paging, problems
from tocsin.http.answers import PageOf, one_of
from tocsin.http.door import Call, Endpoint, Response
from tocsin.http.problems import Problem
from tocsin.store import suppressions

_CHANNELS = ("email", "sms")


class SuppressionBody(Closed):
    channel: Literal["email", "sms"]
    address: Annotated[str, Field(min_length=3, max_length=254)]
    notification_type: Name | None = None


class ShownSuppression(TypedDict):
    """An address that is not written to, for all types or for one. Of an erased one only its hash is left."""

    id: UUID
    channel: Annotated[str, one_of(*_CHANNELS)]
    address: str | None
    notification_type: str
    reason: Annotated[str, one_of("hard_bounce", "soft_bounces", "complaint", "unsubscribe", "opted_out", "manual")]
    source_notification_id: UUID | None
    expires_at: datetime | None
    created_at: datetime


def list_suppressions(call: Call) -> Response:
    channel, address = filters.choice_of(call.request, "channel", _CHANNELS), call.request.query.get("address")
    limit, after = paging.limit_of(call.request), paging.cursor_of(call.request)
    with tenant_transaction(call.conn, call.tenant_id):
        rows = suppressions.list_page(call.conn, call.tenant_id, channel=channel, address=address, limit=limit + 1, after=after)
    return paging.page(rows, limit, shown=_shown, place=lambda row: (row.created_at, row.id))


def post_suppression(call: Call) -> Response:
    body: SuppressionBody = call.request.parsed(SuppressionBody)
    try:
        row = suppress.suppress(call.conn, call.actor, body.channel, body.address, body.notification_type)
    except NotAnAddress as error:
        raise problems.invalid_field("/address", str(error)) from None
    return Response(201, _shown(row))


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


def _shown(row: suppressions.Suppression) -> ShownSuppression:
    return {
        "id": row.id,
        "channel": row.channel,
        "address": row.address,
        "notification_type": row.notification_type,
        "reason": row.reason,
        "source_notification_id": row.source_notification_id,
        "expires_at": row.expires_at,
        "created_at": row.created_at,
    }


_FILTERS: list[dict[str, Any]] = [
    filters.choice("channel", _CHANNELS),
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
        answer=PageOf[ShownSuppression],
    ),
    Endpoint(
        "POST /v1/suppressions",
        "manage",
        post_suppression,
        "Suppress an address",
        success=201,
        body=SuppressionBody,
        answer=ShownSuppression,
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
