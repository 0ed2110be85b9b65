"""What fires by itself, with the details of its kind and its handler."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row

HANDLER_CONSTRAINT = "triggers_handler_id_fkey"


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerRow:
    """What can be said of a trigger. What is not of its kind is None, and `ops` is empty."""

    id: UUID
    kind: str
    name: str
    enabled: bool
    collection_glob: str | None
    ops: list[str]
    source_filter: str | None
    trigger_id_filter: UUID | None
    script_id_filter: UUID | None
    retry_max_attempts: int
    retry_backoff: str
    retry_base_ms: int
    handler_id: UUID
    handler_kind: str
    handler_config: dict[str, Any]
    registered_by_principal: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger(TriggerRow):
    dispatch_mode: str
    created_at: datetime
    updated_at: datetime


def find(conn: Connection[Any], tenant_id: UUID, trigger_id: UUID) -> Trigger | None:
    return next(iter(_found(conn, tenant_id, trigger_id=trigger_id, limit=1)), None)


def list_page(conn: Connection[Any], tenant_id: UUID, *, limit: int, before: UUID | None) -> list[Trigger]:
    """The newest first: ids are in the order of time."""
    return _found(conn, tenant_id, limit=limit, before=before)


def _found(
    conn: Connection[Any], tenant_id: UUID, *, limit: int, trigger_id: UUID | None = None, before: UUID | None = None
) -> list[Trigger]:
    return (
        conn.cursor(row_factory=class_row(Trigger))
        .execute(
            """
            SELECT triggers.id, triggers.kind, name, enabled, collection_glob, COALESCE(ops, '{}') AS ops, source_filter,
                   trigger_id_filter, script_id_filter, retry_max_attempts, retry_backoff, retry_base_ms, handler_id,
                   handler.kind AS handler_kind, handler.config AS handler_config, registered_by_principal, dispatch_mode,
                   triggers.created_at, triggers.updated_at
            FROM triggers
            JOIN trigger_handlers AS handler ON handler.id = triggers.handler_id
            LEFT JOIN kv_trigger_details AS kv ON kv.trigger_id = triggers.id
            LEFT JOIN dead_letter_trigger_details AS dead_letter ON dead_letter.trigger_id = triggers.id
            WHERE triggers.tenant_id = %(tenant_id)s
              AND (%(trigger_id)s::uuid IS NULL OR triggers.id = %(trigger_id)s)
              AND (%(before)s::uuid IS NULL OR triggers.id < %(before)s)
            ORDER BY triggers.id DESC
            LIMIT %(limit)s
            """,
            {"tenant_id": tenant_id, "trigger_id": trigger_id, "before": before, "limit": limit},
        )
        .fetchall()
    )


def lock(conn: Connection[Any], tenant_id: UUID, trigger_id: UUID) -> Trigger | None:
    """The trigger, which with its handler is nobody else's to change until the transaction ends."""
    conn.execute(
        """
        SELECT FROM triggers JOIN trigger_handlers AS handler ON handler.id = triggers.handler_id
        WHERE triggers.tenant_id = %(tenant_id)s AND triggers.id = %(trigger_id)s
        FOR UPDATE
        """,
        {"tenant_id": tenant_id, "trigger_id": trigger_id},
    )
    return find(conn, tenant_id, trigger_id)


def count_in_turn(conn: Connection[Any], tenant_id: UUID) -> int:
    """How many the tenant has; whoever else counts them waits until this transaction has ended."""
    conn.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended('triggers|' || %(tenant_id)s::text, 0))", {"tenant_id": tenant_id}
    )
    row = conn.execute("SELECT count(*) FROM triggers WHERE tenant_id = %(tenant_id)s", {"tenant_id": tenant_id}).fetchone()
    return int(row[0]) if row else 0


def delete(conn: Connection[Any], tenant_id: UUID, trigger_id: UUID) -> None:
    conn.execute(
        "DELETE FROM triggers WHERE tenant_id = %(tenant_id)s AND id = %(trigger_id)s",
        {"tenant_id": tenant_id, "trigger_id": trigger_id},
    )


def modes_of_handler(conn: Connection[Any], tenant_id: UUID, handler_id: UUID) -> set[str]:
    """The modes of the keys that registered the triggers with this handler."""
    rows = conn.execute(
        """
        SELECT DISTINCT api_keys.mode
        FROM triggers JOIN api_keys ON api_keys.id = triggers.registered_by_principal
        WHERE triggers.tenant_id = %(tenant_id)s AND triggers.handler_id = %(handler_id)s
        """,
        {"tenant_id": tenant_id, "handler_id": handler_id},
    ).fetchall()
    return {mode for (mode,) in rows}
