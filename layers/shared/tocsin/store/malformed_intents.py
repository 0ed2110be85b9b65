"""What came in by queue or event bus and could not be accepted."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.types.json import Jsonb


def insert_unless_known(
    conn: Connection[Any],
    *,
    stream_entry_id: str,
    tenant_id: UUID,
    notification_type: str,
    producer: str,
    idempotency_key: str,
    failure_code: str,
    failure_message: str,
    raw_fields: dict[str, Any],
) -> None:
    """Keep the entry once, however often the queue delivers it."""
    conn.execute(
        """
        INSERT INTO malformed_intents (
            stream_entry_id, tenant_id, notification_type, producer, idempotency_key, failure_code, failure_message,
            raw_fields, recorded_at)
        VALUES (%(stream_entry_id)s, %(tenant_id)s, %(notification_type)s, %(producer)s, %(idempotency_key)s,
                %(failure_code)s, %(failure_message)s, %(raw_fields)s, tocsin_now())
        ON CONFLICT (stream_entry_id) DO NOTHING
        """,
        {
            "stream_entry_id": stream_entry_id,
            "tenant_id": tenant_id,
            "notification_type": notification_type,
            "producer": producer,
            "idempotency_key": idempotency_key,
            "failure_code": failure_code,
            "failure_message": failure_message,
            "raw_fields": Jsonb(raw_fields),
        },
    )


def delete_expired(conn: Connection[Any], *, age: timedelta, limit: int) -> int:
    return conn.execute(
        """
        WITH expired AS (
            SELECT stream_entry_id FROM malformed_intents
            WHERE recorded_at < tocsin_now() - %(age)s
            ORDER BY recorded_at
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM malformed_intents USING expired
        WHERE malformed_intents.stream_entry_id = expired.stream_entry_id
        """,
        {"age": age, "limit": limit},
    ).rowcount
