"""The gate and the recipient's own wishes: what they switched off, when they want to be left alone, and what comes first."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest

from tests.unit.claims import NOW, WINDOW, a_claim, unanswered
from tocsin.delivery import gate
from tocsin.delivery.gate import AwaitEvidence, Decision, Defer, End, Proven, Send
from tocsin.store.rows import Delivery

LATELY, LONG_AGO = timedelta(minutes=1), WINDOW + timedelta(minutes=1)
# It is noon in UTC, and quiet from eleven to two.
QUIET: dict[str, Any] = {"quiet_start": time(11), "quiet_end": time(14), "quiet_timezone": "UTC"}
QUIET_UNTIL = NOW.replace(hour=14)
LATER_QUIET: dict[str, Any] = {"quiet_start": time(22), "quiet_end": time(7), "quiet_timezone": "UTC"}
UNWANTED: dict[str, Any] = {"is_wanted": False}


def decided(claimed: Delivery) -> Decision:
    return gate.decide(claimed, evidence_window=WINDOW)


@pytest.mark.parametrize("channel", ["email", "sms", "push"])
def test_a_channel_that_is_switched_off_is_skipped_and_named(channel: str) -> None:
    assert decided(a_claim(channel=channel, **UNWANTED)) == End("skipped", f"preference: {channel} off")


@pytest.mark.parametrize("channel", ["email", "sms", "push"])
def test_quiet_hours_defer_to_their_end(channel: str) -> None:
    assert decided(a_claim(channel=channel, **QUIET)) == Defer("quiet_hours", QUIET_UNTIL)


@pytest.mark.parametrize(
    ("zone", "decision"),
    [
        ("UTC", Defer("quiet_hours", QUIET_UNTIL)),
        ("Asia/Kolkata", Send(before=datetime(2026, 11, 16, 5, 30, tzinfo=UTC))),
        ("America/New_York", Send(before=datetime(2026, 11, 15, 16, tzinfo=UTC))),
        ("Europe/Lisbon", Defer("quiet_hours", QUIET_UNTIL)),
        (None, Defer("quiet_hours", QUIET_UNTIL)),
    ],
)
def test_it_is_the_recipients_clock_that_counts(zone: str | None, decision: Decision) -> None:
    assert decided(a_claim(**QUIET | {"quiet_timezone": zone})) == decision


def test_what_goes_out_now_must_be_out_before_quiet_hours_begin() -> None:
    assert decided(a_claim(**LATER_QUIET)) == Send(before=NOW.replace(hour=22))


def test_without_quiet_hours_there_is_no_such_moment() -> None:
    assert decided(a_claim()) == Send(before=None)


@pytest.mark.parametrize("window", [QUIET, LATER_QUIET], ids=["now", "later"])
def test_what_is_critical_does_not_know_quiet_hours(window: dict[str, Any]) -> None:
    assert decided(a_claim(priority="critical", **window)) == Send(before=None)


@pytest.mark.parametrize("priority", ["low", "normal", "high"])
def test_nothing_less_than_critical_comes_through(priority: str) -> None:
    assert decided(a_claim(priority=priority, **QUIET)) == Defer("quiet_hours", QUIET_UNTIL)


Obstacle = tuple[str, dict[str, Any]]
OBSTACLES: list[Obstacle] = [
    ("poison", {"claim_count": 4}),
    ("cancelled", {"cancelled_at": NOW}),
    ("expired", {"expires_at": NOW}),
    ("suppressed: hard_bounce", {"suppressed_by": "hard_bounce"}),
    ("no_address", {"email": None}),
    ("preference: email off", UNWANTED),
    ("quiet_hours", QUIET),
]


def reason_of(decision: Decision) -> str:
    return decision.reason if isinstance(decision, End | Defer) else type(decision).__name__


@pytest.mark.parametrize("first", range(len(OBSTACLES)), ids=[name for name, _ in OBSTACLES])
def test_with_every_obstacle_from_here_on_in_the_way_the_first_is_written_down(first: int) -> None:
    special: dict[str, Any] = {}
    for _, condition in OBSTACLES[first:]:
        special |= condition

    assert reason_of(decided(a_claim(**special))) == OBSTACLES[first][0]


@pytest.mark.parametrize(
    ("first", "second"),
    [(first, second) for n, first in enumerate(OBSTACLES) for second in OBSTACLES[n + 1 :]],
    ids=lambda one: one[0],
)
def test_of_two_obstacles_the_earlier_is_written_down(
    first: tuple[str, dict[str, Any]], second: tuple[str, dict[str, Any]]
) -> None:
    assert reason_of(decided(a_claim(**first[1], **second[1]))) == first[0]


@pytest.mark.parametrize("obstacle", OBSTACLES[:-1], ids=[name for name, _ in OBSTACLES[:-1]])
def test_what_is_critical_passes_nothing_else(obstacle: Obstacle) -> None:
    assert reason_of(decided(a_claim(priority="critical", **obstacle[1], **QUIET))) == obstacle[0]


def test_an_attempt_that_was_accepted_is_recorded_whatever_the_recipient_wishes_by_now() -> None:
    proven = unanswered(LATELY, outcome="accepted", message_id="m-1", **UNWANTED, **QUIET)

    assert decided(proven) == Proven(2, "ses", "m-1")


def test_evidence_is_awaited_in_quiet_hours_too() -> None:
    assert isinstance(decided(unanswered(LATELY, **QUIET)), AwaitEvidence)


def test_a_second_copy_waits_for_the_end_of_quiet_hours_as_a_first_one_does() -> None:
    assert decided(unanswered(LONG_AGO, **QUIET)) == Defer("quiet_hours", QUIET_UNTIL)
    assert decided(unanswered(LONG_AGO, **LATER_QUIET)) == Send(supersedes=2, before=NOW.replace(hour=22))


def test_a_held_sms_is_a_matter_for_a_person_at_any_hour() -> None:
    assert reason_of(decided(unanswered(LONG_AGO, channel="sms", **QUIET))) == "ambiguous"
