"""Who does which kind of work. A new capability is a kind of outbox row and a handler in this table."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor

from tocsin.audience.fan_out import UNTOLD, fan_out_page
from tocsin.audience.plan import plan, portions
from tocsin.delivery.deliver import deliver
from tocsin.delivery.gate import POISON
from tocsin.foundation.due import Due
from tocsin.foundation.ids import as_uuid
from tocsin.outbox.worker import Hold
from tocsin.store import jobs, outbox
from tocsin.store.flow import claim
from tocsin.store.flow.bury import bury
from tocsin.store.flow.load_runs import load_runs
from tocsin.store.rows import Buried, Delivery, Page, Planning, TriggerRun, WebhookWork, Work
from tocsin.webhooks import deliver as webhooks

PLANNING_TIME = 0.5  # seconds; what is not planned by then is given back, so that others get their turn

Load = Callable[..., Cursor[Any]]
Handle = Callable[[Connection[Any], list[Any], Hold], list[Due]]
Bury = Callable[..., list[UUID]]


class UnreadableWork(ValueError):
    """A row whose payload says nothing that its handler understands. Whoever claimed it buries it."""


@dataclass(frozen=True, slots=True)
class Handler:
    """How one kind of work is done.

    `load` reads what it needs beside the work itself, in the claim's round trip, and `make` puts the two together; without it
    the work is all there is. (What cannot be read is UnreadableWork.) `handle` carries a batch to its next recorded state and
    returns what is due after it.
    What ended three workers is buried, with `poison` and the hint of that name, before it is handled; unless the handler judges
    for itself. `bury` also ends what else knows of such work."""

    handle: Handle
    queues: frozenset[str]
    load: Load | None = None
    make: Callable[..., Any] = lambda work: work
    poison: str = POISON
    poison_hint: str = "poison"
    judges_poison: bool = False
    bury: Bury = bury
    is_alone: bool = False  # taken one at a time, so that what else is due gets its turn in between


def _plan(conn: Connection[Any], claimed: list[Planning], hold: Hold) -> list[Due]:
    started, follows = time.monotonic(), []
    waiting = portions(claimed)
    for n, portion in enumerate(waiting):
        if n and time.monotonic() - started > PLANNING_TIME:
            outbox.release(conn, [one.work.id for rest in waiting[n:] for one in rest], lease_token=hold.lease_token)
            break
        planned = plan(conn, portion, lease_token=hold.lease_token)
        # further pages of an endless audience: each is work of its own, so that others get their turn
        follows += [*planned.deliveries, *planned.unfinished]
    return follows


def _fan_out(conn: Connection[Any], pages: list[Page], hold: Hold) -> list[Due]:
    return [due for page in pages for due in fan_out_page(conn, page, lease_token=hold.lease_token)]


def _page(work: Work) -> Page:
    payload = work.payload or {}
    try:
        after = payload.get("after")
        return Page(work.id, work.tenant_id, int(payload["event"]), UUID(after) if after else None, "past_expiry" in payload)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnreadableWork(type(error).__name__) from error


def _run_triggers(conn: Connection[Any], runs: list[TriggerRun], hold: Hold) -> list[Due]:
    from tocsin.triggers.run import run_triggers  # noqa: PLC0415 - takes intake along, which other workers never need

    run_triggers(conn, runs, calls=hold.worker.calls, lease_token=hold.lease_token, send_until=hold.send_until)
    return []


def _trigger_run(work: Work, *loaded: Any) -> TriggerRun:
    if not isinstance(work.payload, dict) or as_uuid(str(work.payload.get("trigger_id"))) is None:
        raise UnreadableWork("trigger_id")
    return TriggerRun(work, *loaded)


def _replay(conn: Connection[Any], pages: list[Any], hold: Hold) -> list[Due]:
    from tocsin.dead_letters.replay_many import replay_page  # noqa: PLC0415 - rarely asked for

    # one page in a round, so that others get their turn
    outbox.release(conn, [page.job.id for page in pages[1:]], lease_token=hold.lease_token)
    follows = replay_page(conn, pages[0], lease_token=hold.lease_token)
    return [*follows, *(Due(page.job.id, "plan", page.tenant_id) for page in pages[1:])]


def _job_page(work: Work, job: jobs.Job) -> Any:
    from tocsin.dead_letters.replay_many import JobPage  # noqa: PLC0415 - the same

    try:
        after = (work.payload or {}).get("after")
        return JobPage(job, work.tenant_id, (datetime.fromisoformat(after["at"]), UUID(after["id"])) if after else None)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnreadableWork(type(error).__name__) from error


def _bury_jobs(conn: Connection[Any], buried: list[Buried], *, lease_token: UUID) -> list[UUID]:
    from tocsin.dead_letters.replay_many import bury_jobs  # noqa: PLC0415 - the same

    return bury_jobs(conn, buried, lease_token=lease_token)


def _deliver(conn: Connection[Any], deliveries: list[Delivery], hold: Hold) -> list[Due]:
    worker = hold.worker
    if worker.ways is None or worker.policy is None:  # it strayed; the sweep leads it to its own queue
        outbox.release(conn, [one.work.id for one in deliveries], lease_token=hold.lease_token)
        return []
    deliver(
        conn,
        deliveries,
        lease_token=hold.lease_token,
        lease=worker.lease,
        claimed_since=hold.since,
        send_until=hold.send_until,
        ways=worker.ways,
        troubled=hold.troubled,
        policy=worker.policy,
        insist=worker.insist or (lambda work: work(conn)),
        count=worker.count,
    )
    return []


def _tell(conn: Connection[Any], claimed: list[WebhookWork], hold: Hold) -> list[Due]:
    webhooks.deliver(conn, claimed, lease_token=hold.lease_token, send_until=hold.send_until, calls=hold.worker.calls)
    return []


HANDLERS: Mapping[str, Handler] = {
    "plan": Handler(_plan, frozenset({"plan"}), claim.load_plans, Planning),
    "fanout": Handler(_fan_out, frozenset({"plan"}), make=_page, poison=UNTOLD, poison_hint="poison_event", is_alone=True),
    "deliver": Handler(_deliver, frozenset({"email", "sms", "push"}), claim.load_deliveries, Delivery, judges_poison=True),
    "trigger": Handler(_run_triggers, frozenset({"trigger", "webhook"}), load_runs, _trigger_run),
    "replay": Handler(_replay, frozenset({"plan"}), jobs.load, _job_page, bury=_bury_jobs),
    "webhook": Handler(_tell, frozenset({"webhook"}), claim.load_webhooks, WebhookWork),
}


def of_queue(queue: str | None) -> dict[str, Handler]:
    """The kinds that a worker of this queue meets, with their handlers; of no queue: all."""
    return {kind: one for kind, one in HANDLERS.items() if queue is None or queue in one.queues}
