"""Resolve: lay a dead letter aside, with a reason."""

from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.foundation.database import tenant_transaction
from tocsin.store import dead_letters


def ignore(conn: Connection[Any], actor: Actor, letter_id: UUID, *, reason: str, by: UUID) -> bool | None:
    """False: somebody, or a handler, has seen to it already. None: there is no such letter."""
    with tenant_transaction(conn, actor.tenant_id):
        if not dead_letters.resolve(conn, actor.tenant_id, letter_id, resolution="ignored", reason=reason, by=by):
            return False if dead_letters.find(conn, actor.tenant_id, [letter_id]) else None
        changes = {"new": {"resolution": "ignored", "reason": reason}}
        audit.record(conn, actor, "resolve", "dead_letter", str(letter_id), changes)
    return True
