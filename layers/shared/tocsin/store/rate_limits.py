"""How many requests a subject made in a minute. The limit is a CHECK: what is above it cannot commit (flow.accept_intents)."""

from datetime import timedelta
from typing import Any

from psycopg import Connection

CONSTRAINT = "rate_limits_within"


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
