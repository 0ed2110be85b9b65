"""The tenants: who shares this installation."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row
from psycopg.types.json import Jsonb


@dataclass(frozen=True, slots=True)
class Tenant:
    id: UUID
    name: str
    status: str
    settings: dict[str, Any]
    suspended_at: datetime | None
    suspended_reason: str
    deletion_requested_at: datetime | None
    created_at: datetime
    updated_at: datetime


def insert_unless_known(conn: Connection[Any], tenant_id: UUID, name: str) -> None:
    conn.execute(
        "INSERT INTO tenants (id, name) VALUES (%(tenant_id)s, %(name)s) ON CONFLICT (id) DO NOTHING",
        {"tenant_id": tenant_id, "name": name},
    )


def insert(conn: Connection[Any], tenant_id: UUID, *, name: str, settings: dict[str, Any]) -> None:
    conn.execute(
        "INSERT INTO tenants (id, name, settings) VALUES (%(tenant_id)s, %(name)s, %(settings)s)",
        {"tenant_id": tenant_id, "name": name, "settings": Jsonb(settings)},
    )


def every_id(conn: Connection[Any]) -> list[UUID]:
    return [row[0] for row in conn.execute("SELECT id FROM tenants ORDER BY id")]


def name_of(conn: Connection[Any], tenant_id: UUID) -> str | None:
    """None: there is no such tenant."""
    row = conn.execute("SELECT name FROM tenants WHERE id = %(tenant_id)s", {"tenant_id": tenant_id}).fetchone()
    return row[0] if row else None


def status_of(conn: Connection[Any], tenant_id: UUID) -> str | None:
    """None: there is no such tenant."""
    row = conn.execute("SELECT status FROM tenants WHERE id = %(tenant_id)s", {"tenant_id": tenant_id}).fetchone()
    return row[0] if row else None


def status_for(conn: Connection[Any], tenant_id: UUID, user_id: UUID) -> str | None:
    """The status of this user's tenant. None: there is no such user, or no such tenant."""
    row = conn.execute(
        """
        SELECT tenants.status
        FROM tenants JOIN users ON users.tenant_id = tenants.id
        WHERE tenants.id = %(tenant_id)s AND users.tenant_id = %(tenant_id)s AND users.id = %(user_id)s
        """,
        {"tenant_id": tenant_id, "user_id": user_id},
    ).fetchone()
    return row[0] if row else None


def find(conn: Connection[Any], tenant_id: UUID) -> Tenant | None:
    """Whoever changes it afterwards has it for themselves until they are done."""
    return (
        conn.cursor(row_factory=class_row(Tenant))
        .execute(
            """
            SELECT id, name, status, settings, suspended_at, suspended_reason, deletion_requested_at, created_at, updated_at
            FROM tenants
            WHERE id = %(tenant_id)s
            FOR UPDATE
            """,
            {"tenant_id": tenant_id},
        )
        .fetchone()
    )


def list_page(
    conn: Connection[Any], *, name: str | None, status: str | None, limit: int, after: tuple[datetime, UUID] | None
) -> list[Tenant]:
    """Newest first; by a part of the name, however it is written."""
    return (
        conn.cursor(row_factory=class_row(Tenant))
        .execute(
            """
            SELECT id, name, status, settings, suspended_at, suspended_reason, deletion_requested_at, created_at, updated_at
            FROM tenants
            WHERE (%(name)s::text IS NULL OR strpos(lower(name), lower(%(name)s)) > 0)
              AND (%(status)s::text IS NULL OR status = %(status)s)
              AND (%(after_at)s::timestamptz IS NULL OR (created_at, id) < (%(after_at)s, %(after_id)s))
            ORDER BY created_at DESC, id DESC
            LIMIT %(limit)s
            """,
            {
                "name": name,
                "status": status,
                "after_at": after[0] if after else None,
                "after_id": after[1] if after else None,
                "limit": limit,
            },
        )
        .fetchall()
    )


def update(conn: Connection[Any], tenant_id: UUID, *, name: str, settings: dict[str, Any]) -> None:
    conn.execute(
        """
        UPDATE tenants SET name = %(name)s, settings = %(settings)s, updated_at = tocsin_now() WHERE id = %(tenant_id)s
        """,
        {"tenant_id": tenant_id, "name": name, "settings": Jsonb(settings)},
    )


def suspend(conn: Connection[Any], tenant_id: UUID, reason: str) -> None:
    conn.execute(
        """
        UPDATE tenants
        SET status = 'suspended', suspended_at = tocsin_now(), suspended_reason = %(reason)s, updated_at = tocsin_now()
        WHERE id = %(tenant_id)s AND status = 'active'
        """,
        {"tenant_id": tenant_id, "reason": reason},
    )


def resume(conn: Connection[Any], tenant_id: UUID) -> None:
    conn.execute(
        """
        UPDATE tenants SET status = 'active', suspended_at = NULL, suspended_reason = '', updated_at = tocsin_now()
        WHERE id = %(tenant_id)s AND status = 'suspended'
        """,
        {"tenant_id": tenant_id},
    )


def mark_deleting(conn: Connection[Any], tenant_id: UUID) -> None:
    """There is no way back from here."""
    conn.execute(
        """
        UPDATE tenants SET status = 'deleting', deletion_requested_at = tocsin_now(), updated_at = tocsin_now()
        WHERE id = %(tenant_id)s AND status <> 'deleting'
        """,
        {"tenant_id": tenant_id},
    )


def own_days(conn: Connection[Any], tenant_id: UUID, names: list[str]) -> dict[str, int]:
    """For how many days this tenant keeps what it has a number of its own for (settings: {"retention": {"records_days": 30}}).

    A number that makes no sense does not count: the general one then holds."""
    rows = conn.execute(
        """
        SELECT wanted.name, tocsin_own_days(tenants.settings, wanted.name || '_days')
        FROM tenants CROSS JOIN unnest(%(names)s::text[]) AS wanted (name)
        WHERE tenants.id = %(tenant_id)s
        """,
        {"tenant_id": tenant_id, "names": names},
    ).fetchall()
    return {name: days for name, days in rows if days is not None}
