"""Who may call what: scopes, other tenants, and keys that are no longer good."""

import re
from datetime import timedelta

import pytest

from tests.events import TYPE, happen, route
from tests.functions.doors import ENDPOINTS, Api
from tests.world import OTHER_TENANT, World
from tocsin.access import authenticate, key_format
from tocsin.access.key_format import SCOPES
from tocsin.foundation import database
from tocsin.foundation.ids import uuid7
from tocsin.http.door import ANY_KEY, Endpoint

EVERY = [endpoint for endpoints in ENDPOINTS.values() for endpoint in endpoints]
GUARDED = [endpoint for endpoint in EVERY if endpoint.scope]
SCOPED = [endpoint for endpoint in GUARDED if endpoint.scope != ANY_KEY]
FILES = {"GET /inbox/{asset}", "GET /console", "GET /console/{asset}", "GET /console/{version}/{asset}"}
READER_PAGES = {"GET /u/{token}", "POST /u/{token}", "GET /p/{token}", "POST /p/{token}"}
OPEN = {"GET /health", "GET /ready", "GET /errors", "GET /v1/openapi.json", *READER_PAGES, *FILES}


def _call(api: Api, endpoint: Endpoint, key: str) -> int:
    method, path = endpoint.route.split(" ", 1)
    return api.call(method, re.sub(r"\{\w+\}", "x", path), {} if endpoint.body else None, key=key).status


def test_only_what_must_be_is_open_to_everyone() -> None:
    assert {endpoint.route for endpoint in EVERY if endpoint.scope is None} == OPEN


def test_only_what_a_key_may_know_of_itself_is_open_to_every_key() -> None:
    assert {endpoint.route for endpoint in EVERY if endpoint.scope == ANY_KEY} == {"GET /v1/me"}


@pytest.mark.parametrize("endpoint", SCOPED, ids=lambda endpoint: endpoint.route)
def test_a_key_with_every_scope_but_the_needed_one_is_refused(world: World, api: Api, endpoint: Endpoint) -> None:
    key = world.add_key(*(scope for scope in SCOPES if scope != endpoint.scope))

    assert _call(api, endpoint, key) == 403


@pytest.mark.parametrize("endpoint", SCOPED, ids=lambda endpoint: endpoint.route)
def test_a_key_with_only_the_needed_scope_is_let_in(world: World, api: Api, endpoint: Endpoint) -> None:
    key = world.add_key(str(endpoint.scope))

    assert _call(api, endpoint, key) not in (401, 403, 500)


@pytest.mark.parametrize("endpoint", GUARDED, ids=lambda endpoint: endpoint.route)
def test_without_a_key_nothing_guarded_answers(api: Api, endpoint: Endpoint) -> None:
    assert _call(api, endpoint, "") == 401


def test_a_key_without_scopes_may_do_nothing(world: World, api: Api) -> None:
    key = world.add_key()

    assert {_call(api, endpoint, key) for endpoint in SCOPED} == {403}


def test_a_revoked_key_is_refused_within_five_seconds_even_where_it_was_just_used(
    world: World, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(authenticate.time, "monotonic", lambda: now)
    key = world.add_key("read")
    assert api.get("/v1/notifications", key=key).status == 200
    world.admin.execute("UPDATE api_keys SET is_active = false, revoked_at = tocsin_now()")

    now += 5

    assert api.get("/v1/notifications", key=key).status == 401
    now += 1
    assert api.get("/v1/notifications", key=key).status == 401


def test_the_environment_that_revokes_a_key_refuses_it_at_once(world: World, api: Api) -> None:
    key = world.add_key("read")
    assert api.get("/v1/notifications", key=key).status == 200
    (key_id,) = [row["id"] for row in world.rows("SELECT id FROM api_keys WHERE scopes = '{read}'")]

    api.post(f"/v1/api-keys/{key_id}/revoke")

    assert api.get("/v1/notifications", key=key).status == 401


def test_an_expired_key_is_refused(world: World, api: Api) -> None:
    key = world.add_key("read")
    world.admin.execute("UPDATE api_keys SET expires_at = tocsin_now() + interval '1 minute' WHERE scopes = '{read}'")
    assert api.get("/v1/notifications", key=key).status == 200
    authenticate.forget()
    world.pass_time(timedelta(minutes=2))
    database.disconnect()  # the next connection sees the later clock

    assert api.get("/v1/notifications", key=key).status == 401


def test_an_unknown_key_of_the_right_shape_is_the_same_401_as_garbage(world: World, api: Api) -> None:
    stranger = key_format.mint(uuid7(), "live").plain

    answer = api.get("/v1/notifications", key=stranger, request_id="r")

    assert (answer.status, answer.text) == (401, api.get("/v1/notifications", key="garbage", request_id="r").text)


def test_garbage_is_refused_without_asking_the_database(api: Api, database_down: None) -> None:
    assert api.get("/v1/notifications", key="tcn_live_garbage").status == 401


def test_the_use_of_a_key_is_noted_at_most_once_a_minute(world: World, api: Api) -> None:
    api.get("/v1/notifications")
    first = world.one("SELECT last_used_at FROM api_keys")
    authenticate.forget()
    api.get("/v1/notifications")

    assert first is not None
    assert world.one("SELECT last_used_at FROM api_keys") == first


def test_what_belongs_to_another_tenant_does_not_exist(world: World, api: Api) -> None:
    world.add_tenant()
    theirs = Api(world.add_key(*SCOPES, tenant=OTHER_TENANT))
    world.add_user(tenant=OTHER_TENANT)
    asked = world.accept(tenant=OTHER_TENANT)
    event_id = happen(world, tenant=OTHER_TENANT)
    route(world, tenant=OTHER_TENANT)
    (key_id,) = [row["id"] for row in world.rows("SELECT id FROM api_keys WHERE tenant_id = %(t)s", t=OTHER_TENANT)]

    attempts = [
        ("GET", f"/v1/notifications/{asked.notification_id}", None),
        ("POST", f"/v1/notifications/{asked.notification_id}/cancel", None),
        ("GET", "/v1/users/alice", None),
        ("GET", "/v1/users/alice/devices", None),
        ("PUT", "/v1/users/alice/devices/token", {"platform": "fcm"}),
        ("DELETE", "/v1/users/alice/devices/token", None),
        ("POST", "/v1/users/alice/tokens", {}),
        ("GET", "/v1/users/alice/watches", None),
        ("PUT", "/v1/users/alice/watches/repo:7", {"level": "all"}),
        ("GET", f"/v1/events/{event_id}", None),
        ("GET", f"/v1/event-routing/{TYPE}", None),
        ("DELETE", f"/v1/event-routing/{TYPE}", None),
        ("POST", f"/v1/api-keys/{key_id}/rotate", None),
        ("POST", f"/v1/api-keys/{key_id}/revoke", None),
    ]
    for method, path, body in attempts:
        assert api.call(method, path, body).status == 404, path
    for path in ("/v1/inbox", "/v1/inbox/unread-count", "/v1/inbox/live", "/v1/inbox/preferences"):
        assert api.get(path, query="user_id=alice").status == 404
    for path in ("/v1/notifications", "/v1/users", "/v1/event-routing"):
        assert api.get(path).json["data"] == []
    assert [key["id"] for key in api.get("/v1/api-keys").json["data"]] != [str(key_id)]
    assert world.one("SELECT cancelled_at IS NULL FROM records")
    assert theirs.get(f"/v1/notifications/{asked.notification_id}").status == 200


def test_the_same_user_id_in_two_tenants_is_two_people(world: World, api: Api) -> None:
    world.add_tenant()
    theirs = Api(world.add_key(*SCOPES, tenant=OTHER_TENANT))

    ours_made = api.put("/v1/users/alice", {"email": "alice@example.com"})
    theirs_made = theirs.put("/v1/users/alice", {"email": "alice@example.com"})

    assert (ours_made.status, theirs_made.status) == (201, 201)
    api.put("/v1/users/alice", {"email": "changed@example.com"})
    assert theirs.get("/v1/users/alice").json["email"] == "alice@example.com"
