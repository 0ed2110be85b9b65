"""Intents for the subscribers of a thread or the watchers of a scope: resolved when they are planned, page by page."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.claiming import claim_plans
from tests.events import SCOPE, THREAD, choose, inbox, populate, prefer, reasons, took_part, watch
from tests.world import LEASE, OTHER_TENANT, TENANT, World
from tocsin.audience import plan

SUBSCRIBERS = {"kind": "thread", "thread": THREAD}
WATCHERS = {"kind": "scope", "scope": SCOPE}


def _people(world: World, *names: str, tenant: Any = TENANT) -> None:
    for name in names:
        world.add_user(name, tenant=tenant)


def _ends(world: World) -> dict[tuple[str, str], tuple[str, str, str]]:
    """Each route by recipient and channel: its status, why, and the recipient's reason."""
    return {
        (row["recipient_ref"].removeprefix("user:"), row["channel"]): (row["status"], row["reason"], row["audience_reason"])
        for row in world.routes()
    }


def test_an_intent_for_a_thread_goes_to_its_subscribers_with_their_reasons(world: World) -> None:
    _people(world, "alice", "bob", "carol", "dave", "erin")
    choose(world, "alice", subscribed=True)
    took_part(world, "bob", "author")
    took_part(world, "carol", "comment")
    took_part(world, "dave", "mention")
    watch(world, "erin")

    world.accept(audience=SUBSCRIBERS, channels=["email", "in_app"])
    world.dispatch()

    why = {"alice": "subscribed", "bob": "author", "carol": "comment", "dave": "subscribed"}
    assert reasons(world) == why
    assert _ends(world) == {(who, channel): ("published", "", why[who]) for who in why for channel in ("email", "in_app")}
    assert len(world.email.accepted) == 4


def test_an_intent_for_a_scope_goes_to_those_who_watch_all_of_it(world: World) -> None:
    _people(world, "alice", "bob", "carol", "dave")
    watch(world, "alice")
    watch(world, "bob", "participating")
    watch(world, "carol", "ignore")
    watch(world, "dave", scope="repo:70")

    world.accept(audience=WATCHERS, channels=["email", "in_app"])
    world.dispatch()

    assert reasons(world) == {"alice": "watching"}
    assert inbox(world)["alice"]["scope"] == SCOPE
    assert _ends(world) == {("alice", channel): ("published", "", "watching") for channel in ("email", "in_app")}


def test_the_inbox_row_of_an_intent_for_a_thread_belongs_to_that_thread(world: World) -> None:
    _people(world, "alice")
    choose(world, "alice", subscribed=True)

    for title in ("one", "two"):
        world.accept(audience=SUBSCRIBERS, channels=["in_app"], payload={"title": title, "url": "https://x.example/1"})
        world.dispatch()

    row = inbox(world)["alice"]
    assert (row["thread_kind"], row["thread_id"], row["title"], row["event_count"]) == ("issue", "1", "two", 2)
    assert row["summary"] == {"url": "https://x.example/1"}


def test_watchers_who_muted_the_thread_an_intent_is_about_have_a_route_that_says_so(world: World) -> None:
    _people(world, "alice", "bob")
    for person in ("alice", "bob"):
        watch(world, person)
    choose(world, "bob", subscribed=False)

    world.accept(audience=WATCHERS, channels=["email", "in_app"], thread=THREAD)
    world.dispatch()

    assert {who: end for (who, channel), end in _ends(world).items() if channel == "email"} == {
        "alice": ("published", "", "watching"),
        "bob": ("skipped", "muted", "watching"),
    }
    assert _ends(world)["bob", "in_app"] == ("skipped", "muted", "watching")
    assert (set(reasons(world)), len(world.email.accepted), world.count("outbox")) == ({"alice"}, 1, 0)


def test_a_thread_muted_elsewhere_mutes_nothing_here(world: World) -> None:
    _people(world, "alice")
    watch(world, "alice")
    choose(world, "alice", subscribed=False, thread={"kind": "issue", "id": "2"})

    world.accept(audience=WATCHERS, channels=["in_app"], thread=THREAD)
    world.accept(audience=WATCHERS, channels=["in_app"])
    world.dispatch()

    assert [route["status"] for route in world.routes()] == ["published", "published"]


def test_who_unsubscribed_is_not_among_the_subscribers(world: World) -> None:
    _people(world, "alice", "bob")
    choose(world, "alice", subscribed=True)
    choose(world, "bob", subscribed=True)
    choose(world, "bob", subscribed=False)

    world.accept(audience=SUBSCRIBERS, channels=["in_app"])
    world.dispatch()

    assert _ends(world) == {("alice", "in_app"): ("published", "", "subscribed")}


@pytest.mark.parametrize("audience", [SUBSCRIBERS, WATCHERS], ids=["thread", "scope"])
def test_an_audience_without_people_has_one_skipped_route_for_each_channel_that_says_so(
    audience: dict[str, Any], world: World
) -> None:
    _people(world, "alice")

    world.accept(audience=audience, channels=["email", "in_app"])
    world.dispatch()

    kind = audience["kind"]
    assert _ends(world) == {(kind, channel): ("skipped", "no_recipients", "") for channel in ("email", "in_app")}
    assert (world.inbox(), world.count("outbox")) == ([], 0)


def test_who_has_no_address_or_wants_no_inbox_has_a_route_that_says_so(world: World) -> None:
    world.add_user("alice", email=None)
    world.add_user("bob")
    for person in ("alice", "bob"):
        choose(world, person, subscribed=True)
    prefer(world, "bob", enabled=False)

    world.accept(audience=SUBSCRIBERS, channels=["email", "in_app"])
    world.dispatch()

    assert _ends(world)["alice", "email"] == ("skipped", "no_address", "subscribed")
    assert _ends(world)["bob", "in_app"] == ("skipped", "preference: in_app off", "subscribed")
    assert set(reasons(world)) == {"alice"}


def test_threads_and_scopes_of_other_tenants_have_other_people(world: World) -> None:
    world.add_tenant()
    for tenant in (TENANT, OTHER_TENANT):
        _people(world, "alice", "bob", tenant=tenant)
    for person in ("alice", "bob"):
        choose(world, person, subscribed=True, tenant=OTHER_TENANT)
        watch(world, person, tenant=OTHER_TENANT)
    choose(world, "alice", subscribed=True)
    watch(world, "alice")

    for audience in (SUBSCRIBERS, WATCHERS):
        world.accept(audience=audience, channels=["email"])
    world.dispatch()

    assert {(row["recipient_ref"], row["tenant_id"]) for row in world.routes()} == {("user:alice", TENANT)}
    assert len(world.email.accepted) == 2


@pytest.mark.parametrize("audience", [SUBSCRIBERS, WATCHERS], ids=["thread", "scope"])
def test_many_recipients_are_planned_page_by_page_each_once(
    audience: dict[str, Any], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "PAGE_SIZE", 4)
    populate(world, 10, watching=SCOPE)
    world.admin.execute(
        """INSERT INTO notification_threads (tenant_id, user_id, thread_kind, thread_id, subscribed, reason)
           SELECT tenant_id, id, 'issue', '1', true, 'manual' FROM users"""
    )
    world.accept(audience=audience, channels=["email", "in_app"])

    planned = []
    for _ in range(3):
        world.dispatch()
        planned.append(world.one("SELECT count(DISTINCT user_id) FROM routes"))

    assert planned == [4, 8, 10]
    assert world.one("SELECT count(*) FROM routes") == 20
    assert len({message.email for message in world.email.accepted}) == len(world.email.accepted) == 10
    assert set(inbox(world)) == {f"user-{n}" for n in range(1, 11)}
    assert world.count("outbox") == 0


def test_a_page_whose_worker_died_is_planned_by_the_next_one_and_a_late_one_plans_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "PAGE_SIZE", 4)
    populate(world, 10, watching=SCOPE)
    world.accept(audience=WATCHERS, channels=["email", "in_app"], thread=THREAD)
    world.dispatch()
    stale = uuid4()
    (claimed,) = claim_plans(world.worker, world.due(), token=stale)
    world.pass_time(LEASE + timedelta(seconds=1))
    for _ in range(2):
        world.dispatch(world.connect())

    late = plan.plan(world.worker, [claimed], lease_token=stale)

    assert (late.deliveries, late.unfinished) == ([], [])
    assert len({message.email for message in world.email.accepted}) == len(world.email.accepted) == 10
    assert {row["event_count"] for row in inbox(world).values()} == {1}


def test_who_subscribes_before_the_intent_is_planned_is_reached(world: World) -> None:
    _people(world, "alice", "bob")
    choose(world, "alice", subscribed=True)
    world.accept(audience=SUBSCRIBERS, channels=["in_app"])

    choose(world, "alice", subscribed=False)
    choose(world, "bob", subscribed=True)
    world.dispatch()

    assert reasons(world) == {"bob": "subscribed"}
