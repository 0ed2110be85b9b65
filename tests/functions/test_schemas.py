"""Every answer of a door is held to its schema: what is not promised is noticed."""

import json
from typing import Any

import pytest

from tests.functions import schemas
from tests.functions.doors import Api
from tests.functions.schemas import Unpromised
from tests.world import World

ROUTE = "GET /v1/users/{id}"
HEADERS = {"Content-Type": "application/json"}


@pytest.fixture
def shown(api: Api, world: World) -> dict[str, Any]:
    world.add_user()
    body: dict[str, Any] = api.get("/v1/users/alice").json
    return body


def check(body: Any, status: int = 200, **headers: str) -> None:
    schemas.check(ROUTE, status, HEADERS | headers, json.dumps(body))


def test_an_answer_as_it_is_passes(shown: dict[str, Any]) -> None:
    assert check(shown) is None  # type: ignore[func-returns-value]


@pytest.mark.parametrize(
    "change",
    [
        {"more": 1},
        {"email": 7},
        {"created_at": None},
        {"created_at": "2026-11-18 09:00:00"},
        {"attributes": []},
    ],
    ids=str,
)
def test_an_answer_that_is_not_as_promised_is_noticed(shown: dict[str, Any], change: dict[str, Any]) -> None:
    with pytest.raises(Unpromised):
        check(shown | change)


def test_a_field_that_is_missing_is_noticed(shown: dict[str, Any]) -> None:
    del shown["locale"]

    with pytest.raises(Unpromised, match="locale"):
        check(shown)


def test_a_status_or_a_media_type_that_is_not_promised_is_noticed(shown: dict[str, Any]) -> None:
    with pytest.raises(Unpromised, match="206"):
        check(shown, 206)
    with pytest.raises(Unpromised, match="text/plain"):
        check(shown, **{"Content-Type": "text/plain"})


def test_a_body_where_none_is_promised_is_noticed() -> None:
    with pytest.raises(Unpromised, match="with a body"):
        schemas.check("DELETE /v1/webhooks/{id}", 204, HEADERS, "{}")


def test_whatever_is_called_is_checked(api: Api, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[tuple[str, int]] = []
    monkeypatch.setattr(schemas, "check", lambda route, status, headers, text: checked.append((route, status)))

    api.put("/v1/users/alice", {})
    api.get("/v1/users/alice")

    assert checked == [("PUT /v1/users/{id}", 201), (ROUTE, 200)]
