"""Open a lane by hand, as whoever has removed the cause does: what waits for it goes at once."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.delivery.circuit_breaker import FIRST_LOT
from tocsin.foundation import work_queue
from tocsin.foundation.database import NotYours, is_of_installation, operator_transaction
from tocsin.store import lanes, outbox
from tocsin.store.flow import open_lane as statements
from tocsin.store.lanes import TroubledLane


@dataclass(frozen=True, slots=True)
class OpenedLane:
    """The lane as it was, and how much of the tenant's own work was woken; the rest, and others', the sweep wakes."""

    was: TroubledLane
    woken: int


def open_lane(conn: Connection[Any], actor: Actor, lane: str, *, opened_by: UUID, reason: str) -> OpenedLane | None:
    """None: there is no such lane, or it is open. Raises NotYours."""
    with operator_transaction(conn, actor.tenant_id):
        was = lanes.find(conn, actor.tenant_id, lane)
        if was is None:
            return None
        if was.tenant_id is None and not is_of_installation(actor.tenant_id):
            raise NotYours
        if not statements.open_lane(conn, lane, was.tenant_id, opened_by=opened_by, reason=reason):
            return None
        woken = outbox.bring_forward(conn, lane, limit=FIRST_LOT).fetchall()
        before = {"state": was.state, "reason": was.reason, "resume_at": was.resume_at.isoformat()}
        audit.record(conn, actor, "open", "lane", lane, {"old": before, "new": {"state": "open", "reason": reason}})
    work_queue.nudge(woken)
    return OpenedLane(was, len(woken))
