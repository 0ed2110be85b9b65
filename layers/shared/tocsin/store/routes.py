"""One row per recipient and channel: how each is planned, and how it ends."""

from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import dict_row


def count_by_status(conn: Connection[Any], tenant_id: UUID, notification_id: UUID) -> dict[str, int]:
    rows = conn.execute(
        """
        SELECT status, count(*)
        FROM routes
        WHERE tenant_id = %(tenant_id)s AND notification_id = %(notification_id)s
        GROUP BY status
        """,
        {"tenant_id": tenant_id, "notification_id": notification_id},
    ).fetchall()
    return dict(rows)


def list_of(conn: Connection[Any], tenant_id: UUID, notification_id: UUID, *, limit: int) -> list[dict[str, Any]]:
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            SELECT routes.*, outbox.attempt_open, templates.name AS template_name, templates.version AS template_version,
                   dead_letters.id AS dead_letter_id, dead_letters.recovery_hint, dead_letters.resolution
            FROM routes
            LEFT JOIN outbox ON outbox.id = routes.outbox_id
            LEFT JOIN templates ON templates.id = routes.template_id
            LEFT JOIN dead_letters ON dead_letters.notification_id = routes.notification_id
                AND dead_letters.route_id = routes.route_id AND dead_letters.generation = routes.generation
            WHERE routes.tenant_id = %(tenant_id)s AND routes.notification_id = %(notification_id)s
            ORDER BY routes.created_at, routes.route_id
            LIMIT %(limit)s
            """,
            {"tenant_id": tenant_id, "notification_id": notification_id, "limit": limit},
        )
        .fetchall()
    )
