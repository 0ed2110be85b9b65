"""Watches: what a user wants to hear of a whole scope."""

from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.foundation.database import tenant_transaction
from tocsin.people import users
from tocsin.store import watches
from tocsin.store.watches import Watch


def watch(conn: Connection[Any], actor: Actor, external_id: str, scope: str, *, level: str) -> Watch:
    """Raises UnknownUser, as all of these do."""
    tenant_id = actor.tenant_id
    with tenant_transaction(conn, tenant_id):
        user = users.known(conn, tenant_id, external_id)
        old = watches.lock(conn, tenant_id, user.id, scope)
        new = watches.upsert(conn, tenant_id, user.id, scope, level=level)
        changes = audit.difference({"level": old.level} if old else None, {"level": new.level})
        if changes["new"]:
            audit.record(conn, actor, "put", "watch", f"{user.id}/{scope}", changes)
    return new


def list_page(conn: Connection[Any], tenant_id: UUID, external_id: str, *, limit: int, after: str | None) -> list[Watch]:
    with tenant_transaction(conn, tenant_id):
        user = users.known(conn, tenant_id, external_id)
        return watches.list_page(conn, tenant_id, user.id, limit=limit, after=after)


def stop(conn: Connection[Any], actor: Actor, external_id: str, scope: str) -> bool:
    """False: the user did not watch this scope."""
    tenant_id = actor.tenant_id
    with tenant_transaction(conn, tenant_id):
        user = users.known(conn, tenant_id, external_id)
        old = watches.lock(conn, tenant_id, user.id, scope)
        if old is None:
            return False
        watches.delete(conn, tenant_id, user.id, scope)
        audit.record(conn, actor, "delete", "watch", f"{user.id}/{scope}", {"old": {"level": old.level}})
    return True
