"""The service itself: is it up, is it ready, what does it offer; and what to say about everything else."""

import re
from functools import cache
from pathlib import Path

from psycopg import errors

from tocsin import database, problems
from tocsin.http import Endpoint, Request, Response
from tocsin.problems import Problem
from tocsin.store import migrations


def get_health(request: Request) -> Response:
    return Response(200, {"status": "ok"})


def get_ready(request: Request) -> Response:
    """Ready when the schema has all that this code needs; what a newer release added to it does not matter."""
    behind = problems.unavailable("The database schema is not the one this version needs.", retry_after=10)
    try:
        schema = database.run(migrations.schema)
    except (errors.UndefinedTable, errors.InsufficientPrivilege):  # no migration has been here yet, or none that lets us look
        raise behind from None
    if not schema.has_expected:
        raise behind
    return Response(200, {"status": "ready", "schema": schema.latest})


def get_openapi(request: Request) -> Response:
    from tocsin.api.openapi import document  # noqa: PLC0415 - rarely asked for

    return Response(200, document(every_endpoint()))


def otherwise(request: Request) -> Response:
    """No route matched: say whether the path is unknown or only the method is."""
    allowed = [method for method, pattern in _patterns() if pattern.fullmatch(request.path)]
    if allowed and request.method == "OPTIONS":
        # API Gateway answers preflights itself, but hands them on where a catch-all route takes every method
        return Response(204, None, {"Allow": ", ".join(sorted(set(allowed)))})
    if allowed:
        raise Problem(
            405,
            "method-not-allowed",
            "The method is not allowed here",
            f"This path takes {', '.join(sorted(set(allowed)))}.",
            headers={"Allow": ", ".join(sorted(set(allowed)))},
        )
    raise problems.not_found("resource; GET /v1/openapi.json lists what there is")


def every_endpoint() -> list[Endpoint]:
    from tocsin.api import (  # noqa: PLC0415 - a cold path
        asking,
        assets,
        gathering,
        inbox,
        managing,
        preferring,
        providing,
        sending,
        suppressing,
        telling,
        wording,
    )  # fmt: skip

    modules = (sending, telling, asking, inbox, preferring, managing, gathering, wording, suppressing, providing)
    others = [*inbox.LIVE_ENDPOINTS, *assets.serve(Path()), *suppressing.PUBLIC_ENDPOINTS, *ENDPOINTS]
    return [endpoint for module in modules for endpoint in module.ENDPOINTS] + others


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    pairs = (endpoint.route.split(" ", 1) for endpoint in every_endpoint())
    return [(method, re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)))) for method, path in pairs]


ENDPOINTS = [
    Endpoint("GET /health", None, get_health, "Is the service up? (asks nothing of the database)"),
    Endpoint("GET /ready", None, get_ready, "Can it serve? (database and schema)", answers={503: "Not ready"}),
    Endpoint("GET /v1/openapi.json", None, get_openapi, "This document"),
]
