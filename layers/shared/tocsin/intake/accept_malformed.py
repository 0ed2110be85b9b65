"""Accept after all what came by queue and could not be accepted: as it is, now that what it lacked is there, or repaired."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.foundation import work_queue
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.due import Due
from tocsin.intake.accept_events import Told, record_events
from tocsin.intake.accept_intents import Admitted, Asked, Refusal, accept
from tocsin.intake.admission import Sender
from tocsin.store import malformed_intents
from tocsin.store.malformed_intents import MalformedIntent


@dataclass(frozen=True, slots=True)
class Resolved:
    """The row as it is now. `is_ours`: this call resolved it; else another one had."""

    row: MalformedIntent
    is_ours: bool


def find(conn: Connection[Any], tenant_id: UUID, entry_id: str) -> MalformedIntent | None:
    with tenant_transaction(conn, tenant_id):
        return malformed_intents.find(conn, tenant_id, entry_id)


def accept_again(
    conn: Connection[Any],
    asked: Asked | Told,
    *,
    sender: Sender,
    request_id: str,
    trace_id: str,
    window: timedelta,
    actor: Actor,
    entry_id: str,
    resolved_by: UUID,
    is_repaired: bool,
) -> Resolved | Refusal | None:
    """Take it in, mark the row and audit it in one transaction: whoever else tries waits, and then finds it done.

    None: there is no such row. A refusal leaves it as it was."""
    with tenant_transaction(conn, actor.tenant_id):
        malformed_intents.lock(conn, actor.tenant_id, entry_id)
        row = malformed_intents.find(conn, actor.tenant_id, entry_id)
        if row is None:
            return None
        if row.resolution is not None:
            return Resolved(row, is_ours=False)
        taken = _take(conn, asked, sender, request_id, trace_id, window)
        if not isinstance(taken, UUID):
            return taken
        changes = {"new": {"notification_id": str(taken), "is_repaired": is_repaired}}
        resolved = _resolve(conn, actor, entry_id, "accepted", resolved_by=resolved_by, notification_id=taken, changes=changes)
    if isinstance(asked, Asked):
        work_queue.nudge([Due(taken, "plan", actor.tenant_id)])
    else:
        work_queue.nudge_fan_out(actor.tenant_id)
    return resolved


def ignore(conn: Connection[Any], actor: Actor, entry_id: str, *, resolved_by: UUID, reason: str) -> Resolved | None:
    """Put it aside for good, with a reason. None: there is no such row. One that is resolved stays as it is."""
    with tenant_transaction(conn, actor.tenant_id):
        malformed_intents.lock(conn, actor.tenant_id, entry_id)
        row = malformed_intents.find(conn, actor.tenant_id, entry_id)
        if row is None or row.resolution is not None:
            return Resolved(row, is_ours=False) if row else None
        changes = {"new": {"reason": reason}}
        return _resolve(conn, actor, entry_id, "ignored", resolved_by=resolved_by, reason=reason, changes=changes)


def _take(
    conn: Connection[Any], asked: Asked | Told, sender: Sender, request_id: str, trace_id: str, window: timedelta
) -> UUID | Refusal:
    """What it is now known by, or why it is not taken in."""
    if isinstance(asked, Told):
        (recorded,), _ = record_events(conn, [asked], sender=sender, request_id=request_id, trace_id=trace_id, nudges=False)
        return recorded.notification_id
    (end,), _ = accept(conn, [asked], sender=sender, request_id=request_id, trace_id=trace_id, window=window, nudges=False)
    return end.notification_id if isinstance(end, Admitted) else end


def _resolve(
    conn: Connection[Any],
    actor: Actor,
    entry_id: str,
    resolution: str,
    *,
    resolved_by: UUID,
    changes: dict[str, Any],
    notification_id: UUID | None = None,
    reason: str = "",
) -> Resolved:
    malformed_intents.resolve(
        conn,
        actor.tenant_id,
        entry_id,
        resolution=resolution,
        reason=reason,
        notification_id=notification_id,
        resolved_by=resolved_by,
    )
    audit.record(conn, actor, "accept" if notification_id else "resolve", "malformed_intent", entry_id, changes)
    row = malformed_intents.find(conn, actor.tenant_id, entry_id)
    assert row is not None  # noqa: S101 - locked by this transaction
    return Resolved(row, is_ours=True)
