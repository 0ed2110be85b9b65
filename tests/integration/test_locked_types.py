"""A type of the priority critical cannot be switched off by itself: in the gate, in planning and in the fan-out."""

import pytest

from tests.content import add_type
from tests.events import TYPE, fan_out_all, happen, inbox, prefer, route
from tests.world import OTHER_TENANT, TENANT, World

CHANNELS = ["email", "sms", "push", "in_app"]


@pytest.fixture
def alice(world: World) -> World:
    """She is told of alarms on every channel, and has switched them off on each."""
    world.add_device(world.add_user("alice", phone="+14155550100"))
    for channel in CHANNELS:
        prefer(world, "alice", enabled=False, channel=channel, notification_type="alarm")
    return world


def _statuses(world: World) -> dict[str, str]:
    world.accept(type="alarm", channels=CHANNELS)
    world.dispatch()
    statuses = {route["channel"]: route["status"] for route in world.routes()}
    assert len(world.inbox()) == (statuses["in_app"] == "published")
    return statuses


def test_a_type_that_is_not_critical_stays_switched_off(alice: World) -> None:
    add_type(alice, "alarm", priority="high")

    assert _statuses(alice) == dict.fromkeys(CHANNELS, "skipped")


def test_a_critical_type_comes_whatever_was_said_of_it(alice: World) -> None:
    add_type(alice, "alarm", priority="critical")

    assert _statuses(alice) == dict.fromkeys(CHANNELS, "published")


def test_the_channels_own_switch_counts_for_a_critical_type_too(alice: World) -> None:
    add_type(alice, "alarm", priority="critical")
    for channel in CHANNELS:
        prefer(alice, "alice", enabled=False, channel=channel)

    assert _statuses(alice) == dict.fromkeys(CHANNELS, "skipped")


def test_a_type_is_critical_in_its_own_tenant_only(alice: World) -> None:
    alice.add_tenant()
    add_type(alice, "alarm", priority="critical", tenant=OTHER_TENANT)

    assert _statuses(alice) == dict.fromkeys(CHANNELS, "skipped")


@pytest.mark.parametrize(("priority", "rows"), [("high", set()), ("critical", {"alice"})])
def test_an_event_of_a_critical_type_comes_into_the_inbox(world: World, priority: str, rows: set[str]) -> None:
    world.add_user("alice")
    add_type(world, TYPE, priority=priority)
    prefer(world, "alice", enabled=False, notification_type=TYPE)
    route(world)

    happen(world, mentions=["alice"])
    fan_out_all(world)

    assert inbox(world, TENANT).keys() == rows
