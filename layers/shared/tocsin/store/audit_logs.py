"""Who changed what: written in the transaction of the change, never altered, and chained to the row before by the database."""

from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row
from psycopg.types.json import Jsonb


@dataclass(frozen=True, slots=True)
class AuditEntry:
    id: UUID
    seq: int | None
    hash: bytes | None
    actor: str
    user_id: UUID | None
    action: str
    resource_type: str
    resource_id: str
    ip_address: IPv4Address | IPv4Interface | IPv6Address | IPv6Interface | None
    user_agent: str | None
    person: str | None
    changes: dict[str, Any]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Walk:
    """A stretch of a tenant's chain: where it ended (or began, if there was nothing), where the whole chain begins and ends, and
    the first row that is not as it was written."""

    checked: int
    last_seq: int
    last_hash: bytes
    head_seq: int
    head_hash: bytes
    forgotten_seq: int
    forgotten_hash: bytes
    broken_id: UUID | None
    broken_seq: int | None
    expected_seq: int | None
    problem: str | None
    unchained_id: UUID | None


def insert(
    conn: Connection[Any],
    *,
    entry_id: UUID,
    tenant_id: UUID,
    actor: str,
    user_id: UUID | None,
    action: str,
    resource_type: str,
    resource_id: str,
    ip_address: str | None,
    user_agent: str | None,
    person: str | None,
    changes: dict[str, Any],
) -> None:
    """From here to the commit nobody else of this tenant writes an audit row: let it be the transaction's last statement."""
    conn.execute(
        """
        INSERT INTO audit_logs (
            id, tenant_id, actor, user_id, action, resource_type, resource_id, ip_address, user_agent, person, changes)
        VALUES (%(entry_id)s, %(tenant_id)s, %(actor)s, %(user_id)s, %(action)s, %(resource_type)s, %(resource_id)s,
                %(ip_address)s::inet, %(user_agent)s, %(person)s, %(changes)s)
        """,
        {
            "entry_id": entry_id,
            "tenant_id": tenant_id,
            "actor": actor,
            "user_id": user_id,
            "action": action,
            "resource_type": resource_type,
            "resource_id": resource_id,
            "ip_address": ip_address,
            "user_agent": user_agent,
            "person": person,
            "changes": Jsonb(changes),
        },
    )


def list_page(
    conn: Connection[Any], tenant_id: UUID, *, filters: dict[str, Any], limit: int, after: tuple[datetime, UUID] | None
) -> list[AuditEntry]:
    """Newest first. Filters that are None do not filter."""
    return (
        conn.cursor(row_factory=class_row(AuditEntry))
        .execute(
            """
            SELECT id, seq, hash, actor, user_id, action, resource_type, resource_id, ip_address, user_agent, person, changes,
                   created_at
            FROM audit_logs
            WHERE tenant_id = %(tenant_id)s
              AND (%(actor)s::text IS NULL OR actor = %(actor)s)
              AND (%(user_id)s::uuid IS NULL OR user_id = %(user_id)s)
              AND (%(person)s::text IS NULL OR person = %(person)s)
              AND (%(action)s::text IS NULL OR action = %(action)s)
              AND (%(resource_type)s::text IS NULL OR resource_type = %(resource_type)s)
              AND (%(resource_id)s::text IS NULL OR resource_id = %(resource_id)s)
              AND (%(since)s::timestamptz IS NULL OR created_at >= %(since)s)
              AND (%(until)s::timestamptz IS NULL OR created_at < %(until)s)
              AND (%(after_at)s::timestamptz IS NULL OR (created_at, id) < (%(after_at)s, %(after_id)s))
            ORDER BY created_at DESC, id DESC
            LIMIT %(limit)s
            """,
            filters
            | {
                "tenant_id": tenant_id,
                "after_at": after[0] if after else None,
                "after_id": after[1] if after else None,
                "limit": limit,
            },
            prepare=False,  # planned with its values: which filters there are decides what is read
        )
        .fetchall()
    )


def walk(conn: Connection[Any], tenant_id: UUID, *, after_seq: int, after_hash: bytes, limit: int) -> Walk:
    """Compare the rows after this place with what they were when they were written, in one snapshot with the chain's end.

    Where retention has passed the place, the walk begins where it left off. A row outside the chain is looked for on the way from
    its beginning; those from before there was one are none of it."""
    row = (
        conn.cursor(row_factory=class_row(Walk))
        .execute(
            """
            WITH head AS (
                SELECT COALESCE(found.seq, 0) AS seq, COALESCE(found.hash, nothing.hash) AS hash, found.created_at,
                       COALESCE(found.forgotten_seq, 0) AS forgotten_seq,
                       COALESCE(found.forgotten_hash, nothing.hash) AS forgotten_hash
                FROM (SELECT decode(repeat('00', 32), 'hex') AS hash) AS nothing
                LEFT JOIN audit_heads AS found ON found.tenant_id = %(tenant_id)s
            ), place AS (
                SELECT GREATEST(%(after_seq)s::bigint, forgotten_seq) AS seq,
                       CASE WHEN %(after_seq)s > forgotten_seq THEN %(after_hash)s::bytea ELSE forgotten_hash END AS hash
                FROM head
            ), step AS (
                SELECT entry.*, lag(entry.seq, 1, place.seq) OVER in_turn + 1 AS expected_seq,
                       lag(entry.hash, 1, place.hash) OVER in_turn AS hash_before
                FROM place
                CROSS JOIN LATERAL (
                    SELECT id, seq, hash, previous_hash,
                           (hash = tocsin_audit_hash(audit_logs, previous_hash)
                            AND (user_id IS NULL OR user_digest = tocsin_audit_user_digest(id, user_id))) IS TRUE AS is_unaltered
                    FROM audit_logs
                    WHERE tenant_id = %(tenant_id)s AND seq > place.seq
                    ORDER BY seq
                    LIMIT %(limit)s
                ) AS entry
                WINDOW in_turn AS (ORDER BY entry.seq)
            ), judged AS (
                SELECT step.*, CASE
                    WHEN seq <> expected_seq THEN 'missing'
                    WHEN NOT is_unaltered THEN 'altered'
                    WHEN previous_hash IS DISTINCT FROM hash_before THEN 'reordered'
                END AS problem
                FROM step
            )
            SELECT (SELECT count(*) FROM step) AS checked,
                   COALESCE(last.seq, place.seq) AS last_seq, COALESCE(last.hash, place.hash) AS last_hash,
                   head.seq AS head_seq, head.hash AS head_hash, head.forgotten_seq, head.forgotten_hash,
                   broken.id AS broken_id, broken.seq AS broken_seq, broken.expected_seq, broken.problem,
                   CASE WHEN %(after_seq)s = 0 THEN (
                       SELECT id FROM audit_logs
                       WHERE tenant_id = %(tenant_id)s AND seq IS NULL AND created_at >= head.created_at
                       LIMIT 1) END AS unchained_id
            FROM head CROSS JOIN place
            LEFT JOIN LATERAL (SELECT seq, hash FROM step ORDER BY seq DESC LIMIT 1) AS last ON true
            LEFT JOIN LATERAL (SELECT * FROM judged WHERE problem IS NOT NULL ORDER BY seq LIMIT 1) AS broken ON true
            """,
            {"tenant_id": tenant_id, "after_seq": after_seq, "after_hash": after_hash, "limit": limit},
        )
        .fetchone()
    )
    assert row is not None  # noqa: S101 - it selects from one row
    return row


def hash_at(conn: Connection[Any], tenant_id: UUID, seq: int) -> bytes | None:
    row = conn.execute(
        "SELECT hash FROM audit_logs WHERE tenant_id = %(tenant_id)s AND seq = %(seq)s", {"tenant_id": tenant_id, "seq": seq}
    ).fetchone()
    return row[0] if row else None
