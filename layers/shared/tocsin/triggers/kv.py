"""Values that producers keep: each write decided in the database, and committed together with what it fires."""

from typing import Any
from uuid import UUID

from psycopg import Connection, errors

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.foundation.database import tenant_round_trip, tenant_transaction
from tocsin.foundation.settings import settings
from tocsin.store import kv_entries
from tocsin.store.flow import write_kv
from tocsin.store.flow.write_kv import KvCondition
from tocsin.store.kv_entries import KvEntry


class KvFull(Exception):
    """The tenant has as many entries as it may. Whoever asked deletes some, or the operator raises KvEntriesPerTenant."""

    def __init__(self, limit: int) -> None:
        super().__init__(str(limit))
        self.limit = limit


class ValueTooLarge(Exception):
    """Its numbers take too much room when they are written out, as 1e308 does. Whoever asked sends them as strings."""


def put(
    conn: Connection[Any],
    actor: Actor,
    collection: str,
    key: str,
    value: Any,
    *,
    condition: KvCondition,
    write_id: UUID,
    depth: int,
    mode: str,
) -> KvEntry | None:
    """The entry as written; None: the condition does not hold. Raises KvFull and ValueTooLarge. It fires triggers that a key of
    this mode registered.

    The same `write_id` writes once, however often the call is repeated on other connections."""
    tenant_id, limit = actor.tenant_id, settings().kv_entries_per_tenant
    try:
        with tenant_round_trip(conn, tenant_id):
            written = write_kv.put(
                conn,
                tenant_id,
                collection,
                key,
                value=value,
                condition=condition,
                write_id=write_id,
                depth=depth,
                mode=mode,
                max_entries=limit,
                actor=audit.columns_of(actor),
            )
    except errors.CheckViolation as error:
        match error.diag.constraint_name:
            case write_kv.CONSTRAINT:
                raise KvFull(limit) from None
            case kv_entries.CONSTRAINT:
                raise ValueTooLarge from None
            case _:
                raise
    return written.fetchone() or _written_before(conn, tenant_id, collection, key, write_id)


def delete(
    conn: Connection[Any], actor: Actor, collection: str, key: str, *, condition: KvCondition, depth: int, mode: str
) -> bool:
    """False: there is no such entry, or it is in another state."""
    with tenant_round_trip(conn, actor.tenant_id):
        gone = write_kv.delete(
            conn, actor.tenant_id, collection, key, condition=condition, depth=depth, mode=mode, actor=audit.columns_of(actor)
        )
    return gone.fetchone() is not None


def _written_before(conn: Connection[Any], tenant_id: UUID, collection: str, key: str, write_id: UUID) -> KvEntry | None:
    """What this very write has left, if it happened and only its answer was lost."""
    with tenant_transaction(conn, tenant_id):
        entry = kv_entries.find(conn, tenant_id, collection, key)
    return entry if entry and entry.write_id == write_id else None
