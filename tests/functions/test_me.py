"""GET /v1/me: what a key is told of itself."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.functions.doors import Api
from tests.functions.test_problems import assert_problem
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access import authenticate
from tocsin.access.key_format import SCOPES
from tocsin.access.user_tokens import Person
from tocsin.foundation.ids import as_uuid
from tocsin.people.issue_token import token_for

ME = "/v1/me"


def test_a_key_is_told_what_it_may_for_whom_and_until_when(world: World, api: Api) -> None:
    world.add_user("carol")
    ends = (datetime.now(UTC) + timedelta(days=1)).replace(microsecond=0)
    asked = {
        **{"name": "shop server", "producer": "shop", "mode": "test", "scopes": ["send", "read", "manage"]},
        **{"user_id": "carol", "expires_at": ends.isoformat()},
    }
    made = api.post("/v1/api-keys", asked).json

    told = api.get(ME, key=made["key"]).json

    assert told["key"] == {
        **{"id": made["id"], "name": "shop server", "producer": "shop", "mode": "test"},
        **{"scopes": ["manage", "read", "send"], "user_id": "carol"},
        **{"expires_at": ends.isoformat().replace("+00:00", "Z"), "created_at": made["created_at"]},
    }
    assert told["tenant"] == {
        "id": str(TENANT),
        "name": world.one("SELECT name FROM tenants WHERE id = %(id)s", id=TENANT),
        "is_installation": True,
    }
    assert told["person"] is None
    assert abs(datetime.fromisoformat(told["at"]) - datetime.now(UTC)) < timedelta(minutes=5)
    assert "tcn_" not in str(told), "neither its secret nor the beginning of it"


@pytest.mark.parametrize("scope", [None, *SCOPES])
def test_any_key_may_ask_whatever_its_scopes(world: World, api: Api, scope: str | None) -> None:
    scopes = [scope] if scope else []

    answer = api.get(ME, key=world.add_key(*scopes))

    assert (answer.status, answer.json["key"]["scopes"]) == (200, scopes)


def test_a_key_of_another_tenant_is_told_of_that_one_and_not_of_the_installation(world: World, api: Api) -> None:
    world.add_tenant()

    told = api.get(ME, key=world.add_key("read", tenant=OTHER_TENANT)).json

    assert (told["tenant"]["id"], told["tenant"]["is_installation"]) == (str(OTHER_TENANT), False)
    assert told["tenant"]["name"] == world.one("SELECT name FROM tenants WHERE id = %(id)s", id=OTHER_TENANT)


def test_the_person_is_whom_the_caller_names(api: Api) -> None:
    assert api.get(ME, headers={"tocsin-person": "Jane%20Doe"}).json["person"] == "Jane Doe"
    assert api.get(ME, headers={"tocsin-person": "J. Doe, on call + 1"}).json["person"] == "J. Doe, on call + 1"
    assert api.get(ME, headers={"tocsin-person": "%E5%B1%B1%E7%94%B0" * 50}).json["person"] == "山田" * 50
    assert_problem(api.get(ME, headers={"tocsin-person": "%E5%B1%B1" * 101}), 422, "invalid-person")


def test_nobody_is_told_anything_without_a_key_of_ours(world: World, api: Api, token_secret: bytes) -> None:
    token, _ = token_for(Person(TENANT, world.add_user("alice")), timedelta(hours=1))

    assert [api.get(ME, key=key).status for key in ("", "nonsense", token)] == [401, 401, 401]


def test_a_key_that_was_revoked_or_forgotten_is_nobody(world: World, api: Api) -> None:
    revoked, forgotten = world.add_key("read"), world.add_key("read")
    ids = [as_uuid(api.get(ME, key=key).json["key"]["id"]) for key in (revoked, forgotten)]
    api.post(f"/v1/api-keys/{ids[0]}/revoke")
    assert api.get(ME, key=forgotten).status == 200
    world.admin.execute("DELETE FROM api_keys WHERE id = %s", [ids[1]])

    assert [api.get(ME, key=key).status for key in (revoked, forgotten)] == [401, 401]
    authenticate.forget()
    assert api.get(ME, key=forgotten).status == 401


def test_a_key_of_a_suspended_tenant_is_told_that_it_is(world: World, api: Api) -> None:
    world.add_tenant()
    key = world.add_key("read", tenant=OTHER_TENANT)
    assert api.post(f"/v1/tenants/{OTHER_TENANT}/suspend", {"reason": "unpaid"}).status == 200

    assert_problem(api.get(ME, key=key), 403, "tenant-suspended")
