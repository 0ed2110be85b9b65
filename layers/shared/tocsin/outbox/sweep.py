"""Sweep: start workers for whatever is due and neither leased nor lately nudged; they go on by themselves."""

from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from tocsin.delivery.circuit_breaker import wake_reopened
from tocsin.foundation import work_queue
from tocsin.foundation.due import Due
from tocsin.foundation.settings import QUEUES
from tocsin.store import admin_system_events, domain_events_processed, lanes, outbox

MOST_PER_QUEUE = 1_000
MOST_PER_TENANT = 4 * work_queue.IDS_PER_NUDGE  # four nudges: as many workers begin with it, and go on until nothing is due
MOST_TENANTS = 100_000


@dataclass(frozen=True, slots=True)
class Swept:
    nudged: int
    backlog: outbox.Backlog
    oldest_event_seconds: float
    lanes_closed: int = 0
    open_system_events: int = 0
    is_complete: bool = True

    def report(self) -> dict[str, Any]:
        oldest = round(self.backlog.oldest_due_seconds)
        return {"nudged": self.nudged, "depth": self.backlog.depth, "oldest_due_seconds": oldest}


def sweep(conn: Connection[Any]) -> Swept:
    """Mark first, then nudge: a crash between the two costs five minutes, a second sweep at once costs nothing.

    What a queue does not take is unmarked, so that the next sweep nudges it."""
    marked = wake_reopened(conn) + [due for queue in outbox.find_queues(conn) for due in _mark(conn, queue)]
    missed = work_queue.nudge(marked, patient=True)
    if missed:
        outbox.unmark_nudged(conn, missed)
    for tenant_id, name in admin_system_events.find_passed_over_sending(conn):
        admin_system_events.resolve(conn, tenant_id, event_type="over_sending", subject=name)
    behind = domain_events_processed.seconds_behind(conn)
    if behind is not None:
        work_queue.nudge_fan_out()
    return Swept(
        len(marked) - len(missed),
        outbox.measure(conn),
        behind or 0.0,
        lanes_closed=sum(lane.is_closed for lane in lanes.all_troubled(conn)),
        open_system_events=admin_system_events.count_all_open(conn),
    )


def _mark(conn: Connection[Any], queue: str) -> list[Due]:
    cursor = outbox.choose_due(
        conn, queue, limit=MOST_PER_QUEUE, most_per_tenant=MOST_PER_TENANT, most_tenants=MOST_TENANTS, not_nudged=True
    )
    # what is on a queue that this version does not have is for the planners: they bury what nobody can do
    found = outbox.choice(queue if queue in QUEUES else "plan", cursor).due
    return outbox.mark_nudged(conn, found) if found else []
