"""Where each tenant's chain of audit rows ends; the database writes it with every row. And how far it has been checked."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row


@dataclass(frozen=True, slots=True)
class UncheckedChain:
    tenant_id: UUID
    checked_seq: int
    checked_hash: bytes


@dataclass(frozen=True, slots=True)
class ChainCheck:
    """`checked_at`: when a walk last came to its end; None if none has yet."""

    created_at: datetime
    checked_at: datetime | None


def find_check(conn: Connection[Any], tenant_id: UUID) -> ChainCheck | None:
    """None: this tenant has no chain, since nothing of it was audited."""
    return (
        conn.cursor(row_factory=class_row(ChainCheck))
        .execute("SELECT created_at, checked_at FROM audit_heads WHERE tenant_id = %(tenant_id)s", {"tenant_id": tenant_id})
        .fetchone()
    )


def find_due(conn: Connection[Any], *, every: timedelta, limit: int) -> list[UncheckedChain]:
    """The chains whose last whole walk is the longest ago."""
    return (
        conn.cursor(row_factory=class_row(UncheckedChain))
        .execute(
            """
            SELECT tenant_id, checked_seq, checked_hash
            FROM audit_heads
            WHERE checked_at IS NULL OR checked_at <= tocsin_now() - %(every)s
            ORDER BY checked_at NULLS FIRST, tenant_id
            LIMIT %(limit)s
            """,
            {"every": every, "limit": limit},
        )
        .fetchall()
    )


def find_lost(conn: Connection[Any]) -> list[UUID]:
    """The tenants that have rows of a chain, and no note of its end: somebody took it away."""
    rows = conn.execute(
        """
        SELECT id FROM tenants
        WHERE NOT EXISTS (SELECT FROM audit_heads WHERE audit_heads.tenant_id = tenants.id)
          AND EXISTS (SELECT FROM audit_logs WHERE audit_logs.tenant_id = tenants.id AND seq > 0)
        """
    ).fetchall()
    return [row[0] for row in rows]


def note_place(conn: Connection[Any], tenant_id: UUID, *, seq: int, row_hash: bytes) -> None:
    """The walk goes on behind this row."""
    conn.execute(
        "UPDATE audit_heads SET checked_seq = %(seq)s, checked_hash = %(row_hash)s WHERE tenant_id = %(tenant_id)s",
        {"tenant_id": tenant_id, "seq": seq, "row_hash": row_hash},
    )


def note_end(conn: Connection[Any], tenant_id: UUID) -> None:
    """The walk has come to its end, good or bad; the next one begins at the beginning."""
    conn.execute(
        """
        UPDATE audit_heads SET checked_seq = 0, checked_hash = decode(repeat('00', 32), 'hex'), checked_at = tocsin_now()
        WHERE tenant_id = %(tenant_id)s
        """,
        {"tenant_id": tenant_id},
    )
