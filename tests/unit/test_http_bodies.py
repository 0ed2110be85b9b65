"""Bodies: of several things wrong, the first in the order size, type, syntax, meaning is told."""

import base64
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from tests.unit.http_events import Answer, an_event, ask
from tocsin.foundation.fields import MAX_BODY
from tocsin.http.door import Endpoint, Request, Response, door

JSON = {"content-type": "application/json"}
TOO_LARGE = "[" * (MAX_BODY + 1)
BROKEN = '{"name": '
AMBIGUOUS = '{"name": "a", "name": "b"}'
MISSHAPEN = '{"nmae": "a"}'


class Named(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str


def read(request: Request) -> Response:
    return Response(200, request.parsed(Named).model_dump())


def sent(body: str | None, headers: dict[str, str] | None = None, **event: Any) -> Answer:
    handler = door([Endpoint("POST /x", None, read, "x")])
    return ask(handler, an_event("POST /x", body=body, headers=JSON if headers is None else headers, **event))


@pytest.mark.parametrize(
    ("body", "headers", "status", "kind"),
    [
        (TOO_LARGE, {}, 413, "too-large"),
        (TOO_LARGE, JSON, 413, "too-large"),
        (BROKEN, {}, 415, "unsupported-media-type"),
        (BROKEN, JSON, 400, "invalid-json"),
        (None, JSON, 400, "invalid-json"),
        (AMBIGUOUS, {}, 415, "unsupported-media-type"),
        (AMBIGUOUS, JSON, 422, "invalid-request"),
        (MISSHAPEN, JSON, 422, "invalid-request"),
        ('"' + "x" * (MAX_BODY - 2) + '"', JSON, 422, "invalid-request"),
    ],
)
def test_the_first_thing_wrong_is_what_is_told(body: str | None, headers: dict[str, str], status: int, kind: str) -> None:
    got = sent(body, headers)

    assert got.is_problem
    assert (got.status, got.body["type"]) == (status, f"/errors#{kind}")


def test_a_body_is_measured_in_bytes_and_after_its_base64_is_undone() -> None:
    fits = b'{"name": "' + b"x" * (MAX_BODY - 12) + b'"}'
    assert len(fits) == MAX_BODY

    assert sent(base64.b64encode(fits).decode(), isBase64Encoded=True).status == 200
    assert sent(base64.b64encode(fits + b" ").decode(), isBase64Encoded=True).status == 413
    assert sent('{"name": "' + "ü" * (MAX_BODY // 2) + '"}').status == 413


@pytest.mark.parametrize(
    "media_type",
    [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=UTF-8",
        'application/json; charset="utf-8"',
        " application/json ",
    ],
)
def test_json_in_utf8_is_taken_however_it_is_nudged(media_type: str) -> None:
    assert sent('{"name": "a"}', {"Content-Type": media_type}).status == 200


@pytest.mark.parametrize(
    "media_type",
    [
        "",
        "text/json",
        "application/jsonp",
        "application/xml",
        "application/json; charset=latin-1",
        "application/problem+json",
        "json",
    ],
)
def test_anything_else_is_a_415(media_type: str) -> None:
    assert sent('{"name": "a"}', {"Content-Type": media_type}).status == 415


def test_a_misshapen_body_is_told_with_pointers() -> None:
    errors = sent(MISSHAPEN).body["errors"]

    assert errors == [
        {"pointer": "/name", "message": "is required"},
        {"pointer": "/nmae", "message": "is not a known field; did you mean `name`?"},
    ]


@pytest.mark.parametrize(
    "body",
    [
        BROKEN,
        AMBIGUOUS,
        MISSHAPEN,
        "[" * 1000,
        '"\\ud800"',
        '{"\\u0000": 1}',
        "1e999",
        '{"name": 99999999999999999999}',
        "\ud800",
    ],
)
def test_no_body_of_any_kind_is_a_fault_of_ours(body: str) -> None:
    got = sent(body)

    assert got.is_problem
    assert got.status in (400, 422)
