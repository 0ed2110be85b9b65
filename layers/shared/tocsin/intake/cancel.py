"""Cancel: stop what has not been sent. After the answer, nothing more is begun."""

from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.due import Due
from tocsin.foundation.work_queue import nudge
from tocsin.store import outbox, records, routes
from tocsin.store.flow.cancel import cancel_unsent


@dataclass(frozen=True, slots=True)
class Cancelled:
    """How many routes were stopped now, and how many could not be: ended before, in the provider's hands, or perhaps sent (an
    answer was lost). Those end as it turns out: published, cancelled if surely not taken, or a dead letter if nobody knows.

    What was still to be planned is planned as cancelled; it is in neither number."""

    stopped: int
    too_late: int
    was_unplanned: bool = False

    @property
    def is_too_late(self) -> bool:
        return self.stopped == 0 and self.too_late > 0 and not self.was_unplanned


def cancel(conn: Connection[Any], actor: Actor, notification_id: UUID) -> Cancelled | None:
    """None: there is no such notification. One that is not planned yet is planned at once, as cancelled."""
    tenant_id = actor.tenant_id
    with tenant_transaction(conn, tenant_id):
        is_unplanned = outbox.plan_now(conn, tenant_id, notification_id)  # first, as planning does: no deadlock
        if not records.mark_cancelled(conn, tenant_id, notification_id):
            return None
        stopped = cancel_unsent(conn, tenant_id, notification_id)
        by_status = routes.count_by_status(conn, tenant_id, notification_id)
        done = Cancelled(stopped, sum(by_status.values()) - by_status.get("cancelled", 0), is_unplanned)
        audit.record(conn, actor, "cancel", "notification", str(notification_id), {"new": asdict(done)})
    if is_unplanned:
        nudge([Due(notification_id, "plan", tenant_id)])
    return done
