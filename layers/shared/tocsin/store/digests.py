"""The digest being collected for a person and a thread: a record of its own that counts what was held back."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection


def close(conn: Connection[Any], digest_ids: list[UUID]) -> dict[UUID, dict[str, Any]]:
    """These go out now (or need not any more): what is held back from here on is the next one's. Returns what each holds."""
    rows = conn.execute(
        """
        DELETE FROM digests USING records
        WHERE digests.notification_id = ANY(%(digest_ids)s) AND records.notification_id = digests.notification_id
        RETURNING digests.notification_id, records.payload_json
        """,
        {"digest_ids": digest_ids},
    ).fetchall()
    return dict(rows)


def delete_expired(conn: Connection[Any], *, age: timedelta, limit: int) -> int:
    """Forget digests whose email ended in another way than by going out."""
    return conn.execute(
        """
        WITH expired AS (
            SELECT digests.notification_id
            FROM digests
            WHERE digests.created_at < tocsin_now() - %(age)s
              AND NOT EXISTS (SELECT FROM outbox WHERE outbox.id = digests.outbox_id)
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM digests USING expired WHERE digests.notification_id = expired.notification_id
        """,
        {"age": age, "limit": limit},
    ).rowcount
