"""Record events: the durable row is the promise; (source, id) makes a repetition harmless."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access.rate_limits import Allowance
from tocsin.foundation import work_queue
from tocsin.foundation.database import tenant_round_trip
from tocsin.intake.admission import Sender, refusals
from tocsin.intake.cloud_events import CloudEvent
from tocsin.store import domain_events
from tocsin.store.flow import accept_events as statements


@dataclass(frozen=True, slots=True)
class Told:
    """One event as it came in, with its data as it was written, the id that its notifications will have, and how many
    triggers led to it."""

    event: CloudEvent
    data: dict[str, Any]
    notification_id: UUID
    trigger_depth: int = 0


@dataclass(frozen=True, slots=True)
class Recorded:
    notification_id: UUID
    recorded_at: datetime
    is_duplicate: bool
    is_routed: bool


def record_events(
    conn: Connection[Any], told: list[Told], *, sender: Sender, request_id: str, trace_id: str, nudges: bool = True
) -> tuple[list[Recorded], Allowance]:
    """Record each event that is new, in order; then nudge the fan-out. One round trip when every event is new.

    `nudges`: not where the caller's own transaction is still open; the caller nudges when it has ended."""
    with refusals("domain_events"), tenant_round_trip(conn, sender.tenant_id):
        cursor = statements.insert_unless_known(
            conn,
            [_row(n, one) for n, one in enumerate(told)],
            tenant_id=sender.tenant_id,
            mode=sender.mode,
            request_id=request_id,
            trace_id=trace_id,
            rate_subject=sender.rate_subject,
            rate_limit=sender.rate_limit,
        )
    rows = cursor.fetchall()
    if nudges and any(one.recorded_at for one in rows):
        work_queue.nudge_fan_out(sender.tenant_id)
    known = _known(conn, sender.tenant_id, [told[one.n] for one in rows if one.recorded_at is None])
    ends = [
        Recorded(told[one.n].notification_id, one.recorded_at, is_duplicate=False, is_routed=one.is_routed)
        if one.recorded_at
        else _duplicate(told[one.n], known[told[one.n].event.source, told[one.n].event.id], is_routed=one.is_routed)
        for one in rows
    ]
    return ends, Allowance(max(one.rate_used for one in rows), sender.rate_limit)


def _duplicate(told: Told, first: domain_events.Known, *, is_routed: bool) -> Recorded:
    # Our own id means that our first try had committed and only its answer was lost.
    is_duplicate = first.notification_id != told.notification_id
    return Recorded(first.notification_id, first.recorded_at, is_duplicate=is_duplicate, is_routed=is_routed)


def _known(conn: Connection[Any], tenant_id: UUID, told: list[Told]) -> dict[tuple[str, str], domain_events.Known]:
    if not told:
        return {}
    with tenant_round_trip(conn, tenant_id):
        found = domain_events.find_known(conn, tenant_id, [(one.event.source, one.event.id) for one in told])
    return {(one.source, one.event_id): one for one in found}


def _row(n: int, told: Told) -> dict[str, Any]:
    event, data = told.event, told.event.data
    return {
        "n": n,
        "notification_id": str(told.notification_id),
        "event_id": event.id,
        "source": event.source,
        "type": event.type,
        "scope": data.scope,
        "thread_kind": data.thread.kind if data.thread else None,
        "thread_id": data.thread.id if data.thread else None,
        "actor": data.actor,
        "data": told.data,
        "trigger_depth": told.trigger_depth,
        "occurred_at": event.occurred_at.isoformat() if event.occurred_at else None,
    }
