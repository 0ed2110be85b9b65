"""Which domain events tell whom, and on which channels."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row
from psycopg.types.json import Jsonb


@dataclass(frozen=True, slots=True)
class Routing:
    event_type: str
    rules: dict[str, list[str]]
    overrides: list[str]
    subscribe_actor: bool
    created_at: datetime
    updated_at: datetime


def find_all(conn: Connection[Any], tenant_id: UUID, event_type: str | None = None) -> list[Routing]:
    return (
        conn.cursor(row_factory=class_row(Routing))
        .execute(
            """
            SELECT event_type, rules, overrides, subscribe_actor, created_at, updated_at
            FROM event_routing
            WHERE tenant_id = %(tenant_id)s AND (%(event_type)s::text IS NULL OR event_type = %(event_type)s)
            ORDER BY event_type
            LIMIT 1000
            """,
            {"tenant_id": tenant_id, "event_type": event_type},
        )
        .fetchall()
    )


def upsert(
    conn: Connection[Any],
    tenant_id: UUID,
    event_type: str,
    *,
    rules: dict[str, list[str]],
    overrides: list[str],
    subscribe_actor: bool,
) -> Routing:
    row = (
        conn.cursor(row_factory=class_row(Routing))
        .execute(
            """
            INSERT INTO event_routing (tenant_id, event_type, rules, overrides, subscribe_actor)
            VALUES (%(tenant_id)s, %(event_type)s, %(rules)s, %(overrides)s, %(subscribe_actor)s)
            ON CONFLICT (tenant_id, event_type) DO UPDATE
                SET rules = EXCLUDED.rules, overrides = EXCLUDED.overrides, subscribe_actor = EXCLUDED.subscribe_actor,
                    updated_at = tocsin_now()
            RETURNING event_type, rules, overrides, subscribe_actor, created_at, updated_at
            """,
            {
                "tenant_id": tenant_id,
                "event_type": event_type,
                "rules": Jsonb(rules),
                "overrides": overrides,
                "subscribe_actor": subscribe_actor,
            },
        )
        .fetchone()
    )
    assert row is not None  # noqa: S101 - an upsert without a WHERE always returns its row
    return row


def delete(conn: Connection[Any], tenant_id: UUID, event_type: str) -> bool:
    found = conn.execute(
        "DELETE FROM event_routing WHERE tenant_id = %(tenant_id)s AND event_type = %(event_type)s RETURNING true",
        {"tenant_id": tenant_id, "event_type": event_type},
    ).fetchone()
    return found is not None
