"""The gate: every rule, and which of two rules speaks first."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.unit.claims import DEVICE, NOW, WINDOW, a_claim, unanswered
from tocsin.delivery import gate
from tocsin.delivery.gate import AwaitEvidence, Decision, End, Proven, Send
from tocsin.store.rows import Delivery, OpenAttempt

LONG_AGO = WINDOW + timedelta(minutes=1)
LATELY = timedelta(minutes=1)

CANCELLED: dict[str, Any] = {"cancelled_at": NOW}
EXPIRED: dict[str, Any] = {"expires_at": NOW}
POISONOUS: dict[str, Any] = {"claim_count": 4}
SUPPRESSED: dict[str, Any] = {"suppressed_by": "hard_bounce"}
NO_ADDRESS: dict[str, Any] = {"email": "", "phone": "", "device": None}


def decided(claimed: Delivery) -> Decision:
    return gate.decide(claimed, evidence_window=WINDOW)


@pytest.mark.parametrize("channel", ["email", "sms", "push"])
def test_a_delivery_with_nothing_in_its_way_goes_out(channel: str) -> None:
    assert decided(a_claim(channel=channel)) == Send()


def test_a_cancelled_one_ends_cancelled() -> None:
    assert decided(a_claim(**CANCELLED)) == End("cancelled", "cancelled")


@pytest.mark.parametrize(
    ("expires_in", "decision"),
    [
        (timedelta(microseconds=-1), End("skipped", "expired")),
        (timedelta(0), End("skipped", "expired")),
        (timedelta(microseconds=1), Send()),
    ],
)
def test_it_expires_at_the_very_moment_it_says(expires_in: timedelta, decision: Decision) -> None:
    assert decided(a_claim(expires_at=NOW + expires_in)) == decision


@pytest.mark.parametrize(
    ("channel", "missing"),
    [
        ("email", {"email": ""}),
        ("sms", {"phone": ""}),
        ("push", {"device": None}),
        ("push", {"device": DEVICE._replace(enabled=False)}),
    ],
)
def test_a_channel_without_its_own_address_is_skipped(channel: str, missing: dict[str, Any]) -> None:
    assert decided(a_claim(channel=channel, **missing)) == End("skipped", "no_address")


@pytest.mark.parametrize("claim_count", [1, 2, 3])
def test_three_claims_are_not_yet_poison(claim_count: int) -> None:
    assert decided(a_claim(claim_count=claim_count)) == Send()


def test_the_fourth_claim_after_three_without_an_outcome_is_poison() -> None:
    decision = decided(a_claim(claim_count=4))

    assert isinstance(decision, End)
    assert (decision.status, decision.reason) == ("dead_letter", "poison")


@pytest.mark.parametrize(
    ("since", "waits"),
    [
        (timedelta(0), True),
        (WINDOW - timedelta(microseconds=1), True),
        (WINDOW, False),
        (WINDOW + timedelta(microseconds=1), False),
    ],
)
def test_evidence_is_awaited_until_the_window_ends_and_not_a_moment_longer(since: timedelta, waits: bool) -> None:
    decision = decided(unanswered(since))

    assert decision == (AwaitEvidence(2, NOW - since + WINDOW) if waits else Send(supersedes=2))


@pytest.mark.parametrize("channel", ["email", "push"])
def test_after_silence_email_and_push_are_sent_once_more(channel: str) -> None:
    assert decided(unanswered(LONG_AGO, channel=channel)) == Send(supersedes=2)


def test_after_silence_an_sms_waits_for_a_person() -> None:
    decision = decided(unanswered(LONG_AGO, channel="sms"))

    assert isinstance(decision, End)
    assert (decision.status, decision.reason) == ("dead_letter", "ambiguous")


@pytest.mark.parametrize(("channel", "policy"), [("sms", "retry"), ("email", "retry"), ("email", "hold"), ("push", "hold")])
def test_after_silence_the_types_own_policy_comes_before_the_channels(channel: str, policy: str) -> None:
    decision = decided(unanswered(LONG_AGO, channel=channel, ambiguous_policy=policy))

    assert named(decision) == ("Send" if policy == "retry" else "ambiguous")


@pytest.mark.parametrize("reason", ["hard_bounce", "complaint", "unsubscribe", "manual"])
def test_a_suppressed_address_is_skipped_with_the_reason(reason: str) -> None:
    assert decided(a_claim(suppressed_by=reason)) == End("skipped", f"suppressed: {reason}")


@pytest.mark.parametrize(("attempt_count", "is_over"), [(4, False), (5, True), (6, True)])
def test_silence_after_the_last_attempt_waits_for_a_person_too(attempt_count: int, is_over: bool) -> None:
    decision = decided(unanswered(LONG_AGO, attempt_count=attempt_count, max_attempts=5))

    assert (isinstance(decision, End) and decision.reason == "ambiguous") if is_over else decision == Send(supersedes=2)


def test_an_attempt_proven_accepted_is_not_sent_again() -> None:
    claimed = unanswered(LATELY, outcome="accepted", message_id="m-1")

    assert decided(claimed) == Proven(2, "ses", "m-1")


@pytest.mark.parametrize("outcome", [None, "unknown"])
def test_an_attempt_noted_as_unknown_is_awaited_like_an_open_one(outcome: str | None) -> None:
    assert isinstance(decided(unanswered(LATELY, outcome=outcome)), AwaitEvidence)


def test_an_open_attempt_whose_row_is_gone_counts_as_silence() -> None:
    assert decided(unanswered(LATELY, open_attempt=None)) == Send(supersedes=2)


RULES: list[tuple[str, dict[str, Any]]] = [
    ("Proven", {"attempt_open": True, "open_attempt": OpenAttempt(2, NOW - LATELY, "accepted", "ses", "m-1")}),
    ("AwaitEvidence", {"attempt_open": True, "open_attempt": OpenAttempt(2, NOW - LATELY, None, "ses", "")}),
    ("poison", POISONOUS),
    ("cancelled", CANCELLED),
    ("expired", EXPIRED),
    ("suppressed: hard_bounce", SUPPRESSED),
    ("no_address", NO_ADDRESS),
    ("Send", {"attempt_open": True, "last_attempt_no": 2, "open_attempt": OpenAttempt(2, NOW - LONG_AGO, None, "ses", "")}),
]


def named(decision: Decision) -> str:
    return decision.reason if isinstance(decision, End) else type(decision).__name__


@pytest.mark.parametrize("first", range(len(RULES)))
def test_of_all_the_rules_that_speak_the_first_decides(first: int) -> None:
    special: dict[str, Any] = {}
    for _, condition in reversed(RULES[first:]):
        special |= condition

    decision = decided(a_claim(**special))

    assert named(decision) == RULES[first][0]


def test_the_gate_asks_no_clock_but_the_one_of_the_claim() -> None:
    years_later = a_claim(expires_at=NOW, claimed_at=NOW - timedelta(days=3650))

    assert decided(years_later) == Send()


@pytest.mark.parametrize("channel", ["email", "push", "sms"])
def test_what_somebody_waited_for_is_not_sent_again_after_silence(channel: str) -> None:
    decision = decided(unanswered(LONG_AGO, channel=channel, reply_to=UUID(int=9), ambiguous_policy="retry"))

    assert decision == End("dead_letter", "ambiguous", gate.SILENCE)
