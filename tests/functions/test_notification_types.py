"""Notification types over HTTP: said, shown, listed and forgotten."""

from typing import Any
from urllib.parse import quote

import pytest

from tests.content import add_type
from tests.functions.doors import Api
from tests.world import World

DEFAULTS = {
    "channels": None,
    "template": None,
    "priority": "normal",
    "ambiguous_policy": None,
    "transactional": True,
    "expires_after_seconds": None,
    "over_sending": None,
    "title": None,
    "description": None,
}
EVERYTHING = {
    "channels": ["sms", "email"],
    "template": "shipped",
    "priority": "high",
    "ambiguous_policy": "hold",
    "transactional": False,
    "expires_after_seconds": 3600,
    "over_sending": {"limit": 5, "window_seconds": 600},
    "title": "Deliveries",
    "description": "When an order leaves us, and when it arrives.",
}


def _meaning(shown: dict[str, Any]) -> dict[str, Any]:
    return {name: shown[name] for name in DEFAULTS}


def test_a_type_is_said_and_shown(world: World, api: Api) -> None:
    said = api.put("/v1/notification-types/order.shipped", EVERYTHING)
    shown = api.get("/v1/notification-types/order.shipped")

    assert (said.status, shown.status) == (200, 200)
    assert said.json == shown.json
    assert (shown.json["name"], _meaning(shown.json)) == ("order.shipped", EVERYTHING)


def test_saying_it_again_says_all_of_it(world: World, api: Api) -> None:
    first = api.put("/v1/notification-types/t", EVERYTHING).json
    world.pass_time(world.now.resolution * 1_000_000)

    again = api.put("/v1/notification-types/t", {}).json

    assert _meaning(again) == DEFAULTS
    assert (again["created_at"], again["updated_at"] > first["updated_at"]) == (first["created_at"], True)
    assert world.count("notification_types") == 1


def test_all_are_listed_by_name(world: World, api: Api) -> None:
    for name in ("b", "a"):
        api.put(f"/v1/notification-types/{name}", {})

    listed = api.get("/v1/notification-types").json

    assert ([one["name"] for one in listed["data"]], listed["next_cursor"]) == (["a", "b"], None)


def test_a_type_that_is_forgotten_means_nothing_again(world: World, api: Api) -> None:
    world.add_user()
    api.put("/v1/notification-types/order.shipped", {"priority": "high"})

    assert api.delete("/v1/notification-types/order.shipped").status == 204

    assert api.get("/v1/notification-types/order.shipped").status == 404
    assert api.delete("/v1/notification-types/order.shipped").status == 404
    api.send()
    assert world.one("SELECT priority FROM records") == "normal"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"channels": []}, "/channels"),
        ({"channels": ["fax"]}, "/channels/0"),
        ({"channels": "email"}, "/channels"),
        ({"template": ""}, "/template"),
        ({"priority": "urgent"}, "/priority"),
        ({"priority": None}, "/priority"),
        ({"ambiguous_policy": "pray"}, "/ambiguous_policy"),
        ({"transactional": None}, "/transactional"),
        ({"transactional": "yes"}, "/transactional"),
        ({"expires_after_seconds": 59}, "/expires_after_seconds"),
        ({"expires_after_seconds": 31_536_001}, "/expires_after_seconds"),
        ({"expires_after_seconds": "60"}, "/expires_after_seconds"),
        ({"over_sending": {"limit": 0, "window_seconds": 60}}, "/over_sending/limit"),
        ({"over_sending": {"limit": 10_001, "window_seconds": 60}}, "/over_sending/limit"),
        ({"over_sending": {"limit": 5, "window_seconds": 59}}, "/over_sending/window_seconds"),
        ({"over_sending": {"limit": 5, "window_seconds": 86_401}}, "/over_sending/window_seconds"),
        ({"over_sending": {"limit": 5}}, "/over_sending/window_seconds"),
        ({"over_sending": {"limit": 5, "window_seconds": 60, "per": "user"}}, "/over_sending/per"),
        ({"colour": "red"}, "/colour"),
    ],
)
def test_what_is_not_valid_is_refused_with_a_pointer(world: World, api: Api, body: dict[str, Any], pointer: str) -> None:
    answer = api.put("/v1/notification-types/t", body)

    assert (answer.status, [error["pointer"] for error in answer.json.get("errors", [])]) == (422, [pointer])
    assert world.count("notification_types") == 0


def test_a_channel_named_twice_counts_once(world: World, api: Api) -> None:
    assert api.put("/v1/notification-types/t", {"channels": ["sms", "sms", "email"]}).json["channels"] == ["sms", "email"]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_another_tenants_type_is_not_found(world: World, api: Api, method: str) -> None:
    add_type(world, "t", tenant=world.add_tenant())

    assert api.call(method, "/v1/notification-types/t").status == 404
    assert api.get("/v1/notification-types").json["data"] == []
    assert world.count("notification_types") == 1


@pytest.mark.parametrize("name", ["with space", "a/b", "50%25", "größe"])
def test_any_name_can_be_reached(world: World, api: Api, name: str) -> None:
    path = f"/v1/notification-types/{quote(name, safe='')}"

    assert api.put(path, {}).json["name"] == name
    assert api.get(path).status == 200


def test_a_name_of_more_than_a_hundred_characters_is_refused(world: World, api: Api) -> None:
    assert api.put(f"/v1/notification-types/{'x' * 101}", {}).status == 422


def test_a_title_that_is_too_long_is_told_in_characters(api: Api) -> None:
    answer = api.put("/v1/notification-types/deliveries", {"title": "x" * 101})

    assert (answer.status, answer.json["errors"]) == (
        422,
        [{"pointer": "/title", "message": "must have at most 100 characters"}],
    )
