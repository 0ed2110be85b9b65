"""Send and wait: accept an intent, and look again and again what becomes of it, with no transaction open in between."""

import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
from aws_lambda_powertools import Logger
from psycopg import Connection

from tocsin.access.rate_limits import Allowance
from tocsin.delivery.history import History, history
from tocsin.foundation import deadlines
from tocsin.foundation.database import tenant_round_trip, tenant_transaction
from tocsin.intake.accept_intents import Admitted, Asked, Refusal, accept
from tocsin.intake.admission import Sender
from tocsin.store import dead_letters, reply_inboxes

FIRST_PAUSE, LONGEST_PAUSE, GROWTH = 0.05, 0.5, 1.5  # seconds between two looks, and how they grow
GRACE = timedelta(seconds=5)  # the mailbox outlives the wait: whoever waits takes it away themselves, and decides by that
SPARE = 2.0  # seconds of the invocation kept for the last look and the answer

log = Logger(child=True)


@dataclass(frozen=True, slots=True)
class Waited:
    """How it went in: and what has become of it, if that was known in time. `plan_failure`: why nothing came of it at all."""

    admitted: Admitted
    outcome: History | None = None
    plan_failure: str | None = None


def send_and_wait(
    conn: Connection[Any],
    asked: Asked,
    *,
    sender: Sender,
    request_id: str,
    trace_id: str,
    window: timedelta,
    seconds: int,
) -> tuple[Waited | Refusal, Allowance]:
    """Accept the intent and wait for its outcome, so many seconds at most. A repetition waits for the outcome of the first."""
    give_up_at = time.monotonic() + min(seconds, deadlines.time_left() - SPARE)
    stay = timedelta(seconds=seconds) + GRACE
    (end,), allowance = accept(
        conn, [asked], sender=sender, request_id=request_id, trace_id=trace_id, window=window, reply_within=stay
    )
    if not isinstance(end, Admitted):
        return end, allowance
    try:
        return _wait(conn, sender.tenant_id, end, stay, give_up_at), allowance
    except psycopg.OperationalError as error:
        # It is accepted, so that is the answer. To begin again on another connection would be to wait twice.
        log.warning("the wait for an outcome ended early", extra={"error": type(error).__name__})
        return Waited(end), allowance


def _wait(conn: Connection[Any], tenant_id: UUID, admitted: Admitted, stay: timedelta, give_up_at: float) -> Waited:
    notification_id = admitted.notification_id
    until = admitted.accepted_at + stay
    if admitted.is_replay:
        with tenant_transaction(conn, tenant_id):
            until = reply_inboxes.insert_or_prolong(conn, tenant_id, notification_id, stay=stay)
    pause = FIRST_PAUSE
    while _is_under_way(conn, tenant_id, notification_id) and (left := give_up_at - time.monotonic()) > 0:
        time.sleep(min(pause, left))
        pause = min(pause * GROWTH, LONGEST_PAUSE)
    if _leave(conn, tenant_id, notification_id, until):
        return Waited(admitted)
    with tenant_transaction(conn, tenant_id):
        plan_failure = dead_letters.find_of_plan(conn, tenant_id, notification_id)
    outcome = history(conn, tenant_id, notification_id)
    return Waited(admitted, outcome, plan_failure if outcome is None or not outcome.routes else None)


def _is_under_way(conn: Connection[Any], tenant_id: UUID, notification_id: UUID) -> bool:
    with tenant_round_trip(conn, tenant_id):
        found = reply_inboxes.look(conn, tenant_id, notification_id)
    return found.fetchone() != (False,)


def _leave(conn: Connection[Any], tenant_id: UUID, notification_id: UUID, until: datetime) -> bool:
    """Take the mailbox away and look once more, in one transaction: what ended before that was told here, what ends after it is
    an abandoned execution. Returns whether anything is still under way."""
    with tenant_round_trip(conn, tenant_id):
        reply_inboxes.delete(conn, tenant_id, notification_id, until=until)
        found = reply_inboxes.look(conn, tenant_id, notification_id)
    return found.fetchone() != (False,)
