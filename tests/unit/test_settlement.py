"""Each decision and each outcome has one record: an end with its reason, or a time to go on."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest

from tests.unit.claims import NOW, WINDOW, a_claim, unanswered
from tocsin.channels.outcomes import Accepted, Failure, FailureClass, NotSent, Outcome
from tocsin.dead_letters.recovery_hints import hint_for
from tocsin.delivery import gate, settlement
from tocsin.store.attempts import CUT_OFF
from tocsin.store.rows import Delivery, Opened, Settlement

OPENED = Opened(UUID(int=1), attempt_no=3, attempt_count=2, started_at=NOW)


def failed(kind: FailureClass, pause: timedelta | None = None) -> Failure:
    return Failure(kind, "Code", "words", pause=pause)


def settled(outcome: Outcome, *, attempt: Opened = OPENED, claimed: Delivery | None = None) -> Settlement:
    return settlement.of_outcome(claimed or a_claim(), attempt, outcome, provider="ses", lane="ses:email", evidence_window=WINDOW)


EVERY_OUTCOME = [Accepted("m-1"), NotSent("lease_running_out"), *(failed(kind) for kind in FailureClass)]
EVERY_DECISION = [
    gate.End("dead_letter", "poison", "why"),
    gate.End("skipped", "expired"),
    gate.End("cancelled", "cancelled"),
    gate.Proven(2, "ses", "m-1"),
    gate.AwaitEvidence(2, NOW + WINDOW),
    gate.Defer("lane_stopped: x", NOW + timedelta(minutes=5)),
]
ENDS = ("published", "dead_letter", "skipped", "cancelled")


@pytest.mark.parametrize("outcome", EVERY_OUTCOME, ids=str)
def test_every_outcome_either_ends_the_route_or_says_when_it_goes_on(outcome: Outcome) -> None:
    record = settled(outcome)

    assert record.as_json()["ends"] == (record.status in ENDS)
    assert record.attempt_no == 3
    assert record.attempt_outcome is not None


@pytest.mark.parametrize("decision", EVERY_DECISION, ids=str)
def test_every_decision_either_ends_the_route_or_says_when_it_goes_on(decision: gate.End) -> None:
    record = settlement.of_decision(unanswered(WINDOW), decision)

    assert record.as_json()["ends"] == (record.status in ENDS)
    assert record.reason or record.status == "published"


@pytest.mark.parametrize(
    ("outcome", "counts"),
    [
        (Accepted("m-1"), True),
        (NotSent("x"), False),
        (failed(FailureClass.TRANSIENT), True),
        (failed(FailureClass.THROTTLED), False),
        (failed(FailureClass.PERMANENT), True),
        (failed(FailureClass.CONFIGURATION), False),
        (failed(FailureClass.AMBIGUOUS), True),
    ],
    ids=str,
)
def test_only_what_was_really_tried_uses_an_attempt(outcome: Outcome, counts: bool) -> None:
    assert settled(outcome).attempt_counts is counts


def test_a_transient_failure_goes_on_after_its_back_off() -> None:
    record = settled(failed(FailureClass.TRANSIENT))

    assert record.reason == "retry"
    assert record.delay is not None
    assert timedelta(seconds=8) <= record.delay <= timedelta(seconds=12)  # the second try: 10 s, give or take a fifth


@pytest.mark.parametrize(("attempt_count", "status"), [(4, "failed"), (5, "dead_letter"), (6, "dead_letter")])
def test_the_last_of_its_attempts_ends_it_as_exhausted(attempt_count: int, status: str) -> None:
    record = settled(failed(FailureClass.TRANSIENT), attempt=Opened(UUID(int=1), 3, attempt_count, NOW))

    assert record.status == status
    assert (record.reason == "exhausted") == (status == "dead_letter")


def test_an_ambiguous_send_waits_for_evidence_from_its_start_on() -> None:
    record = settled(failed(FailureClass.AMBIGUOUS))

    assert record.awaits_evidence
    assert record.due_at == NOW + WINDOW
    assert record.attempt_outcome == "unknown"


def test_a_dead_letter_has_its_class_its_words_and_a_nudge() -> None:
    record = settled(failed(FailureClass.PERMANENT))

    assert (record.error_classification, record.error_message) == ("permanent", "Code: words")
    assert record.recovery_hint == hint_for("permanent")


@pytest.mark.parametrize(
    ("failure", "pause"),
    [
        (failed(FailureClass.THROTTLED), timedelta(seconds=1)),
        (failed(FailureClass.THROTTLED, pause=timedelta(minutes=10)), timedelta(minutes=10)),
        (failed(FailureClass.CONFIGURATION), timedelta(minutes=5)),
    ],
)
def test_a_lane_rests_as_long_as_its_trouble_deserves(failure: Failure, pause: timedelta) -> None:
    assert settlement.pause_of(failure) == pause
    assert settled(failure).delay == pause


IN_DOUBT = {
    "its answer is missing": unanswered(WINDOW),
    "a later attempt was made because its answer is missing": a_claim(duplicate_suspected=True, last_attempt_no=3),
}


@pytest.mark.parametrize("claimed", IN_DOUBT.values(), ids=IN_DOUBT.keys())
@pytest.mark.parametrize(
    "end",
    [
        gate.End("cancelled", "cancelled"),
        gate.End("skipped", "expired"),
        gate.End("skipped", "suppressed: complaint"),
        gate.End("skipped", "no_address"),
        gate.End("skipped", "preference: email off"),
        gate.End("skipped", "frequency_cap: 1 a day"),
    ],
    ids=lambda end: end.reason,
)
def test_while_an_attempt_is_in_doubt_no_end_says_that_nothing_was_sent(end: gate.End, claimed: Delivery) -> None:
    record = settlement.of_decision(claimed, end)

    assert (record.status, record.reason, record.may_have_arrived) == ("dead_letter", "ambiguous", True)
    assert record.error_message.endswith(f"not sent again: {end.reason}")
    assert "may be a second copy" in record.recovery_hint


@pytest.mark.parametrize("claimed", IN_DOUBT.values(), ids=IN_DOUBT.keys())
def test_what_is_told_in_another_way_needs_no_person_and_keeps_the_doubt(claimed: Delivery) -> None:
    record = settlement.of_decision(claimed, gate.End("skipped", "dampened: told by digest d", is_told=True))

    assert (record.status, record.reason, record.may_have_arrived) == ("skipped", "dampened: told by digest d", True)
    assert (record.attempt_no, record.attempt_outcome) == ((2, "unknown") if claimed.work.attempt_open else (None, None))


@pytest.mark.parametrize("claimed", IN_DOUBT.values(), ids=IN_DOUBT.keys())
@pytest.mark.parametrize("classification", ["poison", "unrenderable", "permanent", "exhausted"])
def test_a_dead_letter_of_any_cause_keeps_the_doubt(classification: str, claimed: Delivery) -> None:
    record = {
        "poison": lambda: settlement.of_decision(claimed, gate.End("dead_letter", "poison", "why")),
        "unrenderable": lambda: settlement.bury(claimed, "unrenderable", "why"),
        "permanent": lambda: settled(failed(FailureClass.PERMANENT), claimed=claimed),
        "exhausted": lambda: settled(failed(FailureClass.TRANSIENT), claimed=claimed, attempt=Opened(UUID(int=1), 5, 5, NOW)),
    }[classification]()

    assert (record.reason, record.may_have_arrived) == (classification, True)
    assert record.error_message.endswith("; an earlier attempt may have arrived")
    assert record.recovery_hint == hint_for(classification, in_doubt=True) != hint_for(classification)


def test_a_dead_letter_without_a_doubt_speaks_of_none() -> None:
    record = settled(failed(FailureClass.PERMANENT))

    assert (record.may_have_arrived, "arrived" in record.error_message + record.recovery_hint) == (False, False)


def test_an_attempt_has_the_words_of_its_own_failure_and_not_of_the_letter() -> None:
    refused = settled(failed(FailureClass.PERMANENT), claimed=IN_DOUBT["its answer is missing"])
    silent = settlement.of_decision(unanswered(WINDOW), gate.End("dead_letter", "ambiguous", gate.SILENCE))

    assert (refused.attempt_no, refused.as_json()["attempt_error"]) == (3, "Code: words")
    assert (silent.attempt_no, silent.as_json()["attempt_error"]) == (2, CUT_OFF)


@pytest.mark.parametrize(("minutes", "is_nudged"), [(5, True), (13, True), (16, False), (60, False)])
def test_only_what_the_queue_can_delay_is_nudged_and_the_rest_is_the_sweeps(minutes: int, is_nudged: bool) -> None:
    record = settlement.of_decision(a_claim(), gate.Defer("x", NOW + timedelta(minutes=minutes)))

    assert record.is_nudged is is_nudged
    assert record.is_deferral


@pytest.mark.parametrize("is_open", [True, False])
def test_a_deferral_forgets_no_attempt_that_was_never_answered(is_open: bool) -> None:
    claimed = unanswered(WINDOW) if is_open else a_claim()

    record = settlement.of_decision(claimed, gate.Defer("lane_stopped: x", NOW + timedelta(minutes=5)))

    assert record.awaits_evidence is is_open
    assert record.attempt_no is None or record.attempt_outcome == "unknown"


@pytest.mark.parametrize("is_open", [True, False])
@pytest.mark.parametrize(("minutes", "is_nudged"), [(1, True), (15, True), (16, False)])
def test_a_message_above_its_providers_rate_waits_at_no_cost(is_open: bool, minutes: int, is_nudged: bool) -> None:
    claimed = unanswered(WINDOW) if is_open else a_claim()

    record = settlement.defer(claimed, "provider_rate_limit", timedelta(minutes=minutes))

    assert (record.status, record.reason, record.is_deferral) == ("pending", "provider_rate_limit", True)
    assert (record.attempt_no, record.as_json()["uncounted"], record.awaits_evidence) == (None, 0, is_open)
    assert record.is_nudged is is_nudged


@pytest.mark.parametrize("end", [gate.End("cancelled", "cancelled"), gate.End("dead_letter", "poison", "why")], ids=str)
def test_an_end_closes_the_attempt_that_was_never_answered(end: gate.End) -> None:
    record = settlement.of_decision(unanswered(WINDOW), end)

    assert (record.attempt_no, record.attempt_outcome) == (2, "unknown")


def test_an_end_without_an_open_attempt_touches_none() -> None:
    assert settlement.of_decision(a_claim(), gate.End("skipped", "expired")).attempt_no is None


def test_a_long_error_is_cut_before_it_is_stored() -> None:
    record = settled(Failure(FailureClass.PERMANENT, "Code", "x" * 5000))

    assert len(record.as_json()["error_message"]) == 1000


SOON = timedelta(seconds=3)


@pytest.mark.parametrize(
    "record",
    [
        lambda one: settlement.of_decision(one, gate.Defer("lane_stopped: x", NOW + timedelta(hours=1), "ses:email")),
        lambda one: settlement.of_decision(one, gate.Defer("quiet_hours", NOW + timedelta(hours=8))),
        lambda one: settlement.defer(one, "provider_rate_limit", timedelta(minutes=30)),
        lambda one: settled(failed(FailureClass.TRANSIENT), claimed=one),
        lambda one: settled(failed(FailureClass.CONFIGURATION), claimed=one),
        lambda one: settled(failed(FailureClass.THROTTLED, pause=timedelta(minutes=10)), claimed=one),
    ],
    ids=["lane", "quiet hours", "rate", "retry", "stopped", "quota"],
)
def test_whatever_it_waits_for_it_goes_on_when_it_expires_and_that_is_nudged(record: Callable[[Delivery], Settlement]) -> None:
    mortal = record(a_claim(expires_at=NOW + SOON))
    immortal = record(a_claim())

    assert (mortal.delay, mortal.expires_at, mortal.is_nudged) == (SOON, NOW + SOON, True)
    assert immortal.delay is not None and immortal.delay > SOON and immortal.expires_at is None


def test_one_that_expired_while_it_was_sent_goes_on_at_once() -> None:
    record = settled(failed(FailureClass.TRANSIENT), claimed=a_claim(expires_at=NOW - SOON))

    assert record.delay == timedelta(0)


def test_evidence_is_awaited_beyond_expiry() -> None:
    record = settled(failed(FailureClass.AMBIGUOUS), claimed=a_claim(expires_at=NOW + SOON))

    assert (record.due_at, record.expires_at) == (NOW + WINDOW, None)


def test_what_closed_its_lane_or_found_it_closed_is_found_by_the_lane() -> None:
    told_off = settled(failed(FailureClass.CONFIGURATION))
    behind = settlement.of_decision(a_claim(), gate.Defer("lane_stopped: x", NOW + SOON, "ses:email"))
    elsewhere = settlement.of_decision(a_claim(), gate.Defer("quiet_hours", NOW + SOON))

    assert [one.waits_for for one in (told_off, behind, elsewhere)] == ["ses:email", "ses:email", None]


@pytest.mark.parametrize("kind", [FailureClass.TRANSIENT, FailureClass.THROTTLED, FailureClass.CONFIGURATION])
@pytest.mark.parametrize("count", [1, 5])
def test_what_somebody_waits_for_is_tried_once_whatever_its_policy_says(kind: FailureClass, count: int) -> None:
    attempt = Opened(UUID(int=1), attempt_no=count, attempt_count=count, started_at=NOW)

    record = settled(failed(kind), attempt=attempt, claimed=a_claim(reply_to=UUID(int=9)))

    assert (record.status, record.reason, record.attempt_outcome) == ("dead_letter", "no_retry", str(kind))
    assert record.recovery_hint == hint_for("no_retry")
    assert record.provider_code == "Code"


def test_what_somebody_waits_for_and_is_in_doubt_waits_for_evidence_as_ever() -> None:
    waited_for = settled(failed(FailureClass.AMBIGUOUS), claimed=a_claim(reply_to=UUID(int=9)))

    assert waited_for == settled(failed(FailureClass.AMBIGUOUS))
    assert not waited_for.is_deferral
