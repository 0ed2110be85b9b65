"""What the OpenAPI document promises and what comes back: every status and media type of every operation is named in it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.functions import schemas
from tests.functions.doors import Answer, Api
from tests.functions.operations import EVERY, Ask, Stage
from tests.world import World
from tocsin.access import key_format
from tocsin.foundation.ids import uuid7
from tocsin.http.door import Endpoint

BODIES = ["", "{", "null", "[]", "{}", '{"nonsense":1}', '{"a":1,"a":2}', json.dumps({"x": "y" * 300_000})]
WORDS = ["nonsense", "x" * 300, "%00", "%ff", "00000000-0000-7000-8000-00000000000f"]


def _named(endpoint: Endpoint) -> dict[int, set[str]]:
    """The media types that the document names for each status of an operation; none where there is no body."""
    method, path = endpoint.route.split(" ", 1)
    document = Api().get("/v1/openapi.json").json
    responses = document["paths"][path][method.lower()]["responses"]
    return {int(status): set(told.get("content", {})) for status, told in responses.items()}


def _answered(answer: Answer) -> tuple[int, str]:
    return answer.status, answer.headers.get("Content-Type", "").partition(";")[0] if answer.text else ""


def _unnamed(endpoint: Endpoint, answers: list[Answer]) -> set[tuple[int, str]]:
    named = _named(endpoint)
    return {
        (status, kind)
        for status, kind in map(_answered, answers)
        if status not in named or (kind not in named[status] if kind else bool(named[status]) and status in (204, 303, 304))
    }


def _hostile(stage: Stage, endpoint: Endpoint) -> Iterator[Answer]:
    """A request that succeeds, and all that can be made of it by one change."""
    api, ask = stage.api, stage.ask(endpoint)
    first = ask.send(api)
    assert first.status in (endpoint.success, 201, 303), first.text
    assert bool(schemas.promised(endpoint.route)[first.status]) == bool(first.text), "it was not held to its schema"
    yield first
    yield ask.with_headers(if_none_match=first.headers.get("ETag", "*")).send(api)
    yield ask.send(api)  # the same again: it may be gone, or done
    yield from (ask.send(api, key=key) for key in ("", "nonsense", stage.world.add_key("data")))
    yield replace(ask, query={}).send(api)
    yield replace(ask, body='{"a":1}').with_headers(content_type="text/plain").send(api)
    yield from (replace(ask, body=body).send(api) for body in BODIES)
    for place in ask.path:
        yield from (replace(ask, raw_path={place: word}).send(api) for word in WORDS)
    for parameter in [*(one["name"] for one in endpoint.parameters if one["in"] == "query"), "unheard-of"]:
        rest = {name: value for name, value in ask.query.items() if name != parameter}
        yield from (replace(ask, query=rest, raw_query=f"{parameter}={word}").send(api) for word in WORDS)


@pytest.mark.parametrize("endpoint", EVERY, ids=lambda endpoint: endpoint.route)
def test_every_answer_to_a_hostile_request_is_named(stage: Stage, endpoint: Endpoint) -> None:
    assert _unnamed(endpoint, list(_hostile(stage, endpoint))) == set()


@pytest.mark.parametrize("route", ["POST /v1/intents", "POST /v1/intents/batch", "POST /v1/events"])
def test_being_above_the_limit_is_named(stage: Stage, route: str) -> None:
    (endpoint,) = [one for one in EVERY if one.route == route]
    stage.world.admin.execute("UPDATE api_keys SET rate_limit = 1")
    key = stage.world.add_key("send")
    stage.world.admin.execute("UPDATE api_keys SET rate_limit = 1")

    answers = [stage.ask(endpoint).send(stage.api, key=key) for _ in range(3)]

    assert answers[-1].status == 429
    assert _unnamed(endpoint, answers) == set()


@pytest.mark.parametrize("endpoint", EVERY, ids=lambda endpoint: endpoint.route)
def test_a_database_out_of_reach_is_named(database_down: None, world: World, endpoint: Endpoint) -> None:
    places: dict[str, Any] = {"asset": "demo"}
    named = ("id", "kind", "channel", "token", "scope", "event_type", "name", "asset", "collection", "key")
    path = {name: places.get(name, "x") for name in named}
    api = Api(key_format.mint(uuid7(), "live").plain)

    answer = Ask(endpoint, path=path, body={} if endpoint.body else None).send(api)

    assert _unnamed(endpoint, [answer]) == set()
