"""The OpenAPI document describes what is served, all of it and nothing else."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.http_events import an_event, ask
from tocsin.access.key_format import SCOPES
from tocsin.api import (
    abandoned_executions,
    about,
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
from tocsin.http import assets
from tocsin.http.door import ANY_KEY, Endpoint, door
from tocsin.intake.cloud_events import BATCHED, STRUCTURED

EVERY = about.every_endpoint()
SERVED = {endpoint.route for endpoint in EVERY}


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    answer = ask(door(about.ENDPOINTS), an_event("GET /v1/openapi.json"))
    assert answer.status == 200
    body: dict[str, Any] = answer.body
    return body


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        discriminator = part.get("discriminator")
        if isinstance(discriminator, dict):
            yield from discriminator.get("mapping", {}).values()
        for inner in part.values():
            yield from references(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from references(inner)


def test_every_endpoint_is_in_it_once(document: dict[str, Any]) -> None:
    described = [route for route, _ in operations(document)]

    assert sorted(described) == sorted(SERVED)
    assert len(EVERY) == len(SERVED)


def test_every_list_of_endpoints_is_served() -> None:
    modules = (
        *(intents, wait, events, notifications, messages, search, decisions),
        *(inbox, threads, preferences, users, devices, api_keys, event_routing, watches),
        *(user_tokens, templates, layouts, notification_types, suppressions, brand, providers, abandoned_executions),
        *(unsubscribe, preferences_link, about),
        *(kv, triggers, webhooks, webhook_deliveries),
        *(metrics, stuck_notifications, books),
        retention,
        *(status, diagnostics, lanes, system_events, malformed_intents),
        *(dead_letters, jobs, email_log),
        *(audit_log, me),
        *(tenants, erasures),
    )
    listed = [endpoint for module in modules for endpoint in module.ENDPOINTS]
    others = [*inbox.LIVE_ENDPOINTS, *assets.serve(Path()), *assets.serve_console(Path())]

    assert {endpoint.route for endpoint in [*listed, *others]} == SERVED


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    found = set(references(document))

    assert "#/components/schemas/Intent" in found
    for reference in found:
        place: Any = document
        for step in reference.removeprefix("#/").split("/"):
            assert step in place, reference
            place = place[step]


def test_every_operation_has_a_name_of_its_own_and_a_summary(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, operation in operations(document)]

    assert len(set(names)) == len(names)
    assert all(operation["summary"] for _, operation in operations(document))


def test_every_place_in_a_path_is_a_parameter(document: dict[str, Any]) -> None:
    for route, operation in operations(document):
        described = {one["name"] for one in operation["parameters"] if one["in"] == "path"}

        assert described == set(re.findall(r"\{(\w+)\}", route))


@pytest.mark.parametrize("endpoint", EVERY, ids=lambda endpoint: endpoint.route)
def test_what_needs_a_key_says_so_and_names_its_scope(document: dict[str, Any], endpoint: Endpoint) -> None:
    operation = dict(operations(document))[endpoint.route]

    if endpoint.scope is None:
        assert operation["security"] == []
        assert "401" not in operation["responses"]
    else:
        assert endpoint.scope in (*SCOPES, ANY_KEY)
        assert operation["security"] == [{"key": []}, *([{"user_token": []}] if endpoint.is_personal else [])]
        assert ("whatever its scopes" if endpoint.scope == ANY_KEY else endpoint.scope) in operation["description"]
        assert {"401", "403", str(endpoint.success)} <= operation["responses"].keys()


@pytest.mark.parametrize("endpoint", [one for one in EVERY if one.body], ids=lambda endpoint: endpoint.route)
def test_what_takes_a_body_describes_it(document: dict[str, Any], endpoint: Endpoint) -> None:
    assert endpoint.body is not None
    operation = dict(operations(document))[endpoint.route]
    media_type = STRUCTURED if endpoint.route == "POST /v1/events" else "application/json"

    schema = operation["requestBody"]["content"][media_type]["schema"]

    assert schema == {"$ref": f"#/components/schemas/{endpoint.body.__name__}"}


def test_an_event_is_described_in_the_media_types_that_are_taken(document: dict[str, Any]) -> None:
    content = document["paths"]["/v1/events"]["post"]["requestBody"]["content"]

    assert {STRUCTURED, BATCHED} <= content.keys()
    assert content[BATCHED]["schema"]["type"] == "array"


@pytest.mark.parametrize("endpoint", [one for one in EVERY if one.is_personal], ids=lambda endpoint: endpoint.route)
def test_what_is_a_persons_says_how_a_server_names_them(document: dict[str, Any], endpoint: Endpoint) -> None:
    operation = dict(operations(document))[endpoint.route]

    assert "user_id" in {one["name"] for one in operation["parameters"] if one["in"] == "query"}
    assert (endpoint.scope, " /v1/inbox" in endpoint.route) == ("inbox", True)


def test_only_the_service_itself_the_bell_the_console_and_unsubscribing_are_open_to_everyone() -> None:
    assert {one.route for one in EVERY if one.scope is None} == {
        "GET /health",
        "GET /ready",
        "GET /v1/openapi.json",
        "GET /errors",
        "GET /p/{token}",
        "GET /u/{token}",
        "POST /p/{token}",
        "POST /u/{token}",
        "GET /inbox/{asset}",
        "GET /console",
        "GET /console/{asset}",
        "GET /console/{version}/{asset}",
    }


def test_what_changes_something_with_a_key_says_how_the_person_is_named(document: dict[str, Any]) -> None:
    told = {route for route, one in operations(document) if "Tocsin-Person" in {each["name"] for each in one["parameters"]}}

    assert told == {one.route for one in EVERY if one.scope and not one.route.startswith("GET ")} | {"GET /v1/me"}


def test_an_intent_is_described_as_closed(document: dict[str, Any]) -> None:
    assert document["components"]["schemas"]["Intent"]["additionalProperties"] is False


def test_it_is_json_that_says_its_version(document: dict[str, Any]) -> None:
    assert json.loads(json.dumps(document)) == document
    assert document["openapi"].startswith("3.1")


def test_what_is_a_persons_says_that_their_token_opens_it(document: dict[str, Any]) -> None:
    described = {route: operation.get("description", "") for route, operation in operations(document)}

    assert described["GET /v1/inbox"] == "Needs the scope `inbox`, or a user's token."
    assert described["GET /v1/notifications"] == "Needs the scope `read`."


def test_a_patch_is_described_as_one_and_under_both_of_its_names(document: dict[str, Any]) -> None:
    operation = document["paths"]["/v1/users/{id}"]["patch"]

    content = operation["requestBody"]["content"]
    assert set(content) == {"application/json", "application/merge-patch+json"}
    assert {one["schema"]["$ref"].rpartition("/")[2] for one in content.values()} == {"UserPatch"}
