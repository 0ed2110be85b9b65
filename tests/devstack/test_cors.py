"""Pages of other origins: what the gateway lets them do is what the template says, and never what a function says."""

from collections.abc import Iterator
from dataclasses import replace
from http.client import HTTPResponse

import pytest

from devstack.declared import Cors
from devstack.environment import Outcome
from devstack.gateway import Gateway
from tests.devstack.front_door import ROUTES, Functions, ask

PAGE = "https://app.example.com"
CORS = Cors(
    origins=("https://other.example.com", PAGE),
    methods=("GET", "PATCH"),
    headers=("authorization", "if-none-match"),
    exposed=("etag",),
    max_age=600,
    with_credentials=False,
)


@pytest.fixture
def functions() -> Functions:
    return Functions()


@pytest.fixture
def gateway(functions: Functions) -> Iterator[Gateway]:
    made = Gateway(0, routes=ROUTES, cors=CORS, invoke=functions)
    made.start()
    yield made
    made.stop(patience=0)


def said(response: HTTPResponse) -> dict[str, str]:
    return {name: value for name, value in response.getheaders() if name.startswith("access-control-")}


def test_a_preflight_is_answered_by_the_gateway_itself(gateway: Gateway, functions: Functions) -> None:
    response, content = ask(gateway, "OPTIONS", "/things/1", origin=PAGE, access_control_request_method="PATCH")

    assert (response.status, content) == (204, b"")
    assert said(response) == {
        "access-control-allow-origin": PAGE,
        "access-control-allow-methods": "GET,PATCH",
        "access-control-allow-headers": "authorization,if-none-match",
        "access-control-max-age": "600",
    }
    assert functions.asked == []


def test_a_preflight_to_a_path_that_nobody_serves_is_not_left_to_the_catch_all(gateway: Gateway, functions: Functions) -> None:
    response, _ = ask(gateway, "OPTIONS", "/nowhere", origin=PAGE, access_control_request_method="GET")

    assert response.status == 204
    assert functions.asked == []


@pytest.mark.parametrize("headers", [{}, {"origin": PAGE}, {"access_control_request_method": "GET"}])
def test_options_that_are_no_preflight_go_to_their_function(
    gateway: Gateway, functions: Functions, headers: dict[str, str]
) -> None:
    ask(gateway, "OPTIONS", "/things/1", **headers)

    assert [function for function, _ in functions.asked] == ["AnyThing"]


def test_the_answer_to_an_allowed_page_says_what_it_may_read(gateway: Gateway) -> None:
    response, content = ask(gateway, "GET", "/things/1", origin=PAGE)

    assert content == b"fine"
    assert said(response) == {"access-control-allow-origin": PAGE, "access-control-expose-headers": "etag"}


def test_what_a_function_says_of_it_is_dropped(gateway: Gateway, functions: Functions) -> None:
    functions.outcome = Outcome({"statusCode": 200, "headers": {"Access-Control-Allow-Origin": "*", "ETag": "1"}, "body": "fine"})

    allowed, _ = ask(gateway, "GET", "/things/1", origin=PAGE)
    stranger, _ = ask(gateway, "GET", "/things/1", origin="https://evil.example.com")

    assert said(allowed)["access-control-allow-origin"] == PAGE
    assert said(stranger) == {}
    assert stranger.headers["etag"] == "1"


@pytest.mark.parametrize(("method", "status"), [("GET", 200), ("OPTIONS", 204)])
@pytest.mark.parametrize(
    "origin", ["https://evil.example.com", "http://app.example.com", "https://app.example.com.evil.com", "null"]
)
def test_a_stranger_is_told_nothing(gateway: Gateway, method: str, status: int, origin: str) -> None:
    response, _ = ask(gateway, method, "/things/1", origin=origin, access_control_request_method="GET")

    assert (response.status, said(response)) == (status, {})


@pytest.mark.parametrize(
    ("allowed", "origin", "answer"),
    [
        ("*", PAGE, "*"),
        ("*", "null", "*"),
        ("https://*", PAGE, PAGE),
        ("https://*", "http://app.example.com", None),
        ("https://*.example.com", PAGE, None),
    ],
)
def test_there_are_two_wildcards(gateway: Gateway, allowed: str, origin: str, answer: str | None) -> None:
    gateway.cors = replace(CORS, origins=(allowed,))

    response, _ = ask(gateway, "GET", "/things/1", origin=origin)

    assert response.headers["access-control-allow-origin"] == answer


def test_a_page_that_comes_with_cookies_is_told_that_it_may(gateway: Gateway) -> None:
    gateway.cors = replace(CORS, with_credentials=True)

    response, _ = ask(gateway, "GET", "/things/1", origin=PAGE)

    assert response.headers["access-control-allow-credentials"] == "true"


def test_a_gateway_without_a_configuration_keeps_out_of_it(gateway: Gateway, functions: Functions) -> None:
    gateway.cors = None
    functions.outcome = Outcome({"statusCode": 200, "headers": {"Access-Control-Allow-Origin": "*"}, "body": "fine"})

    response, _ = ask(gateway, "OPTIONS", "/things/1", origin=PAGE, access_control_request_method="GET")

    assert said(response) == {"access-control-allow-origin": "*"}
    assert len(functions.asked) == 1
