"""The way into anybody's inbox on this machine: choose a user, and the demonstration page opens with her token."""

import json
from collections.abc import Iterator
from http.client import HTTPResponse
from typing import Any
from unittest.mock import Mock
from urllib.parse import quote

import pytest

from devstack.api_access import ApiAccess
from devstack.console_access import ConsoleAccess
from devstack.declared import Route
from devstack.environment import Outcome
from devstack.gateway import Gateway
from devstack.local_pages import LocalPages
from devstack.overview import Overview
from devstack.people import People
from tests.devstack.front_door import ask

ROUTES = (
    Route("GET", "/v1/users", "Manage"),
    Route("PUT", "/v1/users/{id}", "Manage"),
    Route("POST", "/v1/users/{id}/tokens", "Manage"),
)


class Api:
    """As much of the service as the page needs."""

    def __init__(self) -> None:
        self.users = ["ada", "<b>&"]
        self.asked: list[str] = []
        self.refusal: dict[str, Any] | None = None

    def __call__(self, function: str, event: dict[str, Any]) -> Outcome:
        assert event["headers"]["authorization"] == "Bearer the-admin-key"
        user = event.get("pathParameters", {}).get("id", "")
        self.asked.append(f"{event['requestContext']['http']['method']} {event['rawPath']}")
        if self.refusal:
            return _json(422, self.refusal)
        if event["routeKey"] == "GET /v1/users":
            return _json(200, {"data": [{"id": each} for each in self.users], "next_cursor": None})
        if event["routeKey"] == "PUT /v1/users/{id}":
            self.users.append(user)
            return _json(201, {"id": user})
        if user not in self.users:
            return _json(404, {"type": "not-found"})
        return _json(201, {"token": f"token-of-{user}", "expires_at": "2026-11-17T00:00:00Z"})


def _json(status: int, body: Any) -> Outcome:
    return Outcome({"statusCode": status, "headers": {"content-type": "application/json"}, "body": json.dumps(body)})


@pytest.fixture
def api() -> Api:
    return Api()


def _pages(gateway: Gateway, url: str = "") -> LocalPages:
    return LocalPages(
        Overview(url or gateway.url, Mock(routes=(), schedules=(), queues=()), dict),
        letters=list,
        people=People(gateway.url, "the-admin-key"),
        console=ConsoleAccess("the-console-key", "http://127.0.0.1:1"),
        api=ApiAccess(gateway.url, "the-api-key"),
        url=url or gateway.url,
        elsewhere=url,
    )


@pytest.fixture
def gateway(api: Api) -> Iterator[Gateway]:
    made = Gateway(0, routes=ROUTES, invoke=api)
    made.local_pages = _pages(made)
    made.start()
    yield made
    made.stop(patience=0)


def open_inbox(gateway: Gateway, query: str = "") -> tuple[HTTPResponse, str]:
    response, content = ask(gateway, "GET", f"/_local/inbox{query}", accept="text/html")
    return response, content.decode()


def test_a_user_gets_to_the_demonstration_page_with_her_token(gateway: Gateway, api: Api) -> None:
    response, _ = open_inbox(gateway, "?user=ada")

    assert (response.status, response.headers["location"]) == (303, "/inbox/demo#token=token-of-ada")
    assert response.headers["cache-control"] == "no-store"
    assert api.asked == ["POST /v1/users/ada/tokens"]


def test_where_the_api_is_elsewhere_the_pages_lead_there(gateway: Gateway) -> None:
    gateway.local_pages = _pages(gateway, "http://127.0.0.1:3000")

    response, _ = open_inbox(gateway, "?user=ada")
    _, overview = ask(gateway, "GET", "/_local/overview", accept="text/html")
    page, choice = open_inbox(gateway)

    assert response.headers["location"] == "http://127.0.0.1:3000/inbox/demo#token=token-of-ada"
    assert 'href="http://127.0.0.1:3000/health"' in overview.decode()
    assert 'href="/_local/mailbox"' in overview.decode()
    assert 'href="http://127.0.0.1:3000/console"' in choice
    assert "form-action 'self' http://127.0.0.1:3000;" in page.headers["content-security-policy"]


def test_somebody_new_is_made_on_the_way(gateway: Gateway, api: Api) -> None:
    response, _ = open_inbox(gateway, "?user=alice")

    assert response.headers["location"] == "/inbox/demo#token=token-of-alice"
    assert api.asked == ["POST /v1/users/alice/tokens", "PUT /v1/users/alice", "POST /v1/users/alice/tokens"]


def test_an_id_with_strange_characters_stays_one_id(gateway: Gateway, api: Api) -> None:
    response, _ = open_inbox(gateway, f"?user={quote('a/b?c#d é', safe='')}")

    assert response.status == 303
    assert "a/b?c#d é" in api.users


def test_without_a_user_there_is_a_choice(gateway: Gateway) -> None:
    response, page = open_inbox(gateway)

    assert response.status == 200
    assert '<input id="user" name="user" value="alice"' in page
    assert '<a href="?user=ada">ada</a>' in page
    assert '<a href="?user=%3Cb%3E%26">&lt;b&gt;&amp;</a>' in page


def test_a_program_gets_the_choice_as_json(gateway: Gateway, api: Api) -> None:
    response, content = ask(gateway, "GET", "/_local/inbox")

    assert (response.status, json.loads(content)) == (200, {"users": api.users})


def test_what_the_api_refuses_is_passed_on(gateway: Gateway, api: Api) -> None:
    api.refusal = {"type": "invalid-request", "detail": "A user id has 1 to 255 characters."}

    response, content = ask(gateway, "GET", f"/_local/inbox?user={'x' * 300}")
    page, words = open_inbox(gateway, f"?user={'x' * 300}")

    assert (response.status, json.loads(content)) == (422, api.refusal)
    assert page.status == 422
    assert '<p class="notice bad" role="alert">A user id has 1 to 255 characters.</p>' in words
