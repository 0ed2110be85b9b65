"""Heeding what providers tell later: the register is a join, the dispatch register is never touched, strangers change nothing."""

import hashlib
import itertools
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cancelling import cancel
from tests.integration.forgetting import apply
from tests.ses_events import NEWS, NOON, event, heard, tags_of, through_sns
from tests.world import OTHER_TENANT, TENANT, WINDOW, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.feedback.apply import apply_events
from tocsin.feedback.ses_events import read_queue_message
from tocsin.foundation.settings import Settings
from tocsin.store.rows import RANKS, Named, ProviderEvent

DAY = timedelta(days=1)
FIVE = ("send", "delivery", "hard bounce", "complaint", "delay")
STRANGER = "00000000-0000-7000-8000-00000000000f"
LOST = Failure(FailureClass.AMBIGUOUS, "ReadTimeoutError", "no answer")
# What dispatch writes of a route. Feedback may touch none of it.
DISPATCH = """
SELECT notification_id, status, reason, attempt_count, next_attempt_at, provider, provider_message_id, duplicate_suspected,
       published_at, dead_lettered_at, skipped_at, cancelled_at, last_error_classification, last_error_message, last_error_at
FROM routes ORDER BY notification_id
"""
EVERYTHING = ("records", "routes", "attempts", "outbox", "dead_letters", "suppressions", "notifications", "admin_system_events")


def sent(world: World, address: str = "alice@example.com", tenant: UUID = TENANT) -> dict[str, Any]:
    """An email that the provider accepted; returns its attempt."""
    asked = world.accept(audience={"kind": "address", "email": address}, tenant=tenant)
    world.dispatch()
    query = "SELECT * FROM attempts WHERE notification_id = %(id)s"
    (attempt,) = world.rows(query, id=asked.notification_id)
    return attempt


def now(world: World) -> datetime:
    moment: datetime = world.one("SELECT tocsin_now()")
    return moment


def highest(ranks: Iterable[str]) -> str:
    return max(ranks, key=RANKS.index, default="none")


def everything(world: World) -> dict[str, Any]:
    return {table: sorted(world.rows(f"SELECT * FROM {table}"), key=str) for table in EVERYTHING}


def test_every_order_of_events_with_repetitions_gives_the_same_feedback_and_one_suppression(world: World) -> None:
    """I10 after each event, for all 120 orders, the one before coming once more after each; then all again, backwards."""
    orders = list(itertools.permutations(FIVE))
    for n in range(len(orders)):
        world.add_user(f"user-{n}")
    world.accept(audience={"kind": "tenant"})
    world.dispatch(batch_size=200)
    routes = {row["route_id"]: row for row in world.routes()}
    assert len(routes) == len(orders)

    for order, attempt in zip(orders, world.attempts(), strict=True):
        told: list[ProviderEvent] = []
        for news in order:
            told.append(heard(news, attempt, message_id=attempt["provider_message_id"]))
            for one in told[-1:] + told[-2:-1]:
                apply_events(world.worker, [one])
            feedback = world.one("SELECT feedback FROM routes WHERE route_id = %(route_id)s", route_id=attempt["route_id"])
            assert feedback == highest(one.feedback for one in told), f"after {order[: len(told)]}"
        apply_events(world.worker, told[::-1])

    assert {row["feedback"] for row in world.routes()} == {"complained"}
    suppressions = world.rows("SELECT tenant_id, channel, address, reason, expires_at, notification_type FROM suppressions")
    assert sorted(row["address"] for row in suppressions) == sorted(row["resolved_email"] for row in routes.values())
    assert {(row["tenant_id"], row["channel"], row["reason"], row["expires_at"]) for row in suppressions} == {
        (TENANT, "email", "complaint", None)
    }
    assert world.count("provider_events") == len(orders) * len(FIVE)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(told=st.lists(st.lists(st.tuples(st.integers(0, 1), st.sampled_from(RANKS)), max_size=6), max_size=6))
def test_the_register_is_the_highest_rank_that_was_told_however_it_was_told(
    world: World, told: list[list[tuple[int, str]]]
) -> None:
    """Any events about two routes, in any order, repeated at will and cut into batches at will."""
    attempts = world.attempts() or [sent(world, f"{name}@example.com") for name in ("one", "other")]
    world.admin.execute("DELETE FROM provider_events; UPDATE routes SET feedback = 'none'")

    for batch in told:
        apply_events(world.worker, [_told(attempts[which], rank) for which, rank in batch])

    for which, attempt in enumerate(attempts):
        query = "SELECT feedback FROM routes WHERE notification_id = %(id)s"
        ranks = [rank for batch in told for one, rank in batch if one == which]
        assert world.one(query, id=attempt["notification_id"]) == highest(ranks)


def _told(attempt: dict[str, Any], rank: str) -> ProviderEvent:
    """The one event of this rank about an attempt."""
    named = Named(attempt["notification_id"], attempt["route_id"], attempt["generation"], attempt["attempt_no"])
    key = hashlib.sha256(f"{attempt['notification_id']}|{rank}".encode()).digest()
    return ProviderEvent(key, attempt["provider"], "told", rank, False, "m-1", named, "", NOON)


def test_one_batch_in_any_order_ends_like_single_events(world: World) -> None:
    for n, order in enumerate(itertools.permutations(("hard bounce", "complaint", "delivery"))):
        attempt = sent(world, f"batch-{n}@example.com")
        apply_events(world.worker, [heard(news, attempt, message_id=f"m-{n}") for news in [*order, *order]])

    assert {row["feedback"] for row in world.routes()} == {"complained"}
    assert [row["reason"] for row in world.rows("SELECT reason FROM suppressions")] == ["complaint"] * 6
    assert world.count("provider_events") == 18


@pytest.mark.parametrize("news", NEWS)
def test_an_event_is_stored_once(news: str, world: World) -> None:
    attempt = sent(world)

    apply_events(world.worker, [heard(news, attempt)])
    apply_events(world.worker, [heard(news, attempt)] * 2)

    (stored,) = world.rows("SELECT tenant_id, notification_id, route_id, generation, attempt_no, provider FROM provider_events")
    assert stored == {name: attempt[name] for name in stored}


def test_a_repeated_event_names_an_attempt_of_ours_as_well_as_the_first_time(world: World) -> None:
    """Else every redelivery would be counted as an orphan."""
    attempt = sent(world)

    assert [apply_events(world.worker, [heard("delivery", attempt)]) for _ in range(2)] == [1, 1]


@pytest.mark.parametrize("news", NEWS)
def test_feedback_never_changes_the_dispatch_register_of_what_was_published(news: str, world: World) -> None:
    attempt = sent(world)
    before, attempts = world.rows(DISPATCH), world.attempts()

    apply_events(world.worker, [heard(news, attempt)])

    assert (world.rows(DISPATCH), world.attempts()) == (before, attempts)


def test_feedback_never_changes_the_dispatch_register_of_what_ended_otherwise(world: World) -> None:
    """Buried as refused, buried in doubt, and given up in doubt after a cancel: an event about each comes late."""
    ends = {"refused": Failure(FailureClass.PERMANENT, "MessageRejected", "no"), "held": LOST, "cancelled": LOST}
    world.admin.execute(
        "INSERT INTO notification_types (tenant_id, name, ambiguous_policy) VALUES (%s, 'order.held', 'hold')", [TENANT]
    )
    for name, outcome in ends.items():
        world.email.answers.append(outcome)
        kind = "order.held" if name == "held" else "order.shipped"
        asked = world.accept(type=kind, audience={"kind": "address", "email": f"{name}@example.com"})
        world.dispatch()
    cancel(world.app, TENANT, asked.notification_id)
    world.pass_time(WINDOW + timedelta(seconds=1))
    world.dispatch()
    before = world.rows(DISPATCH)
    assert sorted(row["status"] for row in before) == ["dead_letter"] * 3

    for attempt in world.attempts():
        apply_events(world.worker, [heard(news, attempt, message_id=f"m-{attempt['notification_id']}") for news in FIVE])
    world.dispatch()

    assert world.rows(DISPATCH) == before
    assert {row["feedback"] for row in world.routes()} == {"complained"}
    assert world.email.calls == 3


def forgeries(attempt: dict[str, Any], other: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Tags that name nothing of ours, though parts of them do."""
    own = tags_of(attempt)
    return {
        "no tags": {},
        "an unknown notification": own | {"tocsin_route": f"{STRANGER}_{attempt['route_id']}"},
        "an unknown route": own | {"tocsin_route": f"{attempt['notification_id']}_email-nobody"},
        "another tenant's route": own | {"tocsin_route": f"{attempt['notification_id']}_{other['route_id']}x"},
        "an attempt never opened": own | {"tocsin_attempt": "1-2"},
        "another generation": own | {"tocsin_attempt": "2-1"},
        "garbage": {"tocsin_route": "' OR 1=1 --", "tocsin_attempt": "1-1"},
    }


@pytest.mark.parametrize(
    "forgery", forgeries(dict.fromkeys(["notification_id", "route_id", "generation", "attempt_no"], ""), {"route_id": ""})
)
@pytest.mark.parametrize("news", FIVE)
def test_an_event_of_nothing_of_ours_is_kept_as_an_orphan_and_changes_nothing(news: str, forgery: str, world: World) -> None:
    world.add_tenant()
    attempt, other = sent(world), sent(world, "bob@example.com", OTHER_TENANT)
    before = everything(world)
    forged = read_queue_message(through_sns(event(news, forgeries(attempt, other)[forgery])))

    assert [apply_events(world.worker, [forged]) for _ in range(2)] == [0, 0]

    assert everything(world) == before
    (orphan,) = world.rows("SELECT * FROM provider_events")
    assert [orphan[name] for name in ("tenant_id", "notification_id", "route_id", "address_hash")] == [None] * 4


def test_an_event_that_names_another_tenants_attempt_is_that_tenants_alone(world: World) -> None:
    """The same address at both. The tenant is the route's: whoever sends the event cannot choose another."""
    world.add_tenant()
    ours, theirs = sent(world), sent(world, tenant=OTHER_TENANT)

    apply_events(world.worker, [heard("complaint", theirs, message_id=ours["provider_message_id"])])

    rows = world.rows("SELECT tenant_id, reason FROM suppressions")
    assert rows == [{"tenant_id": OTHER_TENANT, "reason": "complaint"}]
    assert [row["feedback"] for row in world.routes() if row["tenant_id"] == TENANT] == ["none"]
    assert world.rows("SELECT tenant_id FROM provider_events") == [{"tenant_id": OTHER_TENANT}]


@pytest.mark.parametrize("news", ["delivery", "hard bounce", "complaint"])
@pytest.mark.parametrize("channel", ["sms", "push"])
def test_an_event_of_ses_about_what_ses_never_sent_is_an_orphan(channel: str, news: str, world: World) -> None:
    """SNS takes no tags, so such an event is forged: it must neither prove the attempt nor suppress anything."""
    user = world.add_user(phone="+14155550100")
    world.add_device(user)
    {"sms": world.sms, "push": world.push}[channel].answers.append(LOST)
    world.accept(channels=[channel])
    world.dispatch()
    (attempt,) = world.attempts()
    before = everything(world)

    assert apply_events(world.worker, [heard(news, attempt)]) == 0

    assert everything(world) == before


@pytest.mark.parametrize("news", ["delivery", "complaint"])
def test_an_event_of_ses_about_a_sandbox_message_is_an_orphan(news: str, world: World) -> None:
    world.accept(audience={"kind": "address", "email": "alice@example.com"}, mode="test")
    world.dispatch()
    (attempt,) = world.attempts()

    assert apply_events(world.worker, [heard(news, attempt)]) == 0

    assert (world.route()["feedback"], world.count("suppressions")) == ("none", 0)


def test_one_hostile_event_does_not_take_its_neighbours_with_it(world: World) -> None:
    """Whatever the reader lets through can be stored: else the batch would come back until it is dead."""
    attempt = sent(world)
    hostile = event("hard bounce", {}, message_id="m-hostile")
    hostile["bounce"]["bounceSubType"] = "\ud800"
    batch = [read_queue_message(through_sns(hostile)), heard("delivery", attempt)]

    assert apply_events(world.worker, batch) == 1

    assert world.route()["feedback"] == "delivered"


def test_orphans_are_bounded_by_a_shorter_retention(world: World) -> None:
    attempt = sent(world)
    apply_events(world.worker, [heard("delivery", attempt, at=now(world))])
    for n in range(30):
        told = event("hard bounce", {}, message_id=f"stranger-{n}", at=now(world))
        apply_events(world.worker, [read_queue_message(through_sns(told))])
    assert world.count("provider_events") == 31

    world.pass_time(timedelta(days=Settings().orphan_event_retention_days) - timedelta(minutes=1))
    apply(world, batch=10)
    assert world.count("provider_events") == 31

    world.pass_time(timedelta(minutes=2))
    apply(world, batch=10)
    assert world.rows("SELECT tenant_id, kind FROM provider_events") == [{"tenant_id": TENANT, "kind": "delivery"}]

    world.pass_time(timedelta(days=Settings().provider_event_retention_days))
    apply(world, batch=10)
    assert world.count("provider_events") == 0


def test_no_events_are_heeded_without_asking_the_database(world: World) -> None:
    conn = world.connect()
    conn.close()

    assert apply_events(conn, []) == 0
