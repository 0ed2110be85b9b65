"""Watches: what a user wants to hear of a whole scope."""

from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.foundation.database import tenant_transaction
from tocsin.people import users
from tocsin.store import watches
from tocsin.store.watches import Watch


def watch(conn: Connection[Any], tenant_id: UUID, external_id: str, scope: str, *, level: str) -> Watch:
    """Raises UnknownUser, as all of these do."""
    with tenant_transaction(conn, tenant_id):
        user = users.known(conn, tenant_id, external_id)
        return watches.upsert(conn, tenant_id, user.id, scope, level=level)


def list_page(conn: Connection[Any], tenant_id: UUID, external_id: str, *, limit: int, after: str | None) -> list[Watch]:
    with tenant_transaction(conn, tenant_id):
        user = users.known(conn, tenant_id, external_id)
        return watches.list_page(conn, tenant_id, user.id, limit=limit, after=after)


def stop(conn: Connection[Any], tenant_id: UUID, external_id: str, scope: str) -> bool:
    """False: the user did not watch this scope."""
    with tenant_transaction(conn, tenant_id):
        return watches.delete(conn, tenant_id, users.known(conn, tenant_id, external_id).id, scope)
