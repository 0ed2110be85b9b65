"""Register a trigger, or change it: the common part, the details of its kind, and its handler."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.types.json import Jsonb

from tocsin.store.triggers import TriggerRow


def insert(conn: Connection[Any], tenant_id: UUID, row: TriggerRow, *, is_new_handler: bool, secret: bytes | None) -> None:
    """`secret` is a new handler's, sealed, where it signs. A handler that is not new is only named."""
    conn.execute(
        """
        WITH handler AS (
            INSERT INTO trigger_handlers (id, tenant_id, kind, config, secret)
            SELECT %(handler_id)s, %(tenant_id)s, %(handler_kind)s, %(handler_config)s, %(secret)s
            WHERE %(is_new_handler)s
        ), common AS (
            INSERT INTO triggers (
                id, tenant_id, handler_id, kind, name, enabled, retry_max_attempts, retry_backoff, retry_base_ms,
                registered_by_principal)
            VALUES (%(id)s, %(tenant_id)s, %(handler_id)s, %(kind)s, %(name)s, %(enabled)s, %(retry_max_attempts)s,
                    %(retry_backoff)s, %(retry_base_ms)s, %(registered_by_principal)s)
        ), kv AS (
            INSERT INTO kv_trigger_details (trigger_id, tenant_id, collection_glob, ops)
            SELECT %(id)s, %(tenant_id)s, %(collection_glob)s, %(ops)s
            WHERE %(kind)s = 'kv'
        )
        INSERT INTO dead_letter_trigger_details (trigger_id, tenant_id, source_filter, trigger_id_filter, script_id_filter)
        SELECT %(id)s, %(tenant_id)s, %(source_filter)s, %(trigger_id_filter)s, %(script_id_filter)s
        WHERE %(kind)s = 'dead_letter'
        """,
        _parameters(tenant_id, row) | {"is_new_handler": is_new_handler, "secret": secret},
    )


def update(conn: Connection[Any], tenant_id: UUID, row: TriggerRow) -> list[UUID]:
    """Write what can be changed of it, as the caller has made it of the row that it holds the lock of. Returns which others share
    the handler and run as the same key from now on."""
    changed = conn.execute(
        """
        WITH common AS (
            UPDATE triggers
            SET name = %(name)s, enabled = %(enabled)s, retry_max_attempts = %(retry_max_attempts)s,
                retry_backoff = %(retry_backoff)s, retry_base_ms = %(retry_base_ms)s,
                registered_by_principal = %(registered_by_principal)s, updated_at = tocsin_now()
            WHERE tenant_id = %(tenant_id)s AND id = %(id)s
        ), handler AS (
            UPDATE trigger_handlers SET config = %(handler_config)s, updated_at = tocsin_now()
            WHERE tenant_id = %(tenant_id)s AND id = %(handler_id)s AND config <> %(handler_config)s
            RETURNING id
        ), sharing AS (
            -- who changes what is run answers for all that run it
            UPDATE triggers SET registered_by_principal = %(registered_by_principal)s, updated_at = tocsin_now()
            FROM handler
            WHERE triggers.tenant_id = %(tenant_id)s AND triggers.handler_id = handler.id AND triggers.id <> %(id)s
            RETURNING triggers.id
        ), kv AS (
            UPDATE kv_trigger_details SET collection_glob = %(collection_glob)s, ops = %(ops)s
            WHERE tenant_id = %(tenant_id)s AND trigger_id = %(id)s
        ), letters AS (
            UPDATE dead_letter_trigger_details
            SET source_filter = %(source_filter)s, trigger_id_filter = %(trigger_id_filter)s,
                script_id_filter = %(script_id_filter)s
            WHERE tenant_id = %(tenant_id)s AND trigger_id = %(id)s
        )
        SELECT id FROM sharing ORDER BY id
        """,
        _parameters(tenant_id, row),
    ).fetchall()
    return [changed_id for (changed_id,) in changed]


def _parameters(tenant_id: UUID, row: TriggerRow) -> dict[str, Any]:
    return asdict(row) | {"tenant_id": tenant_id, "handler_config": Jsonb(row.handler_config)}
