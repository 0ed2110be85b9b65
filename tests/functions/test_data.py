"""The doors that know no resource yet: what producers keep, and waiting for outcomes. They say so as every door does."""

from typing import Any

import pytest

from tests.functions.doors import Context, answer_of, handler_of


def _asked(method: str, path: str, route: str) -> dict[str, Any]:
    http = {"method": method, "path": path, "sourceIp": "192.0.2.1"}
    return {"version": "2.0", "routeKey": route, "rawPath": path, "requestContext": {"requestId": "r-1", "http": http}}


@pytest.mark.parametrize("door", ["data", "wait"])
@pytest.mark.parametrize("route", ["$default", "GET /v1/anything/{id}"])
def test_whatever_a_door_without_routes_is_asked_for_is_not_found(door: str, route: str) -> None:
    answer = answer_of(handler_of(door)(_asked("GET", "/v1/anything/1", route), Context()))

    assert answer.status == 404
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json["request_id"] == "r-1"


def test_the_data_door_serves_nothing_of_another_door() -> None:
    answer = answer_of(handler_of("data")(_asked("GET", "/v1/users", "GET /v1/users"), Context()))

    assert answer.status == 404
