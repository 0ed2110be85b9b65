"""System events that people make and resolve. The installation's are everyone's to see, and its own tenant's to end."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection, errors

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.foundation.database import NotYours, is_of_installation, operator_transaction, tenant_transaction
from tocsin.store import admin_system_events, users
from tocsin.store.admin_system_events import SystemEvent, SystemEventFilters

MOST_OPEN = 1_000  # what is open is kept for ever
_BOUND = "admin_system_events_details_bounded"


@dataclass(frozen=True, slots=True)
class NewEvent:
    event_type: str
    severity: str
    subject: str
    description: str
    details: dict[str, Any] | None
    user_id: str | None


class UnknownPerson(Exception):
    """The event names a person whom nobody knows. Whoever makes it corrects the id."""


class TooManyDetails(Exception):
    """The details are larger than is kept. Whoever makes the event leaves the rest where it is."""


class TooManyOpen(Exception):
    """So many events are open that nobody reads them. Whoever asked resolves some first."""


class StillOpen(Exception):
    """One for this type and subject is open already. Whoever asked looks at that one."""


def list_page(
    conn: Connection[Any], tenant_id: UUID, filters: SystemEventFilters, *, limit: int, after: Any
) -> list[SystemEvent]:
    read = admin_system_events.list_page_of_severity if filters.severity else admin_system_events.list_page
    with tenant_transaction(conn, tenant_id):
        return read(conn, tenant_id, filters, limit=limit, after=after)


def find(conn: Connection[Any], tenant_id: UUID, event_id: int) -> SystemEvent | None:
    with tenant_transaction(conn, tenant_id):
        return admin_system_events.find(conn, tenant_id, event_id)


def make(conn: Connection[Any], actor: Actor, new: NewEvent, *, created_by: UUID) -> SystemEvent:
    """Raises UnknownPerson, TooManyDetails, StillOpen, TooManyOpen."""
    try:
        with tenant_transaction(conn, actor.tenant_id):
            return _make(conn, actor, new, created_by)
    except errors.CheckViolation as error:
        if error.diag.constraint_name != _BOUND:
            raise
        raise TooManyDetails from None


def _make(conn: Connection[Any], actor: Actor, new: NewEvent, created_by: UUID) -> SystemEvent:
    user = users.find(conn, actor.tenant_id, new.user_id) if new.user_id is not None else None
    if new.user_id is not None and user is None:
        raise UnknownPerson
    if sum(count for _, count, _ in admin_system_events.count_open(conn, actor.tenant_id)) >= MOST_OPEN:
        raise TooManyOpen
    event_id = admin_system_events.insert_unless_open(
        conn,
        actor.tenant_id,
        event_type=new.event_type,
        severity=new.severity,
        subject=new.subject,
        description=new.description,
        details=new.details,
        user_id=user.id if user else None,
        created_by=created_by,
    )
    if event_id is None:
        raise StillOpen
    made = admin_system_events.find(conn, actor.tenant_id, event_id)
    assert made is not None  # noqa: S101 - inserted in the same transaction
    told = {"event_type": new.event_type, "severity": new.severity, "subject": new.subject}
    audit.record(conn, actor, "create", "system_event", str(event_id), {"new": told})
    return made


def resolve(conn: Connection[Any], actor: Actor, event_id: int, *, resolved_by: UUID, reason: str) -> SystemEvent | None:
    """The event as it is now. None: there is no such event. One that is resolved already stays as it is. Raises NotYours."""
    with operator_transaction(conn, actor.tenant_id):
        event = admin_system_events.find(conn, actor.tenant_id, event_id)
        if event is None:
            return None
        if event.is_shared and not is_of_installation(actor.tenant_id):
            raise NotYours
        is_ours = admin_system_events.resolve_by_hand(conn, actor.tenant_id, event_id, resolved_by=resolved_by, reason=reason)
        resolved = admin_system_events.find(conn, actor.tenant_id, event_id)
        if is_ours:
            changes = {"old": {"is_resolved": False}, "new": {"is_resolved": True, "reason": reason}}
            audit.record(conn, actor, "resolve", "system_event", str(event_id), changes)
    return resolved
