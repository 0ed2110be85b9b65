"""API keys: shown once, kept as a hash, rotated and revoked."""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.functions.doors import Api
from tests.functions.test_problems import assert_problem
from tests.world import World

BODY = {"name": "shop server", "producer": "shop", "scopes": ["send", "read"]}


def _make(api: Api, **changes: Any) -> dict[str, Any]:
    answer = api.post("/v1/api-keys", BODY | changes)
    assert answer.status == 201, answer.text
    made: dict[str, Any] = answer.json
    return made


def test_a_key_works_at_once_and_only_its_hash_is_kept(world: World, api: Api) -> None:
    made = _make(api)

    assert api.get("/v1/notifications", key=made["key"]).status == 200
    assert made["key"].startswith(made["key_prefix"])
    (row,) = world.rows("SELECT * FROM api_keys WHERE id = %(id)s", id=made["id"])
    assert row["key_hash"] == hashlib.sha256(made["key"].encode()).digest()
    assert made["key"] not in str(row)
    assert row["scopes"] == ["read", "send"]


def test_a_key_is_shown_once_and_never_listed(world: World, api: Api) -> None:
    made = _make(api)

    listed = api.get("/v1/api-keys")

    assert made["id"] in {key["id"] for key in listed.json["data"]}
    assert all("key" not in key and "key_hash" not in key for key in listed.json["data"])
    assert made["key"] not in listed.text
    assert hashlib.sha256(made["key"].encode()).hexdigest() not in listed.text


def test_the_mode_of_a_key_is_in_its_name_and_in_what_it_sends(world: World, api: Api) -> None:
    world.add_user()
    made = _make(api, mode="test")

    api.send(key=made["key"])

    assert made["key"].startswith("tcn_test_")
    assert world.one("SELECT mode FROM records") == "test"


def test_what_a_key_sends_carries_its_producer(world: World, api: Api) -> None:
    world.add_user()

    api.send(key=_make(api, producer="billing")["key"])

    assert world.one("SELECT producer FROM records") == "billing"


def test_a_limit_of_its_own_binds_the_key(world: World, api: Api) -> None:
    world.add_user()
    made = _make(api, rate_limit=3)

    assert api.send(key=made["key"]).headers["RateLimit-Policy"] == '"intents";q=3;w=60'


def test_rotating_makes_a_second_key_with_the_same_rights_and_the_old_one_works_on(world: World, api: Api) -> None:
    old = _make(api, rate_limit=7)

    new = api.post(f"/v1/api-keys/{old['id']}/rotate")

    assert new.status == 201
    assert {name: new.json[name] for name in ("name", "producer", "scopes", "mode", "rate_limit")} == {
        name: old[name] for name in ("name", "producer", "scopes", "mode", "rate_limit")
    }
    assert new.json["key"] != old["key"]
    assert [api.get("/v1/notifications", key=key).status for key in (old["key"], new.json["key"])] == [200, 200]


def test_rotating_does_not_outlive_the_expiry_it_was_given(world: World, api: Api) -> None:
    expires_at = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    old = _make(api, expires_at=expires_at)

    new = api.post(f"/v1/api-keys/{old['id']}/rotate")

    assert new.json["expires_at"] == old["expires_at"]


def test_a_revoked_key_cannot_be_brought_back_by_rotating_it(world: World, api: Api) -> None:
    old = _make(api)
    api.post(f"/v1/api-keys/{old['id']}/revoke")

    answer = api.post(f"/v1/api-keys/{old['id']}/rotate")

    assert answer.status in (404, 409)


def test_revoking_switches_the_key_off_and_says_so_when_repeated(world: World, api: Api) -> None:
    made = _make(api)

    answers = [api.post(f"/v1/api-keys/{made['id']}/revoke") for _ in range(2)]

    assert [(answer.status, answer.json["is_active"]) for answer in answers] == [(200, False)] * 2
    assert api.get("/v1/notifications", key=made["key"]).status == 401
    assert world.one("SELECT revoked_at IS NOT NULL FROM api_keys WHERE id = %(id)s", id=made["id"])


@pytest.mark.parametrize("action", ["rotate", "revoke"])
@pytest.mark.parametrize("key_id", ["00000000-0000-7000-8000-00000000000f", "nonsense"])
def test_an_unknown_key_is_404(world: World, api: Api, action: str, key_id: str) -> None:
    assert_problem(api.post(f"/v1/api-keys/{key_id}/{action}"), 404, "not-found")


@pytest.mark.parametrize(
    "changes",
    [
        {"scopes": []},
        {"scopes": ["root"]},
        {"name": ""},
        {"producer": "x" * 101},
        {"mode": "prod"},
        {"rate_limit": 0},
        {"expires_at": "soon"},
        {"key": "tcn_live_mine"},
        {"tenant_id": "x"},
    ],
)
def test_a_key_of_another_shape_is_422(world: World, api: Api, changes: dict[str, Any]) -> None:
    assert_problem(api.post("/v1/api-keys", BODY | changes), 422, "invalid-request")


def test_keys_are_listed_newest_first_page_by_page(world: World, api: Api) -> None:
    names = [_make(api, name=f"key {n}")["name"] for n in range(3)]

    first = api.get("/v1/api-keys", query="limit=2").json
    second = api.get("/v1/api-keys", query=f"limit=2&cursor={first['next_cursor']}").json

    assert [key["name"] for key in first["data"] + second["data"]] == [*reversed(names), "test"]
    assert second["next_cursor"] is None
