"""Who changed what: written in the transaction of the change, never altered."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.types.json import Jsonb


def insert(
    conn: Connection[Any],
    *,
    entry_id: UUID,
    tenant_id: UUID,
    actor: str,
    action: str,
    resource_type: str,
    resource_id: str,
    ip_address: str | None,
    user_agent: str | None,
    changes: dict[str, Any],
) -> None:
    conn.execute(
        """
        INSERT INTO audit_logs (
            id, tenant_id, actor, action, resource_type, resource_id, ip_address, user_agent, changes)
        VALUES (%(entry_id)s, %(tenant_id)s, %(actor)s, %(action)s, %(resource_type)s, %(resource_id)s,
                %(ip_address)s::inet, %(user_agent)s, %(changes)s)
        """,
        {
            "entry_id": entry_id,
            "tenant_id": tenant_id,
            "actor": actor,
            "action": action,
            "resource_type": resource_type,
            "resource_id": resource_id,
            "ip_address": ip_address,
            "user_agent": user_agent,
            "changes": Jsonb(changes),
        },
    )


def delete_expired(conn: Connection[Any], *, age: timedelta, limit: int) -> int:
    return conn.execute(
        """
        WITH expired AS (
            SELECT id FROM audit_logs
            WHERE created_at < tocsin_now() - %(age)s
            ORDER BY created_at
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM audit_logs USING expired WHERE audit_logs.id = expired.id
        """,
        {"age": age, "limit": limit},
    ).rowcount
