"""Dispatch: take work under a lease and carry each piece to its next recorded state, what was nudged first."""

import time
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from aws_lambda_powertools import Logger
from psycopg import Connection

from tocsin.audience.fan_out import fan_out
from tocsin.dead_letters.recovery_hints import hint_for
from tocsin.delivery.gate import MAX_CLAIMS
from tocsin.foundation import notices, work_queue
from tocsin.foundation.database import worker_round_trip
from tocsin.foundation.due import Due
from tocsin.outbox.handlers import HANDLERS, Handler, UnreadableWork, of_queue
from tocsin.outbox.worker import BATCH_SIZE, Hold, Worker
from tocsin.store import lanes, outbox
from tocsin.store.flow.bury import bury
from tocsin.store.flow.claim import claim
from tocsin.store.outbox import FIRST_TENANT
from tocsin.store.rows import Buried, Choice, Work

MOST_SUSPECTS = 5  # in one round
MOST_NUDGES = 8  # to one tenant's workers for one thing that was planned; they go on by themselves
EVENTS_EVERY = 1.0  # seconds: so long events wait for workers that have many plans to make
CALL_PATIENCE = 0.25  # seconds that a round waits for answers before it looks for further work
MOST_EMPTY_ROUNDS = 5  # others take what this worker reaches for: they are enough
NOTHING = Choice([], stopped_at=None)

log = Logger(child=True)


@dataclass(frozen=True, slots=True)
class Round:
    """What one claim came to: how many rows, what follows for this worker, and what else is due on its queue."""

    claimed: int
    follows: list[UUID] = field(default_factory=list)
    choice: Choice = NOTHING
    has_more_suspects: bool = False  # perhaps


def dispatch(conn: Connection[Any], ids: list[UUID], worker: Worker, *, events_wait: bool = False) -> int:
    """Fan out the domain events if some wait; handle what is due among these ids; then, on a queue, what else is due there, until
    nothing is or the time is up.

    Returns how many rows were claimed. Rows that took a worker down before are claimed one at a time, so that a poisonous one
    cannot take its neighbours with it."""
    follows = fan_out_waiting(conn, worker) if events_wait else []
    waiting = list(dict.fromkeys([*ids, *follows]))
    if worker.queue is not None:
        return _serve(conn, waiting, worker, worker.queue)
    claimed = 0
    while waiting:
        if not worker.has_time():
            work_queue.nudge(outbox.find_due(conn, waiting))
            break
        batch, waiting = waiting[: worker.batch_size], waiting[worker.batch_size :]
        made = _round(conn, batch, worker)
        claimed += made.claimed
        waiting += [*made.follows, *(batch if made.has_more_suspects else [])]
        if not waiting:
            waiting = _await_calls(conn, worker)
    _finish_calls(conn, worker)
    return claimed


def fan_out_waiting(conn: Connection[Any], worker: Worker) -> list[UUID]:
    """Tell of the domain events that wait. Returns what to go on with; what others serve, or is too much, is nudged."""
    made = fan_out(conn, has_time=worker.has_time, lease_token=worker.cursor_token)
    if made.look_again:
        work_queue.nudge_fan_out(delay=timedelta(seconds=1))
    return _own(worker, made.due)


def _serve(conn: Connection[Any], ids: list[UUID], worker: Worker, queue: str) -> int:
    """Go on with whatever is due on the queue. The ids are the first batch only: from then on tenants take turns.

    Each round looks at what to do next, in its own round trip. Where another worker took it first, it is left to that one."""
    batch, after = ids[: worker.next_size], FIRST_TENANT
    claimed = empty_rounds = 0
    events_seen = time.monotonic()
    is_quiet = True  # nothing found since the walk over the tenants began
    while empty_rounds < MOST_EMPTY_ROUNDS:
        if not worker.has_time():
            _hand_over(conn, queue)
            break
        if queue == "plan" and time.monotonic() - events_seen > EVENTS_EVERY:
            fan_out_waiting(conn, worker)  # what follows is due, and found by the look
            events_seen = time.monotonic()
        made = _round(conn, batch, worker, after=after)
        claimed += made.claimed
        empty_rounds = empty_rounds + 1 if batch and not made.claimed else 0
        due = [*(one.id for one in made.choice.due), *made.follows]
        batch = due[: worker.next_size]
        after = made.choice.stopped_at or FIRST_TENANT
        is_quiet = is_quiet and not due
        if made.choice.stopped_at is None:
            if is_quiet and not worker.calls.are_under_way:
                break
            is_quiet = True
    _finish_calls(conn, worker)
    return claimed


def _await_calls(conn: Connection[Any], worker: Worker) -> list[UUID]:
    """Nothing else is to be done: wait for the answers to what is under way. Returns what follows."""
    follows = []
    while worker.calls.are_under_way:
        follows += _own(worker, [*worker.calls.settle(conn, patience=CALL_PATIENCE, insist=worker.insist), *notices.heard(conn)])
    return follows


def _finish_calls(conn: Connection[Any], worker: Worker) -> None:
    """The same at the end of an invocation: what follows is for somebody else."""
    if follows := _await_calls(conn, worker):
        work_queue.nudge(outbox.find_due(conn, follows))


def _hand_over(conn: Connection[Any], queue: str) -> None:
    """The time is up: let somebody go on. The nudge need not name all that waits, only start a worker."""
    due = outbox.choice(queue, outbox.choose_due(conn, queue, limit=work_queue.IDS_PER_NUDGE)).due
    work_queue.nudge([one for one in due if one.tenant_id == due[0].tenant_id])


def _round(conn: Connection[Any], batch: list[UUID], worker: Worker, *, after: UUID | None = None) -> Round:
    made = _take(conn, batch, worker, suspects=False, after=after)
    suspects = _suspects(conn, batch, worker) if made.claimed < len(batch) else 0
    return replace(made, claimed=made.claimed + suspects, has_more_suspects=suspects == MOST_SUSPECTS)


def _suspects(conn: Connection[Any], batch: list[UUID], worker: Worker) -> int:
    """Those of the batch that took a worker down: one at a time, and few in a round, so that nobody waits for all of them."""
    claimed = 0
    while claimed < MOST_SUSPECTS and worker.has_time():
        made = _take(conn, batch, worker, suspects=True)
        if made.claimed == 0:
            break
        work_queue.nudge(outbox.find_due(conn, made.follows))
        claimed += made.claimed
    return claimed


def _take(conn: Connection[Any], ids: list[UUID], worker: Worker, *, suspects: bool, after: UUID | None = None) -> Round:
    """One claim and all that follows from it; on a queue with a look at what else is due, in the same round trip."""
    hold = worker.take_hold()
    take = partial(claim, conn, ids, lease_token=hold.lease_token, lease=worker.lease)
    expected = of_queue(worker.queue)
    apart = [kind for kind, handler in expected.items() if handler.is_alone]
    with worker_round_trip(conn):
        outbox.need_not_last(conn)
        troubled = lanes.all_troubled(conn)
        leased = take(suspects=suspects, limit=1 if suspects else len(ids), but=apart)
        alone = take(limit=1, only=apart) if apart and not suspects else None
        loaded = {
            kind: handler.load(conn, ids, lease_token=hold.lease_token) for kind, handler in expected.items() if handler.load
        }
        looked = outbox.choose_due(conn, worker.queue, limit=worker.batch_size, after=after) if worker.queue and after else None
    hold = replace(hold, troubled={lane.lane: lane for lane in troubled})
    place = {one: n for n, one in enumerate(ids)}
    taken = leased.fetchall() + (alone.fetchall() if alone else [])
    claimed = sorted(taken, key=lambda one: place[one.id])  # whose turn it was
    follows: list[Due] = []
    for kind in [*HANDLERS, *sorted({one.source_kind for one in claimed}.difference(HANDLERS))]:
        if work := [one for one in claimed if one.source_kind == kind]:
            follows += _handle(conn, kind, work, loaded.get(kind), hold)
    choice = outbox.choice(worker.queue, looked) if worker.queue and looked else NOTHING
    if worker.calls.are_under_way:
        can_go_on = bool(choice.due) and worker.next_size > 0
        follows += worker.calls.settle(conn, patience=0 if can_go_on else CALL_PATIENCE, insist=worker.insist)
    follows += notices.heard(conn)
    return Round(len(claimed), _own(worker, follows), choice)


def _handle(conn: Connection[Any], kind: str, work: list[Work], loaded: Any, hold: Hold) -> list[Due]:
    """Whatever was claimed is handled or buried: nothing stays leased without an end."""
    handler = HANDLERS.get(kind)
    if handler is None:
        _bury(conn, work, hold, "unknown_kind", f"this version knows no work of the kind {kind}")
        return []
    if not handler.judges_poison and (poison := [one for one in work if one.claim_count > MAX_CLAIMS]):
        _bury(conn, poison, hold, "poison", handler.poison, hint=handler.poison_hint)
        work = [one for one in work if one.claim_count <= MAX_CLAIMS]
    if handler.load and loaded is None:  # it came by another queue than its own
        loaded = handler.load(conn, [one.id for one in work], lease_token=hold.lease_token)
    made, broken = _made(handler, work, {row[0]: row[1:] for row in loaded.fetchall()} if loaded else None)
    if broken:
        _bury(conn, broken, hold, "orphaned", "what this work is about is not there, or cannot be read")
    return handler.handle(conn, made, hold) if made else []


def _made(handler: Handler, work: list[Work], parts: dict[UUID, tuple[Any, ...]] | None) -> tuple[list[Any], list[Work]]:
    """The work as its handler takes it, and what is about nothing that is there, or cannot be read. A fault of ours is neither:
    it is raised, and the lease brings the work back."""
    made, broken = [], []
    for one in work:
        if parts is not None and one.id not in parts:
            broken.append(one)
            continue
        try:
            made.append(handler.make(one, *(parts[one.id] if parts else ())))
        except UnreadableWork:
            broken.append(one)
    return made, broken


def _bury(conn: Connection[Any], work: list[Work], hold: Hold, why: str, message: str, *, hint: str | None = None) -> None:
    burials = [Buried(one.id, why, message, hint_for(hint or why)) for one in work]
    handler = HANDLERS.get(work[0].source_kind)
    for outbox_id in (handler.bury if handler else bury)(conn, burials, lease_token=hold.lease_token):
        log.error("work buried", extra={"outbox_id": str(outbox_id), "kind": work[0].source_kind, "why": why})


def _own(worker: Worker, due: list[Due]) -> list[UUID]:
    """What this worker goes on with itself. The rest is nudged: enough of it to start workers, who go on by themselves."""
    if worker.queue is None:
        own = [one for one in due if one.queue != "plan"] if len(due) <= BATCH_SIZE * 2 else []
    else:
        own = [one for one in due if one.queue == worker.queue]
    others = set(due).difference(own)
    work_queue.nudge([one for one in due if one in others], most_per_tenant=MOST_NUDGES)
    return [one.id for one in own]
