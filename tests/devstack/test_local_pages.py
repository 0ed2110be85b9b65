"""The pages of the local stack: strict policy, no key in any of them, JSON for programs, and acts for this machine alone."""

import json
import re
from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import pytest

from devstack.api_access import ApiAccess
from devstack.console_access import ConsoleAccess
from devstack.declared import Route
from devstack.environment import Outcome
from devstack.gateway import Gateway
from devstack.local_pages import LocalPages
from devstack.overview import Overview
from devstack.page_files import FOLDER, LENT
from devstack.people import People
from tests.devstack.front_door import Functions, ask

KEYS = ("the-admin-key", "the-console-key", "the-api-key")
PAGES = ("/_local/", "/_local/mailbox", "/_local/inbox", "/_local/overview", "/_local/nowhere")
FILES = sorted({path.name for path in FOLDER.iterdir() if path.suffix in {".js", ".css"}} | set(LENT))
IMPORT = re.compile(r'(?:import|export)\b[^"\';]*?\bfrom\s*"\./([^"]+)"')
NOTIFICATION = "/_local/api/v1/notifications/01a1-b2"


def _letter(number: int, to: str) -> dict[str, Any]:
    told: dict[str, Any] = {
        "channel": "email",
        "provider": "ses",
        "from": "tocsin@example.com",
        "to": [to],
        "subject": "Hello",
        "text": "Hi",
    }
    told |= {"html": "<p>Hi</p>", "headers": {}, "tags": {}, "configuration_set": None, "message_id": f"id-{number}"}
    return told | {"id": number, "accepted_at": "2026-11-16T02:00:00.000Z"}


@pytest.fixture
def api() -> Functions:
    functions = Functions()
    functions.outcome = Outcome({"statusCode": 200, "headers": {"content-type": "application/json"}, "body": '{"data": []}'})
    return functions


@pytest.fixture
def gateway(api: Functions) -> Iterator[Gateway]:
    made = Gateway(0, routes=[Route("ANY", "$default", "Api")], invoke=api)
    schedule = Mock(expression="rate(1 minute)")
    schedule.name = "EveryMinute"
    declared = Mock(routes=(Route("GET", "/health", "Intake"), Route("ANY", "$default", "Api")), schedules=(schedule,), queues=())
    made.local_pages = LocalPages(
        Overview(made.url, declared, lambda: {"PlanQueue": {"waiting": 3, "in_flight": 1}}),
        letters=lambda: [_letter(1, "ada@example.com"), _letter(2, "bo@example.com")],
        people=People(made.url, "the-admin-key"),
        console=ConsoleAccess("the-console-key", "http://127.0.0.1:1"),
        api=ApiAccess(made.url, "the-api-key"),
        url=made.url,
    )
    made.start()
    yield made
    made.stop(patience=0)


@pytest.mark.parametrize("place", PAGES)
def test_a_page_runs_nothing_but_its_own_files_and_holds_no_key(gateway: Gateway, place: str) -> None:
    response, content = ask(gateway, "GET", place, accept="text/html")
    page = content.decode()

    assert response.status == (404 if place.endswith("nowhere") else 200)
    policy = dict(part.split(" ", 1) for part in response.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == policy["img-src"] == "'self'"
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", page)
    assert set(re.findall(r'<(?:script|link|img)[^>]* (?:src|href)="/_local/files/([^"]+)"', page)) <= set(FILES)
    assert not re.search(r'<(?:script|link|img)[^>]* (?:src|href)="(?!/_local/files/)', page)
    assert not [key for key in KEYS if key in page]
    assert (response.headers["cache-control"], response.headers["x-content-type-options"]) == ("no-store", "nosniff")


@pytest.mark.parametrize("place", PAGES)
def test_a_page_has_landmarks_one_heading_of_all_and_says_where_one_is(gateway: Gateway, place: str) -> None:
    page = ask(gateway, "GET", place, accept="text/html")[1].decode()

    assert [page.count(f"<{name}") for name in ("header", "nav", "main", "h1")] == [1, 1, 1, 1]
    assert page.count('aria-current="page"') == (0 if place.endswith("nowhere") else 1)


def test_programs_get_what_they_always_got(gateway: Gateway) -> None:
    overview = {
        "base_url": gateway.url,
        "pages": ["/console", "/_local/", "/_local/mailbox", "/_local/inbox", "/health", "/ready", "/v1/openapi.json"],
        "queues": {"PlanQueue": {"waiting": 3, "in_flight": 1}},
        "routes": ["GET /health", "$default"],
        "schedules": {"EveryMinute": "rate(1 minute)"},
    }

    for place in ("/_local", "/_local/", "/_local/overview"):
        response, content = ask(gateway, "GET", place)
        assert (response.headers["content-type"], json.loads(content)) == ("application/json", overview)
    assert [each["id"] for each in json.loads(ask(gateway, "GET", "/_local/mailbox")[1])["data"]] == [2, 1]
    assert json.loads(ask(gateway, "GET", "/_local/nowhere")[1]) == {"message": "Not Found"}
    assert ask(gateway, "POST", "/_local/mailbox")[0].status == 405


def test_the_overview_has_queues_routes_and_schedules(gateway: Gateway) -> None:
    page = ask(gateway, "GET", "/_local/overview", accept="text/html")[1].decode()

    assert '<td data-label="Queue">PlanQueue</td><td data-label="Waiting">3</td><td data-label="In flight">1</td>' in page
    assert '<td data-label="Path">$default</td>' in page
    assert '<td data-label="When">rate(1 minute)</td>' in page


def test_what_the_start_page_names_is_there(gateway: Gateway) -> None:
    page = ask(gateway, "GET", "/_local/", accept="text/html")[1].decode()

    named = re.findall(r"<code>((?:docs/|README)[\w./-]+)</code>", page)

    assert len(named) > 5
    assert [each for each in named if not (FOLDER.parents[1] / each).is_file()] == []


def test_the_mailbox_of_one_recipient(gateway: Gateway) -> None:
    found = json.loads(ask(gateway, "GET", "/_local/mailbox?to=ada@example.com&to=%2B1415")[1])["data"]

    assert [each["to"] for each in found] == [["ada@example.com"]]


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_served_as_what_it_is_and_so_is_what_it_imports(gateway: Gateway, name: str) -> None:
    kinds = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "svg": "image/svg+xml"}

    response, content = ask(gateway, "GET", f"/_local/files/{name}")

    assert (response.status, response.headers["content-type"]) == (200, kinds[name.rpartition(".")[2]])
    assert set(IMPORT.findall(content.decode())) <= set(FILES)


@pytest.mark.parametrize("name", ["start.html", "..%2Fstack.py", "../stack.py", "app.js", ""])
def test_nothing_else_is_served_as_a_file(gateway: Gateway, name: str) -> None:
    assert ask(gateway, "GET", f"/_local/files/{name}")[0].status == 404


def test_a_browser_finds_a_picture_and_whoever_types_the_address_the_start_page(gateway: Gateway, api: Functions) -> None:
    icon, _ = ask(gateway, "GET", "/favicon.ico")
    page, _ = ask(gateway, "GET", "/", accept="text/html,*/*")

    assert (icon.status, icon.headers["content-type"]) == (200, "image/svg+xml")
    assert (page.status, page.headers["location"]) == (303, "/_local/")
    assert api.asked == []
    ask(gateway, "GET", "/")
    assert api.event["rawPath"] == "/"


def test_a_call_of_the_start_page_reaches_the_api_with_the_developers_key(gateway: Gateway, api: Functions) -> None:
    sent = {"tocsin_local": "start", "idempotency_key": "k-1", "content_type": "application/json"}

    response, content = ask(gateway, "POST", "/_local/api/v1/intents", '{"type": "note"}', **sent)

    assert (response.status, json.loads(content)) == (200, {"data": []})
    assert api.event["rawPath"] == "/v1/intents"
    assert api.event["body"] == '{"type": "note"}'
    headers = api.event["headers"]
    assert (headers["authorization"], headers["idempotency-key"]) == ("Bearer the-api-key", "k-1")
    assert b"the-api-key" not in content


@pytest.mark.parametrize("headers", [{}, {"tocsin_local": ""}, {"tocsin_local": "1", "host": "rebound.example.com"}])
def test_a_page_of_another_site_makes_no_call(gateway: Gateway, api: Functions, headers: dict[str, str]) -> None:
    for method, path in (("POST", "/_local/api/v1/intents"), ("GET", NOTIFICATION), ("PUT", "/_local/faults")):
        assert ask(gateway, method, path, **headers)[0].status == 403

    assert api.asked == []


def test_nor_is_it_told_that_it_may_ask_first(gateway: Gateway, api: Functions) -> None:
    asks = {"origin": "https://evil.example", "access_control_request_method": "POST"}

    response, _ = ask(gateway, "OPTIONS", "/_local/api/v1/intents", access_control_request_headers="tocsin-local", **asks)

    assert response.status == 405
    assert not [name for name in response.headers if name.lower().startswith("access-control-")]
    assert api.asked == []


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/api-keys"),
        ("POST", "/v1/api-keys"),
        ("GET", "/v1/intents"),
        ("GET", "/v1/notifications/a/../../api-keys"),
        ("GET", "/v1/notifications/a%2Fb"),
        ("POST", "/v1/users/a/tokens"),
    ],
)
def test_the_start_page_makes_its_own_calls_and_no_others(gateway: Gateway, api: Functions, method: str, path: str) -> None:
    response, _ = ask(gateway, method, f"/_local/api{path}", tocsin_local="start")

    assert response.status == 404
    assert api.asked == []


def test_an_api_that_is_gone_is_said_and_not_fallen_over(gateway: Gateway) -> None:
    gateway.local_pages._api = ApiAccess("http://127.0.0.1:9", "the-api-key")  # type: ignore[union-attr]

    response, content = ask(gateway, "GET", NOTIFICATION, tocsin_local="start")

    assert (response.status, json.loads(content)) == (503, {"message": "The API does not answer."})
