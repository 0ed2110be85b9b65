"""Notification types: what an intent or event of a type does, unless it says so itself."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StrictBool, StrictInt
from typing_extensions import TypedDict

from tocsin.api.templates import name_of
from tocsin.api.words import ChannelWord, Priority
from tocsin.audience import define_type
from tocsin.audience.define_type import Meaning
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.fields import Closed, Name, Word
from tocsin.foundation.text import one_line
from tocsin.http import paging, problems
from tocsin.http.answers import PageOf, one_of
from tocsin.http.door import Call, Endpoint, Response
from tocsin.intake.intents import ChannelName
from tocsin.store import notification_types


def _distinct(channels: list[str]) -> list[str]:
    return list(dict.fromkeys(channels))


def _one_line(text: str) -> str:
    if not (line := one_line(text)):
        raise ValueError("must be text")
    return line


class OverSending(Closed):
    """At most `limit` messages of the type to one address in any `window_seconds`."""

    limit: Annotated[StrictInt, Field(ge=1, le=10_000)]
    window_seconds: Annotated[StrictInt, Field(ge=60, le=86_400)]


class TypeBody(Closed):
    channels: Annotated[list[ChannelName], Field(min_length=1), AfterValidator(_distinct)] | None = None
    template: Name | None = None
    priority: Literal["low", "normal", "high", "critical"] = "normal"
    ambiguous_policy: Literal["retry", "hold"] | None = None
    transactional: StrictBool = True
    expires_after_seconds: Annotated[StrictInt, Field(ge=60, le=31_536_000)] | None = None
    over_sending: OverSending | None = None
    title: Annotated[Word, Field(max_length=100), AfterValidator(_one_line)] | None = None
    description: Annotated[Word, AfterValidator(_one_line)] | None = None


class OverSendingGuard(TypedDict):
    """At most `limit` messages of the type to one address in any `window_seconds`."""

    limit: int
    window_seconds: int


class ShownNotificationType(TypedDict):
    """What an intent or event of a type does, unless it says so itself."""

    name: str
    channels: list[ChannelWord] | None
    template: str | None
    priority: Priority
    ambiguous_policy: Annotated[str, one_of("retry", "hold")] | None
    transactional: bool
    expires_after_seconds: int | None
    created_at: datetime
    updated_at: datetime
    over_sending: OverSendingGuard | None
    title: str | None
    description: str | None


def put_type(call: Call) -> Response:
    body: TypeBody = call.request.parsed(TypeBody)
    guard = body.over_sending
    meaning = Meaning(
        **body.model_dump(exclude={"over_sending"}),
        over_sending_limit=guard.limit if guard else None,
        over_sending_window_seconds=guard.window_seconds if guard else None,
    )
    return Response(200, _shown(define_type.define(call.conn, call.actor, name_of(call), meaning)))


def get_type(call: Call) -> Response:
    with tenant_transaction(call.conn, call.tenant_id):
        found = notification_types.find_all(call.conn, call.tenant_id, name_of(call))
    if not found:
        raise problems.not_found("notification type")
    return Response(200, _shown(found[0]))


def list_types(call: Call) -> Response:
    with tenant_transaction(call.conn, call.tenant_id):
        found = notification_types.find_all(call.conn, call.tenant_id)
    return paging.whole([_shown(kind) for kind in found])


def delete_type(call: Call) -> Response:
    if not define_type.forget(call.conn, call.actor, name_of(call)):
        raise problems.not_found("notification type")
    return Response(204)


def _shown(kind: notification_types.NotificationType) -> ShownNotificationType:
    limit, window = kind.over_sending_limit, kind.over_sending_window_seconds
    return {
        "name": kind.name,
        "channels": kind.channels,
        "template": kind.template,
        "priority": kind.priority,
        "ambiguous_policy": kind.ambiguous_policy,
        "transactional": kind.transactional,
        "expires_after_seconds": kind.expires_after_seconds,
        "created_at": kind.created_at,
        "updated_at": kind.updated_at,
        "over_sending": None if limit is None or window is None else {"limit": limit, "window_seconds": window},
        "title": kind.title,
        "description": kind.description,
    }


ENDPOINTS = [
    Endpoint("GET /v1/notification-types", "manage", list_types, "List notification types", answer=PageOf[ShownNotificationType]),
    Endpoint(
        "PUT /v1/notification-types/{name}",
        "manage",
        put_type,
        "Say what a type means",
        body=TypeBody,
        answer=ShownNotificationType,
    ),
    Endpoint(
        "GET /v1/notification-types/{name}",
        "manage",
        get_type,
        "Show a type",
        answers={404: "No such type"},
        answer=ShownNotificationType,
    ),
    Endpoint(
        "DELETE /v1/notification-types/{name}",
        "manage",
        delete_type,
        "Forget a type",
        success=204,
        answers={404: "No such type"},
    ),
]
