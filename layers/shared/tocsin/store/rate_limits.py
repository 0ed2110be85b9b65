"""How many requests a subject made in a minute. The limit is a CHECK for what is sent: above it, nothing commits.

That is counted in flow.accept_intents and flow.accept_events, and here where all of it is refused. Calls are added a few at a
time, after they were let in: their limit is only told."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor

CONSTRAINT = "rate_limits_within"


def add(conn: Connection[Any], tenant_id: UUID, subject: str, what: str, *, count: int, limit: int) -> Cursor[tuple[int]]:
    """Add so many to those of this minute (`what`: api, intents); the cursor has how many they are now, of all who count."""
    return conn.execute(
        """
        INSERT INTO rate_limits (tenant_id, subject, limit_type, window_start, request_count, max_count)
        VALUES (%(tenant_id)s, %(subject)s, %(what)s, date_trunc('minute', tocsin_now()), %(count)s, %(limit)s)
        ON CONFLICT (tenant_id, subject, limit_type, window_start) DO UPDATE
            SET request_count = rate_limits.request_count + EXCLUDED.request_count, max_count = EXCLUDED.max_count
        RETURNING request_count
        """,
        {"tenant_id": tenant_id, "subject": subject, "what": what, "count": count, "limit": limit},
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
