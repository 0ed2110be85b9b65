"""Settle: record what the providers answered, and what it means for lanes, devices, addresses and the sandbox."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from aws_lambda_powertools import Logger
from psycopg import Connection

from tocsin.channels import fit
from tocsin.channels.outcomes import Accepted, Failure
from tocsin.delivery import settlement
from tocsin.delivery.circuit_breaker import update_lanes
from tocsin.delivery.prepare import Policy
from tocsin.delivery.send import Sent
from tocsin.feedback import refusals, sandbox
from tocsin.feedback.apply import apply_events
from tocsin.foundation.database import Insist, worker_round_trip
from tocsin.foundation.due import Due
from tocsin.store import attempts, outbox
from tocsin.store.flow import settle as flow
from tocsin.store.rows import Delivery, Evidence, Lane, Named, Settlement

log = Logger(child=True)


def settle(
    settlements: list[Settlement],
    sent: list[Sent],
    *,
    lanes: dict[str, Lane],
    lease_token: UUID,
    policy: Policy,
    insist: Insist,
) -> list[Due]:
    """Record it all, through `insist`. Returns what waited for a lane and is due now."""
    woken: list[Due] = []

    def record(conn: Connection[Any]) -> None:
        woken[:] = _record(conn, settlements, sent, lanes, lease_token)

    insist(record)
    if events := sandbox.events_of(_played(sent), policy.sandbox_domain):
        insist(lambda conn: apply_events(conn, events))
    return woken


def of_sent(sent: Sent, *, evidence_window: timedelta) -> Settlement:
    settled = settlement.of_outcome(
        sent.ready.delivery,
        sent.attempt,
        sent.outcome,
        provider=sent.ready.channel.provider,
        lane=sent.ready.channel.lane,
        evidence_window=evidence_window,
    )
    note = "; ".join(filter(None, (fit.note_on(sent.ready.delivery.route.channel, sent.ready.content), sent.ready.note)))
    return replace(settled, note=note) if note else settled


def _record(
    conn: Connection[Any], settlements: list[Settlement], sent: list[Sent], lanes: dict[str, Lane], lease_token: UUID
) -> list[Due]:
    """Everything in one transaction. Where our lease is gone, only proof of acceptance is kept, on the attempt."""
    with worker_round_trip(conn):
        settled = flow.settle(conn, settlements, lease_token=lease_token)
        if waiting := [one.outbox_id for one in settlements if one.awaits_evidence]:
            outbox.hurry_answered(conn, waiting)
        _apply_refusals(conn, sent)
        asked = [one for one in sent if one.ready.failure is None]  # others say nothing of their lane
        due = update_lanes(conn, [(one.ready.channel.lane, one.ready.delivery, one.outcome) for one in asked], lanes)
    woken = [one for cursor in due for one in cursor]
    _keep_proof(conn, sent, ours={row[0] for row in settled})
    return woken


def _apply_refusals(conn: Connection[Any], sent: list[Sent]) -> None:
    for one in sent:
        match one.outcome:
            case Accepted(endpoint_arn=new_endpoint) if new_endpoint:
                refusals.apply(conn, one.ready.delivery, new_endpoint=new_endpoint)
            case Failure(device_gone=device_gone, opted_out=opted_out) if device_gone or opted_out:
                gone = one.outcome.code if device_gone else None
                refusals.apply(conn, one.ready.delivery, device_gone=gone, opted_out=opted_out)


def _keep_proof(conn: Connection[Any], sent: list[Sent], *, ours: set[UUID]) -> None:
    late = [
        Evidence(*_named(one.ready.delivery, one.attempt.attempt_no), one.outcome.provider_message_id)
        for one in sent
        if isinstance(one.outcome, Accepted) and one.ready.delivery.work.id not in ours
    ]
    if late:
        log.warning("lost the lease after sending; kept the proof on the attempt", extra={"count": len(late)})
        attempts.record_evidence(conn, late)


def _named(one: Delivery, attempt_no: int) -> tuple[UUID, str, int, int]:
    return one.record.notification_id, one.route.route_id, one.work.generation, attempt_no


def _played(sent: list[Sent]) -> list[sandbox.Played]:
    """What the sandbox took."""
    return [
        sandbox.Played(
            one.ready.delivery.route.email,
            Named(*_named(one.ready.delivery, one.attempt.attempt_no)),
            one.outcome.provider_message_id,
            one.attempt.started_at,
        )
        for one in sent
        if one.ready.delivery.record.mode == "test" and isinstance(one.outcome, Accepted)
    ]
