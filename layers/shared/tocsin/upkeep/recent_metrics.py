"""Recent metrics: what happens now, as one number for each of the last minutes."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.foundation.database import tenant_transaction
from tocsin.store import clock
from tocsin.store.flow import recent_metrics
from tocsin.store.flow.recent_metrics import MinuteCount

STEP = timedelta(minutes=1)
TOTALS = ("accepted", "published", "dead_lettered", "skipped")
OF_A_WAY = ("published", "failed_attempts", "dead_lettered")

Series = dict[str, list[int]]


@dataclass(frozen=True, slots=True)
class Recent:
    """Each series has a number for each minute; the last minute is the present one, and not over."""

    now: datetime
    minutes: list[datetime]
    totals: Series
    by: dict[tuple[str, str], Series] = field(default_factory=dict)  # by channel and provider, those of which anything is told


def recent(conn: Connection[Any], tenant_id: UUID, *, minutes: int, mode: str) -> Recent:
    with tenant_transaction(conn, tenant_id):
        now = clock.now(conn)
        present = now.replace(second=0, microsecond=0)
        starts = [present - STEP * back for back in reversed(range(minutes))]
        counts = recent_metrics.count_minutes(conn, tenant_id, starts[0], present + STEP, mode=mode)
    return _arranged(now, starts, counts)


def _arranged(now: datetime, starts: list[datetime], counts: list[MinuteCount]) -> Recent:
    totals = {name: [0] * len(starts) for name in TOTALS}
    by: dict[tuple[str, str], Series] = {}
    for one in counts:
        if one.what in totals:
            totals[one.what][one.minute] += one.count
        if one.what in OF_A_WAY:
            way = by.setdefault((one.channel, one.provider), {name: [0] * len(starts) for name in OF_A_WAY})
            way[one.what][one.minute] += one.count
    return Recent(now, starts, totals, dict(sorted(by.items())))
