"""Gathering: who hears of what. Event routing, watches, and tokens for people's browsers."""

from dataclasses import asdict
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StrictBool, StrictInt

from tocsin import audit, paging, people, problems
from tocsin.api.managing import user_of
from tocsin.database import tenant_transaction
from tocsin.http import Call, Endpoint, Response
from tocsin.intents import Channel, Closed, unique
from tocsin.store import event_routing, watches
from tocsin.user_tokens import Person

Reason = Literal["mention", "review_requested", "assign", "author", "comment", "subscribed", "watching"]
MOST_WATCHES = 200


class RoutingBody(Closed):
    """Which reasons are told, and on which channels. A reason that is not named tells nobody."""

    rules: Annotated[dict[Reason, Annotated[list[Channel], AfterValidator(unique)]], Field(min_length=1)]
    overrides: Annotated[list[Reason], AfterValidator(unique)] = Field(default=["mention", "review_requested"])
    subscribe_actor: StrictBool = True


class WatchBody(Closed):
    level: Literal["all", "participating", "ignore"]


class TokenBody(Closed):
    ttl_seconds: Annotated[StrictInt, Field(ge=60, le=86_400)] = 3_600


def list_routing(call: Call) -> Response:
    with tenant_transaction(call.conn, call.tenant_id):
        found = event_routing.find_all(call.conn, call.tenant_id)
    return Response(200, {"data": [asdict(one) for one in found], "next_cursor": None})


def get_routing(call: Call) -> Response:
    with tenant_transaction(call.conn, call.tenant_id):
        found = event_routing.find_all(call.conn, call.tenant_id, _event_type(call))
    if not found:
        raise problems.not_found("event type; what is not routed tells nobody")
    return Response(200, asdict(found[0]))


def put_routing(call: Call) -> Response:
    event_type = _event_type(call)
    body: RoutingBody = call.request.parsed(RoutingBody)
    with tenant_transaction(call.conn, call.tenant_id):
        before = event_routing.find_all(call.conn, call.tenant_id, event_type)
        routing = event_routing.upsert(call.conn, call.tenant_id, event_type, **body.model_dump())
        old = {"old": _audited(before[0])} if before else {}
        audit.record(call, "put", "event_routing", event_type, old | {"new": _audited(routing)})
    return Response(200, asdict(routing))


def delete_routing(call: Call) -> Response:
    event_type = _event_type(call)
    with tenant_transaction(call.conn, call.tenant_id):
        before = event_routing.find_all(call.conn, call.tenant_id, event_type)
        if not before or not event_routing.delete(call.conn, call.tenant_id, event_type):
            raise problems.not_found("event type")
        audit.record(call, "delete", "event_routing", event_type, {"old": _audited(before[0])})
    return Response(204)


def list_watches(call: Call) -> Response:
    user = user_of(call)
    after = call.request.query.get("cursor")
    with tenant_transaction(call.conn, call.tenant_id):
        found = watches.list_page(call.conn, call.tenant_id, user.id, limit=MOST_WATCHES + 1, after=after)
    shown = found[:MOST_WATCHES]
    next_cursor = shown[-1].scope if len(found) > MOST_WATCHES else None
    return Response(200, {"data": [asdict(one) for one in shown], "next_cursor": next_cursor})


def put_watch(call: Call) -> Response:
    body: WatchBody = call.request.parsed(WatchBody)
    scope, user = _scope(call), user_of(call)
    with tenant_transaction(call.conn, call.tenant_id):
        watch = watches.upsert(call.conn, call.tenant_id, user.id, scope, level=body.level)
    return Response(200, asdict(watch))


def delete_watch(call: Call) -> Response:
    scope, user = _scope(call), user_of(call)
    with tenant_transaction(call.conn, call.tenant_id):
        if not watches.delete(call.conn, call.tenant_id, user.id, scope):
            raise problems.not_found("watch")
    return Response(204)


def post_token(call: Call) -> Response:
    body: TokenBody = call.request.parsed(TokenBody) if call.request.body else TokenBody()
    user = user_of(call)
    token, expires_at = people.token_for(Person(call.tenant_id, user.id), timedelta(seconds=body.ttl_seconds))
    return Response(201, {"token": token, "expires_at": expires_at})


def _event_type(call: Call) -> str:
    event_type = call.request.path_parameters.get("event_type", "")
    if not 1 <= len(event_type) <= 100 or "*" in event_type[:-1]:
        raise problems.invalid("An event type has 1 to 100 characters; a * may stand at its end only.")
    return event_type


def _scope(call: Call) -> str:
    scope = call.request.path_parameters.get("scope", "")
    if not 1 <= len(scope) <= 255:
        raise problems.invalid("A scope has 1 to 255 characters.")
    return scope


def _audited(routing: event_routing.Routing) -> dict[str, Any]:
    return {"rules": routing.rules, "overrides": routing.overrides, "subscribe_actor": routing.subscribe_actor}


_NO_USER = {404: "No such user"}

ENDPOINTS = [
    Endpoint("GET /v1/event-routing", "manage", list_routing, "List which events tell whom"),
    Endpoint(
        "GET /v1/event-routing/{event_type}", "manage", get_routing, "Show whom an event type tells",
        answers={404: "Not routed"},
    ),
    Endpoint(
        "PUT /v1/event-routing/{event_type}", "manage", put_routing, "Say whom an event type (or prefix*) tells, and how",
        body=RoutingBody,
    ),
    Endpoint(
        "DELETE /v1/event-routing/{event_type}", "manage", delete_routing, "Tell nobody any more", success=204,
        answers={404: "Not routed"},
    ),
    Endpoint(
        "GET /v1/users/{id}/watches", "manage", list_watches, "List what a user watches", parameters=[paging.CURSOR],
        answers=_NO_USER,
    ),
    Endpoint(
        "PUT /v1/users/{id}/watches/{scope}", "manage", put_watch, "Watch a scope, or ignore it", body=WatchBody,
        answers=_NO_USER,
    ),
    Endpoint(
        "DELETE /v1/users/{id}/watches/{scope}", "manage", delete_watch, "Watch a scope no more", success=204,
        answers={404: "No such user or watch"},
    ),
    Endpoint(
        "POST /v1/users/{id}/tokens", "manage", post_token, "Make a token for a user's browser", success=201, body=TokenBody,
        body_is_optional=True, answers=_NO_USER,
    ),
]  # fmt: skip
