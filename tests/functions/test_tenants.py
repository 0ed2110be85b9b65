"""Tenants by HTTP: made, listed, changed, suspended and resumed by the installation's administrators alone."""

from datetime import timedelta
from uuid import UUID

import pytest

from tests.functions.doors import Api, handler_of, intent, sqs_event
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access import authenticate, standing
from tocsin.access.user_tokens import Person
from tocsin.outbox.sweep import sweep
from tocsin.people.issue_token import token_for

SHOP = {"name": "Shop", "settings": {"retention": {"records_days": 30}, "caps": {"intents_per_minute": 100}}}


@pytest.fixture
def admin(world: World) -> Api:
    return Api(world.add_key("admin", "manage", "send", "read"))


@pytest.fixture
def shop(admin: Api) -> dict[str, str]:
    made = admin.post("/v1/tenants", SHOP).json
    return {"id": made["id"], "key": made["first_key"]["key"]}


def _sender(shop: dict[str, str]) -> Api:
    key = Api(shop["key"]).post("/v1/api-keys", {"name": "k", "producer": "p", "scopes": ["send", "read", "manage", "inbox"]})
    return Api(key.json["key"])


def test_a_tenant_is_made_with_a_first_key_that_works_and_is_shown_once(world: World, admin: Api) -> None:
    made = admin.post("/v1/tenants", SHOP)

    assert made.status == 201
    assert made.json["name"] == "Shop"
    assert made.json["settings"] == SHOP["settings"]
    theirs = Api(made.json["first_key"]["key"])
    assert theirs.put("/v1/users/alice", {}).status == 201
    assert theirs.get("/v1/api-keys").status == 200
    assert "first_key" not in admin.get(f"/v1/tenants/{made.json['id']}").json


def test_what_is_done_to_a_tenant_is_in_its_own_log_and_in_the_installations(world: World, shop: dict[str, str]) -> None:
    rows = world.rows("SELECT tenant_id, actor, action, resource_type FROM audit_logs ORDER BY created_at, id")

    assert {(row["tenant_id"], row["action"], row["resource_type"]) for row in rows} == {
        (UUID(shop["id"]), "create", "api_key"),
        (UUID(shop["id"]), "create", "tenant"),
        (TENANT, "create", "tenant"),
    }
    assert len({row["actor"] for row in rows}) == 1


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/tenants", None),
        ("POST", "/v1/tenants", SHOP),
        ("GET", "/v1/tenants/{id}", None),
        ("PATCH", "/v1/tenants/{id}", {"name": "Mine"}),
        ("POST", "/v1/tenants/{id}/suspend", {"reason": "r"}),
        ("POST", "/v1/tenants/{id}/resume", None),
        ("DELETE", "/v1/tenants/{id}", {"confirm": "Shop"}),
    ],
)
def test_administrators_of_other_tenants_have_no_say(shop: dict[str, str], method: str, path: str, body: object) -> None:
    answer = Api(shop["key"]).call(method, path.format(id=shop["id"]), body)

    assert (answer.status, answer.json["type"]) == (403, "/errors#installation-only")


def test_tenants_are_found_by_name_and_status(admin: Api, shop: dict[str, str]) -> None:
    admin.post(f"/v1/tenants/{shop['id']}/suspend", {"reason": "unpaid"})

    def names(**query: str) -> list[str]:
        return [one["name"] for one in admin.get("/v1/tenants", query=query).json["data"]]

    assert names() == ["Shop", "default"]
    assert names(name="SHO") == ["Shop"]
    assert names(status="suspended") == ["Shop"]
    assert names(status="active", name="shop") == []
    assert admin.get("/v1/tenants", query={"status": "odd"}).status == 422


def test_a_change_is_a_merge_patch_and_is_validated(admin: Api, shop: dict[str, str]) -> None:
    place = f"/v1/tenants/{shop['id']}"

    changed = admin.patch(place, {"settings": {"retention": {"records_days": None, "audit_logs_days": 90}}})

    assert changed.json["settings"] == {"retention": {"audit_logs_days": 90}, "caps": {"intents_per_minute": 100}}
    assert admin.patch(place, {"name": "Store"}).json["name"] == "Store"
    merge = {"content-type": "application/merge-patch+json"}
    assert admin.patch(place, {"settings": {"caps": None}}, headers=merge).json["settings"] == {
        "retention": {"audit_logs_days": 90}
    }
    for wrong in ({"retention": {"odd_days": 1}}, {"caps": {"intents_per_minute": 0}}, {"colour": "red"}):
        refused = admin.patch(place, {"settings": wrong})
        assert refused.status == 422
        assert refused.json["errors"][0]["pointer"].startswith("/settings/")


def test_the_keys_of_a_suspended_tenant_are_told_so_at_once(admin: Api, shop: dict[str, str]) -> None:
    sender = _sender(shop)
    assert sender.put("/v1/users/alice", {}).status == 201

    assert admin.post(f"/v1/tenants/{shop['id']}/suspend", {"reason": "unpaid"}).json["status"] == "suspended"

    refused = sender.send(intent())
    assert refused.status == 403
    assert refused.json["type"].endswith("tenant-suspended")
    assert admin.post(f"/v1/tenants/{shop['id']}/resume").json["status"] == "active"
    assert sender.send(intent()).status == 202


def test_a_door_that_knew_the_key_learns_of_the_suspension_when_its_memory_ends(
    world: World, shop: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = Api(shop["key"])
    assert theirs.get("/v1/api-keys").status == 200
    world.admin.execute("UPDATE tenants SET status = 'suspended', suspended_at = tocsin_now() WHERE id = %s", [shop["id"]])

    assert theirs.get("/v1/api-keys").status == 200
    monkeypatch.setattr(authenticate, "CACHE_SECONDS", 0.0)
    assert theirs.get("/v1/api-keys").status == 403


def test_the_browsers_of_a_suspended_tenant_are_told_so(world: World, admin: Api, shop: dict[str, str]) -> None:
    user = world.add_user(tenant=UUID(shop["id"]))
    token, _ = token_for(Person(UUID(shop["id"]), user), timedelta(hours=1))
    assert Api(token).get("/v1/inbox").status == 200

    admin.post(f"/v1/tenants/{shop['id']}/suspend", {"reason": "unpaid"})

    assert Api(token).get("/v1/inbox").status == 403
    world.admin.execute("DELETE FROM users WHERE id = %s", [user])
    admin.post(f"/v1/tenants/{shop['id']}/resume")
    standing.forget()
    assert Api(token).get("/v1/inbox").status == 401


def test_what_comes_by_queue_for_a_suspended_tenant_is_kept_as_malformed(world: World, admin: Api, shop: dict[str, str]) -> None:
    admin.post(f"/v1/tenants/{shop['id']}/suspend", {"reason": "unpaid"})

    handler_of("intake_queue")(sqs_event(intent() | {"tenant_id": shop["id"]}), None)

    (kept,) = world.rows("SELECT tenant_id, failure_code, raw_fields FROM malformed_intents")
    assert (str(kept["tenant_id"]), kept["failure_code"]) == (shop["id"], "tenant_suspended")
    assert kept["raw_fields"]["type"] == "order.shipped"


def test_the_work_of_a_suspended_tenant_waits_and_goes_on_when_it_is_resumed(
    world: World, admin: Api, shop: dict[str, str]
) -> None:
    theirs = UUID(shop["id"])
    for tenant in (TENANT, theirs):
        world.add_user(tenant=tenant)
        world.accept(tenant=tenant)
    admin.post(f"/v1/tenants/{shop['id']}/suspend", {"reason": "unpaid"})

    world.dispatch()
    world.dispatch()
    world.pass_time(timedelta(hours=1))
    swept = sweep(world.worker)

    assert [message.email for message in world.email.accepted] == ["alice@example.com"]
    assert {row["tenant_id"] for row in world.rows("SELECT tenant_id FROM outbox")} == {theirs}
    assert (swept.nudged, swept.backlog.depth, swept.backlog.oldest_due_seconds) == (0, 0, 0)

    admin.post(f"/v1/tenants/{shop['id']}/resume")
    assert sweep(world.worker).nudged == 1
    world.dispatch()

    assert len(world.email.accepted) == 2
    assert world.count("outbox") == 0


def test_what_expired_while_its_tenant_was_suspended_is_not_sent(world: World, admin: Api, shop: dict[str, str]) -> None:
    theirs = UUID(shop["id"])
    world.add_user(tenant=theirs)
    world.accept(tenant=theirs)
    world.admin.execute("UPDATE records SET expires_at = tocsin_now() + interval '1 hour'")
    admin.post(f"/v1/tenants/{shop['id']}/suspend", {"reason": "unpaid"})
    world.pass_time(timedelta(hours=2))

    admin.post(f"/v1/tenants/{shop['id']}/resume")
    world.dispatch()

    assert world.email.accepted == []
    assert (world.route()["status"], world.route()["reason"]) == ("skipped", "expired")


@pytest.mark.parametrize(("call", "body"), [("suspend", {"reason": "r"}), ("", {"confirm": "default"})])
def test_the_installations_own_tenant_is_neither_suspended_nor_deleted(admin: Api, call: str, body: object) -> None:
    place = f"/v1/tenants/{TENANT}"
    answer = admin.post(f"{place}/{call}", body) if call else admin.call("DELETE", place, body)

    assert answer.status == 409
    assert answer.json["type"].endswith("first-tenant")


def test_a_deletion_is_counted_first_and_confirmed_by_name(world: World, admin: Api, shop: dict[str, str]) -> None:
    place = f"/v1/tenants/{shop['id']}"
    world.add_user(tenant=UUID(shop["id"]))

    counted = admin.delete(place, query={"dry_run": "true"})

    assert counted.status == 200
    assert (counted.json["would_delete"]["users"], counted.json["would_delete"]["api_keys"]) == (1, 1)
    assert admin.call("DELETE", place, {"confirm": "Another"}).status == 422
    assert admin.delete(place).status == 422
    assert admin.get(place).json["status"] == "active"


def test_what_would_be_deleted_is_counted_so_far_and_no_further(
    world: World, admin: Api, shop: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tocsin.access.tenants.MOST_COUNTED", 2)
    place, tenant = f"/v1/tenants/{shop['id']}", UUID(shop["id"])
    for name in ("alice", "bob"):
        world.add_user(name, tenant=tenant)

    two = admin.delete(place, query={"dry_run": "true"}).json
    world.add_user("carol", tenant=tenant)
    three = admin.delete(place, query={"dry_run": "true"}).json["would_delete"]

    assert two["dry_run"]
    assert {name: two["would_delete"].get(name) for name in ("api_keys", "users", "records")} == {
        "api_keys": 1, "users": 2, "records": None,
    }  # fmt: skip
    assert three["users"] == {"count": 2, "at_least": True}
    assert admin.get(place).json["status"] == "active"


def test_a_tenant_that_is_being_deleted_is_refused_as_if_nobody_knew_it(admin: Api, shop: dict[str, str]) -> None:
    place = f"/v1/tenants/{shop['id']}"

    first = admin.call("DELETE", place, {"confirm": "Shop"})
    second = admin.call("DELETE", place, {"confirm": "Shop"})

    assert (first.status, first.json["status"]) == (202, "running")
    assert second.json["id"] == first.json["id"]
    assert Api(shop["key"]).get("/v1/api-keys").status == 401
    assert admin.get(f"/v1/erasures/{first.json['id']}").json == first.json
    assert admin.post(f"{place}/resume").status == 409
    assert admin.patch(place, {"name": "x"}).status == 409


def test_receipts_are_not_for_other_tenants(world: World, admin: Api, shop: dict[str, str]) -> None:
    receipt = admin.call("DELETE", f"/v1/tenants/{shop['id']}", {"confirm": "Shop"}).json["id"]
    world.add_tenant()
    other = Api(world.add_key("manage", tenant=OTHER_TENANT))

    assert other.get(f"/v1/erasures/{receipt}").status == 404
    assert other.get("/v1/erasures").json["data"] == []
