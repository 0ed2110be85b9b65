"""The people, by the producer's own ids."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row
from psycopg.types.json import Jsonb


@dataclass(frozen=True, slots=True)
class User:
    id: UUID
    external_id: str
    email: str | None
    username: str | None
    phone: str | None
    locale: str | None
    timezone: str | None
    attributes: dict[str, Any]
    created_at: datetime
    updated_at: datetime


def upsert(
    conn: Connection[Any],
    *,
    user_id: UUID,
    tenant_id: UUID,
    external_id: str,
    email: str | None,
    username: str | None,
    phone: str | None,
    locale: str | None,
    timezone: str | None,
    attributes: dict[str, Any],
) -> tuple[User, bool]:
    """Write the whole user (PUT: what is not named is cleared). Returns the user, and whether it is new."""
    user = (
        conn.cursor(row_factory=class_row(User))
        .execute(
            """
            INSERT INTO users (id, tenant_id, external_id, email, username, phone, locale, timezone, attributes)
            VALUES (%(user_id)s, %(tenant_id)s, %(external_id)s, %(email)s, %(username)s, %(phone)s, %(locale)s,
                    %(timezone)s, %(attributes)s)
            ON CONFLICT (tenant_id, external_id) DO UPDATE
                SET email = EXCLUDED.email, username = EXCLUDED.username, phone = EXCLUDED.phone,
                    locale = EXCLUDED.locale, timezone = EXCLUDED.timezone, attributes = EXCLUDED.attributes,
                    updated_at = tocsin_now()
            RETURNING id, external_id, email, username, phone, locale, timezone, attributes, created_at, updated_at
            """,
            {
                "user_id": user_id,
                "tenant_id": tenant_id,
                "external_id": external_id,
                "email": email,
                "username": username,
                "phone": phone,
                "locale": locale,
                "timezone": timezone,
                "attributes": Jsonb(attributes),
            },
        )
        .fetchone()
    )
    assert user is not None  # noqa: S101 - an upsert without a WHERE always returns its row
    return user, user.id == user_id


def find(conn: Connection[Any], tenant_id: UUID, external_id: str) -> User | None:
    return (
        conn.cursor(row_factory=class_row(User))
        .execute(
            """
            SELECT id, external_id, email, username, phone, locale, timezone, attributes, created_at, updated_at
            FROM users
            WHERE tenant_id = %(tenant_id)s AND external_id = %(external_id)s
            """,
            {"tenant_id": tenant_id, "external_id": external_id},
        )
        .fetchone()
    )


def list_page(conn: Connection[Any], tenant_id: UUID, *, limit: int, before: UUID | None) -> list[User]:
    """Newest first: the ids are time-ordered."""
    return (
        conn.cursor(row_factory=class_row(User))
        .execute(
            """
            SELECT id, external_id, email, username, phone, locale, timezone, attributes, created_at, updated_at
            FROM users
            WHERE tenant_id = %(tenant_id)s AND (%(before)s::uuid IS NULL OR id < %(before)s)
            ORDER BY id DESC
            LIMIT %(limit)s
            """,
            {"tenant_id": tenant_id, "before": before, "limit": limit},
        )
        .fetchall()
    )
