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


@dataclass(frozen=True, slots=True)
class AbandonedFilters:
    notification_id: UUID | None = None
    source_kind: str | None = None
    since: datetime | None = None
    until: datetime | None = None


def list_page(
    conn: Connection[Any], tenant_id: UUID, filters: AbandonedFilters, *, limit: int, after: tuple[datetime, UUID] | None
) -> list[AbandonedExecution]:
    return (
        conn.cursor(row_factory=class_row(AbandonedExecution))
        .execute(
            """
            SELECT id, source_kind, outbox_id, reply_to, notification_id, route_id, outcome, abandoned_at
            FROM abandoned_executions
            WHERE tenant_id = %(tenant_id)s
              AND (%(notification_id)s::uuid IS NULL OR notification_id = %(notification_id)s)
              AND (%(source_kind)s::text IS NULL OR source_kind = %(source_kind)s)
              AND abandoned_at >= %(since)s AND abandoned_at < %(until)s
              AND (abandoned_at, id) < (%(after_at)s, %(after_id)s)
            ORDER BY abandoned_at DESC, id DESC
            LIMIT %(limit)s
            """,
            {
                "tenant_id": tenant_id,
                "notification_id": filters.notification_id,
                "source_kind": filters.source_kind,
                "since": filters.since or "-infinity",
                "until": filters.until or "infinity",
                "after_at": after[0] if after else "infinity",
                "after_id": after[1] if after else UUID(int=0),
                "limit": limit,
            },
        )
        .fetchall()
    )


def find(conn: Connection[Any], tenant_id: UUID, execution_id: UUID) -> AbandonedExecution | None:
    return (
        conn.cursor(row_factory=class_row(AbandonedExecution))
        .execute(
            """
            SELECT id, source_kind, outbox_id, reply_to, notification_id, route_id, outcome, abandoned_at
            FROM abandoned_executions
            WHERE tenant_id = %(tenant_id)s AND id = %(execution_id)s
            """,
            {"tenant_id": tenant_id, "execution_id": execution_id},
        )
        .fetchone()
    )


def delete_expired(conn: Connection[Any], *, age: timedelta, least: timedelta, limit: int) -> int:
    return conn.execute(
        """
        WITH expired AS (
            SELECT old.id
            FROM tocsin_kept('abandoned_executions_days', %(age)s, %(least)s) AS kept
            CROSS JOIN LATERAL (
                SELECT abandoned_executions.id FROM abandoned_executions
                WHERE abandoned_executions.tenant_id = kept.tenant_id
                  AND abandoned_executions.abandoned_at < tocsin_now() - kept.age
                ORDER BY abandoned_executions.abandoned_at
                LIMIT %(limit)s
                FOR UPDATE SKIP LOCKED
            ) AS old
            LIMIT %(limit)s
        )
        DELETE FROM abandoned_executions USING expired WHERE abandoned_executions.id = expired.id
        """,
        {"age": age, "least": least, "limit": limit},
    ).rowcount
