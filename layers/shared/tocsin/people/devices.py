"""Devices: where a user is reached by push."""

from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.people import users
from tocsin.store import devices
from tocsin.store.devices import Device


def register(conn: Connection[Any], tenant_id: UUID, external_id: str, *, platform: str, token: str) -> Device:
    """Raises UnknownUser, as all of these do."""
    with tenant_transaction(conn, tenant_id):
        user = users.known(conn, tenant_id, external_id)
        return devices.upsert(conn, device_id=uuid7(), tenant_id=tenant_id, user_id=user.id, platform=platform, token=token)


def list_of(conn: Connection[Any], tenant_id: UUID, external_id: str) -> list[Device]:
    with tenant_transaction(conn, tenant_id):
        return devices.list_of(conn, tenant_id, users.known(conn, tenant_id, external_id).id)


def forget(conn: Connection[Any], tenant_id: UUID, external_id: str, token: str) -> bool:
    """False: the user has no such device."""
    with tenant_transaction(conn, tenant_id):
        user = users.known(conn, tenant_id, external_id)
        return devices.delete(conn, tenant_id=tenant_id, user_id=user.id, token=token)
