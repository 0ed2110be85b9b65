"""Sweep: whatever is due and neither leased nor lately announced is announced again."""

from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from tocsin import nudge
from tocsin.store import domain_events_processed, outbox
from tocsin.tending import wake_reopened

MOST_PER_SWEEP = 5_000
MOST_PER_TENANT = 1_000


@dataclass(frozen=True, slots=True)
class Swept:
    nudged: int
    backlog: outbox.Backlog
    oldest_event_seconds: float


def sweep(conn: Connection[Any]) -> Swept:
    """Mark first, then hint: a crash between the two costs five minutes, a second sweep at once costs nothing."""
    ids = wake_reopened(conn) + outbox.mark_nudged(conn, limit=MOST_PER_SWEEP, per_tenant=MOST_PER_TENANT)
    if ids:
        nudge.nudge(ids)
    behind = domain_events_processed.seconds_behind(conn)
    if behind is not None:
        nudge.nudge_fan_out()
    return Swept(len(ids), outbox.measure(conn), behind or 0.0)
