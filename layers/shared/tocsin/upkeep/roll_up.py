"""Roll up: count what was sent, failed and skipped by hour and day, and what waits. docs/metrics.md has the definitions."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg import Connection

from tocsin.foundation.database import worker_transaction
from tocsin.store import job_runs
from tocsin.store.flow import roll_up as flow

JOB = "metrics"
HOUR = timedelta(hours=1)
AT_ONCE = timedelta(hours=6)  # in one statement
# An hour is counted again for as long as somebody who began in it may still be writing; nobody writes for an hour.
OPEN = timedelta(hours=2)
# Older hours are not counted any more, because retention is about to take them: a day is the sum of hours that are all there.
HORIZON = timedelta(days=88)


@dataclass(frozen=True, slots=True)
class RolledUp:
    """Up to which hour everything is counted, and how many rows had other numbers before."""

    through: datetime
    changed: int
    is_complete: bool

    def report(self) -> dict[str, Any]:
        return {"through": self.through.isoformat(), "changed": self.changed}


def roll_up(conn: Connection[Any], *, has_time: Callable[[], bool]) -> RolledUp:
    """Go on where the last run ended, some hours at a time, each a transaction of its own; last, what waits now.

    Safe to repeat, and at once: the same rows give the same numbers."""
    now, first = flow.find_start(conn)
    last = job_runs.last_finished(conn, JOB)
    since = _start(last.report if last else {}, now, first)
    changed, through = 0, since
    while through <= now:
        if not has_time():
            return RolledUp(through, changed, is_complete=False)
        until = min(through + AT_ONCE, now + HOUR)
        changed += _count(conn, through, until)
        through = until
    with worker_transaction(conn):
        days = flow.count_pending(conn, now - HORIZON)
        summed = flow.sum_days(conn, days)
    return RolledUp(now, changed + summed.rowcount, is_complete=True)


def _start(report: dict[str, Any], now: datetime, first: datetime | None) -> datetime:
    counted = datetime.fromisoformat(report["through"]) if "through" in report else first or now
    return max(min(counted, now) - OPEN, now - HORIZON)


def _count(conn: Connection[Any], since: datetime, until: datetime) -> int:
    days = sorted({moment.astimezone(UTC).date() for moment in (since, until - HOUR)})
    with worker_transaction(conn):
        counted, summed = flow.count_hours(conn, since, until), flow.sum_days(conn, days)
    return counted.rowcount + summed.rowcount
