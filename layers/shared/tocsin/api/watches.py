"""Watches: what a user wants to hear of a whole scope."""

from datetime import datetime
from typing import Annotated, Literal

from typing_extensions import TypedDict

from tocsin.api.users import external_id_of, named_user
from tocsin.foundation.fields import Closed
from tocsin.http import paging, problems
from tocsin.http.answers import PageOf, one_of
from tocsin.http.door import Call, Endpoint, Response
from tocsin.people import watches
from tocsin.store import watches as rows

MOST_WATCHES = 200


class WatchBody(Closed):
    level: Literal["all", "participating", "ignore"]


class ShownWatch(TypedDict):
    """What a user wants to hear of a scope."""

    scope: str
    level: Annotated[str, one_of("all", "participating", "ignore")]
    updated_at: datetime


def list_watches(call: Call) -> Response:
    external_id, after = external_id_of(call), call.request.query.get("cursor")
    with named_user():
        found = watches.list_page(call.conn, call.tenant_id, external_id, limit=MOST_WATCHES + 1, after=after)
    shown = found[:MOST_WATCHES]
    next_cursor = shown[-1].scope if len(found) > MOST_WATCHES else None
    return paging.whole([_shown(one) for one in shown], next_cursor)


def put_watch(call: Call) -> Response:
    body: WatchBody = call.request.parsed(WatchBody)
    scope, external_id = _scope(call), external_id_of(call)
    with named_user():
        watch = watches.watch(call.conn, call.actor, external_id, scope, level=body.level)
    return Response(200, _shown(watch))


def delete_watch(call: Call) -> Response:
    scope, external_id = _scope(call), external_id_of(call)
    with named_user():
        was_watched = watches.stop(call.conn, call.actor, external_id, scope)
    if not was_watched:
        raise problems.not_found("watch")
    return Response(204)


def _scope(call: Call) -> str:
    scope = call.request.path_parameters.get("scope", "")
    if not 1 <= len(scope) <= 255:
        raise problems.invalid_path("scope", "must have 1 to 255 characters")
    return scope


def _shown(watch: rows.Watch) -> ShownWatch:
    return {"scope": watch.scope, "level": watch.level, "updated_at": watch.updated_at}


_NO_USER = {404: "No such user"}


ENDPOINTS = [
    Endpoint(
        "GET /v1/users/{id}/watches",
        "manage",
        list_watches,
        "List what a user watches",
        parameters=[paging.CURSOR],
        answer=PageOf[ShownWatch],
        answers=_NO_USER,
    ),
    Endpoint(
        "PUT /v1/users/{id}/watches/{scope}",
        "manage",
        put_watch,
        "Watch a scope, or ignore it",
        body=WatchBody,
        answer=ShownWatch,
        answers=_NO_USER,
    ),
    Endpoint(
        "DELETE /v1/users/{id}/watches/{scope}",
        "manage",
        delete_watch,
        "Watch a scope no more",
        success=204,
        answers={404: "No such user or watch"},
    ),
]
