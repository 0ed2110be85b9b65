"""Record how runs end or go on, and nudge for those that are tried again."""

from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.foundation import work_queue
from tocsin.foundation.due import Due
from tocsin.store.flow.settle_runs import SettledRun, settle_runs
from tocsin.store.rows import RunEnd


def settle(conn: Connection[Any], ends: list[tuple[RunEnd, UUID]]) -> dict[UUID, SettledRun]:
    """Each with the lease it is under. Returns what was still ours, by its id; nothing of it is due at once."""
    settled = {one.id: one for one in settle_runs(conn, ends)} if ends else {}
    work_queue.nudge_each(
        (end.delay, [Due(one.id, one.queue, one.tenant_id)])
        for end, _ in ends
        if end.delay and end.is_nudged and (one := settled.get(end.outbox_id))
    )
    return settled
