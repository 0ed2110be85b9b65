"""Bootstrap: the first tenant and the first key, made once so that someone can make the others."""

from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import issue_key
from tocsin.access.audit import Actor
from tocsin.access.issue_key import Rights
from tocsin.foundation.database import worker_transaction
from tocsin.store import tenants

DEPLOYMENT = "deployment"


def make_tenant(conn: Connection[Any], tenant_id: UUID, name: str = "default") -> None:
    tenants.insert_unless_known(conn, tenant_id, name)


def make_key(conn: Connection[Any], *, tenant_id: UUID, name: str, producer: str, scopes: list[str], mode: str = "live") -> str:
    """A new key, in clear: show it once, keep it nowhere. Needs a connection that sees every tenant."""
    with worker_transaction(conn):
        issued = issue_key.issue_within(conn, Actor(tenant_id, DEPLOYMENT), Rights(name, producer, scopes, mode))
    return issued.plain
