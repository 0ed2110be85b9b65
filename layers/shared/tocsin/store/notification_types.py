"""What a kind of notification means to a tenant."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row


@dataclass(frozen=True, slots=True)
class NotificationType:
    name: str
    channels: list[str] | None
    template: str | None
    priority: str
    ambiguous_policy: str | None
    transactional: bool
    expires_after_seconds: int | None
    over_sending_limit: int | None
    over_sending_window_seconds: int | None
    title: str | None
    description: str | None
    created_at: datetime
    updated_at: datetime


def upsert(
    conn: Connection[Any],
    *,
    tenant_id: UUID,
    name: str,
    channels: list[str] | None,
    template: str | None,
    priority: str,
    ambiguous_policy: str | None,
    transactional: bool,
    expires_after_seconds: int | None,
    over_sending_limit: int | None,
    over_sending_window_seconds: int | None,
    title: str | None,
    description: str | None,
) -> NotificationType:
    row = (
        conn.cursor(row_factory=class_row(NotificationType))
        .execute(
            """
            INSERT INTO notification_types (
                tenant_id, name, channels, template, priority, ambiguous_policy, transactional, expires_after_seconds,
                over_sending_limit, over_sending_window_seconds, title, description)
            VALUES (%(tenant_id)s, %(name)s, %(channels)s, %(template)s, %(priority)s, %(ambiguous_policy)s,
                    %(transactional)s, %(expires_after_seconds)s, %(over_sending_limit)s, %(over_sending_window_seconds)s,
                    %(title)s, %(description)s)
            ON CONFLICT (tenant_id, name) DO UPDATE
                SET channels = EXCLUDED.channels, template = EXCLUDED.template, priority = EXCLUDED.priority,
                    ambiguous_policy = EXCLUDED.ambiguous_policy, transactional = EXCLUDED.transactional,
                    expires_after_seconds = EXCLUDED.expires_after_seconds, over_sending_limit = EXCLUDED.over_sending_limit,
                    over_sending_window_seconds = EXCLUDED.over_sending_window_seconds, title = EXCLUDED.title,
                    description = EXCLUDED.description, updated_at = tocsin_now()
            RETURNING name, channels, template, priority, ambiguous_policy, transactional, expires_after_seconds,
                      over_sending_limit, over_sending_window_seconds, title, description, created_at, updated_at
            """,
            {
                "tenant_id": tenant_id,
                "name": name,
                "channels": channels,
                "template": template,
                "priority": priority,
                "ambiguous_policy": ambiguous_policy,
                "transactional": transactional,
                "expires_after_seconds": expires_after_seconds,
                "over_sending_limit": over_sending_limit,
                "over_sending_window_seconds": over_sending_window_seconds,
                "title": title,
                "description": description,
            },
        )
        .fetchone()
    )
    assert row is not None  # noqa: S101 - an upsert without a WHERE always returns its row
    return row


def find_all(conn: Connection[Any], tenant_id: UUID, name: str | None = None) -> list[NotificationType]:
    return (
        conn.cursor(row_factory=class_row(NotificationType))
        .execute(
            """
            SELECT name, channels, template, priority, ambiguous_policy, transactional, expires_after_seconds,
                   over_sending_limit, over_sending_window_seconds, title, description, created_at, updated_at
            FROM notification_types
            WHERE tenant_id = %(tenant_id)s AND (%(name)s::text IS NULL OR name = %(name)s)
            ORDER BY name
            LIMIT 1000
            """,
            {"tenant_id": tenant_id, "name": name},
        )
        .fetchall()
    )


def is_critical(conn: Connection[Any], tenant_id: UUID, name: str) -> bool:
    row = conn.execute(
        "SELECT priority = 'critical' FROM notification_types WHERE tenant_id = %(tenant_id)s AND name = %(name)s",
        {"tenant_id": tenant_id, "name": name},
    ).fetchone()
    return bool(row and row[0])


def delete(conn: Connection[Any], tenant_id: UUID, name: str) -> bool:
    found = conn.execute(
        "DELETE FROM notification_types WHERE tenant_id = %(tenant_id)s AND name = %(name)s RETURNING true",
        {"tenant_id": tenant_id, "name": name},
    ).fetchone()
    return found is not None
