"""How much one person is told: caps, windows and digests, as decided delivery by delivery in one batch."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.unit.claims import NOW, a_claim
from tocsin.delivery.dampener import HOUR, USUAL, Granted, Held, Later, Ledger, OverSent, Skipped, Verdict, concerns
from tocsin.store.rows import Delivery, State

LIMITS = USUAL
THREAD_WINDOW, HOURLY_LIMIT = LIMITS.thread_window, LIMITS.hourly_limit
BOB = UUID(int=6)
DIGEST: dict[str, Any] = {"audience_kind": "digest", "thread_kind": "pr", "thread_id": "7"}
ON_A_THREAD: dict[str, Any] = {"thread_kind": "pr", "thread_id": "7"}
COLLECTING: dict[str, Any] = {"digest_id": UUID(int=8), "digest_outbox_id": UUID(int=9)}


def a_state(**special: Any) -> State:
    """The log of somebody who has heard nothing yet."""
    ordinary: dict[str, Any] = {
        "outbox_id": UUID(int=1),
        "now": NOW,
        "is_reserved": False,
        "is_in_hour": False,
        "is_in_day": False,
        "is_in_guard": False,
        "emails_this_hour": 0,
        "hourly_limit": HOURLY_LIMIT,
        "hour_is_full_until": None,
        "sent_today": 0,
        "thread_told_at": None,
        "digest_id": None,
        "digest_outbox_id": None,
        "is_read": False,
        "payload": {},
        "address_hash": None,
        "sent_to_address": 0,
    }
    return State(**(ordinary | special))


def decided(one: Delivery, **state: Any) -> Verdict:
    return Ledger(LIMITS).decide(one, a_state(**state))


def decided_in_turn(*batch: Delivery, **state: Any) -> list[Verdict]:
    """One batch: the log knows nothing of what the batch itself grants."""
    ledger = Ledger(LIMITS)
    return [ledger.decide(one, a_state(**state)) for one in batch]


def test_who_has_heard_nothing_is_told() -> None:
    assert decided(a_claim()) == Granted()
    assert decided(a_claim(**ON_A_THREAD)) == Granted()


@pytest.mark.parametrize(("cap", "sent", "is_granted"), [(0, 0, False), (1, 0, True), (1, 1, False), (3, 2, True), (3, 9, False)])
@pytest.mark.parametrize("channel", ["email", "sms", "push"])
def test_a_cap_lets_through_as_many_as_it_says(channel: str, cap: int, sent: int, is_granted: bool) -> None:
    verdict = decided(a_claim(channel=channel, frequency_cap=cap), sent_today=sent)

    assert verdict == (Granted() if is_granted else Skipped(f"frequency_cap: {cap} a day"))


def test_a_cap_counts_what_its_own_batch_granted() -> None:
    batch = [a_claim(frequency_cap=3)] * 5

    verdicts = decided_in_turn(*batch, sent_today=1)

    assert verdicts == [Granted()] * 2 + [Skipped("frequency_cap: 3 a day")] * 3


def test_a_channels_cap_counts_every_type_and_a_types_cap_its_own() -> None:
    of_channel = a_claim(frequency_cap=2, notification_type="a")
    of_type = a_claim(frequency_cap=2, cap_is_of_type=True, notification_type="b")

    verdicts = decided_in_turn(of_type, of_channel, of_channel, of_type, of_type)

    assert [type(one) for one in verdicts] == [Granted, Granted, Skipped, Granted, Skipped]


def test_what_is_not_capped_itself_still_counts_for_those_that_are() -> None:
    verdicts = decided_in_turn(a_claim(), a_claim(frequency_cap=1))

    assert verdicts == [Granted(), Skipped("frequency_cap: 1 a day")]


@pytest.mark.parametrize("other", [{"user_id": BOB}, {"channel": "sms"}], ids=["person", "channel"])
def test_a_cap_is_of_one_person_and_one_channel(other: dict[str, Any]) -> None:
    verdicts = decided_in_turn(a_claim(frequency_cap=1), a_claim(frequency_cap=1, **other), a_claim(frequency_cap=1))

    assert verdicts == [Granted(), Granted(), Skipped("frequency_cap: 1 a day")]


@pytest.mark.parametrize(
    ("since", "is_held"),
    [
        (timedelta(0), True),
        (THREAD_WINDOW - timedelta(microseconds=1), True),
        (THREAD_WINDOW, False),
        (THREAD_WINDOW + HOUR, False),
    ],
)
def test_a_thread_is_told_of_again_after_ten_minutes_and_not_a_moment_sooner(since: timedelta, is_held: bool) -> None:
    assert timedelta(minutes=10) == THREAD_WINDOW

    verdict = decided(a_claim(**ON_A_THREAD), thread_told_at=NOW - since)

    assert verdict == (Held(opens_at=NOW - since + THREAD_WINDOW) if is_held else Granted())


def test_of_one_batch_the_first_is_told_the_second_opens_a_digest_and_the_others_join_it() -> None:
    batch = [a_claim(**ON_A_THREAD)] * 4

    assert decided_in_turn(*batch) == [Granted(), Held(NOW + THREAD_WINDOW), Held(None), Held(None)]


def test_what_comes_while_a_digest_is_collected_joins_it_even_after_the_window() -> None:
    late = NOW - THREAD_WINDOW - HOUR

    assert decided(a_claim(**ON_A_THREAD), thread_told_at=late, **COLLECTING) == Held(None)


@pytest.mark.parametrize(
    "other",
    [{"user_id": BOB}, {"thread_id": "8"}, {"thread_kind": "issue"}, {"thread_kind": None, "thread_id": None}],
    ids=["person", "id", "kind", "no thread"],
)
def test_a_window_is_of_one_person_and_one_thread(other: dict[str, Any]) -> None:
    verdicts = decided_in_turn(a_claim(**ON_A_THREAD), a_claim(**ON_A_THREAD | other))

    assert verdicts == [Granted(), Granted()]


@pytest.mark.parametrize("channel", ["sms", "push"])
def test_only_email_is_dampened(channel: str) -> None:
    told = {"thread_told_at": NOW, "emails_this_hour": HOURLY_LIMIT} | COLLECTING

    assert decided(a_claim(channel=channel, frequency_cap=5, **ON_A_THREAD), **told) == Granted()


@pytest.mark.parametrize("priority", ["low", "high", "critical"])
def test_what_is_critical_is_dampened_and_capped_like_the_rest(priority: str) -> None:
    assert isinstance(decided(a_claim(priority=priority, **ON_A_THREAD), thread_told_at=NOW), Held)
    assert isinstance(decided(a_claim(priority=priority, frequency_cap=0)), Skipped)
    assert isinstance(decided(a_claim(priority=priority), emails_this_hour=100), Later)


def test_the_hundredth_email_of_an_hour_goes_out_and_the_next_waits_for_the_hour_to_have_room() -> None:
    room_at = NOW + timedelta(minutes=20)

    assert HOURLY_LIMIT == 100
    assert decided(a_claim(), emails_this_hour=99) == Granted()
    assert decided(a_claim(), emails_this_hour=100, hour_is_full_until=room_at) == Later("dampened: hourly", room_at)


def test_an_hour_counts_what_its_own_batch_granted() -> None:
    verdicts = decided_in_turn(*[a_claim()] * 4, emails_this_hour=98)

    assert verdicts == [Granted(), Granted(), Later("dampened: hourly", NOW + HOUR), Later("dampened: hourly", NOW + HOUR)]


def test_what_waits_for_the_hour_has_not_been_told() -> None:
    """Its thread is not closed by it, and no cap counts it."""
    ledger = Ledger(LIMITS)
    full, free = a_state(emails_this_hour=100), a_state()

    assert isinstance(ledger.decide(a_claim(frequency_cap=1, **ON_A_THREAD), full), Later)
    assert ledger.decide(a_claim(frequency_cap=1, **ON_A_THREAD), free) == Granted()


def test_what_is_held_or_skipped_uses_no_place_of_the_hour() -> None:
    batch = [a_claim(**ON_A_THREAD)] * 3 + [a_claim(frequency_cap=0)] * 3 + [a_claim()]

    assert decided_in_turn(*batch, emails_this_hour=98)[-1] == Granted()


def test_a_digest_goes_out_when_its_window_is_over() -> None:
    assert decided(a_claim(**DIGEST), thread_told_at=NOW - THREAD_WINDOW, **COLLECTING) == Granted()


def test_a_digest_waits_if_something_was_told_meanwhile() -> None:
    told_at = NOW - timedelta(minutes=4)

    assert decided(a_claim(**DIGEST), thread_told_at=told_at, **COLLECTING) == Later("dampened: thread", told_at + THREAD_WINDOW)


def test_a_digest_that_was_read_meanwhile_is_not_sent() -> None:
    assert decided(a_claim(**DIGEST), is_read=True) == Skipped("read_meanwhile", is_told=True)


def test_having_read_the_thread_stops_only_its_digest() -> None:
    assert decided(a_claim(**ON_A_THREAD), is_read=True) == Granted()


def test_a_digest_counts_as_an_email_for_the_cap_and_the_hour() -> None:
    assert decided(a_claim(frequency_cap=2, **DIGEST), sent_today=2) == Skipped("frequency_cap: 2 a day")
    assert isinstance(decided(a_claim(**DIGEST), emails_this_hour=100), Later)


@pytest.mark.parametrize(
    "state",
    [{"thread_told_at": NOW}, {"emails_this_hour": 100}, {"sent_today": 5}, {"is_read": True}],
    ids=["window", "hour", "cap", "read"],
)
def test_who_reserved_before_is_not_asked_again(state: dict[str, Any]) -> None:
    assert decided(a_claim(frequency_cap=5, **DIGEST), is_reserved=True, **state) == Granted()


def test_a_reservation_of_before_is_not_counted_a_second_time() -> None:
    """It is in the log already: the state that the others see has it."""
    ledger = Ledger(LIMITS)

    ledger.decide(a_claim(frequency_cap=2), a_state(is_reserved=True, sent_today=1))

    assert ledger.decide(a_claim(frequency_cap=2), a_state(sent_today=1)) == Granted()


def test_of_all_that_speak_the_cap_is_first_then_the_window_then_the_hour() -> None:
    everything: dict[str, Any] = {"sent_today": 1, "thread_told_at": NOW, "emails_this_hour": 100}

    assert isinstance(decided(a_claim(frequency_cap=1, **ON_A_THREAD), **everything), Skipped)
    assert isinstance(decided(a_claim(**ON_A_THREAD), **everything), Held)
    assert isinstance(decided(a_claim(), **everything), Later)


@pytest.mark.parametrize(
    ("special", "is_counted"),
    [
        ({}, True),
        ({"frequency_cap": 1}, True),
        ({"user_id": None}, False),
        ({"user_id": None, "thread_kind": "pr", "thread_id": "7"}, False),
        ({"mode": "test"}, False),
        ({"mode": "test", "frequency_cap": 1}, False),
        ({"channel": "sms"}, False),
        ({"channel": "sms", "frequency_cap": 1}, True),
        ({"channel": "push"}, False),
        ({"channel": "push", "frequency_cap": 0}, True),
        ({"channel": "push", "frequency_cap": 1, "mode": "test"}, False),
    ],
)
def test_it_concerns_every_email_to_a_person_and_what_a_cap_counts_but_not_the_sandbox(
    special: dict[str, Any], is_counted: bool
) -> None:
    assert concerns(a_claim(**special), LIMITS) is is_counted


def test_an_address_gets_as_many_of_a_type_as_its_guard_lets_through_this_batch_included() -> None:
    reset = a_claim(notification_type="auth.password-reset", user_id=None)
    guard = LIMITS.guard

    verdicts = decided_in_turn(*[reset] * 4, sent_to_address=3, address_hash=b"alice")

    assert verdicts == [Granted(), Granted(), OverSent(guard), OverSent(guard)]
    assert guard.reason == "over_sending: 5 in 3600 s"


def test_a_guard_is_of_one_address_and_one_type() -> None:
    ledger = Ledger(LIMITS)
    of_type: dict[str, Any] = {"over_sending_limit": 1, "over_sending_window_seconds": 60}
    one, other = a_claim(notification_type="one", **of_type), a_claim(notification_type="other", **of_type)
    alice, bob = a_state(address_hash=b"alice"), a_state(address_hash=b"bob")

    granted = [ledger.decide(each, state) for each, state in ((one, alice), (one, bob), (other, alice))]

    assert granted == [Granted()] * 3
    assert isinstance(ledger.decide(one, alice), OverSent)


@pytest.mark.parametrize("priority", ["low", "critical"])
def test_what_is_critical_is_guarded_like_the_rest(priority: str) -> None:
    reset = a_claim(notification_type="auth:password-reset", priority=priority)

    assert isinstance(decided(reset, sent_to_address=5), OverSent)


def test_of_a_bare_address_neither_threads_nor_hours_are_counted() -> None:
    reset = a_claim(notification_type="auth.code", user_id=None, **ON_A_THREAD)

    verdicts = decided_in_turn(*[reset] * 2, emails_this_hour=HOURLY_LIMIT, thread_told_at=NOW, address_hash=b"alice")

    assert verdicts == [Granted()] * 2


def test_a_tenants_own_hourly_limit_stands_above_the_installations() -> None:
    assert isinstance(decided(a_claim(), emails_this_hour=3, hourly_limit=3), Later)
    assert decided(a_claim(), emails_this_hour=HOURLY_LIMIT, hourly_limit=HOURLY_LIMIT + 1) == Granted()


@pytest.mark.parametrize(
    ("special", "is_counted"),
    [
        ({"notification_type": "auth.password-reset"}, True),
        ({"notification_type": "auth:verification-email"}, True),
        ({"notification_type": "auth.code", "channel": "sms"}, True),
        ({"notification_type": "auth.code", "channel": "push"}, False),
        ({"notification_type": "auth.code", "mode": "test"}, False),
        ({"notification_type": "author.invited"}, False),
        ({"over_sending_limit": 3, "over_sending_window_seconds": 60}, True),
        ({"over_sending_limit": 3, "over_sending_window_seconds": 60, "mode": "test"}, False),
    ],
)
def test_it_concerns_bare_addresses_too_where_a_guard_does(special: dict[str, Any], is_counted: bool) -> None:
    assert concerns(a_claim(user_id=None, **special), LIMITS) is is_counted


def test_what_asks_again_and_is_in_the_log_already_is_not_counted_beside_it() -> None:
    """Two retries in one batch, each of which sees the other in the log."""
    again: dict[str, Any] = {"is_in_hour": True, "is_in_day": True, "is_in_guard": True, "address_hash": b"alice"}
    seen: dict[str, Any] = {"sent_today": 1, "emails_this_hour": HOURLY_LIMIT - 1, "sent_to_address": 1}
    retry = a_claim(frequency_cap=2, over_sending_limit=2, over_sending_window_seconds=60)

    assert decided_in_turn(retry, retry, **again, **seen) == [Granted()] * 2
