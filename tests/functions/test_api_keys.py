"""API keys: shown once, kept as a hash, rotated and revoked."""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.functions.doors import Answer, Api
from tests.functions.test_problems import assert_problem
from tests.providers import make_data_key
from tests.world import OTHER_TENANT, World
from tocsin.access import authenticate

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
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


def _rotate(api: Api, key: dict[str, Any], body: dict[str, Any] | None = None) -> Answer:
    return api.post(f"/v1/api-keys/{key['id']}/rotate", body)


def _works(api: Api, key: dict[str, Any]) -> bool:
    authenticate.forget()
    return api.get("/v1/notifications", key=key["key"]).status == 200


def test_rotating_makes_a_second_key_with_the_same_rights(world: World, api: Api) -> None:
    old = _make(api, rate_limit=7)

    new = _rotate(api, old)

    assert new.status == 201
    assert {name: new.json[name] for name in ("name", "producer", "scopes", "mode", "rate_limit")} == {
        name: old[name] for name in ("name", "producer", "scopes", "mode", "rate_limit")
    }
    assert new.json["key"] != old["key"]
    assert new.json["expires_at"] is None
    assert new.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(("body", "overlap"), [(None, DAY), ({}, DAY), ({"overlap_seconds": 3_600}, HOUR)])
def test_the_old_key_works_for_the_overlap_and_then_no_more(
    world: World, api: Api, later: Callable[[timedelta], None], body: dict[str, Any] | None, overlap: timedelta
) -> None:
    old = _make(api)
    new = _rotate(api, old, body).json

    later(overlap - timedelta(minutes=1))
    assert (_works(api, old), _works(api, new)) == (True, True)
    later(timedelta(minutes=2))
    assert (_works(api, old), _works(api, new)) == (False, True)


def test_without_an_overlap_the_old_key_ends_at_once_even_where_it_was_just_used(world: World, api: Api) -> None:
    old = _make(api)
    assert api.get("/v1/notifications", key=old["key"]).status == 200

    new = _rotate(api, old, {"overlap_seconds": 0}).json

    assert api.get("/v1/notifications", key=old["key"]).status == 401
    assert api.get("/v1/notifications", key=new["key"]).status == 200


def test_rotating_tells_when_the_old_key_ends_and_the_list_who_took_over(world: World, api: Api) -> None:
    old = _make(api)

    new = _rotate(api, old).json

    (listed,) = [key for key in api.get("/v1/api-keys").json["data"] if key["id"] == old["id"]]
    assert new["replaces"] == {"id": old["id"], "expires_at": listed["expires_at"]}
    assert (listed["replaced_by"], listed["is_active"]) == (new["id"], True)
    ends_in = world.one("SELECT expires_at - tocsin_now() FROM api_keys WHERE id = %(id)s", id=old["id"])
    assert DAY - timedelta(minutes=1) < ends_in <= DAY


def test_an_overlap_never_lengthens_the_life_of_a_key(world: World, api: Api) -> None:
    old = _make(api, expires_at=(datetime.now(UTC) + timedelta(minutes=5)).isoformat())

    replaced = _rotate(api, old).json["replaces"]

    assert replaced["expires_at"] == old["expires_at"]


def test_a_key_is_rotated_once_and_the_second_try_is_told_who_took_over(world: World, api: Api) -> None:
    old = _make(api)
    new = _rotate(api, old).json

    problem = assert_problem(_rotate(api, old), 409, "already-rotated")

    assert new["id"] in problem["detail"]
    assert world.count("api_keys") == 3  # the caller's, the old and the new one
    assert _rotate(api, new).status == 201


def test_a_key_that_has_run_out_cannot_be_rotated(world: World, api: Api, later: Callable[[timedelta], None]) -> None:
    old = _make(api, expires_at=(datetime.now(UTC) + HOUR).isoformat())
    later(2 * HOUR)

    assert_problem(_rotate(api, old), 409, "key-expired")


@pytest.mark.parametrize("overlap", [-1, 2_592_001, "60", 1.5, True, None])
def test_an_overlap_is_a_number_of_seconds_up_to_thirty_days(world: World, api: Api, overlap: Any) -> None:
    old = _make(api)

    assert_problem(_rotate(api, old, {"overlap_seconds": overlap}), 422, "invalid-request")
    assert _rotate(api, old, {"overlap_seconds": 2_592_000}).status == 201


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


def test_a_key_has_an_owner_who_is_shown_and_handed_on_by_rotating(world: World, api: Api) -> None:
    world.add_user("alice")
    made = _make(api, user_id="alice")

    rotated = _rotate(api, made).json

    assert (made["user_id"], rotated["user_id"]) == ("alice", "alice")
    assert _make(api)["user_id"] is None


def test_an_owner_whom_nobody_knows_is_refused(world: World, api: Api) -> None:
    world.add_tenant()
    world.add_user("theirs", tenant=OTHER_TENANT)

    for owner in ("nobody", "theirs"):
        problem = assert_problem(api.post("/v1/api-keys", BODY | {"user_id": owner}), 422, "invalid-request")
        assert problem["errors"] == [{"pointer": "/user_id", "message": "is not known"}]


def test_a_key_ends_with_its_owner_and_stays_as_the_author_of_what_it_made(world: World, api: Api) -> None:
    alice = world.add_user("alice")
    made = _make(api, user_id="alice")
    assert _works(api, made)

    world.admin.execute("DELETE FROM users WHERE id = %s", [alice])

    assert not _works(api, made)
    shown = api.get(f"/v1/api-keys/{made['id']}").json
    assert (shown["user_id"], shown["is_active"], shown["revoked_at"] is not None) == (None, False, True)


def test_a_key_is_shown_with_its_use_and_its_end_and_without_its_secret(world: World, api: Api) -> None:
    made = _make(api)
    assert _works(api, made)
    api.post(f"/v1/api-keys/{made['id']}/revoke")

    shown = api.get(f"/v1/api-keys/{made['id']}")

    assert shown.json.keys() == made.keys() - {"key"}
    assert made["key"] not in shown.text
    assert (shown.json["key_prefix"], shown.json["is_active"]) == (made["key_prefix"], False)
    assert (made["last_used_at"], made["revoked_at"]) == (None, None)
    assert (shown.json["last_used_at"] is not None, shown.json["revoked_at"] is not None) == (True, True)


def test_a_key_of_others_is_no_key(world: World, api: Api) -> None:
    made = _make(api)
    world.add_tenant()
    other = Api(world.add_key("admin", tenant=OTHER_TENANT))

    assert_problem(other.get(f"/v1/api-keys/{made['id']}"), 404, "not-found")
    assert made["id"] not in other.get("/v1/api-keys").text


def test_keys_are_found_by_owner_producer_and_whether_they_open_anything(
    world: World, api: Api, later: Callable[[timedelta], None]
) -> None:
    world.add_user("alice")
    world.add_user("bob")
    of_alice, of_billing = _make(api, user_id="alice")["id"], _make(api, producer="billing")["id"]
    ended = _make(api, producer="billing", expires_at=(datetime.now(UTC) + HOUR).isoformat())["id"]
    api.post(f"/v1/api-keys/{of_billing}/revoke")
    later(2 * HOUR)

    def found(**query: str) -> set[str]:
        return {key["id"] for key in api.get("/v1/api-keys", query=query).json["data"]}

    assert (found(user_id="alice"), found(user_id="bob"), found(user_id="nobody")) == ({of_alice}, set(), set())
    assert found(producer="billing") == {of_billing, ended}
    assert found(is_active="false") == {of_billing, ended}
    assert found(is_active="true") & {of_alice, of_billing, ended} == {of_alice}
    assert_problem(api.get("/v1/api-keys", query={"is_active": "yes"}), 422, "invalid-request")


def test_who_makes_a_template_or_a_webhook_is_shown(world: World, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    make_data_key(monkeypatch)
    author = _make(api, scopes=["manage"])

    template = api.post("/v1/templates", {"name": "t", "channel": "sms", "body": "Hi"}, key=author["key"]).json
    hook = api.post(
        "/v1/webhooks", {"url": "https://hooks.example.com", "events": ["notification.published"]}, key=author["key"]
    ).json

    assert (template["created_by"], hook["created_by"]) == (author["id"], author["id"])
