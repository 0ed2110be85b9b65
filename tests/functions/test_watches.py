"""/v1/users/{id}/watches: what a user wants to hear of a whole scope."""

from typing import Any

import pytest

from tests.events import fan_out_all, happen, reasons, route
from tests.functions.doors import Api
from tests.functions.test_problems import assert_problem
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access.key_format import SCOPES

PATH = "/v1/users/alice/watches"


@pytest.mark.parametrize("level", ["all", "participating", "ignore"])
def test_a_watch_is_made_listed_changed_and_deleted(world: World, api: Api, level: str) -> None:
    world.add_user("alice")
    api.put(f"{PATH}/repo:7", {"level": "ignore"})

    made = api.put(f"{PATH}/repo:7", {"level": level})

    assert (made.status, made.json) == (200, {"scope": "repo:7", "level": level, "updated_at": made.json["updated_at"]})
    assert api.get(PATH).json == {"data": [made.json], "next_cursor": None}
    assert api.delete(f"{PATH}/repo:7").status == 204
    assert_problem(api.delete(f"{PATH}/repo:7"), 404, "not-found")
    assert api.get(PATH).json["data"] == []


@pytest.mark.parametrize(
    "body",
    [{}, {"level": "some"}, {"level": None}, {"level": ["all"]}, {"level": "all", "scope": "x"}, [], "all"],
    ids=str,
)
def test_a_watch_of_another_shape_is_422(world: World, api: Api, body: Any) -> None:
    world.add_user("alice")

    assert_problem(api.put(f"{PATH}/repo:7", body if body != "all" else '"all"'), 422, "invalid-request")
    assert world.count("watches") == 0


@pytest.mark.parametrize("scope", ["x" * 256, "a%00b"])
def test_a_scope_has_at_most_255_characters(world: World, api: Api, scope: str) -> None:
    world.add_user("alice")

    assert_problem(api.put(f"{PATH}/{scope}", {"level": "all"}), 422, "invalid-request")
    assert_problem(api.delete(f"{PATH}/{scope}"), 422, "invalid-request")


@pytest.mark.parametrize("scope", ["x" * 255, "org%2Frepo", "größe 7", "*"])
def test_a_scope_may_have_any_other_characters(world: World, api: Api, scope: str) -> None:
    world.add_user("alice")

    assert api.put(f"{PATH}/{scope}", {"level": "all"}).status == 200
    assert api.delete(f"{PATH}/{scope}").status == 204


def test_a_user_nobody_knows_watches_nothing(world: World, api: Api) -> None:
    world.add_tenant()
    world.add_user("alice", tenant=OTHER_TENANT)

    assert_problem(api.get(PATH), 404, "not-found")
    assert_problem(api.put(f"{PATH}/repo:7", {"level": "all"}), 404, "not-found")
    assert_problem(api.delete(f"{PATH}/repo:7"), 404, "not-found")


def test_watches_are_each_users_and_tenants_own(world: World, api: Api) -> None:
    world.add_tenant()
    for user, tenant in (("alice", TENANT), ("bob", TENANT), ("alice", OTHER_TENANT)):
        world.add_user(user, tenant=tenant)
    theirs = Api(world.add_key(*SCOPES, tenant=OTHER_TENANT))
    api.put(f"{PATH}/repo:7", {"level": "all"})

    assert api.get("/v1/users/bob/watches").json["data"] == []
    assert theirs.get(PATH).json["data"] == []
    assert_problem(theirs.delete(f"{PATH}/repo:7"), 404, "not-found")
    assert len(api.get(PATH).json["data"]) == 1


def test_watches_are_listed_by_scope_page_by_page(world: World, api: Api) -> None:
    alice = world.add_user("alice")
    world.admin.execute(
        "INSERT INTO watches (tenant_id, user_id, scope, level) SELECT %s, %s, 'repo:' || lpad(n::text, 3, '0'), 'all'"
        " FROM generate_series(1, 450) AS n",
        [TENANT, alice],
    )

    scopes: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = api.get(PATH, query={"cursor": cursor} if cursor else {}).json
        scopes += [watch["scope"] for watch in page["data"]]
        cursor = page["next_cursor"]

    assert scopes == [f"repo:{n:03}" for n in range(1, 451)]


def test_a_watch_holds_for_the_next_event(world: World, api: Api) -> None:
    for user, level in {"alice": "all", "bob": "participating", "carol": "ignore"}.items():
        world.add_user(user)
        api.put(f"/v1/users/{user}/watches/repo:7", {"level": level})
    route(world)

    happen(world, scope="repo:7", assignees=["bob", "carol"])
    fan_out_all(world)

    assert reasons(world) == {"alice": "watching", "bob": "assign"}
