"""What came in by queue or event bus and could not be accepted."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

MOST_COUNTED = 10_000


@dataclass(frozen=True, slots=True)
class MalformedIntent:
    stream_entry_id: str
    notification_type: str
    producer: str
    idempotency_key: str
    failure_code: str
    failure_message: str
    raw_fields: dict[str, Any]
    recorded_at: datetime
    resolved_at: datetime | None
    resolution: str | None
    resolution_reason: str
    notification_id: UUID | None
    resolved_by: UUID | None


@dataclass(frozen=True, slots=True)
class MalformedFilters:
    failure_code: str | None = None
    producer: str | None = None
    type: str | None = None
    idempotency_key: str | None = None
    is_resolved: bool | None = None
    since: datetime | None = None
    until: datetime | None = None


def list_page(
    conn: Connection[Any], tenant_id: UUID, filters: MalformedFilters, *, limit: int, after: tuple[datetime, str] | None
) -> list[MalformedIntent]:
    """Newest first."""
    return (
        conn.cursor(row_factory=class_row(MalformedIntent))
        .execute(
            """
            SELECT stream_entry_id, notification_type, producer, idempotency_key, failure_code, failure_message, raw_fields,
                   recorded_at, resolved_at, resolution, resolution_reason, notification_id, resolved_by
            FROM malformed_intents
            WHERE tenant_id = %(tenant_id)s
              AND (%(failure_code)s::text IS NULL OR failure_code = %(failure_code)s)
              AND (%(producer)s::text IS NULL OR producer = %(producer)s)
              AND (%(type)s::text IS NULL OR notification_type = %(type)s)
              AND (%(idempotency_key)s::text IS NULL OR idempotency_key = %(idempotency_key)s)
              AND (%(is_resolved)s::boolean IS NULL OR (resolution IS NOT NULL) = %(is_resolved)s)
              AND recorded_at >= %(since)s AND recorded_at < %(until)s
              AND (recorded_at, stream_entry_id) < (%(after_at)s, %(after_id)s)
            ORDER BY recorded_at DESC, stream_entry_id DESC
            LIMIT %(limit)s
            """,
            {
                "tenant_id": tenant_id,
                "failure_code": filters.failure_code,
                "producer": filters.producer,
                "type": filters.type,
                "idempotency_key": filters.idempotency_key,
                "is_resolved": filters.is_resolved,
                "since": filters.since or "-infinity",
                "until": filters.until or "infinity",
                "after_at": after[0] if after else "infinity",
                "after_id": after[1] if after else "",
                "limit": limit,
            },
        )
        .fetchall()
    )


def find(conn: Connection[Any], tenant_id: UUID, stream_entry_id: str) -> MalformedIntent | None:
    return (
        conn.cursor(row_factory=class_row(MalformedIntent))
        .execute(
            """
            SELECT stream_entry_id, notification_type, producer, idempotency_key, failure_code, failure_message, raw_fields,
                   recorded_at, resolved_at, resolution, resolution_reason, notification_id, resolved_by
            FROM malformed_intents
            WHERE tenant_id = %(tenant_id)s AND stream_entry_id = %(stream_entry_id)s
            """,
            {"tenant_id": tenant_id, "stream_entry_id": stream_entry_id},
        )
        .fetchone()
    )


def lock(conn: Connection[Any], tenant_id: UUID, stream_entry_id: str) -> None:
    """Whoever else wants to resolve it waits until this transaction ends."""
    conn.execute(
        """
        SELECT FROM malformed_intents
        WHERE tenant_id = %(tenant_id)s AND stream_entry_id = %(stream_entry_id)s
        FOR UPDATE
        """,
        {"tenant_id": tenant_id, "stream_entry_id": stream_entry_id},
    )


def resolve(
    conn: Connection[Any],
    tenant_id: UUID,
    stream_entry_id: str,
    *,
    resolution: str,
    reason: str,
    notification_id: UUID | None,
    resolved_by: UUID,
) -> None:
    conn.execute(
        """
        UPDATE malformed_intents
        SET resolution = %(resolution)s, resolution_reason = %(reason)s, notification_id = %(notification_id)s,
            resolved_by = %(resolved_by)s, resolved_at = tocsin_now()
        WHERE tenant_id = %(tenant_id)s AND stream_entry_id = %(stream_entry_id)s AND resolution IS NULL
        """,
        {
            "tenant_id": tenant_id,
            "stream_entry_id": stream_entry_id,
            "resolution": resolution,
            "reason": reason,
            "notification_id": notification_id,
            "resolved_by": resolved_by,
        },
    )


def count_open(conn: Connection[Any], tenant_id: UUID) -> tuple[int, datetime | None]:
    """How many of the newest wait for somebody, and since when."""
    row = conn.execute(
        """
        SELECT count(*), min(recorded_at)
        FROM (SELECT recorded_at, resolution FROM malformed_intents WHERE tenant_id = %(tenant_id)s
              ORDER BY recorded_at DESC LIMIT %(most_counted)s) AS newest
        WHERE resolution IS NULL
        """,
        {"tenant_id": tenant_id, "most_counted": MOST_COUNTED},
    ).fetchone()
    assert row is not None  # noqa: S101 - an aggregate always has a row
    return row[0], row[1]


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


def delete_expired(conn: Connection[Any], *, age: timedelta, least: timedelta, limit: int) -> int:
    return conn.execute(
        """
        WITH expired AS (
            SELECT old.stream_entry_id
            FROM tocsin_kept('malformed_intents_days', %(age)s, %(least)s) AS kept
            CROSS JOIN LATERAL (
                SELECT malformed_intents.stream_entry_id FROM malformed_intents
                WHERE malformed_intents.tenant_id = kept.tenant_id AND malformed_intents.recorded_at < tocsin_now() - kept.age
                ORDER BY malformed_intents.recorded_at
                LIMIT %(limit)s
                FOR UPDATE SKIP LOCKED
            ) AS old
            LIMIT %(limit)s
        )
        DELETE FROM malformed_intents USING expired WHERE malformed_intents.stream_entry_id = expired.stream_entry_id
        """,
        {"age": age, "least": least, "limit": limit},
    ).rowcount
