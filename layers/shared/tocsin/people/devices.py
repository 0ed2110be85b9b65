"""Devices: where a user is reached by push."""

from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.people import users
from tocsin.store import devices
from tocsin.store.devices import Device
from tocsin.store.users import User


def register(conn: Connection[Any], actor: Actor, external_id: str, *, platform: str, token: str) -> Device:
    """Raises UnknownUser, as all of these do. That a device was seen again is no change."""
    tenant_id, device_id = actor.tenant_id, uuid7()
    with tenant_transaction(conn, tenant_id):
        user = users.known(conn, tenant_id, external_id)
        old = devices.lock(conn, tenant_id=tenant_id, user_id=user.id, token=token)
        device = devices.upsert(conn, device_id=device_id, tenant_id=tenant_id, user_id=user.id, platform=platform, token=token)
        changes = audit.difference(_audited(old, user) if old else None, _audited(device, user))
        if changes["new"]:
            audit.record(conn, actor, "update" if old else "create", "device", str(device.id), changes)
    return device


def list_of(conn: Connection[Any], tenant_id: UUID, external_id: str) -> list[Device]:
    with tenant_transaction(conn, tenant_id):
        return devices.list_of(conn, tenant_id, users.known(conn, tenant_id, external_id).id)


def forget(conn: Connection[Any], actor: Actor, external_id: str, token: str) -> bool:
    """False: the user has no such device."""
    tenant_id = actor.tenant_id
    with tenant_transaction(conn, tenant_id):
        user = users.known(conn, tenant_id, external_id)
        old = devices.lock(conn, tenant_id=tenant_id, user_id=user.id, token=token)
        if old is None:
            return False
        devices.delete(conn, tenant_id=tenant_id, user_id=user.id, token=token)
        audit.record(conn, actor, "delete", "device", str(old.id), {"old": _audited(old, user)})
    return True


def _audited(device: Device, user: User) -> dict[str, Any]:
    """What may be written down of a device: not its token, with which it can be reached."""
    return {"user_id": str(user.id), "platform": device.platform, "enabled": device.enabled}
