"""The service itself: is it up, is it ready, what does it offer; and what to say about everything else."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Any, Literal

from psycopg import errors
from typing_extensions import TypedDict

from tocsin.foundation import database
from tocsin.http import problems
from tocsin.http.door import Endpoint, Request, Response
from tocsin.http.problems import Problem
from tocsin.store import migrations


class ShownHealth(TypedDict):
    """The service is up."""

    status: Literal["ok"]


class Readiness(TypedDict):
    """The service can serve. `schema` is the newest migration that the database has."""

    status: Literal["ready"]
    schema: str


def get_health(request: Request) -> Response:
    health: ShownHealth = {"status": "ok"}
    return Response(200, health)


def get_ready(request: Request) -> Response:
    """Ready when the schema has all that this code needs. What a newer release added to it does not matter, unless that leaves
    older code behind."""
    behind = problems.unavailable("The database schema is not the one this version needs.", retry_after=10)
    try:
        schema = database.run(migrations.schema)
    except (errors.UndefinedTable, errors.InsufficientPrivilege):  # no migration has been here yet, or none that lets us look
        raise behind from None
    if not schema.has_expected:
        raise behind
    if schema.is_left_behind:
        raise problems.unavailable("The database schema is too new for this version.", retry_after=10)
    readiness: Readiness = {"status": "ready", "schema": schema.latest or ""}
    return Response(200, readiness)


def get_openapi(request: Request) -> Response:
    return Response(200, _described())


def get_errors(request: Request) -> Response:
    from tocsin.http.error_page import error_page  # noqa: PLC0415 - rarely asked for

    return error_page()


@cache
def _described() -> dict[str, Any]:
    """Made once: anybody may ask for it, and it takes a fifth of a second."""
    from tocsin.api.examples import EXAMPLES  # noqa: PLC0415 - rarely asked for
    from tocsin.http.openapi import document  # noqa: PLC0415

    return document(every_endpoint(), EXAMPLES)


def otherwise(request: Request) -> Response:
    """No route matched: say whether the path is unknown or only the method is."""
    methods = methods_at(request.path)
    allowed = ", ".join(sorted(methods))
    if methods and request.method == "OPTIONS":
        # API Gateway answers preflights itself, but hands them on where a catch-all route takes every method
        return Response(204, None, {"Allow": allowed})
    if methods and request.method not in methods:
        raise Problem(
            405, "method-not-allowed", "The method is not allowed here", f"This path takes {allowed}.", headers={"Allow": allowed}
        )
    if request.path.endswith("/") and methods_at(request.path.rstrip("/")):
        raise problems.not_found("resource; leave out the slash at the end of the path")
    if not methods and (meant := _meant(request.path[:200])):
        raise problems.not_found(f"resource; did you mean {meant}?")
    raise problems.not_found("resource; GET /v1/openapi.json lists what there is")


def _meant(path: str) -> str | None:
    """A path of the API that this one is nearly: in another case, without its version, misspelt. Variables are not compared."""
    plain = re.sub(r"^(api/)?(v\d+/)?", "", path.lower().strip("/"))
    near: list[tuple[float, str]] = []
    for asked in (["", *plain.split("/")], ["", "v1", *plain.split("/")]):
        for place in _places():
            if len(place.variables) == len(asked) and len(plain) > 2:
                known = [name for name in place.path.split("/") if not name.startswith("{")]
                spelt = [name for name, varies in zip(asked, place.variables, strict=True) if not varies]
                near.append((SequenceMatcher(None, "/".join(spelt), "/".join(known)).ratio(), place.path))
    likeness, meant = max(near, default=(0.0, ""))
    return meant if likeness >= 0.85 else None


def methods_at(path: str) -> set[str]:
    """What the path takes, whichever door serves it. Where several fit, the one with the most of its names spelt out counts."""
    fitting = [one for one in _places() if one.pattern.fullmatch(path)]
    return min(fitting, key=lambda one: one.variables).methods if fitting else set()


def every_endpoint() -> list[Endpoint]:
    from tocsin.api import (  # noqa: PLC0415 - each door imports its own; only what describes them all needs every one
        abandoned_executions,
        api_keys,
        audit_log,
        books,
        brand,
        dead_letters,
        decisions,
        devices,
        diagnostics,
        email_log,
        erasures,
        event_routing,
        events,
        inbox,
        intents,
        jobs,
        kv,
        lanes,
        layouts,
        malformed_intents,
        me,
        messages,
        metrics,
        notification_types,
        notifications,
        preferences,
        preferences_link,
        providers,
        retention,
        search,
        status,
        stuck_notifications,
        suppressions,
        system_events,
        templates,
        tenants,
        threads,
        triggers,
        unsubscribe,
        user_tokens,
        users,
        wait,
        watches,
        webhook_deliveries,
        webhooks,
    )
    from tocsin.http import assets  # noqa: PLC0415

    modules = (
        *(intents, wait, events, notifications, messages, search, decisions),
        *(inbox, threads, preferences, users, devices, api_keys, event_routing, watches),
        *(user_tokens, templates, layouts, notification_types, suppressions, brand, providers, abandoned_executions),
        *(unsubscribe, preferences_link),
        *(kv, triggers, webhooks, webhook_deliveries),
        *(tenants, erasures),
        *(dead_letters, jobs, email_log),
        *(metrics, stuck_notifications, books),
        retention,
        *(status, diagnostics, lanes, system_events, malformed_intents),
        *(audit_log, me),
    )
    others = [*inbox.LIVE_ENDPOINTS, *assets.serve(Path()), *assets.serve_console(Path()), *ENDPOINTS]
    return [endpoint for module in modules for endpoint in module.ENDPOINTS] + others


@dataclass(frozen=True, slots=True)
class _Place:
    """A path of the API with all its methods. `variables` says which of its segments are not spelt out, from left to right."""

    path: str
    pattern: re.Pattern[str]
    variables: list[bool]
    methods: set[str]


@cache
def _places() -> list[_Place]:
    by_path: dict[str, set[str]] = {}
    for endpoint in every_endpoint():
        method, path = endpoint.route.split(" ", 1)
        by_path.setdefault(path, set()).add(method)
    for endpoint in ENDPOINTS:
        by_path[endpoint.route.split(" ", 1)[1]].add("HEAD")  # this door takes what no route does, HEAD with it
    return [
        _Place(
            path,
            re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path))),
            [segment.startswith("{") for segment in path.split("/")],
            methods,
        )
        for path, methods in by_path.items()
    ]


ENDPOINTS = [
    Endpoint("GET /health", None, get_health, "Is the service up? (asks nothing of the database)", answer=ShownHealth),
    Endpoint("GET /ready", None, get_ready, "Can it serve? (database and schema)", answers={503: "Not ready"}, answer=Readiness),
    Endpoint("GET /v1/openapi.json", None, get_openapi, "This document", answer=dict[str, Any]),
    Endpoint(
        "GET /errors",
        None,
        get_errors,
        "What the types of problems mean, and what to do about them",
        answer_types=("text/html",),
        is_link=True,
    ),
]
