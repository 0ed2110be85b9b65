"""Who is told of a domain event, why, and how they come to take part in its thread."""

from itertools import combinations
from typing import Any

import pytest

from tests.events import (
    REASONS,
    SCOPE,
    THREAD,
    choose,
    fan_out_all,
    happen,
    id_of,
    inbox,
    outcomes,
    reasons,
    route,
    subscriptions,
    took_part,
    watch,
)
from tests.world import OTHER_TENANT, TENANT, World

PEOPLE = ["alice", "bob", "carol", "dave", "erin", "frank", "grace"]
NAMED = {"mention": "mentions", "review_requested": "reviewers", "assign": "assignees"}


def _people(world: World, *names: str, tenant: Any = TENANT) -> None:
    for name in names or PEOPLE:
        world.add_user(name, tenant=tenant)


def _own(person: str) -> dict[str, Any]:
    """A thread and a scope of this person's own, so that many cases fit in one batch."""
    return {"scope": f"scope of {person}", "thread": {"kind": "issue", "id": person}}


def _give_reason(world: World, person: str, reason: str) -> dict[str, Any]:
    """Let a person have this reason in their own thread; what of it the event itself must say is returned."""
    own = _own(person)
    if reason == "watching":
        watch(world, person, scope=own["scope"])
    elif reason == "comment":
        took_part(world, person, "comment", thread=own["thread"])
    elif reason == "subscribed":
        choose(world, person, subscribed=True, thread=own["thread"])
    elif reason == "author":
        return {"author": person}
    return {NAMED[reason]: [person]} if reason in NAMED else {}


@pytest.fixture
def routed(world: World) -> World:
    """Every reason is told, in the inbox."""
    route(world)
    return world


def test_everyone_who_cares_is_told_with_their_reason_and_the_actor_is_not(routed: World) -> None:
    _people(routed, *PEOPLE, "heidi", "nobody-in-particular")
    took_part(routed, "erin", "comment")
    choose(routed, "frank", subscribed=True)
    watch(routed, "grace")

    happen(
        routed, scope=SCOPE, actor="heidi", mentions=["alice"], reviewers=["bob"], assignees=["carol"], author="dave",
    )  # fmt: skip
    fan_out_all(routed)

    assert reasons(routed) == dict(zip(PEOPLE, REASONS, strict=True))
    assert outcomes(routed) == [("notified", 7)]


def test_the_actor_is_never_told_of_their_own_doing_whatever_their_reason(routed: World) -> None:
    for reason in REASONS:
        _people(routed, reason)
        happen(routed, actor=reason, **_own(reason), **_give_reason(routed, reason, reason))

    fan_out_all(routed)

    assert (routed.inbox(), outcomes(routed)) == ([], [("nobody", 0)] * 7)


def test_who_has_two_reasons_is_told_once_with_the_stronger(routed: World) -> None:
    """All pairs but one: a subscription has one reason, so comment and subscribed cannot meet."""
    pairs = {" over ".join(pair): pair for pair in combinations(REASONS, 2) if pair != ("comment", "subscribed")}
    for person, (stronger, weaker) in pairs.items():
        _people(routed, person)
        happen(routed, **_own(person), **_give_reason(routed, person, weaker), **_give_reason(routed, person, stronger))

    fan_out_all(routed)

    assert reasons(routed) == {person: stronger for person, (stronger, _) in pairs.items()}
    assert outcomes(routed) == [("notified", 1)] * 20


def test_who_has_every_reason_is_told_once_of_a_mention(routed: World) -> None:
    _people(routed, "alice")
    took_part(routed, "alice", "author")
    watch(routed, "alice")

    happen(routed, scope=SCOPE, mentions=["alice", "alice"], reviewers=["alice"], assignees=["alice"], author="alice")
    fan_out_all(routed)

    assert reasons(routed) == {"alice": "mention"}
    assert inbox(routed)["alice"]["event_count"] == 1


def test_what_somebody_did_in_the_thread_before_is_their_reason_now(routed: World) -> None:
    parts = {
        "author": "author", "comment": "comment", "mention": "subscribed", "review_requested": "subscribed",
        "assign": "subscribed", "manual": "subscribed",
    }  # fmt: skip
    for part in parts:
        _people(routed, part)
        took_part(routed, part, part)

    happen(routed)
    fan_out_all(routed)

    assert reasons(routed) == parts


def test_who_unsubscribed_from_the_thread_is_told_only_for_reasons_that_override(routed: World) -> None:
    for reason in ("mention", "review_requested", "assign", "author", "watching"):
        _people(routed, reason)
        choose(routed, reason, subscribed=False, thread=_own(reason)["thread"])
        happen(routed, **_own(reason), **_give_reason(routed, reason, reason))

    fan_out_all(routed)

    assert reasons(routed) == {"mention": "mention", "review_requested": "review_requested"}


def test_who_ignores_the_scope_is_told_only_for_reasons_that_override_or_by_their_own_word(routed: World) -> None:
    for reason in ("mention", "review_requested", "assign", "author", "comment", "subscribed"):
        _people(routed, reason)
        watch(routed, reason, "ignore", scope=_own(reason)["scope"])
        happen(routed, **_own(reason), **_give_reason(routed, reason, reason))

    fan_out_all(routed)

    assert reasons(routed) == {one: one for one in ("mention", "review_requested", "subscribed")}


@pytest.mark.parametrize(
    ("overrides", "told"), [((), set()), (("assign",), {"assign"}), (("mention", "author"), {"mention", "author"})]
)
def test_which_reasons_override_is_said_by_the_routing(overrides: tuple[str, ...], told: set[str], world: World) -> None:
    route(world, overrides=overrides)
    for reason in ("mention", "review_requested", "assign", "author"):
        for mute in ("unsubscribed", "ignores"):
            person = f"{reason} {mute}"
            _people(world, person)
            choose(world, person, subscribed=False, thread=_own(person)["thread"]) if mute == "unsubscribed" else watch(
                world, person, "ignore", scope=_own(person)["scope"]
            )
            happen(world, **_own(person), **_give_reason(world, person, reason))

    fan_out_all(world)

    assert set(reasons(world)) == {f"{reason} {mute}" for reason in told for mute in ("unsubscribed", "ignores")}


def test_a_subscription_by_ones_own_word_beats_ignoring_the_scope_and_an_automatic_one_does_not(routed: World) -> None:
    _people(routed, "alice", "bob")
    for person in ("alice", "bob"):
        watch(routed, person, "ignore")
    choose(routed, "alice", subscribed=True)
    took_part(routed, "bob", "comment")

    happen(routed, scope=SCOPE)
    fan_out_all(routed)

    assert reasons(routed) == {"alice": "subscribed"}


def test_unsubscribing_from_the_thread_beats_watching_its_scope(routed: World) -> None:
    _people(routed, "alice", "bob")
    for person in ("alice", "bob"):
        watch(routed, person)
    choose(routed, "alice", subscribed=False)

    happen(routed, scope=SCOPE)
    fan_out_all(routed)

    assert reasons(routed) == {"bob": "watching"}


def test_a_mute_holds_for_its_own_thread_and_scope_only(routed: World) -> None:
    _people(routed, "alice", "bob")
    choose(routed, "alice", subscribed=False, thread={"kind": "issue", "id": "2"})
    choose(routed, "alice", subscribed=False, thread={"kind": "pull", "id": "1"})
    watch(routed, "bob", "ignore", scope="repo:8")

    happen(routed, scope=SCOPE, assignees=["alice", "bob"])
    fan_out_all(routed)

    assert set(reasons(routed)) == {"alice", "bob"}


def test_who_watches_while_participating_is_told_by_other_reasons_only(routed: World) -> None:
    _people(routed, "alice", "bob", "carol")
    for person in ("alice", "bob", "carol"):
        watch(routed, person, "participating")
    took_part(routed, "bob", "comment")

    happen(routed, scope=SCOPE, assignees=["carol"])
    fan_out_all(routed)

    assert reasons(routed) == {"bob": "comment", "carol": "assign"}


def test_watchers_of_another_scope_and_subscribers_of_another_thread_hear_nothing(routed: World) -> None:
    _people(routed, "alice", "bob", "carol")
    watch(routed, "alice", scope="repo:70")
    choose(routed, "bob", subscribed=True, thread={"kind": "issue", "id": "2"})
    choose(routed, "carol", subscribed=True, thread={"kind": "pull", "id": "1"})

    happen(routed, scope=SCOPE)
    fan_out_all(routed)

    assert (routed.inbox(), outcomes(routed)) == ([], [("nobody", 0)])


def test_an_event_without_scope_or_thread_tells_those_it_names(routed: World) -> None:
    _people(routed, "alice", "bob")
    watch(routed, "bob")

    happen(routed, thread=None, mentions=["alice"])
    fan_out_all(routed)

    assert reasons(routed) == {"alice": "mention"}
    assert subscriptions(routed) == {}


def test_people_nobody_knows_are_passed_over(routed: World) -> None:
    _people(routed, "alice")

    happen(routed, actor="ghost", author="ghost", mentions=["ghost", "alice"], reviewers=["Alice"], assignees=["alice "])
    fan_out_all(routed)

    assert reasons(routed) == {"alice": "mention"}
    assert outcomes(routed) == [("notified", 1)]


def test_other_tenants_people_watches_threads_and_routing_of_the_same_names_are_never_touched(world: World) -> None:
    world.add_tenant()
    for tenant in (TENANT, OTHER_TENANT):
        _people(world, "alice", "bob", "carol", tenant=tenant)
        watch(world, "alice", tenant=tenant)
        choose(world, "bob", subscribed=True, tenant=tenant)
    choose(world, "carol", subscribed=False, tenant=OTHER_TENANT)
    watch(world, "bob", "ignore", tenant=OTHER_TENANT)
    route(world, "*", {"watching": ["in_app", "email"]}, tenant=OTHER_TENANT)
    route(world)
    before = subscriptions(world, OTHER_TENANT)

    happen(world, scope=SCOPE, actor="carol", assignees=["carol"])
    fan_out_all(world)

    assert reasons(world) == {"alice": "watching", "bob": "subscribed"}
    assert (reasons(world, OTHER_TENANT), subscriptions(world, OTHER_TENANT)) == ({}, before)
    assert (world.routes(), world.count("records")) == ([], 0)


def test_events_of_two_tenants_in_one_batch_tell_each_its_own(world: World) -> None:
    world.add_tenant()
    for tenant in (TENANT, OTHER_TENANT):
        _people(world, "alice", "bob", tenant=tenant)
        route(world, rules={"mention": ["in_app", "email"]}, tenant=tenant)

    for tenant, person in [(TENANT, "alice"), (OTHER_TENANT, "bob"), (TENANT, "alice")]:
        happen(world, tenant=tenant, title=str(tenant), mentions=[person])
    fan_out_all(world)

    for tenant, person, count in [(TENANT, "alice", 2), (OTHER_TENANT, "bob", 1)]:
        assert {who: (row["title"], row["event_count"]) for who, row in inbox(world, tenant).items()} == {
            person: (str(tenant), count)
        }
        assert set(subscriptions(world, tenant)) == {person}
        routes = world.rows("SELECT * FROM routes WHERE tenant_id = %(tenant)s", tenant=tenant)
        assert {row["user_id"] for row in routes} == {id_of(world, person, tenant)}
        assert len(routes) == count


def test_the_named_and_the_actor_take_part_from_now_on(routed: World) -> None:
    _people(routed)

    happen(routed, actor="erin", mentions=["alice"], reviewers=["bob"], assignees=["carol"], author="dave")
    fan_out_all(routed)

    assert subscriptions(routed) == {
        "alice": (True, "mention"),
        "bob": (True, "review_requested"),
        "carol": (True, "assign"),
        "dave": (True, "author"),
        "erin": (True, "comment"),
    }


def test_watching_is_not_taking_part(routed: World) -> None:
    _people(routed, "alice")
    watch(routed, "alice")

    happen(routed, scope=SCOPE)
    fan_out_all(routed)

    assert subscriptions(routed) == {}


def test_who_took_part_is_told_of_what_comes_later(routed: World) -> None:
    _people(routed, "alice", "bob", "carol", "dave")
    happen(routed, actor="carol", mentions=["alice"], author="bob")
    fan_out_all(routed)

    happen(routed, actor="dave")
    fan_out_all(routed)

    assert reasons(routed) == {"alice": "subscribed", "bob": "author", "carol": "comment"}


def test_who_took_part_is_told_of_what_comes_later_in_the_same_batch(routed: World) -> None:
    """Whether two events meet in one batch is chance; who is told of them is not."""
    _people(routed, "alice", "bob", "carol", "dave")
    happen(routed, actor="carol", mentions=["alice"], author="bob", title="first")
    happen(routed, actor="dave", title="second")

    fan_out_all(routed)

    assert {person: (row["reason"], row["title"], row["event_count"]) for person, row in inbox(routed).items()} == {
        "alice": ("subscribed", "second", 2),
        "bob": ("author", "second", 2),
        "carol": ("comment", "second", 1),
    }


@pytest.mark.parametrize("batched", [False, True], ids=["one by one", "in one batch"])
def test_a_conversation_reads_the_same_however_it_was_batched(batched: bool, routed: World) -> None:
    """The one who unsubscribed stays out, the ignoring one is not drawn in, and the actor hears of the others' doings."""
    _people(routed, "alice", "bob", "carol", "dave")
    choose(routed, "alice", subscribed=False)
    watch(routed, "bob", "ignore")
    conversation: list[dict[str, Any]] = [
        {"actor": "dave", "author": "dave", "assignees": ["alice", "bob"]},
        {"actor": "carol"},
        {"actor": "dave", "mentions": ["bob"]},
        {"actor": "carol"},
    ]
    for event in conversation:
        happen(routed, scope=SCOPE, **event)
        if not batched:
            fan_out_all(routed)

    fan_out_all(routed)

    assert {person: (row["reason"], row["event_count"]) for person, row in inbox(routed).items()} == {
        "bob": ("mention", 1),
        "carol": ("comment", 1),
        "dave": ("author", 2),
    }


def test_the_actor_who_is_also_named_takes_part_by_that(routed: World) -> None:
    _people(routed, "alice", "bob")

    happen(routed, actor="alice", author="alice", mentions=["bob"])
    fan_out_all(routed)

    assert subscriptions(routed) == {"alice": (True, "author"), "bob": (True, "mention")}


def test_taking_part_never_overwrites_what_is_there(routed: World) -> None:
    _people(routed, "alice", "bob", "carol", "dave")
    choose(routed, "alice", subscribed=False)
    choose(routed, "bob", subscribed=True)
    took_part(routed, "carol", "author")
    choose(routed, "dave", subscribed=False)
    before = routed.rows("SELECT * FROM notification_threads ORDER BY user_id")

    for _ in range(2):
        happen(routed, actor="dave", mentions=["alice"], assignees=["bob", "carol"])
        fan_out_all(routed)

    assert routed.rows("SELECT * FROM notification_threads ORDER BY user_id") == before


def test_the_first_way_of_taking_part_stays(routed: World) -> None:
    _people(routed, "alice", "bob")

    ways: list[dict[str, Any]] = [{"actor": "alice"}, {"mentions": ["alice"], "assignees": ["bob"]}, {"mentions": ["bob"]}]
    for event in ways:
        happen(routed, **event)
        fan_out_all(routed)

    assert subscriptions(routed) == {"alice": (True, "comment"), "bob": (True, "assign")}


def test_the_muted_who_are_named_take_part_without_being_told(routed: World) -> None:
    """They ignore the scope, which still stands; and have no word about the thread."""
    _people(routed, "alice")
    watch(routed, "alice", "ignore")

    happen(routed, scope=SCOPE, assignees=["alice"])
    fan_out_all(routed)

    assert (subscriptions(routed), routed.inbox()) == ({"alice": (True, "assign")}, [])


def test_the_actor_takes_no_part_where_the_routing_says_so(world: World) -> None:
    route(world, subscribe_actor=False)
    _people(world, "alice", "bob")

    happen(world, actor="alice", mentions=["bob"])
    fan_out_all(world)

    assert subscriptions(world) == {"bob": (True, "mention")}


def test_events_that_are_not_routed_make_nobody_take_part(world: World) -> None:
    _people(world, "alice", "bob")

    happen(world, actor="alice", mentions=["bob"])
    fan_out_all(world)

    assert (subscriptions(world), outcomes(world)) == ({}, [("not_routed", 0)])


def test_threads_of_one_id_and_another_kind_are_other_threads(routed: World) -> None:
    _people(routed, "alice")
    happen(routed, thread={"kind": "pull", "id": THREAD["id"]}, mentions=["alice"])
    fan_out_all(routed)

    happen(routed)
    fan_out_all(routed)

    assert outcomes(routed) == [("notified", 1), ("nobody", 0)]
