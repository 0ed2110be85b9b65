"""Receipts: what was erased, when, and by whose wish. Whom it was about is kept until it is done, then only a hash."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row
from psycopg.types.json import Jsonb


@dataclass(frozen=True, slots=True)
class Erasure:
    id: UUID
    tenant_id: UUID
    kind: str
    subject_hash: bytes
    subject: dict[str, Any] | None
    position: dict[str, Any]
    counts: dict[str, int]
    requested_by: str
    requested_at: datetime
    gone_at: datetime | None
    finished_at: datetime | None


def begin(
    conn: Connection[Any], *, erasure_id: UUID, tenant_id: UUID, kind: str, told_apart: str, subject: dict[str, Any], by: str
) -> Erasure:
    """The receipt of this erasure; if the same one is under way already, of that."""
    conn.execute(
        """
        INSERT INTO erasures (id, tenant_id, kind, subject_hash, subject, requested_by)
        VALUES (%(id)s, %(tenant_id)s, %(kind)s,
                sha256(convert_to(%(tenant_id)s::text || '|' || %(kind)s || '|' || %(told_apart)s, 'UTF8')), %(subject)s, %(by)s)
        ON CONFLICT (tenant_id, kind, subject_hash) WHERE finished_at IS NULL DO NOTHING
        """,
        {
            "id": erasure_id,
            "tenant_id": tenant_id,
            "kind": kind,
            "told_apart": told_apart,
            "subject": Jsonb(subject),
            "by": by,
        },
    )
    found = find_running(conn, tenant_id, kind=kind, told_apart=told_apart)
    assert found is not None  # noqa: S101 - inserted, or there before
    return found


def find_running(conn: Connection[Any], tenant_id: UUID, *, kind: str, told_apart: str) -> Erasure | None:
    return (
        conn.cursor(row_factory=class_row(Erasure))
        .execute(
            """
            SELECT id, tenant_id, kind, subject_hash, subject, position, counts, requested_by, requested_at, gone_at, finished_at
            FROM erasures
            WHERE tenant_id = %(tenant_id)s AND kind = %(kind)s AND finished_at IS NULL
              AND subject_hash = sha256(convert_to(%(tenant_id)s::text || '|' || %(kind)s || '|' || %(told_apart)s, 'UTF8'))
            """,
            {"tenant_id": tenant_id, "kind": kind, "told_apart": told_apart},
        )
        .fetchone()
    )


def find(conn: Connection[Any], tenant_id: UUID, erasure_id: UUID) -> Erasure | None:
    return (
        conn.cursor(row_factory=class_row(Erasure))
        .execute(
            """
            SELECT id, tenant_id, kind, subject_hash, subject, position, counts, requested_by, requested_at, gone_at, finished_at
            FROM erasures
            WHERE tenant_id = %(tenant_id)s AND id = %(erasure_id)s
            """,
            {"tenant_id": tenant_id, "erasure_id": erasure_id},
        )
        .fetchone()
    )


def list_page(conn: Connection[Any], tenant_id: UUID, *, limit: int, after: tuple[datetime, UUID] | None) -> list[Erasure]:
    return (
        conn.cursor(row_factory=class_row(Erasure))
        .execute(
            """
            SELECT id, tenant_id, kind, subject_hash, subject, position, counts, requested_by, requested_at, gone_at, finished_at
            FROM erasures
            WHERE tenant_id = %(tenant_id)s
              AND (%(after_at)s::timestamptz IS NULL OR (requested_at, id) < (%(after_at)s, %(after_id)s))
            ORDER BY requested_at DESC, id DESC
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


def find_unfinished(conn: Connection[Any], *, kind: str, age: timedelta, limit: int) -> list[Erasure]:
    """Of all tenants, the oldest first."""
    return (
        conn.cursor(row_factory=class_row(Erasure))
        .execute(
            """
            SELECT id, tenant_id, kind, subject_hash, subject, position, counts, requested_by, requested_at, gone_at, finished_at
            FROM erasures
            WHERE finished_at IS NULL AND kind = %(kind)s AND requested_at <= tocsin_now() - %(age)s
            ORDER BY requested_at
            LIMIT %(limit)s
            """,
            {"kind": kind, "age": age, "limit": limit},
        )
        .fetchall()
    )


def note(conn: Connection[Any], erasure: Erasure, counts: dict[str, int], position: dict[str, Any] | None = None) -> None:
    """Add to what was erased, in the transaction that erased it, and remember how far it has come."""
    conn.execute(
        """
        UPDATE erasures
        SET updated_at = tocsin_now(), counts = counts || COALESCE((
                SELECT jsonb_object_agg(added.name, added.value::bigint + COALESCE((counts ->> added.name)::bigint, 0))
                FROM jsonb_each_text(%(counts)s) AS added (name, value)), '{}'),
            position = position || %(position)s
        WHERE tenant_id = %(tenant_id)s AND id = %(id)s
        """,
        {
            "tenant_id": erasure.tenant_id,
            "id": erasure.id,
            "counts": Jsonb({name: count for name, count in counts.items() if count}),
            "position": Jsonb(position or {}),
        },
    )


def mark_gone(conn: Connection[Any], tenant_id: UUID, erasure_id: UUID) -> None:
    """The user is deleted: from now on nobody finds them."""
    conn.execute(
        """
        UPDATE erasures SET gone_at = COALESCE(gone_at, tocsin_now()), updated_at = tocsin_now()
        WHERE tenant_id = %(tenant_id)s AND id = %(erasure_id)s
        """,
        {"tenant_id": tenant_id, "erasure_id": erasure_id},
    )


def finish(conn: Connection[Any], tenant_id: UUID, erasure_id: UUID) -> None:
    """Done, and whom it was about is forgotten here too."""
    conn.execute(
        """
        UPDATE erasures
        SET finished_at = tocsin_now(), subject = NULL, position = '{}', updated_at = tocsin_now()
        WHERE tenant_id = %(tenant_id)s AND id = %(erasure_id)s AND finished_at IS NULL
        """,
        {"tenant_id": tenant_id, "erasure_id": erasure_id},
    )


def delete_expired(conn: Connection[Any], *, age: timedelta, limit: int) -> int:
    return conn.execute(
        """
        WITH expired AS (
            SELECT id FROM erasures
            WHERE finished_at < tocsin_now() - %(age)s
            ORDER BY finished_at
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM erasures USING expired WHERE erasures.id = expired.id
        """,
        {"age": age, "limit": limit},
    ).rowcount
