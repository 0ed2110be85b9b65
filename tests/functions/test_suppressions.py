"""Suppressions over HTTP: listed, made by hand and lifted; a complaint only by an operator who says why."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.content import add_suppression
from tests.functions.doors import Api, intent
from tests.world import TENANT, World
from tocsin.access.key_format import SCOPES


def _audit(world: World) -> list[dict[str, Any]]:
    return world.rows("SELECT * FROM audit_logs ORDER BY created_at, id")


def test_an_address_is_suppressed_and_shown(world: World, api: Api) -> None:
    answer = api.post("/v1/suppressions", {"channel": "email", "address": "Alice@EXAMPLE.com"})

    shown = answer.json
    assert answer.status == 201
    assert shown.pop("created_at").endswith("Z")
    assert shown == {
        "id": str(world.one("SELECT id FROM suppressions")),
        "channel": "email",
        "address": "Alice@example.com",
        "notification_type": "",
        "reason": "manual",
        "source_notification_id": None,
        "expires_at": None,
    }


@pytest.mark.parametrize(
    ("channel", "address", "user"),
    [
        ("email", "ALICE@Example.com", {}),
        ("sms", "+14155550100", {"phone": "+14155550100"}),
    ],
)
def test_what_is_suppressed_is_not_written_to_again(
    world: World, api: Api, channel: str, address: str, user: dict[str, str]
) -> None:
    world.add_user(**user)
    api.post("/v1/suppressions", {"channel": channel, "address": address})

    notification_id = api.send(intent(channels=[channel])).json["notification_id"]
    world.dispatch()

    (route,) = api.get(f"/v1/notifications/{notification_id}").json["routes"]
    assert (route["status"], route["reason"]) == ("skipped", "suppressed: manual")
    assert world.email.calls + world.sms.calls == 0


def test_for_one_type_only_that_type_is_held_back(world: World, api: Api) -> None:
    world.add_user()
    api.post("/v1/suppressions", {"channel": "email", "address": "alice@example.com", "notification_type": "news"})

    for kind in ("news", "order.shipped"):
        api.send(intent(type=kind))
    world.dispatch()

    assert len(world.email.accepted) == 1
    assert {route["reason"] for route in world.routes()} == {"", "suppressed: manual"}


def test_suppressing_twice_is_one_suppression(world: World, api: Api) -> None:
    first, second = (api.post("/v1/suppressions", {"channel": "sms", "address": "+14155550100"}).json for _ in range(2))

    assert first == second
    assert world.count("suppressions") == 1


def test_a_complaint_is_not_weakened_by_suppressing_by_hand(world: World, api: Api) -> None:
    add_suppression(world, reason="complaint")

    shown = api.post("/v1/suppressions", {"channel": "email", "address": "alice@example.com"}).json

    assert (shown["reason"], world.count("suppressions")) == ("complaint", 1)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"channel": "push", "address": "device"}, "/channel"),
        ({"channel": "email"}, "/address"),
        ({"channel": "email", "address": "alice"}, "/address"),
        ({"channel": "email", "address": "a" * 255}, "/address"),
        ({"channel": "email", "address": "Alice <alice@example.com>"}, "/address"),
        ({"channel": "sms", "address": "alice@example.com"}, "/address"),
        ({"channel": "sms", "address": "0415"}, "/address"),
        ({"channel": "email", "address": "alice@example.com", "notification_type": ""}, "/notification_type"),
        ({"channel": "email", "address": "alice@example.com", "reason": "complaint"}, "/reason"),
    ],
)
def test_what_is_not_valid_is_refused_with_a_pointer(world: World, api: Api, body: dict[str, str], pointer: str) -> None:
    answer = api.post("/v1/suppressions", body)

    assert (answer.status, [error["pointer"] for error in answer.json["errors"]]) == (422, [pointer])
    assert (world.count("suppressions"), _audit(world)) == (0, [])


def test_they_are_listed_newest_first_page_by_page_without_what_has_run_out(world: World, api: Api) -> None:
    add_suppression(world, "passing@example.com", reason="soft_bounces", lasts=timedelta(days=7))
    for n in range(3):
        add_suppression(world, f"u{n}@example.com")
    world.pass_time(timedelta(days=8))

    first = api.get("/v1/suppressions", query={"limit": "2"}).json
    rest = api.get("/v1/suppressions", query={"limit": "2", "cursor": first["next_cursor"]}).json

    pages = [[one["address"] for one in page["data"]] for page in (first, rest)]
    assert pages == [["u2@example.com", "u1@example.com"], ["u0@example.com"]]
    assert rest["next_cursor"] is None


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"channel": "sms"}, ["+14155550100"]),
        ({"address": "ALICE@example.com"}, ["alice@example.com"]),
        ({"address": "+14155550100"}, ["+14155550100"]),
        ({"channel": "sms", "address": "alice@example.com"}, []),
    ],
)
def test_the_list_can_be_narrowed_to_a_channel_and_an_address(
    world: World, api: Api, query: dict[str, str], found: list[str]
) -> None:
    for address in ("alice@example.com", "bob@example.com", "+14155550100"):
        add_suppression(world, address)

    assert [one["address"] for one in api.get("/v1/suppressions", query=query).json["data"]] == found


@pytest.mark.parametrize("reason", ["manual", "hard_bounce", "unsubscribe", "opted_out"])
def test_lifted_an_address_is_written_to_again(world: World, api: Api, reason: str) -> None:
    world.add_user()
    suppression_id = add_suppression(world, reason=reason)

    assert api.delete(f"/v1/suppressions/{suppression_id}", key=world.add_key("manage")).status == 204

    api.send()
    world.dispatch()
    assert len(world.email.accepted) == 1
    assert api.delete(f"/v1/suppressions/{suppression_id}").status == 404


@pytest.mark.parametrize(
    ("scopes", "query", "status", "kind"),
    [
        (["manage"], {}, 403, "forbidden"),
        (["manage"], {"reason": "they asked to be written to"}, 403, "forbidden"),
        (["operate"], {"reason": "they asked to be written to"}, 403, "forbidden"),
        (["manage", "operate"], {}, 422, "reason-required"),
        (["manage", "operate"], {"reason": "  "}, 422, "reason-required"),
        (["manage", "operate"], {"reason": "they asked to be written to"}, 204, None),
    ],
)
def test_a_complaint_is_lifted_only_by_an_operator_with_a_reason(
    world: World, api: Api, scopes: list[str], query: dict[str, str], status: int, kind: str | None
) -> None:
    suppression_id = add_suppression(world, reason="complaint")

    answer = api.delete(f"/v1/suppressions/{suppression_id}", key=world.add_key(*scopes), query=query)

    assert (answer.status, answer.json["type"] if answer.text else None) == (status, kind and f"/errors#{kind}")
    assert world.count("suppressions") == (0 if status == 204 else 1)
    assert [row["changes"]["reason"] for row in _audit(world)] == (["they asked to be written to"] if status == 204 else [])


@pytest.mark.parametrize("whose", ["nobody's", "another tenant's", "no id"])
def test_what_is_not_ones_own_is_not_found_and_not_listed(world: World, api: Api, whose: str) -> None:
    theirs = add_suppression(world, tenant=world.add_tenant())
    name = {"nobody's": str(uuid4()), "another tenant's": str(theirs), "no id": "x"}[whose]

    assert api.delete(f"/v1/suppressions/{name}").status == 404
    assert api.get("/v1/suppressions", query={"address": "alice@example.com"}).json["data"] == []
    assert world.count("suppressions") == 1


def test_every_change_is_in_the_audit_log_without_the_address(world: World, api: Api) -> None:
    made = api.post("/v1/suppressions", {"channel": "email", "address": "alice@example.com"}).json
    api.delete(f"/v1/suppressions/{made['id']}", query={"reason": "a mistake"})

    suppress, lift = _audit(world)
    assert (suppress["action"], lift["action"]) == ("suppress", "lift")
    assert {row["resource_id"] for row in (suppress, lift)} == {made["id"]}
    assert suppress["changes"] == {"new": {"channel": "email", "reason": "manual"}}
    assert lift["changes"] == {
        "old": {"channel": "email", "reason": "manual", "notification_type": ""},
        "reason": "a mistake",
    }
    assert "alice" not in str((suppress, lift))


def test_no_change_without_its_audit_row(breakable_world: World) -> None:
    api = Api(breakable_world.add_key(*SCOPES))
    suppression_id = add_suppression(breakable_world)
    breakable_world.admin.execute("ALTER TABLE audit_logs ADD CONSTRAINT nothing_more CHECK (false) NOT VALID")

    made = api.post("/v1/suppressions", {"channel": "email", "address": "bob@example.com"})
    lifted = api.delete(f"/v1/suppressions/{suppression_id}")

    assert (made.status, lifted.status) == (500, 500)
    assert breakable_world.rows("SELECT address, tenant_id FROM suppressions") == [
        {"address": "alice@example.com", "tenant_id": TENANT}
    ]
