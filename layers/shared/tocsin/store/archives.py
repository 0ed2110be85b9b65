"""What was written to the archive."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row


@dataclass(frozen=True, slots=True)
class ArchivedObject:
    id: UUID
    object_key: str
    records: int
    size: int
    sha256: bytes
    created_at: datetime


def insert(
    conn: Connection[Any], *, archive_id: UUID, tenant_id: UUID, object_key: str, records: int, size: int, sha256: bytes
) -> None:
    conn.execute(
        """
        INSERT INTO archives (id, tenant_id, object_key, records, bytes, sha256)
        VALUES (%(archive_id)s, %(tenant_id)s, %(object_key)s, %(records)s, %(size)s, %(sha256)s)
        """,
        {
            "archive_id": archive_id,
            "tenant_id": tenant_id,
            "object_key": object_key,
            "records": records,
            "size": size,
            "sha256": sha256,
        },
    )


def list_page(conn: Connection[Any], tenant_id: UUID, *, limit: int, after: tuple[datetime, UUID] | None) -> list[ArchivedObject]:
    """Newest first."""
    return (
        conn.cursor(row_factory=class_row(ArchivedObject))
        .execute(
            """
            SELECT id, object_key, records, bytes AS size, sha256, created_at
            FROM archives
            WHERE tenant_id = %(tenant_id)s
              AND (%(after_at)s::timestamptz IS NULL OR (created_at, id) < (%(after_at)s, %(after_id)s))
            ORDER BY created_at DESC, id DESC
            LIMIT %(limit)s
            """,
            {
                "tenant_id": tenant_id,
                "after_at": after[0] if after else None,
                "after_id": after[1] if after else None,
                "limit": limit,
            },
        )
        .fetchall()
    )


def delete_expired(conn: Connection[Any], *, age: timedelta, limit: int) -> int:
    """Forget what the bucket has forgotten too."""
    return conn.execute(
        """
        WITH expired AS (
            SELECT id FROM archives
            WHERE created_at < tocsin_now() - %(age)s
            ORDER BY created_at
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM archives USING expired WHERE archives.id = expired.id
        """,
        {"age": age, "limit": limit},
    ).rowcount
