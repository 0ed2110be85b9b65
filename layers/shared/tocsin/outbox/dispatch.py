"""Dispatch: take work under a lease and carry each piece to its next recorded state, what was announced first."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from psycopg import Connection

from tocsin.audience.fan_out import fan_out, fan_out_page
from tocsin.audience.plan import plan, portions
from tocsin.channels.ways import PROVIDER_TIMEOUT, Ways
from tocsin.dead_letters.recovery_hints import hint_for
from tocsin.delivery import gate
from tocsin.delivery.deliver import Count, Insist, Policy, deliver
from tocsin.foundation import work_queue
from tocsin.foundation.due import Due
from tocsin.store import lanes, outbox
from tocsin.store.outbox import FIRST_TENANT
from tocsin.store.rows import Buried, Choice, Claimed

BATCH_SIZE = 100
SETTLE_TIME = timedelta(seconds=5)  # kept free at the end of an invocation for recording what was answered
MOST_SUSPECTS = 5  # in one round
PLANNING_TIME = 0.5  # seconds; what is not planned by then is given back, so that others get their turn
MOST_HINTS = 8  # to one tenant's workers for one thing that was planned; they go on by themselves
EVENTS_EVERY = 1.0  # seconds: so long events wait for workers that have many plans to make
MOST_EMPTY_ROUNDS = 5  # others take what this worker reaches for: they are enough
NOTHING = Choice([], stopped_at=None)


@dataclass(frozen=True, slots=True)
class Worker:
    """What a worker brings along. `remaining` says how much of the invocation is left, `insist` records answers even if the
    connection dies (without it they are recorded on the connection at hand), `count` adds to a metric.

    With a `queue` it goes on with whatever is due there, and leaves to others what follows for their queues. Without one it
    serves what it is asked to, with all that follows from it, and nothing else."""

    ways: Ways
    lease: timedelta
    policy: Policy
    remaining: Callable[[], timedelta]
    batch_size: int = BATCH_SIZE
    insist: Insist | None = None
    queue: str | None = None
    count: Count = lambda name, value: None
    cursor_token: UUID = field(default_factory=uuid4)  # of the fan-out: the same if the work is repeated on another connection

    def has_time(self) -> bool:
        return self.remaining() >= PROVIDER_TIMEOUT + SETTLE_TIME


@dataclass(frozen=True, slots=True)
class Round:
    """What one claim came to: how many rows, what follows for this worker, and what else is due on its queue."""

    claimed: int
    follows: list[UUID] = field(default_factory=list)
    choice: Choice = NOTHING
    has_more_suspects: bool = False  # perhaps


def spread(conn: Connection[Any], worker: Worker) -> list[UUID]:
    """Fan out the domain events that wait. Returns what to go on with; what others serve, or is too much, is announced."""
    made = fan_out(conn, has_time=worker.has_time, lease_token=worker.cursor_token)
    if made.look_again:
        work_queue.nudge_fan_out(delay=timedelta(seconds=1))
    return _own(worker, made.due)


def dispatch(conn: Connection[Any], ids: list[UUID], worker: Worker) -> int:
    """Handle what is due among these ids; then, on a queue, what else is due there, until nothing is or the time is up.

    Returns how many rows were claimed. Rows that took a worker down before are claimed one at a time, so that a poisonous one
    cannot take its neighbours with it."""
    waiting = list(dict.fromkeys(ids))
    if worker.queue is not None:
        return _serve(conn, waiting, worker, worker.queue)
    claimed = 0
    while waiting:
        if not worker.has_time():
            work_queue.nudge(outbox.find_due(conn, waiting))
            return claimed
        batch, waiting = waiting[: worker.batch_size], waiting[worker.batch_size :]
        made = _round(conn, batch, worker)
        claimed += made.claimed
        waiting += [*made.follows, *(batch if made.has_more_suspects else [])]
    return claimed


def _serve(conn: Connection[Any], ids: list[UUID], worker: Worker, queue: str) -> int:
    """Go on with whatever is due on the queue. The ids are the first batch only: from then on tenants take turns.

    Each round looks at what to do next, in its own round trip. Where another worker took it first, it is left to that one."""
    batch, after = ids[: worker.batch_size], FIRST_TENANT
    claimed = empty_rounds = 0
    events_seen = time.monotonic()
    is_quiet = True  # nothing found since the walk over the tenants began
    while empty_rounds < MOST_EMPTY_ROUNDS:
        if not worker.has_time():
            _hand_over(conn, queue)
            break
        if queue == "plan" and time.monotonic() - events_seen > EVENTS_EVERY:
            spread(conn, worker)  # what follows is due, and found by the look
            events_seen = time.monotonic()
        made = _round(conn, batch, worker, after=after)
        claimed += made.claimed
        empty_rounds = empty_rounds + 1 if batch and not made.claimed else 0
        batch = [*(one.id for one in made.choice.due), *made.follows][: worker.batch_size]
        after = made.choice.stopped_at or FIRST_TENANT
        is_quiet = is_quiet and not batch
        if made.choice.stopped_at is None:
            if is_quiet:
                break
            is_quiet = True
    return claimed


def _hand_over(conn: Connection[Any], queue: str) -> None:
    """The time is up: let somebody go on. The hint need not name all that waits, only start a worker."""
    due = outbox.choice(queue, outbox.choose_due(conn, queue, limit=work_queue.IDS_PER_HINT)).due
    work_queue.nudge([one for one in due if one.tenant_id == due[0].tenant_id])


def _round(conn: Connection[Any], batch: list[UUID], worker: Worker, *, after: UUID | None = None) -> Round:
    made = _claim(conn, batch, worker, suspects=False, after=after)
    suspects = _suspects(conn, batch, worker) if made.claimed < len(batch) else 0
    return replace(made, claimed=made.claimed + suspects, has_more_suspects=suspects == MOST_SUSPECTS)


def _suspects(conn: Connection[Any], batch: list[UUID], worker: Worker) -> int:
    """Those of the batch that took a worker down: one at a time, and few in a round, so that nobody waits for all of them."""
    claimed = 0
    while claimed < MOST_SUSPECTS and worker.has_time():
        made = _claim(conn, batch, worker, suspects=True)
        if made.claimed == 0:
            break
        work_queue.nudge(outbox.find_due(conn, made.follows))
        claimed += made.claimed
    return claimed


def _claim(conn: Connection[Any], ids: list[UUID], worker: Worker, *, suspects: bool, after: UUID | None = None) -> Round:
    """One claim and all that follows from it; on a queue with a look at what else is due, in the same round trip."""
    lease_token = uuid4()
    claimed_since = time.monotonic()
    send_until = claimed_since + (min(worker.lease, worker.remaining()) - PROVIDER_TIMEOUT - SETTLE_TIME).total_seconds()
    serves_plans = worker.queue in {None, "plan"} and not suspects
    with conn.pipeline():
        outbox.need_not_last(conn)
        troubled = lanes.all_troubled(conn)
        leased = outbox.claim(
            conn, ids, lease_token=lease_token, lease=worker.lease, suspects=suspects, limit=1 if suspects else len(ids)
        )
        paged = outbox.claim_page(conn, ids, lease_token=lease_token, lease=worker.lease) if serves_plans else None
        looked = outbox.choose_due(conn, worker.queue, limit=worker.batch_size, after=after) if worker.queue and after else None
    place = {one: n for n, one in enumerate(ids)}
    claimed, pages = sorted(leased, key=lambda one: place[one.outbox_id]), paged.fetchall() if paged else []  # whose turn it was
    follows = _plan(conn, [one for one in claimed if one.source_kind == "plan"], lease_token)
    for page in pages:
        follows += fan_out_page(conn, page, lease_token=lease_token)
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
    choice = outbox.choice(worker.queue, looked) if worker.queue and looked else NOTHING
    return Round(len(claimed) + len(pages), _own(worker, follows), choice)


def _own(worker: Worker, due: list[Due]) -> list[UUID]:
    """What this worker goes on with itself. The rest is announced: enough of it to start workers, who go on by themselves."""
    if worker.queue is None:
        own = [one for one in due if one.queue != "plan"] if len(due) <= BATCH_SIZE * 2 else []
    else:
        own = [one for one in due if one.queue == worker.queue]
    others = set(due).difference(own)
    work_queue.nudge([one for one in due if one in others], most_per_tenant=MOST_HINTS)
    return [one.id for one in own]


def _plan(conn: Connection[Any], claimed: list[Claimed], lease_token: UUID) -> list[Due]:
    _bury_poison(conn, [one for one in claimed if one.claim_count > gate.MAX_CLAIMS], lease_token)
    started, follows = time.monotonic(), []
    waiting = portions([one for one in claimed if one.claim_count <= gate.MAX_CLAIMS])
    for n, portion in enumerate(waiting):
        if n and time.monotonic() - started > PLANNING_TIME:
            outbox.release(conn, [one.outbox_id for rest in waiting[n:] for one in rest], lease_token=lease_token)
            break
        planned = plan(conn, portion, lease_token=lease_token)
        # further pages of an endless audience: each is work of its own, so that others get their turn
        follows += [*planned.deliveries, *planned.unfinished]
    return follows


def _bury_poison(conn: Connection[Any], claimed: list[Claimed], lease_token: UUID) -> None:
    if claimed:
        message = f"{gate.MAX_CLAIMS} workers took this on and none recorded an outcome"
        burials = [Buried(one.outbox_id, "poison", message, hint_for("poison")) for one in claimed]
        outbox.bury(conn, burials, lease_token=lease_token)
