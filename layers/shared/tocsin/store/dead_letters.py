"""What automation gave up on."""

from datetime import timedelta
from typing import Any

from psycopg import Connection


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
