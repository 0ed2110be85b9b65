"""/v1/event-routing: which events tell whom, and on which channels; every change is audited."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.events import fan_out_all, happen, outcomes, reasons, watch
from tests.functions.doors import Api
from tests.functions.test_problems import assert_problem
from tests.world import OTHER_TENANT, World
from tocsin.access.key_format import SCOPES

PATH = "/v1/event-routing/issue.commented"
RULES = {"mention": ["in_app", "email"], "watching": ["in_app"]}


def _audit(world: World) -> list[dict[str, Any]]:
    return world.rows("SELECT * FROM audit_logs WHERE resource_type = 'event_routing' ORDER BY created_at, id")


def test_a_routing_is_made_shown_listed_replaced_and_deleted(world: World, api: Api) -> None:
    made = api.put(PATH, {"rules": RULES})
    assert made.status == 200
    assert made.json == {
        "event_type": "issue.commented",
        "rules": RULES,
        "overrides": ["mention", "review_requested"],
        "subscribe_actor": True,
        "created_at": made.json["created_at"],
        "updated_at": made.json["created_at"],
    }
    assert api.get(PATH).json == made.json

    replaced = api.put(PATH, {"rules": {"assign": ["push"]}, "overrides": [], "subscribe_actor": False})
    assert (replaced.json["rules"], replaced.json["overrides"], replaced.json["subscribe_actor"]) == (
        {"assign": ["push"]},
        [],
        False,
    )
    assert (replaced.json["created_at"], replaced.json["updated_at"] > made.json["updated_at"]) == (made.json["created_at"], True)
    api.put("/v1/event-routing/*", {"rules": RULES})
    listed = api.get("/v1/event-routing").json
    assert [one["event_type"] for one in listed["data"]] == ["*", "issue.commented"]
    assert (listed["data"][1], listed["next_cursor"]) == (replaced.json, None)

    assert api.delete(PATH).status == 204
    assert_problem(api.get(PATH), 404, "not-found")
    assert_problem(api.delete(PATH), 404, "not-found")
    assert [one["event_type"] for one in api.get("/v1/event-routing").json["data"]] == ["*"]


def test_every_change_is_audited_with_what_was_and_what_is(world: World, api: Api) -> None:
    key_id = world.one("SELECT id FROM api_keys")
    api.put(PATH, {"rules": RULES}, headers={"user-agent": "curl/8"})
    api.put(PATH, {"rules": {"author": []}, "subscribe_actor": False})
    api.delete(PATH)
    api.delete(PATH)  # 404
    api.put(PATH, {"rules": {}})  # 422

    rows = _audit(world)
    old = {"rules": RULES, "overrides": ["mention", "review_requested"], "subscribe_actor": True}
    new = {"rules": {"author": []}, "overrides": ["mention", "review_requested"], "subscribe_actor": False}

    assert [(row["action"], row["changes"]) for row in rows] == [
        ("put", {"new": old}),
        ("put", {"old": old, "new": new}),
        ("delete", {"old": new}),
    ]
    assert {(row["actor"], row["resource_id"], str(row["ip_address"])) for row in rows} == {
        (f"key:{key_id}", "issue.commented", "192.0.2.1")
    }
    assert rows[0]["user_agent"] == "curl/8"


def test_a_change_that_cannot_be_audited_is_not_made(breakable_world: World) -> None:
    api = Api(breakable_world.add_key(*SCOPES))
    breakable_world.admin.execute("ALTER TABLE audit_logs ADD CONSTRAINT unforeseen CHECK (resource_type <> 'event_routing')")

    assert api.put(PATH, {"rules": RULES}).status == 500

    assert breakable_world.count("event_routing") == 0


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/rules"),
        ({"rules": {}}, "/rules"),
        ({"rules": []}, "/rules"),
        ({"rules": {"intent": ["in_app"]}}, "/rules"),
        ({"rules": {"fans": ["in_app"]}}, "/rules"),
        ({"rules": {"mention": ["pigeon"]}}, "/rules/mention/0"),
        ({"rules": {"mention": ["webhook"]}}, "/rules/mention/0"),
        ({"rules": {"mention": "in_app"}}, "/rules/mention"),
        ({"rules": {"mention": ["email", "email"]}}, "/rules/mention"),
        ({"rules": {"mention": None}}, "/rules/mention"),
        ({"rules": RULES, "overrides": ["intent"]}, "/overrides/0"),
        ({"rules": RULES, "overrides": ["mention", "mention"]}, "/overrides"),
        ({"rules": RULES, "overrides": None}, "/overrides"),
        ({"rules": RULES, "subscribe_actor": "yes"}, "/subscribe_actor"),
        ({"rules": RULES, "subscribe_actor": 1}, "/subscribe_actor"),
        ({"rules": RULES, "channels": []}, "/channels"),
        ([], ""),
    ],
    ids=str,
)
def test_a_routing_of_another_shape_is_422(world: World, api: Api, body: Any, pointer: str) -> None:
    problem = assert_problem(api.put(PATH, body), 422, "invalid-request")

    assert any(error["pointer"].startswith(pointer) for error in problem["errors"])
    assert (world.count("event_routing"), _audit(world)) == (0, [])


@pytest.mark.parametrize("event_type", ["a*b", "*a", "**", "a**", "x" * 101, "a%00b"])
def test_a_type_has_a_star_at_its_end_only_and_at_most_a_hundred_characters(world: World, api: Api, event_type: str) -> None:
    for method in ("GET", "PUT", "DELETE"):
        body = {"rules": RULES} if method == "PUT" else None
        assert_problem(api.call(method, f"/v1/event-routing/{event_type}", body), 422, "invalid-request")


@pytest.mark.parametrize("event_type", ["*", "issue.*", "x" * 100, "com.example.issue%2Fcommented", "%C3%A9t%C3%A9 %2A"])
def test_a_type_may_have_any_other_characters(world: World, api: Api, event_type: str) -> None:
    assert api.put(f"/v1/event-routing/{event_type}", {"rules": RULES}).status == 200
    assert api.get(f"/v1/event-routing/{event_type}").json["rules"] == RULES


def test_a_routing_is_its_tenants_own(world: World, api: Api) -> None:
    world.add_tenant()
    theirs = Api(world.add_key(*SCOPES, tenant=OTHER_TENANT))
    api.put(PATH, {"rules": RULES})

    assert_problem(theirs.get(PATH), 404, "not-found")
    assert_problem(theirs.delete(PATH), 404, "not-found")
    assert theirs.get("/v1/event-routing").json["data"] == []
    theirs.put(PATH, {"rules": {"author": ["sms"]}})
    assert api.get(PATH).json["rules"] == RULES


def _told(world: World, api: Api, put: Callable[[], object]) -> dict[str, str]:
    world.add_user("alice")
    world.add_user("bob")
    watch(world, "bob", scope="repo:7")
    put()
    happen(world, mentions=["alice"], scope="repo:7")
    fan_out_all(world)
    return reasons(world)


def test_what_a_routing_says_holds_for_the_next_event(world: World, api: Api) -> None:
    told = _told(world, api, lambda: api.put(PATH, {"rules": {"mention": ["in_app"], "watching": []}}))

    assert (told, outcomes(world)) == ({"alice": "mention"}, [("notified", 1)])


def test_the_type_itself_stands_above_its_beginning_and_the_longer_above_the_shorter(world: World, api: Api) -> None:
    def put() -> None:
        api.put("/v1/event-routing/*", {"rules": {"mention": ["in_app"], "watching": ["in_app"]}})
        api.put("/v1/event-routing/issue.*", {"rules": {"watching": ["in_app"]}})

    assert _told(world, api, put) == {"bob": "watching"}
    api.put(PATH, {"rules": {"mention": ["in_app"]}})
    happen(world, mentions=["alice"], scope="repo:7")
    fan_out_all(world)
    assert reasons(world) == {"alice": "mention", "bob": "watching"}


def test_a_type_that_is_not_routed_any_more_tells_nobody(world: World, api: Api) -> None:
    def put() -> None:
        api.put(PATH, {"rules": RULES})
        api.delete(PATH)

    assert (_told(world, api, put), outcomes(world)) == ({}, [("not_routed", 0)])
