"""Deliver: gate, render, open attempts, send, settle. No transaction is open while a provider is called."""

import random
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from aws_lambda_powertools import Logger
from psycopg import Connection

from tocsin import backoff, gate, nudge, rendering
from tocsin.channels import PROVIDER_TIMEOUT, Channel, Message, Ways
from tocsin.outcomes import Accepted, Failure, FailureClass, NotSent, Outcome
from tocsin.recovery_hints import hint_for
from tocsin.store import admin_system_events, attempts, devices, lanes, routes
from tocsin.store.lanes import Lane
from tocsin.store.outbox import Claimed
from tocsin.store.routes import Settlement

SLOWEST_THROTTLE = timedelta(seconds=60)
LONGEST_STOP = timedelta(hours=1)

log = Logger(child=True)


@dataclass(frozen=True, slots=True)
class Policy:
    evidence_window: timedelta
    send_concurrency: int


@dataclass(frozen=True, slots=True)
class Ready:
    """A delivery that passed the gate, with its words and its way out."""

    claimed: Claimed
    channel: Channel
    content: rendering.Content
    supersedes: int | None


def deliver(
    conn: Connection[Any],
    claimed: list[Claimed],
    *,
    lease_token: UUID,
    lease_ends: float,
    ways: Ways,
    troubled: dict[str, Lane],
    policy: Policy,
) -> None:
    """Take these claimed deliveries to their next recorded state. `lease_ends` is on this process's monotonic clock."""
    settlements: list[Settlement] = []
    ready: list[Ready] = []
    for one in claimed:
        _prepare(one, ways, troubled, policy, ready, settlements)
    opened = _open(conn, ready, lease_token=lease_token)
    outcomes = _send_all(opened, lease_ends=lease_ends, concurrency=policy.send_concurrency)
    settlements += [_settlement(one, attempt, outcome, policy) for (one, attempt), outcome in outcomes]
    _settle(conn, settlements, outcomes, troubled, lease_token=lease_token)
    _hint(settlements)


def _prepare(
    one: Claimed,
    ways: Ways,
    troubled: dict[str, Lane],
    policy: Policy,
    ready: list[Ready],
    settlements: list[Settlement],
) -> None:
    channel = ways.of(one.channel or "", one.mode)
    decision = gate.decide(one, lane=troubled.get(channel.lane), evidence_window=policy.evidence_window)
    match decision:
        case gate.Send(supersedes):
            try:
                content = rendering.render(one.notification_type, one.payload)
            except rendering.Unrenderable as error:
                settlements.append(_bury(one, "unrenderable", str(error)))
            else:
                ready.append(Ready(one, channel, content, supersedes))
        case gate.End("dead_letter", reason, detail):
            attempt_no = one.last_attempt_no if one.attempt_open else None
            settlements.append(_bury(one, reason, detail, attempt_no=attempt_no, attempt_outcome="unknown"))
        case gate.End(status, reason):
            settlements.append(
                Settlement(
                    one.outbox_id,
                    status,
                    reason,
                    attempt_no=one.last_attempt_no if one.attempt_open else None,
                    attempt_outcome="unknown",
                )
            )
        case gate.Proven(attempt_no, provider, message_id):
            settlements.append(
                Settlement(
                    one.outbox_id,
                    "published",
                    attempt_no=attempt_no,
                    attempt_outcome="accepted",
                    provider=provider,
                    provider_message_id=message_id,
                )
            )
        case gate.AwaitEvidence(attempt_no, until):
            settlements.append(
                Settlement(
                    one.outbox_id,
                    one.status or "pending",
                    "awaiting_evidence",
                    attempt_no=attempt_no,
                    attempt_outcome="unknown",
                    due_at=until,
                    awaits_evidence=True,
                    error_classification="ambiguous",
                    error_message="the worker ended before the provider's answer was recorded",
                )
            )
        case gate.Defer(reason, until):
            delay = (until - one.claimed_at) * random.uniform(1, 1.1)  # noqa: S311 - not all at once when it reopens
            settlements.append(
                Settlement(
                    one.outbox_id,
                    one.status or "pending",
                    reason,
                    delay=delay,
                    is_announced=nudge.is_reachable_by_hint(delay),
                    is_deferral=True,
                )
            )


def _open(conn: Connection[Any], ready: list[Ready], *, lease_token: UUID) -> list[tuple[Ready, attempts.Opened]]:
    """Commit the attempts before anything is sent: a crash from here on leaves evidence."""
    if not ready:
        return []
    openings = [attempts.Opening(one.claimed.outbox_id, one.channel.provider, one.supersedes) for one in ready]
    opened = {one.outbox_id: one for one in attempts.open_all(conn, openings, lease_token=lease_token)}
    late = len(ready) - len(opened)
    if late:
        log.warning("lost the lease before sending; sent nothing", extra={"count": late})
    return [(one, opened[one.claimed.outbox_id]) for one in ready if one.claimed.outbox_id in opened]


def _send_all(
    opened: list[tuple[Ready, attempts.Opened]], *, lease_ends: float, concurrency: int
) -> list[tuple[tuple[Ready, attempts.Opened], Outcome]]:
    """Send concurrently. A lane that closes under way stops the rest of it; so does a lease about to end."""
    waiting = deque(opened)
    done: list[tuple[tuple[Ready, attempts.Opened], Outcome]] = []
    closed: dict[str, str] = {}

    def work() -> None:
        while True:
            try:
                item = waiting.popleft()
            except IndexError:
                return
            outcome = _send(*item, closed=closed, lease_ends=lease_ends)
            done.append((item, outcome))

    if len(opened) <= 1 or concurrency == 1:
        work()
        return done
    with ThreadPoolExecutor(min(concurrency, len(opened))) as pool:
        for worker in [pool.submit(work) for _ in range(min(concurrency, len(opened)))]:
            worker.result()
    return done


def _send(one: Ready, attempt: attempts.Opened, *, closed: dict[str, str], lease_ends: float) -> Outcome:
    if reason := closed.get(one.channel.lane):
        return NotSent(reason)
    if time.monotonic() + PROVIDER_TIMEOUT.total_seconds() >= lease_ends:
        return NotSent("lease_running_out")
    outcome = one.channel.send(_message(one, attempt))
    if isinstance(outcome, Failure) and outcome.kind in (FailureClass.THROTTLED, FailureClass.CONFIGURATION):
        closed[one.channel.lane] = f"lane_closed: {outcome.code}"
    return outcome


def _message(one: Ready, attempt: attempts.Opened) -> Message:
    claimed = one.claimed
    return Message(
        email=claimed.email or "",
        phone=claimed.phone or "",
        device_platform=claimed.device_platform or "",
        device_token=claimed.device_token or "",
        device_endpoint_arn=claimed.device_endpoint_arn or "",
        content=one.content,
        tags={
            "tocsin_route": f"{claimed.notification_id}_{claimed.route_id}",
            "tocsin_attempt": f"{claimed.generation}-{attempt.attempt_no}",
        },
    )


def _settlement(one: Ready, attempt: attempts.Opened, outcome: Outcome, policy: Policy) -> Settlement:
    claimed, provider = one.claimed, one.channel.provider
    doubt = one.supersedes is not None
    match outcome:
        case Accepted(message_id):
            return Settlement(
                claimed.outbox_id,
                "published",
                attempt_no=attempt.attempt_no,
                attempt_outcome="accepted",
                provider=provider,
                provider_message_id=message_id,
                duplicate_suspected=doubt,
            )
        case NotSent(reason):
            return Settlement(
                claimed.outbox_id,
                claimed.status or "pending",
                reason,
                attempt_no=attempt.attempt_no,
                attempt_outcome="not_sent",
                attempt_counts=False,
                provider=provider,
                delay=timedelta(seconds=1),
                is_announced=True,
                is_deferral=True,
                duplicate_suspected=doubt,
            )
        case Failure(FailureClass.PERMANENT):
            return _bury(claimed, "permanent", _words(outcome), attempt_no=attempt.attempt_no, attempt_outcome="permanent")
        case Failure(FailureClass.AMBIGUOUS):
            return Settlement(
                claimed.outbox_id,
                "failed",
                "awaiting_evidence",
                attempt_no=attempt.attempt_no,
                attempt_outcome="unknown",
                provider=provider,
                error_classification="ambiguous",
                error_message=_words(outcome),
                due_at=attempt.started_at + policy.evidence_window,
                awaits_evidence=True,
                duplicate_suspected=doubt,
            )
        case Failure(FailureClass.TRANSIENT):
            return _retry(claimed, attempt, outcome, provider, doubt)
        case Failure():
            return Settlement(
                claimed.outbox_id,
                claimed.status or "pending",
                f"lane_closed: {outcome.code}",
                attempt_no=attempt.attempt_no,
                attempt_outcome=str(outcome.kind),
                attempt_counts=False,
                provider=provider,
                error_classification=str(outcome.kind),
                error_message=_words(outcome),
                delay=_pause(outcome),
                is_announced=nudge.is_reachable_by_hint(_pause(outcome)),
                is_deferral=True,
                duplicate_suspected=doubt,
            )


def _retry(claimed: Claimed, attempt: attempts.Opened, failure: Failure, provider: str, doubt: bool) -> Settlement:
    if attempt.attempt_count >= claimed.max_attempts:
        return _bury(claimed, "exhausted", _words(failure), attempt_no=attempt.attempt_no, attempt_outcome="transient")
    delay = backoff.delay(
        claimed.retry_backoff,
        timedelta(milliseconds=claimed.retry_base_ms),
        attempt.attempt_count,
        spread=random.uniform(-1, 1),  # noqa: S311 - spreads retries, guards nothing
        retry_after=failure.retry_after,
    )
    return Settlement(
        claimed.outbox_id,
        "failed",
        "retry",
        attempt_no=attempt.attempt_no,
        attempt_outcome="transient",
        provider=provider,
        error_classification="transient",
        error_message=_words(failure),
        delay=delay,
        is_announced=nudge.is_reachable_by_hint(delay),
        duplicate_suspected=doubt,
    )


def _bury(
    claimed: Claimed,
    classification: str,
    message: str,
    *,
    attempt_no: int | None = None,
    attempt_outcome: str | None = None,
) -> Settlement:
    return Settlement(
        claimed.outbox_id,
        "dead_letter",
        classification,
        attempt_no=attempt_no,
        attempt_outcome=attempt_outcome,
        error_classification=classification,
        error_message=message,
        recovery_hint=hint_for(classification),
    )


def _settle(
    conn: Connection[Any],
    settlements: list[Settlement],
    outcomes: list[tuple[tuple[Ready, attempts.Opened], Outcome]],
    troubled: dict[str, Lane],
    *,
    lease_token: UUID,
) -> None:
    """Record everything in one transaction. Where our lease is gone, only proof of acceptance is kept, on the attempt."""
    with conn.pipeline():
        _tend_lanes(conn, outcomes, troubled)
        _tend_devices(conn, outcomes)
        settled = routes.settle(conn, settlements, lease_token=lease_token)
    ours = {row[0] for row in settled}
    late = [
        attempts.Evidence(
            one.claimed.notification_id,
            one.claimed.route_id or "",
            one.claimed.generation,
            attempt.attempt_no,
            outcome.provider_message_id,
        )
        for (one, attempt), outcome in outcomes
        if isinstance(outcome, Accepted) and one.claimed.outbox_id not in ours
    ]
    if late:
        log.warning("lost the lease after sending; kept the proof on the attempt", extra={"count": len(late)})
        attempts.record_evidence(conn, late)


def _tend_lanes(
    conn: Connection[Any], outcomes: list[tuple[tuple[Ready, attempts.Opened], Outcome]], troubled: dict[str, Lane]
) -> None:
    failures = {
        one.channel.lane: outcome
        for (one, _), outcome in outcomes
        if isinstance(outcome, Failure) and outcome.kind in (FailureClass.THROTTLED, FailureClass.CONFIGURATION)
    }
    for lane, failure in failures.items():
        is_slow_only = failure.kind is FailureClass.THROTTLED and failure.pause is None
        lanes.close(
            conn,
            lane,
            state="slowed" if is_slow_only else "stopped",
            reason=failure.code,
            pause=_pause(failure),
            longest=SLOWEST_THROTTLE if is_slow_only else LONGEST_STOP,
        )
        if not is_slow_only:
            admin_system_events.raise_once(
                conn,
                event_type="quota_reached" if failure.kind is FailureClass.THROTTLED else "lane_stopped",
                severity="critical",
                subject=lane,
                description=f"Sending on {lane} is stopped: {failure.message}"[:500],
                details={"lane": lane, "code": failure.code},
            )
    sent = {one.channel.lane for (one, _), outcome in outcomes if isinstance(outcome, Accepted)}
    for name in sent - failures.keys():
        if lane_before := troubled.get(name):
            lanes.reopen(conn, lane_before)
            admin_system_events.resolve(conn, subject=name)


def _tend_devices(conn: Connection[Any], outcomes: list[tuple[tuple[Ready, attempts.Opened], Outcome]]) -> None:
    for (one, _), outcome in outcomes:
        if one.claimed.device_id is None:
            continue
        if isinstance(outcome, Accepted) and outcome.endpoint_arn:
            devices.keep_endpoint(conn, one.claimed.device_id, outcome.endpoint_arn)
        elif isinstance(outcome, Failure) and outcome.device_gone:
            devices.switch_off(conn, one.claimed.device_id, outcome.code)


def _hint(settlements: list[Settlement]) -> None:
    due: dict[timedelta, list[UUID]] = {}
    for one in settlements:
        if one.is_announced and one.delay is not None:
            due.setdefault(timedelta(seconds=round(one.delay.total_seconds() + 0.5)), []).append(one.outbox_id)
    if due:
        nudge.nudge_each(list(due.items()))


def _pause(failure: Failure) -> timedelta:
    if failure.pause is not None:
        return failure.pause
    return timedelta(minutes=5) if failure.kind is FailureClass.CONFIGURATION else timedelta(seconds=1)


def _words(failure: Failure) -> str:
    return f"{failure.code}: {failure.message}" if failure.message else failure.code
