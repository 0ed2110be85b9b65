"""How many requests a subject made in this minute. The limit is a CHECK, so what is above it cannot commit."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor

CONSTRAINT = "rate_limits_within"


def count(
    conn: Connection[Any], *, tenant_id: UUID, subject: str, limit_type: str, cost: int, max_count: int
) -> Cursor[tuple[int, datetime]]:
    """Count this request. Read (request_count, window_start) from the cursor after the transaction."""
    return conn.execute(
        """
        INSERT INTO rate_limits (tenant_id, subject, limit_type, window_start, request_count, max_count)
        VALUES (%(tenant_id)s, %(subject)s, %(limit_type)s, date_trunc('minute', tocsin_now()), %(cost)s, %(max_count)s)
        ON CONFLICT (tenant_id, subject, limit_type, window_start) DO UPDATE
            SET request_count = rate_limits.request_count + EXCLUDED.request_count, max_count = EXCLUDED.max_count
        RETURNING request_count, window_start
        """,
        {
            "tenant_id": tenant_id,
            "subject": subject,
            "limit_type": limit_type,
            "cost": cost,
            "max_count": max_count,
        },
    )


def delete_expired(conn: Connection[Any], *, age: timedelta, limit: int) -> int:
    return conn.execute(
        """
        WITH expired AS (
            SELECT tenant_id, subject, limit_type, window_start FROM rate_limits
            WHERE window_start < tocsin_now() - %(age)s
            ORDER BY window_start
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM rate_limits USING expired
        WHERE rate_limits.tenant_id = expired.tenant_id AND rate_limits.subject = expired.subject
          AND rate_limits.limit_type = expired.limit_type AND rate_limits.window_start = expired.window_start
        """,
        {"age": age, "limit": limit},
    ).rowcount
