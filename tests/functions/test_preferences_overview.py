"""GET /v1/inbox/preferences: which channels reach a person, which types there are, and what counts for each."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.content import add_suppression, add_template, add_type
from tests.functions.doors import Api
from tests.functions.readers import Reader
from tests.functions.test_problems import assert_problem
from tests.world import OTHER_TENANT, World
from tocsin.access.key_format import SCOPES
from tocsin.people import preferences

PATH = "/v1/inbox/preferences"


@pytest.fixture
def alice(world: World, browser_of: Callable[[str], Reader]) -> Api:
    """Her browser."""
    world.add_user("alice")
    return browser_of("alice").api


def _reach(api: Api, **query: Any) -> dict[str, str | None]:
    channels = api.get(PATH, query=query).json["channels"]
    assert all(one["reachable"] == (one["reason"] is None) for one in channels)
    return {one["channel"]: one["reason"] for one in channels}


def _switches(api: Api, **query: Any) -> dict[str, dict[str, bool]]:
    types = api.get(PATH, query=query).json["types"]
    return {one["name"]: {way["channel"]: way["enabled"] for way in one["channels"]} for one in types}


def test_a_channel_without_an_address_or_a_device_says_so(world: World, api: Api) -> None:
    world.add_user("nobody", email=None)
    world.add_device(world.add_user("somebody", phone="+14155550100"))

    assert _reach(api, user_id="nobody") == {"email": "no_address", "sms": "no_address", "push": "no_device", "in_app": None}
    assert _reach(api, user_id="somebody") == dict.fromkeys(("email", "sms", "push", "in_app"))


def test_a_device_that_is_switched_off_does_not_reach_anybody(world: World, alice: Api) -> None:
    world.add_device(world.one("SELECT id FROM users"))
    world.admin.execute("UPDATE devices SET enabled = false")

    assert _reach(alice)["push"] == "no_device"


def test_an_address_that_is_suppressed_for_everything_does_not_reach_anybody_until_it_is_over(
    world: World, alice: Api, later: Callable[[timedelta], None]
) -> None:
    add_suppression(world, "Alice@example.com", lasts=timedelta(hours=1))
    add_suppression(world, "bob@example.com")
    add_suppression(world, "alice@example.com", notification_type="news")

    assert _reach(alice)["email"] == "suppressed"
    later(timedelta(hours=2))
    assert _reach(alice)["email"] is None


def test_types_are_listed_by_name_with_what_people_read(world: World, alice: Api) -> None:
    add_type(world, "order.shipped", title="Deliveries", description="When an order leaves us.", channels=["sms", "email"])
    add_type(world, "alarm", priority="critical")

    assert alice.get(PATH).json["types"] == [
        {
            "name": "alarm",
            "title": None,
            "description": None,
            "locked": True,
            "channels": [{"channel": "email", "enabled": True}, {"channel": "in_app", "enabled": True}],
        },
        {
            "name": "order.shipped",
            "title": "Deliveries",
            "description": "When an order leaves us.",
            "locked": False,
            "channels": [{"channel": "sms", "enabled": True}, {"channel": "email", "enabled": True}],
        },
    ]


def test_a_type_without_channels_has_those_of_its_template(world: World, alice: Api) -> None:
    add_type(world, "worded", template="shipped")
    add_type(world, "wordless", template="nowhere")
    add_template(world, "shipped", channel="sms")
    add_template(world, "shipped", channel="push")

    assert _switches(alice) == {"worded": {"push": True, "sms": True}, "wordless": {"email": True, "in_app": True}}


def test_what_counts_is_the_rule_of_the_type_then_the_channels(world: World, alice: Api) -> None:
    add_type(world, "news")
    add_type(world, "orders")
    alice.put(f"{PATH}/email", {"enabled": False})
    alice.put(f"{PATH}/email", {"enabled": True}, query="type=orders")
    alice.put(f"{PATH}/in_app", {"enabled": False}, query="type=news")
    alice.put(f"{PATH}/in_app", {"enabled": None}, query="type=orders")

    assert _switches(alice) == {"news": {"email": False, "in_app": False}, "orders": {"email": True, "in_app": True}}


def test_who_unsubscribed_from_a_type_has_it_switched_off_until_they_switch_it_on_themselves(
    world: World, api: Api, alice: Api
) -> None:
    add_type(world, "news")
    add_suppression(world, reason="unsubscribe", notification_type="news")
    assert _switches(alice) == {"news": {"email": False, "in_app": True}}

    api.put(f"{PATH}/email", {"enabled": True}, query={"user_id": "alice", "type": "news"})
    assert _switches(alice)["news"]["email"] is False  # a server does not take back what a person said

    alice.put(f"{PATH}/email", {"enabled": True}, query="type=news")
    assert _switches(alice)["news"]["email"] is True
    assert world.count("suppressions") == 0
    assert world.one("SELECT count(*) FROM audit_logs WHERE action = 'lift' AND resource_type = 'suppression'") == 1


def test_switching_a_type_on_lifts_no_other_suppression(world: World, alice: Api) -> None:
    add_type(world, "news")
    for reason, kind in (("complaint", ""), ("manual", "news"), ("unsubscribe", "orders")):
        add_suppression(world, reason=reason, notification_type=kind)

    alice.put(f"{PATH}/email", {"enabled": True}, query="type=news")

    assert world.count("suppressions") == 3


def test_a_critical_type_cannot_be_switched_off_but_its_channel_can(world: World, alice: Api) -> None:
    add_type(world, "alarm", priority="critical")

    problem = assert_problem(alice.put(f"{PATH}/email", {"enabled": False}, query="type=alarm"), 422, "invalid-request")
    assert [error["pointer"] for error in problem["errors"]] == ["/enabled"]
    assert world.count("preferences") == 0

    alice.put(f"{PATH}/email", {"frequency_cap": 5}, query="type=alarm")
    assert _switches(alice)["alarm"]["email"] is True
    alice.put(f"{PATH}/email", {"enabled": False})
    assert _switches(alice)["alarm"]["email"] is False


def test_what_was_switched_off_before_a_type_was_critical_does_not_count(world: World, alice: Api) -> None:
    add_type(world, "alarm")
    alice.put(f"{PATH}/email", {"enabled": False}, query="type=alarm")
    assert _switches(alice)["alarm"]["email"] is False

    add_type(world, "alarm", priority="critical")

    assert _switches(alice)["alarm"]["email"] is True


def test_more_types_than_are_shown_hide_no_rule_of_those_that_are(world: World, alice: Api) -> None:
    world.admin.execute(
        """INSERT INTO notification_types (tenant_id, name) SELECT tenant_id, 't' || to_char(n, 'FM0000') FROM users,
           generate_series(1, %s) AS n""",
        [preferences.MOST_TYPES + 1],
    )
    world.admin.execute(
        """INSERT INTO preferences (id, tenant_id, user_id, channel, notification_type, enabled)
           SELECT gen_random_uuid(), users.tenant_id, users.id, way, name, false
           FROM users, notification_types, unnest(ARRAY['email', 'in_app']) AS way"""
    )

    switches = _switches(alice)

    assert (len(switches), max(switches)) == (preferences.MOST_TYPES, f"t{preferences.MOST_TYPES:04}")
    assert not any(enabled for one in switches.values() for enabled in one.values())


def test_another_tenant_has_types_and_addresses_of_its_own(world: World, alice: Api) -> None:
    world.add_tenant()
    world.add_user("alice", tenant=OTHER_TENANT)
    theirs = Api(world.add_key(*SCOPES, tenant=OTHER_TENANT))
    add_type(world, "ours")
    add_type(world, "theirs", tenant=OTHER_TENANT)
    add_suppression(world, tenant=OTHER_TENANT)

    assert (list(_switches(alice)), _reach(alice)["email"]) == (["ours"], None)
    assert (list(_switches(theirs, user_id="alice")), _reach(theirs, user_id="alice")["email"]) == (["theirs"], "suppressed")
