"""Slow and large templates delay their own tenant: neighbours in the same round are served, and nothing is lost."""

import time

import pytest

from tests.content import add_template
from tests.events import fan_out_all, happen, inbox, route
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.content import inbox_text, render_share, templates  # noqa: F401  the engine, so that no tenant pays for its import
from tocsin.content.liquid_limits import MAX_SECONDS
from tocsin.content.render_share import WAIT

# A tenth of a second, where others take less than a thousandth.
SLOW = "{% for i in (1..9000) %}{% assign x = 'a' | upcase | downcase | upcase %}{% endfor %}words"
QUICK = "words"


@pytest.fixture
def two_tenants(world: World) -> World:
    """Each has three emails to send in its own words; ours are slow, and come first."""
    world.add_tenant()
    for tenant, body in ((TENANT, SLOW), (OTHER_TENANT, QUICK)):
        world.add_user(tenant=tenant, email=f"{tenant}@example.com")
        add_template(world, tenant=tenant, body=body)
        for _ in range(3):
            world.accept(tenant=tenant, template="shipped", channels=["email"])
    return world


def _sent(world: World) -> list[int]:
    """How many emails each tenant has sent."""
    addresses = [message.email for message in world.email.accepted]
    return [addresses.count(f"{tenant}@example.com") for tenant in (TENANT, OTHER_TENANT)]


def _deferred(world: World) -> list[tuple[str, int]]:
    return [(one["deferred_reason"], one["attempt_count"]) for one in world.routes() if one["status"] == "pending"]


def test_a_tenant_whose_templates_are_slow_waits_and_its_neighbours_do_not(
    two_tenants: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render_share, "MAX_SECONDS", 0.015)

    two_tenants.dispatch()

    assert _sent(two_tenants) == [1, 3]
    assert _deferred(two_tenants) == [("templates_are_slow", 0)] * 2


def test_what_waits_for_its_turn_to_be_rendered_is_sent_in_the_rounds_that_follow(
    two_tenants: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render_share, "MAX_SECONDS", 0.015)

    for _ in range(3):
        two_tenants.dispatch()
        two_tenants.pass_time(WAIT)

    assert _sent(two_tenants) == [3, 3]
    assert two_tenants.dead_letters() == []


def test_a_worker_holds_only_so_many_words_at_a_time(two_tenants: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render_share, "MAX_HELD", 1)

    two_tenants.dispatch()

    assert sum(_sent(two_tenants)) == 1
    assert _deferred(two_tenants) == [("round_is_full", 0)] * 5


def test_records_for_whose_inbox_words_a_round_has_no_time_are_planned_in_the_next_ones(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_text, "ROUND_SECONDS", 0.0)
    world.add_user()
    asked = [world.accept(channels=["in_app"], payload={"title": str(n)}) for n in range(3)]

    counts = [world.count("notifications") for _ in asked if world.dispatch()]

    assert counts == [1, 2, 3]
    assert {row["title"] for row in world.inbox()} == {"0", "1", "2"}
    assert world.due() == []


def test_events_for_whose_inbox_words_a_round_has_no_time_are_told_in_the_next_ones(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_text, "ROUND_CHARACTERS", 0)
    world.add_user("alice")
    route(world, "*")
    for n in range(5):
        happen(world, title=str(n), mentions=["alice"])

    fan_out_all(world)

    assert (inbox(world)["alice"]["title"], inbox(world)["alice"]["event_count"]) == ("4", 5)


def test_all_locales_of_an_inbox_row_have_the_time_of_one_message_together(world: World) -> None:
    world.add_user()
    endless = "{% for i in (1..9999) %}" + "{% if true %}{% endif %}" * 1_000 + "{% endfor %}words"
    for locale in ("default", "de", "fr", "pt"):
        add_template(world, channel="in_app", body=endless if locale != "pt" else QUICK, locale=locale)
    world.accept(template="shipped", channels=["in_app"])
    began = time.thread_time()

    world.dispatch()

    assert time.thread_time() - began < 2 * MAX_SECONDS
    (row,) = world.inbox()
    assert row["message"].startswith("This notification cannot be shown: the body: it takes more than 1 s")
