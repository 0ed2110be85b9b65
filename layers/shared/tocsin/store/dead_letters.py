"""What automation gave up on."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection


def find_of_plan(conn: Connection[Any], tenant_id: UUID, notification_id: UUID) -> str | None:
    """Why the planning of a notification was given up, whatever became of the letter; None: it was not."""
    row = conn.execute(
        """
        SELECT failure_classification
        FROM dead_letters
        WHERE tenant_id = %(tenant_id)s AND notification_id = %(notification_id)s AND source_kind = 'plan'
        ORDER BY created_at DESC
        LIMIT 1
        """,
        {"tenant_id": tenant_id, "notification_id": notification_id},
    ).fetchone()
    return row[0] if row else None


def delete_expired(conn: Connection[Any], *, resolved_age: timedelta, unresolved_age: timedelta, limit: int) -> int:
    return conn.execute(
        """
        WITH expired AS (
            SELECT id FROM dead_letters
            WHERE created_at < tocsin_now() - %(youngest)s
              AND (resolved_at < tocsin_now() - %(resolved_age)s
                   OR resolution IS NULL AND created_at < tocsin_now() - %(unresolved_age)s)
            ORDER BY created_at
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM dead_letters USING expired WHERE dead_letters.id = expired.id
        """,
        {
            "youngest": min(resolved_age, unresolved_age),
            "resolved_age": resolved_age,
            "unresolved_age": unresolved_age,
            "limit": limit,
        },
    ).rowcount
