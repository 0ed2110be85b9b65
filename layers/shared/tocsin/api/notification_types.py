"""Notification types: what an intent or event of a type does, unless it says so itself."""

from dataclasses import asdict
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StrictBool, StrictInt

from tocsin.api.templates import name_of
from tocsin.audience import define_type
from tocsin.audience.define_type import Meaning
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.fields import Closed, Name
from tocsin.http import problems
from tocsin.http.door import Call, Endpoint, Response
from tocsin.intake.intents import ChannelName
from tocsin.store import notification_types


def _distinct(channels: list[str]) -> list[str]:
    return list(dict.fromkeys(channels))


class TypeBody(Closed):
    channels: Annotated[list[ChannelName], Field(min_length=1), AfterValidator(_distinct)] | None = None
    template: Name | None = None
    priority: Literal["low", "normal", "high", "critical"] = "normal"
    ambiguous_policy: Literal["retry", "hold"] | None = None
    transactional: StrictBool = True
    expires_after_seconds: Annotated[StrictInt, Field(ge=60, le=31_536_000)] | None = None


def put_type(call: Call) -> Response:
    body: TypeBody = call.request.parsed(TypeBody)
    kind = define_type.define(call.conn, call.actor, name_of(call), Meaning(**body.model_dump()))
    return Response(200, asdict(kind))


def get_type(call: Call) -> Response:
    with tenant_transaction(call.conn, call.tenant_id):
        found = notification_types.find_all(call.conn, call.tenant_id, name_of(call))
    if not found:
        raise problems.not_found("notification type")
    return Response(200, asdict(found[0]))


def list_types(call: Call) -> Response:
    with tenant_transaction(call.conn, call.tenant_id):
        found = notification_types.find_all(call.conn, call.tenant_id)
    return Response(200, {"data": [asdict(kind) for kind in found], "next_cursor": None})


def delete_type(call: Call) -> Response:
    if not define_type.forget(call.conn, call.actor, name_of(call)):
        raise problems.not_found("notification type")
    return Response(204)


ENDPOINTS = [
    Endpoint("GET /v1/notification-types", "manage", list_types, "List notification types"),
    Endpoint(
        "PUT /v1/notification-types/{name}",
        "manage",
        put_type,
        "Say what a type means",
        body=TypeBody,
    ),
    Endpoint("GET /v1/notification-types/{name}", "manage", get_type, "Show a type", answers={404: "No such type"}),
    Endpoint(
        "DELETE /v1/notification-types/{name}",
        "manage",
        delete_type,
        "Forget a type",
        success=204,
        answers={404: "No such type"},
    ),
]
