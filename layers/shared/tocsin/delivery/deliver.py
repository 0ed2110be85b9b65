"""Deliver: gate, render, open attempts, send, settle. No transaction is open while a provider is called."""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

from aws_lambda_powertools import Logger
from psycopg import Connection

from tocsin.channels.outcomes import Accepted
from tocsin.channels.ways import Way, Ways
from tocsin.content import plain, render, render_share
from tocsin.delivery import dampener, failover, gate, settlement
from tocsin.delivery.circuit_breaker import tend_devices, tend_lanes, tend_opt_outs
from tocsin.delivery.dampen import Reservation, reserve
from tocsin.delivery.failover import Traffic
from tocsin.delivery.send import Ready, Sent, send_all
from tocsin.feedback import sandbox, unsubscribe
from tocsin.feedback.apply import heed
from tocsin.foundation import work_queue
from tocsin.foundation.database import worker_transaction
from tocsin.foundation.due import Due
from tocsin.foundation.secrets import SecretUnavailable
from tocsin.store import attempts, lanes, outbox, provider_configs, routes
from tocsin.store.rows import Claimed, Evidence, Lane, Named, Opened, Opening, ProviderEvent, Settlement

log = Logger(child=True)


@dataclass(frozen=True, slots=True)
class Policy:
    evidence_window: timedelta
    send_concurrency: int
    sandbox_domain: str = "sandbox.tocsin.example"


Insist = Callable[[Callable[[Connection[Any]], object]], object]
Count = Callable[[str, int], object]  # a metric's name and how much to add to it


class Passed(NamedTuple):
    """A delivery that passed the gate, and the ways it can take."""

    claimed: Claimed
    decision: gate.Send
    ways: list[Way]


def deliver(
    conn: Connection[Any],
    claimed: list[Claimed],
    *,
    lease_token: UUID,
    lease: timedelta,
    claimed_since: float,
    send_until: float,
    ways: Ways,
    troubled: dict[str, Lane],
    policy: Policy,
    insist: Insist,
    count: Count,
) -> None:
    """Take these claimed deliveries to their next recorded state.

    `claimed_since` is when the claim began, on this process's monotonic clock; after `send_until` nothing more is handed to a
    provider. What the providers answered is recorded through `insist`, which finds another connection if this one dies."""
    passed, settlements = _pass_gate(claimed, ways, policy)
    lanes_seen = _try_lanes(conn, passed, troubled, lease)
    ready, waiting = _prepare(passed, Traffic(lanes_seen, share=failover.share_of(policy.send_concurrency)), claimed_since)
    opened, reservation, limited = _open(conn, ready, lease_token=lease_token)
    sent = send_all(opened, send_until=send_until, concurrency=policy.send_concurrency)
    settlements += [*waiting, *limited, *(_settlement(one, policy) for one in sent)]
    woken: list[Due] = []
    insist(lambda conn: _settle(conn, settlements, sent, lanes_seen, woken, lease_token=lease_token))
    _count_doubts(opened, [*settlements, *reservation.refused], count)
    _play_out(sent, policy, insist)
    _hint(claimed, [*settlements, *reservation.refused], reservation.digests, woken)


def _pass_gate(claimed: list[Claimed], ways: Ways, policy: Policy) -> tuple[list[Passed], list[Settlement]]:
    passed: list[Passed] = []
    settlements: list[Settlement] = []
    for one in claimed:
        decision = gate.decide(one, evidence_window=policy.evidence_window)
        if not isinstance(decision, gate.Send):
            settlements.append(settlement.of_decision(one, decision))
        elif one.mode == "test" and sandbox.ending_of(one.email or "", policy.sandbox_domain) == "suppressed":
            settlements.append(settlement.of_decision(one, gate.End("skipped", "suppressed: sandbox")))
        else:
            passed.append(Passed(one, decision, ways.serving(one)))
    return passed, settlements


def _try_lanes(conn: Connection[Any], passed: list[Passed], troubled: dict[str, Lane], lease: timedelta) -> dict[str, Lane]:
    """The lanes in trouble as they are now; those that recover and that nobody else is trying are ours to try."""
    wanted = failover.lanes_to_try((one.ways for one in passed), troubled) if troubled else []
    if not wanted:
        return troubled
    now = {lane.lane: lane for lane in lanes.take_probes(conn, wanted, lease=lease)}
    return {name: lane for name, lane in troubled.items() if name not in wanted} | now


def _prepare(passed: list[Passed], traffic: Traffic, claimed_since: float) -> tuple[list[Ready], list[Settlement]]:
    """Choose the way of each and make its words."""
    ready: list[Ready] = []
    settlements: list[Settlement] = []
    share = render_share.Share()
    for one, decision, ways in passed:
        way = traffic.choose(one, ways)
        if not isinstance(way, Way):
            settlements.append(settlement.of_decision(one, way))
            continue
        if reason := share.reason_to_wait(one.tenant_id):
            settlements.append(settlement.defer(one, reason, render_share.WAIT))
            continue
        try:
            with share.of(one.tenant_id):
                content, headers = share.hold(render.of_claimed(one)), unsubscribe.headers_for(one)
        except plain.Unrenderable as error:
            settlements.append(settlement.bury(one, "unrenderable", str(error)))
        except SecretUnavailable:
            settlements.append(settlement.defer(one, "unsubscribe_secret_unavailable", timedelta(minutes=1)))
        else:
            quiet_in = (decision.before - one.claimed_at).total_seconds() if decision.before else math.inf
            ready.append(Ready(one, way, content, headers, decision.supersedes, claimed_since + quiet_in))
    return ready, settlements


def _within_rate(conn: Connection[Any], ready: list[Ready]) -> tuple[list[Ready], list[Settlement]]:
    """Take a token for each message to a provider with a rate limit; what finds none waits, at no cost."""
    wanted = Counter(one.way.config_id for one in ready if one.way.config_id and one.way.rate_limit)
    if not wanted:
        return ready, []
    grants = provider_configs.take_tokens(conn, {config_id: count for config_id, count in wanted.items() if config_id})
    allowed: list[Ready] = []
    waiting: list[Settlement] = []
    used: Counter[UUID] = Counter()
    for one in ready:
        grant = grants.get(one.way.config_id) if one.way.config_id else None
        if grant is None or used[grant.config_id] < grant.granted:
            allowed.append(one)
        else:
            place = used[grant.config_id] - grant.granted + 1
            delay = timedelta(seconds=max(1.0, place * grant.seconds_per_token))
            waiting.append(settlement.defer(one.claimed, "provider_rate_limit", delay))
        if grant is not None:
            used[grant.config_id] += 1
    return allowed, waiting


def _open(
    conn: Connection[Any], ready: list[Ready], *, lease_token: UUID
) -> tuple[list[tuple[Ready, Opened]], Reservation, list[Settlement]]:
    """Commit the attempts before anything is sent: a crash from here on leaves evidence.

    What counts against a cap or a window of its recipient is reserved in the same transaction; what is refused ends in it."""
    reservation = Reservation()
    if not ready:
        return [], reservation, []
    counted = [one for one in ready if dampener.concerns(one.claimed)]
    if counted:
        with worker_transaction(conn):
            wanted = [(one.claimed, one.content.title[: plain.MAX_TITLE]) for one in counted]
            reservation = reserve(conn, wanted, lease_token=lease_token)
            ready = [one for one in ready if not dampener.concerns(one.claimed) or one.claimed.outbox_id in reservation.granted]
            ready, limited = _within_rate(conn, ready)
            cursor = attempts.open_all(conn, _openings(ready), lease_token=lease_token)
    else:
        ready, limited = _within_rate(conn, ready)
        cursor = attempts.open_all(conn, _openings(ready), lease_token=lease_token)
    opened = {one.outbox_id: one for one in cursor.fetchall()}
    if late := len(ready) - len(opened):
        log.warning("lost the lease before sending; sent nothing", extra={"count": late})
    ready = [_as_it_is_now(one, reservation) for one in ready if one.claimed.outbox_id in opened]
    return [(one, opened[one.claimed.outbox_id]) for one in ready], reservation, limited


def _openings(ready: list[Ready]) -> list[Opening]:
    return [Opening(one.claimed.outbox_id, one.channel.provider, one.supersedes) for one in ready]


def _as_it_is_now(ready: Ready, reservation: Reservation) -> Ready:
    """A digest may have grown until it was closed: its words are those of all that it holds."""
    payload = reservation.granted.get(ready.claimed.outbox_id)
    if ready.claimed.audience_kind != "digest" or payload is None or payload == ready.claimed.payload:
        return ready
    try:
        content = render.of_claimed(replace(ready.claimed, payload=payload))
    except plain.Unrenderable:  # its attempt is open already; the built-in words tell it all
        content = plain.digest(payload)
    return replace(ready, content=content)


def _settlement(sent: Sent, policy: Policy) -> Settlement:
    return settlement.of_outcome(
        sent.ready.claimed,
        sent.attempt,
        sent.outcome,
        provider=sent.ready.channel.provider,
        lane=sent.ready.channel.lane,
        evidence_window=policy.evidence_window,
    )


def _settle(
    conn: Connection[Any],
    settlements: list[Settlement],
    sent: list[Sent],
    lanes_seen: dict[str, Lane],
    woken: list[Due],
    *,
    lease_token: UUID,
) -> None:
    """Record everything in one transaction. Where our lease is gone, only proof of acceptance is kept, on the attempt.

    `woken` gets what waited for a lane that let us through: it is due now."""
    with conn.pipeline():
        settled = routes.settle(conn, settlements, lease_token=lease_token)
        if waiting := [one.outbox_id for one in settlements if one.awaits_evidence]:
            outbox.hurry_answered(conn, waiting)
        tend_devices(conn, ((one.ready.claimed.device_id, one.outcome) for one in sent))
        tend_opt_outs(conn, [(one.ready.claimed, one.outcome) for one in sent])
        due = tend_lanes(conn, [(one.ready.channel.lane, one.ready.claimed, one.outcome) for one in sent], lanes_seen)
    woken[:] = [one for cursor in due for one in cursor]
    ours = {row[0] for row in settled}
    late = [
        Evidence(
            one.ready.claimed.notification_id,
            one.ready.claimed.route_id or "",
            one.ready.claimed.generation,
            one.attempt.attempt_no,
            one.outcome.provider_message_id,
        )
        for one in sent
        if isinstance(one.outcome, Accepted) and one.ready.claimed.outbox_id not in ours
    ]
    if late:
        log.warning("lost the lease after sending; kept the proof on the attempt", extra={"count": len(late)})
        attempts.record_evidence(conn, late)


def _count_doubts(opened: list[tuple[Ready, Opened]], settlements: list[Settlement], count: Count) -> None:
    """What is in doubt is on record; its number is the installation's to watch."""
    if second_copies := sum(ready.supersedes is not None for ready, _ in opened):
        count("DuplicatesSuspected", second_copies)
    if in_doubt := sum(one.may_have_arrived for one in settlements):
        count("EndedInDoubt", in_doubt)


def _play_out(sent: list[Sent], policy: Policy, insist: Insist) -> None:
    """The sandbox has no provider that tells us later how it went on: tell it ourselves."""
    events: list[ProviderEvent] = []
    for one in sent:
        claimed = one.ready.claimed
        if claimed.mode == "test" and isinstance(one.outcome, Accepted):
            ending = sandbox.ending_of(claimed.email or "", policy.sandbox_domain)
            named = Named(claimed.notification_id, claimed.route_id or "", claimed.generation, one.attempt.attempt_no)
            event = sandbox.event_of(ending, named, one.outcome.provider_message_id, one.attempt.started_at)
            events += [event] if event else []
    if events:
        insist(lambda conn: heed(conn, events))


def _hint(claimed: list[Claimed], settlements: list[Settlement], digests: list[tuple[timedelta, Due]], woken: list[Due]) -> None:
    """Announce what goes on soon, a second after it is due at the latest."""
    queued = {one.outbox_id: Due(one.outbox_id, one.channel or "", one.tenant_id) for one in claimed}
    later = [(one.delay, [queued[one.outbox_id]]) for one in settlements if one.is_announced and one.delay is not None]
    later += [(delay, [digest]) for delay, digest in digests]
    if later or woken:
        work_queue.nudge_each([(timedelta(0), woken), *later])
