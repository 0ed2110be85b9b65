"""Work that ended, or was put off, when nobody waited for it any more: written by the database, for whoever looks into it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row


@dataclass(frozen=True, slots=True)
class AbandonedExecution:
    id: UUID
    source_kind: str
    outbox_id: UUID
    reply_to: UUID
    notification_id: UUID | None
    route_id: str | None
    outcome: dict[str, Any]
    abandoned_at: datetime


def list_page(
    conn: Connection[Any], tenant_id: UUID, *, notification_id: UUID | None, limit: int, after: tuple[datetime, UUID] | None
) -> list[AbandonedExecution]:
    return (
        conn.cursor(row_factory=class_row(AbandonedExecution))
        .execute(
            """
            SELECT id, source_kind, outbox_id, reply_to, notification_id, route_id, outcome, abandoned_at
            FROM abandoned_executions
            WHERE tenant_id = %(tenant_id)s
              AND (%(notification_id)s::uuid IS NULL OR notification_id = %(notification_id)s)
              AND (%(after_at)s::timestamptz IS NULL OR (abandoned_at, id) < (%(after_at)s, %(after_id)s))
            ORDER BY abandoned_at DESC, id DESC
            LIMIT %(limit)s
            """,
            {
                "tenant_id": tenant_id,
                "notification_id": notification_id,
                "after_at": after[0] if after else None,
                "after_id": after[1] if after else None,
                "limit": limit,
            },
        )
        .fetchall()
    )


def delete_expired(conn: Connection[Any], *, age: timedelta, limit: int) -> int:
    return conn.execute(
        """
        WITH expired AS (
            SELECT id FROM abandoned_executions
            WHERE abandoned_at < tocsin_now() - %(age)s
            ORDER BY abandoned_at
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM abandoned_executions USING expired WHERE abandoned_executions.id = expired.id
        """,
        {"age": age, "limit": limit},
    ).rowcount
