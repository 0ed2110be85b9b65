"""What people want to hear of a whole scope."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row


@dataclass(frozen=True, slots=True)
class Watch:
    scope: str
    level: str
    updated_at: datetime


def list_page(conn: Connection[Any], tenant_id: UUID, user_id: UUID, *, limit: int, after: str | None) -> list[Watch]:
    return (
        conn.cursor(row_factory=class_row(Watch))
        .execute(
            """
            SELECT scope, level, updated_at
            FROM watches
            WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND scope > %(after)s
            ORDER BY scope
            LIMIT %(limit)s
            """,
            {"tenant_id": tenant_id, "user_id": user_id, "limit": limit, "after": after or ""},
        )
        .fetchall()
    )


def lock(conn: Connection[Any], tenant_id: UUID, user_id: UUID, scope: str) -> Watch | None:
    """The watch as it is until this transaction changes it."""
    return (
        conn.cursor(row_factory=class_row(Watch))
        .execute(
            """
            SELECT scope, level, updated_at FROM watches
            WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND scope = %(scope)s
            FOR NO KEY UPDATE
            """,
            {"tenant_id": tenant_id, "user_id": user_id, "scope": scope},
        )
        .fetchone()
    )


def upsert(conn: Connection[Any], tenant_id: UUID, user_id: UUID, scope: str, *, level: str) -> Watch:
    row = (
        conn.cursor(row_factory=class_row(Watch))
        .execute(
            """
            INSERT INTO watches (tenant_id, user_id, scope, level)
            VALUES (%(tenant_id)s, %(user_id)s, %(scope)s, %(level)s)
            ON CONFLICT (tenant_id, user_id, scope) DO UPDATE SET level = EXCLUDED.level, updated_at = tocsin_now()
            RETURNING scope, level, updated_at
            """,
            {"tenant_id": tenant_id, "user_id": user_id, "scope": scope, "level": level},
        )
        .fetchone()
    )
    assert row is not None  # noqa: S101 - an upsert without a WHERE always returns its row
    return row


def delete(conn: Connection[Any], tenant_id: UUID, user_id: UUID, scope: str) -> bool:
    found = conn.execute(
        "DELETE FROM watches WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND scope = %(scope)s RETURNING true",
        {"tenant_id": tenant_id, "user_id": user_id, "scope": scope},
    ).fetchone()
    return found is not None
