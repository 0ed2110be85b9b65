"""When each person last looked at their inbox."""

from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection


def upsert(conn: Connection[Any], tenant_id: UUID, user_id: UUID, *, before: datetime | None) -> None:
    """They have seen what was shown up to then, or (None) up to now; never what is yet to come, and never less than before."""
    conn.execute(
        """
        INSERT INTO inbox_visits (tenant_id, user_id, seen_at)
        VALUES (%(tenant_id)s, %(user_id)s, LEAST(%(before)s, tocsin_now()))
        ON CONFLICT (tenant_id, user_id) DO UPDATE
            SET seen_at = EXCLUDED.seen_at
            WHERE inbox_visits.seen_at < EXCLUDED.seen_at
        """,
        {"tenant_id": tenant_id, "user_id": user_id, "before": before},
    )
