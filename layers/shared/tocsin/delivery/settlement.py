"""Settlements: how each decision of the gate and each outcome of a send is to be recorded. Pure, but for the jitter."""

import random
from datetime import timedelta

from tocsin.channels.outcomes import Accepted, Failure, FailureClass, NotSent, Outcome
from tocsin.dead_letters.recovery_hints import hint_for
from tocsin.delivery import backoff, gate
from tocsin.foundation import work_queue
from tocsin.store.attempts import CUT_OFF
from tocsin.store.rows import Delivery, Opened, Settlement

LONGEST_JITTER = timedelta(minutes=1)
_DOUBT = "an earlier attempt may have arrived"


def of_decision(one: Delivery, decision: gate.End | gate.Proven | gate.AwaitEvidence | gate.Defer) -> Settlement:
    """What the gate decided without a send."""
    match decision:
        case gate.End("dead_letter", reason, detail):
            return bury(one, reason, detail)
        case gate.End(reason=reason, is_told=False) if one.is_in_doubt:  # nobody knows that nothing was sent
            return bury(one, "ambiguous", f"{gate.SILENCE}; not sent again: {reason}")
        case gate.End(status, reason):
            attempt_no, attempt_outcome = _unanswered(one)
            return Settlement(
                one.work.id,
                status,
                reason,
                attempt_no=attempt_no,
                attempt_outcome=attempt_outcome,
                attempt_error=CUT_OFF,
                may_have_arrived=one.is_in_doubt,
            )
        case gate.Proven(attempt_no, provider, message_id):
            return Settlement(
                one.work.id,
                "published",
                attempt_no=attempt_no,
                attempt_outcome="accepted",
                provider=provider,
                provider_message_id=message_id,
                provider_response="accepted, as was learned later",
            )
        case gate.AwaitEvidence(attempt_no, until):
            return Settlement(
                one.work.id,
                one.route.status,
                "awaiting_evidence",
                attempt_no=attempt_no,
                attempt_outcome="unknown",
                due_at=until,
                awaits_evidence=True,
                error_classification="ambiguous",
                error_message=CUT_OFF,
            )
        case gate.Defer(reason, until, waits_for):
            wait = until - one.work.claimed_at
            jitter = min(wait / 10, LONGEST_JITTER) * random.random()  # noqa: S311 - not all at once when the lane reopens
            return defer(one, reason, wait + jitter, waits_for=waits_for)


def of_outcome(
    one: Delivery, attempt: Opened, outcome: Outcome, *, provider: str, lane: str, evidence_window: timedelta
) -> Settlement:
    """What became of a send."""
    match outcome:
        case Accepted(message_id, response=response):
            return Settlement(
                one.work.id,
                "published",
                attempt_no=attempt.attempt_no,
                attempt_outcome="accepted",
                provider=provider,
                provider_message_id=message_id,
                provider_response=response or "accepted",
            )
        case NotSent(reason):
            return Settlement(
                one.work.id,
                one.route.status,
                reason,
                attempt_no=attempt.attempt_no,
                attempt_outcome="not_sent",
                attempt_counts=False,
                provider=provider,
                delay=_at_most(one, timedelta(seconds=1)),
                expires_at=one.record.expires_at,
                is_nudged=True,
                is_deferral=True,
            )
        case Failure(FailureClass.PERMANENT):
            closing = attempt.attempt_no, "permanent"
            return bury(one, "permanent", words(outcome), closing=closing, code=outcome.code, provider=provider)
        case Failure(FailureClass.AMBIGUOUS):
            return Settlement(
                one.work.id,
                "failed",
                "awaiting_evidence",
                attempt_no=attempt.attempt_no,
                attempt_outcome="unknown",
                provider=provider,
                provider_response=_without_recipient(one, words(outcome)),
                error_classification="ambiguous",
                error_message=words(outcome),
                due_at=attempt.started_at + evidence_window,
                awaits_evidence=True,
            )
        case Failure() if one.work.reply_to:  # somebody waits for the outcome of one attempt, and this is it
            closing = attempt.attempt_no, str(outcome.kind)
            return bury(one, "no_retry", words(outcome), closing=closing, code=outcome.code, provider=provider)
        case Failure(FailureClass.TRANSIENT):
            return _retry(one, attempt, outcome, provider=provider)
        case Failure():
            return Settlement(
                one.work.id,
                one.route.status,
                f"lane_closed: {outcome.code}",
                attempt_no=attempt.attempt_no,
                attempt_outcome=str(outcome.kind),
                attempt_counts=False,
                provider=provider,
                provider_response=_without_recipient(one, words(outcome)),
                error_classification=str(outcome.kind),
                error_message=words(outcome),
                delay=_at_most(one, pause_of(outcome)),
                expires_at=one.record.expires_at,
                waits_for=lane,
                is_nudged=work_queue.is_reachable_by_nudge(_at_most(one, pause_of(outcome))),
                is_deferral=True,
            )


def defer(one: Delivery, reason: str, delay: timedelta, *, waits_for: str | None = None) -> Settlement:
    """Later, at no cost; what was in doubt before still is."""
    delay = _at_most(one, delay)
    return Settlement(
        one.work.id,
        one.route.status,
        reason,
        delay=delay,
        expires_at=one.record.expires_at,
        waits_for=waits_for,
        is_nudged=work_queue.is_reachable_by_nudge(delay),
        is_deferral=True,
        awaits_evidence=one.work.attempt_open,
    )


def bury(
    one: Delivery,
    classification: str,
    message: str,
    *,
    closing: tuple[int, str] | None = None,
    code: str = "",
    provider: str = "",
) -> Settlement:
    """A dead letter. `closing`: the attempt that ended it, with its outcome; without one, an open attempt stays unanswered.
    `code`: what the provider, if one was asked, calls the failure.

    Whatever it dies of, an earlier attempt that may have arrived is told of: whoever replays it must know."""
    attempt_no, attempt_outcome = closing or _unanswered(one)
    return Settlement(
        one.work.id,
        "dead_letter",
        classification,
        attempt_no=attempt_no,
        attempt_outcome=attempt_outcome,
        attempt_error=message if closing else CUT_OFF,
        error_classification=classification,
        error_message=f"{message}; {_DOUBT}" if one.is_in_doubt and classification != "ambiguous" else message,
        provider=provider,
        provider_code=code,
        provider_response=_without_recipient(one, message) if closing else "",
        may_have_arrived=one.is_in_doubt,
        recovery_hint=hint_for(classification, in_doubt=one.is_in_doubt),
    )


def pause_of(failure: Failure) -> timedelta:
    """How long the lane rests after this failure, the first time."""
    if failure.pause is not None:
        return failure.pause
    return timedelta(minutes=5) if failure.kind is FailureClass.CONFIGURATION else timedelta(seconds=1)


def words(failure: Failure) -> str:
    return f"{failure.code}: {failure.message}" if failure.message else failure.code


def _without_recipient(one: Delivery, said: str) -> str:
    """Some providers quote the address."""
    for address in filter(None, (one.route.email, one.route.phone, one.device.token if one.device else "")):
        said = said.replace(address, "[recipient]")
    return said


def _retry(one: Delivery, attempt: Opened, failure: Failure, *, provider: str) -> Settlement:
    if attempt.attempt_count >= one.work.max_attempts:
        closing = attempt.attempt_no, "transient"
        return bury(one, "exhausted", words(failure), closing=closing, code=failure.code, provider=provider)
    delay = backoff.delay(
        one.work.retry_backoff,
        timedelta(milliseconds=one.work.retry_base_ms),
        attempt.attempt_count,
        jitter=random.uniform(-1, 1),  # noqa: S311 - spreads retries, guards nothing
        retry_after=failure.retry_after,
    )
    delay = _at_most(one, delay)
    return Settlement(
        one.work.id,
        "failed",
        "retry",
        attempt_no=attempt.attempt_no,
        attempt_outcome="transient",
        provider=provider,
        provider_response=_without_recipient(one, words(failure)),
        error_classification="transient",
        error_message=words(failure),
        delay=delay,
        expires_at=one.record.expires_at,
        is_nudged=work_queue.is_reachable_by_nudge(delay),
    )


def _at_most(one: Delivery, delay: timedelta) -> timedelta:
    """No wait is longer than the message lives: when it expires, that is recorded."""
    return delay if one.record.expires_at is None else max(timedelta(0), min(delay, one.record.expires_at - one.work.claimed_at))


def _unanswered(one: Delivery) -> tuple[int, str] | tuple[None, None]:
    """The attempt that an end leaves without an answer, and its outcome."""
    return (one.work.last_attempt_no, "unknown") if one.work.attempt_open else (None, None)
