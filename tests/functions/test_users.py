"""Users and their devices, by the producer's own ids."""

from typing import Any

import pytest

from tests.functions.doors import Api
from tests.functions.test_problems import assert_problem
from tests.world import World

WHOLE = {
    "email": "Alice@Example.com",
    "phone": "+14155550100",
    "username": "alice",
    "locale": "pt-BR",
    "timezone": "Europe/Lisbon",
    "avatar_url": "https://faces.example/alice.png",
    "attributes": {"plan": "pro"},
}


def test_a_new_user_is_made_known_and_shown_by_the_producers_own_id(world: World, api: Api) -> None:
    made = api.put("/v1/users/alice", WHOLE)

    shown = api.get("/v1/users/alice")
    assert (made.status, shown.status, made.json) == (201, 200, shown.json | {"cleared": []})
    assert shown.json["id"] == "alice"
    assert {name: shown.json[name] for name in WHOLE} == WHOLE | {"email": "Alice@example.com"}


def test_a_second_put_replaces_the_whole_user(world: World, api: Api) -> None:
    api.put("/v1/users/alice", WHOLE)

    changed = api.put("/v1/users/alice", {"email": "new@example.com"})

    assert changed.status == 200
    assert (changed.json["email"], changed.json["phone"], changed.json["attributes"]) == ("new@example.com", None, {})
    assert changed.json["cleared"] == ["phone", "username", "locale", "timezone", "avatar_url", "attributes"]
    assert world.count("users") == 1


@pytest.mark.parametrize(
    ("field", "value"), [("email", "ALICE@example.com"), ("email", "alice@example.com"), ("username", "alice")]
)
def test_an_email_or_username_that_another_user_has_is_409(world: World, api: Api, field: str, value: str) -> None:
    api.put("/v1/users/alice", {"email": "alice@example.com", "username": "alice"})

    answer = api.put("/v1/users/bob", {field: value})

    assert field in assert_problem(answer, 409, "already-taken")["title"]
    assert world.count("users") == 1


def test_many_users_without_an_email_do_not_collide(world: World, api: Api) -> None:
    assert [api.put(f"/v1/users/u{n}", {}).status for n in range(3)] == [201, 201, 201]


@pytest.mark.parametrize(
    "body",
    [
        {"email": "no"},
        {"phone": "0123"},
        {"timezone": "Mars/Olympus"},
        {"timezone": "../../etc/passwd"},
        {"locale": "!!"},
        {"attributes": []},
        {"id": "bob"},
        {"tenant_id": "x"},
        {"username": ""},
    ],
)
def test_a_user_of_another_shape_is_422(world: World, api: Api, body: dict[str, Any]) -> None:
    assert_problem(api.put("/v1/users/alice", body), 422, "invalid-request")


def test_a_user_id_may_hold_any_characters(world: World, api: Api) -> None:
    api.put("/v1/users/auth0%7C12%2F3%20%C3%A9", {})

    assert world.one("SELECT external_id FROM users") == "auth0|12/3 é"
    assert api.get("/v1/users/auth0%7C12%2F3%20%C3%A9").json["id"] == "auth0|12/3 é"


def test_an_unknown_user_is_404(world: World, api: Api) -> None:
    assert_problem(api.get("/v1/users/nobody"), 404, "not-found")


def test_users_are_listed_newest_first_page_by_page(world: World, api: Api) -> None:
    for n in range(5):
        api.put(f"/v1/users/u{n}", {})

    pages, cursor = [], ""
    for _ in range(3):
        answer = api.get("/v1/users", query=f"limit=2&cursor={cursor}").json
        pages.append([user["id"] for user in answer["data"]])
        cursor = answer["next_cursor"]

    assert (pages, cursor) == ([["u4", "u3"], ["u2", "u1"], ["u0"]], None)


def test_a_device_is_registered_listed_and_forgotten(world: World, api: Api) -> None:
    world.add_user()

    made = api.put("/v1/users/alice/devices/token-1", {"platform": "apns"})
    listed = api.get("/v1/users/alice/devices")
    gone = api.call("DELETE", "/v1/users/alice/devices/token-1")

    assert (made.status, made.json["platform"], made.json["enabled"]) == (200, "apns", True)
    assert [device["token"] for device in listed.json["data"]] == ["token-1"]
    assert (gone.status, gone.text) == (204, "")
    assert world.count("devices") == 0
    assert_problem(api.call("DELETE", "/v1/users/alice/devices/token-1"), 404, "not-found")


def test_a_device_registered_again_is_the_same_one_and_on_again(world: World, api: Api) -> None:
    world.add_device(world.add_user(), token="token-1", platform="fcm")
    world.admin.execute("UPDATE devices SET enabled = false, disabled_reason = 'gone', endpoint_arn = 'arn:old'")

    api.put("/v1/users/alice/devices/token-1", {"platform": "fcm"})

    (device,) = world.rows("SELECT * FROM devices")
    assert (device["enabled"], device["disabled_reason"], device["endpoint_arn"]) == (True, None, None)


@pytest.mark.parametrize("body", [{}, {"platform": "windows"}, {"platform": "fcm", "enabled": False}])
def test_a_device_of_another_shape_is_422(world: World, api: Api, body: dict[str, Any]) -> None:
    world.add_user()

    assert_problem(api.put("/v1/users/alice/devices/t", body), 422, "invalid-request")


def test_a_device_of_nobody_is_404(world: World, api: Api) -> None:
    assert_problem(api.put("/v1/users/nobody/devices/t", {"platform": "fcm"}), 404, "not-found")
