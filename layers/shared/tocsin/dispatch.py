"""Dispatch: take announced work under a lease and carry each piece to its next recorded state."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from psycopg import Connection

from tocsin import gate, nudge
from tocsin.channels import PROVIDER_TIMEOUT, Ways
from tocsin.deliver import Count, Insist, Policy, deliver
from tocsin.fan_out import fan_out
from tocsin.plan import plan
from tocsin.recovery_hints import hint_for
from tocsin.store import lanes, outbox
from tocsin.store.outbox import Claimed

BATCH_SIZE = 100
SETTLE_TIME = timedelta(seconds=5)  # kept free at the end of an invocation for recording what was answered


@dataclass(frozen=True, slots=True)
class Worker:
    """What a worker brings along. `remaining` says how much of the invocation is left, `insist` records answers even if the
    connection dies (without it they are recorded on the connection at hand), `count` adds to a metric."""

    ways: Ways
    lease: timedelta
    policy: Policy
    remaining: Callable[[], timedelta]
    batch_size: int = BATCH_SIZE
    insist: Insist | None = None
    count: Count = lambda name, value: None


def spread(conn: Connection[Any], worker: Worker, lease_token: UUID | None = None) -> list[UUID]:
    """Fan out the domain events that wait. Returns the deliveries to go on with; too many for one worker are announced."""
    made = fan_out(conn, has_time=lambda: worker.remaining() >= PROVIDER_TIMEOUT + SETTLE_TIME, lease_token=lease_token)
    if made.look_again:
        nudge.nudge_fan_out(delay=timedelta(seconds=1))
    if len(made.deliveries) > BATCH_SIZE * 2:
        nudge.nudge(made.deliveries)
        return []
    return made.deliveries


def dispatch(conn: Connection[Any], ids: list[UUID], worker: Worker) -> int:
    """Handle what is due among these ids, and the deliveries that planning them makes. Returns how many rows were claimed.

    Rows that took a worker down before are claimed one at a time, so that a poisonous one cannot take its neighbours with it."""
    waiting = list(dict.fromkeys(ids))
    claimed = 0
    while waiting:
        if worker.remaining() < PROVIDER_TIMEOUT + SETTLE_TIME:
            nudge.nudge(waiting)
            return claimed
        batch, waiting = waiting[: worker.batch_size], waiting[worker.batch_size :]
        count, planned = _round(conn, batch, worker, suspects=False)
        claimed += count
        waiting += planned
        if count < len(batch):
            claimed += _suspects(conn, batch, worker)
    return claimed


def _suspects(conn: Connection[Any], batch: list[UUID], worker: Worker) -> int:
    claimed = 0
    while worker.remaining() >= PROVIDER_TIMEOUT + SETTLE_TIME:
        count, planned = _round(conn, batch, worker, suspects=True)
        if count == 0:
            break
        nudge.nudge(planned)
        claimed += count
    return claimed


def _round(conn: Connection[Any], ids: list[UUID], worker: Worker, *, suspects: bool) -> tuple[int, list[UUID]]:
    """One claim and all that follows from it. Returns how many rows were claimed, and the deliveries now due."""
    lease_token = uuid4()
    claimed_since = time.monotonic()
    send_until = claimed_since + (min(worker.lease, worker.remaining()) - PROVIDER_TIMEOUT - SETTLE_TIME).total_seconds()
    with conn.pipeline():
        outbox.need_not_last(conn)
        troubled = lanes.all_troubled(conn)
        leased = outbox.claim(
            conn, ids, lease_token=lease_token, lease=worker.lease, suspects=suspects, limit=1 if suspects else len(ids)
        )
    claimed = leased.fetchall()
    due = _plan(conn, [one for one in claimed if one.source_kind == "plan"], lease_token)
    deliveries = [one for one in claimed if one.source_kind == "deliver"]
    if deliveries:
        worker.ways.prepare(conn, {one.tenant_id for one in deliveries})
        deliver(
            conn,
            deliveries,
            lease_token=lease_token,
            lease=worker.lease,
            claimed_since=claimed_since,
            send_until=send_until,
            ways=worker.ways,
            troubled={lane.lane: lane for lane in troubled},
            policy=worker.policy,
            insist=worker.insist or (lambda work: work(conn)),
            count=worker.count,
        )
    return len(claimed), due


def _plan(conn: Connection[Any], claimed: list[Claimed], lease_token: UUID) -> list[UUID]:
    poison = [one for one in claimed if one.claim_count > gate.MAX_CLAIMS]
    if poison:
        message = f"{gate.MAX_CLAIMS} workers took this on and none recorded an outcome"
        burials = [outbox.Buried(one.outbox_id, "poison", message, hint_for("poison")) for one in poison]
        outbox.bury(conn, burials, lease_token=lease_token)
    healthy = [one for one in claimed if one.claim_count <= gate.MAX_CLAIMS]
    if not healthy:
        return []
    planned = plan(conn, healthy, lease_token=lease_token)
    if planned.unfinished:  # further pages of an endless audience: each is work of its own, so that others get their turn
        nudge.nudge(planned.unfinished)
    if len(planned.deliveries) > BATCH_SIZE * 2:
        nudge.nudge(planned.deliveries)
        return []
    return planned.deliveries
