"""Tenants, for whoever administers the installation: made with a first key, changed, suspended, resumed, deleted.

Each change is in the installation's audit log and in the tenant's own."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit, authenticate, issue_key, standing
from tocsin.access.audit import Actor
from tocsin.access.issue_key import Issued, Rights
from tocsin.foundation.database import act_for, installation_transaction
from tocsin.foundation.ids import uuid7
from tocsin.store import erasures, tenants
from tocsin.store.erasures import Erasure
from tocsin.store.flow import delete_tenant
from tocsin.store.tenants import Tenant

MOST_COUNTED = 100_000


class FirstTenant(Exception):
    """The installation's own tenant is neither suspended nor deleted: its administrators would lock themselves out."""


class BeingDeleted(Exception):
    """The tenant is on its way out; nothing of it can be changed any more."""


class NotConfirmed(Exception):
    """The name that was to confirm the deletion is not the tenant's. Whoever asked looks again at what they are deleting."""


@dataclass(frozen=True, slots=True)
class Made:
    tenant: Tenant
    first_key: Issued


def make(conn: Connection[Any], actor: Actor, *, name: str, settings: dict[str, Any]) -> Made:
    """The tenant and its first key, together or not at all."""
    tenant_id = uuid7()
    with installation_transaction(conn, tenant_id):
        tenants.insert(conn, tenant_id, name=name, settings=settings)
        rights = Rights("first key", "administration", ["admin", "manage"])
        issued = issue_key.issue_within(conn, _for(actor, tenant_id), rights)
        tenant = tenants.find(conn, tenant_id)
        assert tenant is not None  # noqa: S101 - inserted in the same transaction
        _record(conn, actor, tenant_id, "create", {"new": {"name": name, "settings": settings}})
    return Made(tenant, issued)


def find(conn: Connection[Any], tenant_id: UUID) -> Tenant | None:
    with installation_transaction(conn, tenant_id):
        return tenants.find(conn, tenant_id)


def list_page(conn: Connection[Any], actor: Actor, **wanted: Any) -> list[Tenant]:
    with installation_transaction(conn, actor.tenant_id):
        return tenants.list_page(conn, **wanted)


def change(conn: Connection[Any], actor: Actor, tenant_id: UUID, *, name: str, settings: dict[str, Any]) -> Tenant | None:
    with installation_transaction(conn, tenant_id):
        current = tenants.find(conn, tenant_id)
        if current is None:
            return None
        if current.status == "deleting":
            raise BeingDeleted
        tenants.update(conn, tenant_id, name=name, settings=settings)
        changed = tenants.find(conn, tenant_id)
        before = {"name": current.name, "settings": current.settings}
        _record(conn, actor, tenant_id, "update", {"old": before, "new": {"name": name, "settings": settings}})
    return changed


def suspend(conn: Connection[Any], actor: Actor, tenant_id: UUID, reason: str) -> Tenant | None:
    """From here on its keys and tokens are refused (within seconds, where they are known) and its work waits as it is. What a
    worker has in hand is finished. A second suspension changes nothing."""
    if tenant_id == actor.tenant_id:
        raise FirstTenant
    with installation_transaction(conn, tenant_id):
        tenant = tenants.find(conn, tenant_id)
        if tenant is None:
            return None
        if tenant.status == "deleting":
            raise BeingDeleted
        if tenant.status == "active":
            tenants.suspend(conn, tenant_id, reason)
            tenant = tenants.find(conn, tenant_id)
            changes = {"old": {"status": "active"}, "new": {"status": "suspended"}, "reason": reason}
            _record(conn, actor, tenant_id, "suspend", changes)
    _forget()
    return tenant


def resume(conn: Connection[Any], actor: Actor, tenant_id: UUID) -> Tenant | None:
    """What waited goes on with the next sweep; what expired meanwhile ends as expired."""
    with installation_transaction(conn, tenant_id):
        tenant = tenants.find(conn, tenant_id)
        if tenant is None:
            return None
        if tenant.status == "deleting":
            raise BeingDeleted
        if tenant.status == "suspended":
            tenants.resume(conn, tenant_id)
            tenant = tenants.find(conn, tenant_id)
            _record(conn, actor, tenant_id, "resume", {"old": {"status": "suspended"}, "new": {"status": "active"}})
    _forget()
    return tenant


def count(conn: Connection[Any], tenant_id: UUID) -> dict[str, int] | None:
    """How many rows of each table a deletion would take with it, of each at most MOST_COUNTED and one more; where there are none,
    the table is not named. None: there is no such tenant. What hangs on another row and goes with it is not counted apart."""
    with installation_transaction(conn, tenant_id):
        if tenants.find(conn, tenant_id) is None:
            return None
        tables = [table for table in delete_tenant.find_owned(conn) if table.is_batched]
        counts = {table.name: delete_tenant.count(conn, table, tenant_id, most=MOST_COUNTED + 1) for table in tables}
    return {name: found for name, found in sorted(counts.items()) if found}


def delete(conn: Connection[Any], actor: Actor, tenant_id: UUID, *, confirm: str) -> Erasure | None:
    """Refused from here on like a tenant that nobody knows; retention removes all it has, and fills in the receipt, which is the
    installation's. There is no way back. Asked twice, it is the same receipt."""
    if tenant_id == actor.tenant_id:
        raise FirstTenant
    with installation_transaction(conn, tenant_id):
        tenant = tenants.find(conn, tenant_id)
        if tenant is None:
            return None
        if tenant.name != confirm:
            raise NotConfirmed
        tenants.mark_deleting(conn, tenant_id)
        act_for(conn, actor.tenant_id)
        receipt = erasures.begin(
            conn,
            erasure_id=uuid7(),
            tenant_id=actor.tenant_id,
            kind="tenant",
            told_apart=str(tenant_id),
            subject={"tenant_id": str(tenant_id)},
            by=actor.name,
        )
        if tenant.status != "deleting":
            changes = {"old": {"status": tenant.status}, "new": {"status": "deleting"}, "erasure_id": str(receipt.id)}
            audit.record(conn, actor, "delete", "tenant", str(tenant_id), changes)
    _forget()
    return receipt


def _record(conn: Connection[Any], actor: Actor, tenant_id: UUID, action: str, changes: dict[str, Any]) -> None:
    """Last in its transaction: first in the tenant's own log, then in the installation's."""
    audit.record(conn, _for(actor, tenant_id), action, "tenant", str(tenant_id), changes)
    if tenant_id != actor.tenant_id:
        act_for(conn, actor.tenant_id)
        audit.record(conn, actor, action, "tenant", str(tenant_id), changes)


def _for(actor: Actor, tenant_id: UUID) -> Actor:
    """The same one, where they act on another tenant; from which address is the installation's matter."""
    return actor if tenant_id == actor.tenant_id else Actor(tenant_id, actor.name, person_name=actor.person_name)


def _forget() -> None:
    authenticate.forget()
    standing.forget()
