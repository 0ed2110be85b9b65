"""Event routing: which events tell whom, and on which channels."""

from datetime import datetime
from typing import Annotated, Literal, get_args

from pydantic import AfterValidator, Field, StrictBool
from typing_extensions import TypedDict

from tocsin.api.words import ChannelWord
from tocsin.audience import route_events
from tocsin.audience.route_events import Telling
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.fields import Closed, unique
from tocsin.http import paging, problems
from tocsin.http.answers import PageOf, one_of
from tocsin.http.door import Call, Endpoint, Response
from tocsin.intake.intents import ChannelName
from tocsin.store import event_routing

AudienceReason = Literal["mention", "review_requested", "assign", "author", "comment", "subscribed", "watching"]


class RoutingBody(Closed):
    """Which reasons are told, and on which channels. A reason that is not named tells nobody."""

    rules: Annotated[dict[AudienceReason, Annotated[list[ChannelName], AfterValidator(unique)]], Field(min_length=1)]
    overrides: Annotated[list[AudienceReason], AfterValidator(unique)] = Field(default=["mention", "review_requested"])
    subscribe_actor: StrictBool = True


class EventRouting(TypedDict):
    """Whom an event type (or prefix*) tells, and how."""

    event_type: str
    rules: dict[Annotated[str, one_of(*get_args(AudienceReason))], list[ChannelWord]]
    overrides: list[Annotated[str, one_of(*get_args(AudienceReason))]]
    subscribe_actor: bool
    created_at: datetime
    updated_at: datetime


def list_routing(call: Call) -> Response:
    with tenant_transaction(call.conn, call.tenant_id):
        found = event_routing.find_all(call.conn, call.tenant_id)
    return paging.whole([_shown(one) for one in found])


def get_routing(call: Call) -> Response:
    with tenant_transaction(call.conn, call.tenant_id):
        found = event_routing.find_all(call.conn, call.tenant_id, _event_type(call))
    if not found:
        raise problems.not_found("event type; what is not routed tells nobody")
    return Response(200, _shown(found[0]))


def put_routing(call: Call) -> Response:
    event_type = _event_type(call)
    body: RoutingBody = call.request.parsed(RoutingBody)
    routing = route_events.route(call.conn, call.actor, event_type, Telling(**body.model_dump()))
    return Response(200, _shown(routing))


def delete_routing(call: Call) -> Response:
    if not route_events.stop(call.conn, call.actor, _event_type(call)):
        raise problems.not_found("event type")
    return Response(204)


def _event_type(call: Call) -> str:
    event_type = call.request.path_parameters.get("event_type", "")
    if not 1 <= len(event_type) <= 100 or "*" in event_type[:-1]:
        raise problems.invalid_path("event_type", "must have 1 to 100 characters, and a * at its end only")
    return event_type


def _shown(routing: event_routing.Routing) -> EventRouting:
    return {
        "event_type": routing.event_type,
        "rules": routing.rules,
        "overrides": routing.overrides,
        "subscribe_actor": routing.subscribe_actor,
        "created_at": routing.created_at,
        "updated_at": routing.updated_at,
    }


ENDPOINTS = [
    Endpoint("GET /v1/event-routing", "manage", list_routing, "List which events tell whom", answer=PageOf[EventRouting]),
    Endpoint(
        "GET /v1/event-routing/{event_type}",
        "manage",
        get_routing,
        "Show whom an event type tells",
        answers={404: "Not routed"},
        answer=EventRouting,
    ),
    Endpoint(
        "PUT /v1/event-routing/{event_type}",
        "manage",
        put_routing,
        "Say whom an event type (or prefix*) tells, and how",
        body=RoutingBody,
        answer=EventRouting,
    ),
    Endpoint(
        "DELETE /v1/event-routing/{event_type}",
        "manage",
        delete_routing,
        "Tell nobody any more",
        success=204,
        answers={404: "Not routed"},
    ),
]
