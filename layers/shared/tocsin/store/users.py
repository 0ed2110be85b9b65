"""The people, by the producer's own ids."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row
from psycopg.types.json import Jsonb


class UnknownUser(Exception):
    """No user of this tenant has this id. Whoever asked makes the user known first."""


@dataclass(frozen=True, slots=True)
class User:
    id: UUID
    external_id: str
    email: str | None
    username: str | None
    phone: str | None
    locale: str | None
    timezone: str | None
    avatar_url: str | None
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
    avatar_url: str | None,
    attributes: dict[str, Any],
) -> tuple[User, bool]:
    """Write the whole user (PUT: what is not named is cleared). Returns the user, and whether it is new."""
    user = (
        conn.cursor(row_factory=class_row(User))
        .execute(
            """
            INSERT INTO users (id, tenant_id, external_id, email, username, phone, locale, timezone, avatar_url, attributes)
            VALUES (%(user_id)s, %(tenant_id)s, %(external_id)s, %(email)s, %(username)s, %(phone)s, %(locale)s,
                    %(timezone)s, %(avatar_url)s, %(attributes)s)
            ON CONFLICT (tenant_id, external_id) DO UPDATE
                SET email = EXCLUDED.email, username = EXCLUDED.username, phone = EXCLUDED.phone,
                    locale = EXCLUDED.locale, timezone = EXCLUDED.timezone, avatar_url = EXCLUDED.avatar_url,
                    attributes = EXCLUDED.attributes,
                    updated_at = tocsin_now()
            RETURNING id, external_id, email, username, phone, locale, timezone, avatar_url, attributes, created_at, updated_at
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
                "avatar_url": avatar_url,
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
            SELECT id, external_id, email, username, phone, locale, timezone, avatar_url, attributes, created_at, updated_at
            FROM users
            WHERE tenant_id = %(tenant_id)s AND external_id = %(external_id)s
            """,
            {"tenant_id": tenant_id, "external_id": external_id},
        )
        .fetchone()
    )


@dataclass(frozen=True, slots=True)
class Contact:
    """How a person is written to, and in which language."""

    email: str | None
    locale: str | None


def contact_of(conn: Connection[Any], tenant_id: UUID, user_id: UUID) -> Contact | None:
    return (
        conn.cursor(row_factory=class_row(Contact))
        .execute(
            "SELECT email, locale FROM users WHERE tenant_id = %(tenant_id)s AND id = %(user_id)s",
            {"tenant_id": tenant_id, "user_id": user_id},
        )
        .fetchone()
    )


def lock(conn: Connection[Any], tenant_id: UUID, external_id: str) -> User | None:
    """The user as they are until this transaction changes them."""
    return (
        conn.cursor(row_factory=class_row(User))
        .execute(
            """
            SELECT id, external_id, email, username, phone, locale, timezone, avatar_url, attributes, created_at, updated_at
            FROM users
            WHERE tenant_id = %(tenant_id)s AND external_id = %(external_id)s
            FOR NO KEY UPDATE
            """,
            {"tenant_id": tenant_id, "external_id": external_id},
        )
        .fetchone()
    )


def find_named(conn: Connection[Any], tenant_id: UUID, external_ids: list[str]) -> dict[str, User]:
    """Those of them who are known, by external id."""
    found = (
        conn.cursor(row_factory=class_row(User))
        .execute(
            """
            SELECT id, external_id, email, username, phone, locale, timezone, avatar_url, attributes, created_at, updated_at
            FROM users
            WHERE tenant_id = %(tenant_id)s AND external_id = ANY(%(external_ids)s)
            """,
            {"tenant_id": tenant_id, "external_ids": external_ids},
        )
        .fetchall()
    )
    return {user.external_id: user for user in found}


def make_and_lock(conn: Connection[Any], tenant_id: UUID, external_ids: list[str]) -> tuple[set[UUID], dict[str, User]]:
    """Make those whom nobody knows, with nothing but the id, and lock them all: which are new, and how each is now.

    In the order of their ids, so that two who do this never wait for each other in a ring. Whom a rival makes is waited for."""
    made = conn.execute(
        """
        INSERT INTO users (id, tenant_id, external_id)
        SELECT tocsin_uuid7(), %(tenant_id)s, wanted.external_id
        FROM unnest(%(external_ids)s::text[]) AS wanted (external_id)
        ORDER BY wanted.external_id
        ON CONFLICT (tenant_id, external_id) DO NOTHING
        RETURNING id
        """,
        {"tenant_id": tenant_id, "external_ids": external_ids},
    ).fetchall()
    locked = (
        conn.cursor(row_factory=class_row(User))
        .execute(
            """
            SELECT id, external_id, email, username, phone, locale, timezone, avatar_url, attributes, created_at, updated_at
            FROM users
            WHERE tenant_id = %(tenant_id)s AND external_id = ANY(%(external_ids)s)
            ORDER BY external_id
            FOR NO KEY UPDATE
            """,
            {"tenant_id": tenant_id, "external_ids": external_ids},
        )
        .fetchall()
    )
    return {row[0] for row in made}, {user.external_id: user for user in locked}


def update_all(conn: Connection[Any], tenant_id: UUID, people: list[dict[str, Any]]) -> dict[str, User]:
    """Write these users, whom the caller has locked, as wholes; as they are then, by external id."""
    rows = (
        conn.cursor(row_factory=class_row(User))
        .execute(
            """
            UPDATE users
            SET email = person.email, username = person.username, phone = person.phone, locale = person.locale,
                timezone = person.timezone, avatar_url = person.avatar_url, attributes = person.attributes,
                updated_at = tocsin_now()
            FROM jsonb_to_recordset(%(people)s) AS person (
                external_id text, email text, username text, phone text, locale text, timezone text, avatar_url text,
                attributes jsonb)
            WHERE users.tenant_id = %(tenant_id)s AND users.external_id = person.external_id
            RETURNING users.id, users.external_id, users.email, users.username, users.phone, users.locale, users.timezone,
                      users.avatar_url, users.attributes, users.created_at, users.updated_at
            """,
            {"tenant_id": tenant_id, "people": Jsonb(people)},
        )
        .fetchall()
    )
    return {user.external_id: user for user in rows}


def find_taken(conn: Connection[Any], tenant_id: UUID, wishes: list[dict[str, Any]]) -> dict[str, str]:
    """Which of these users want an email or username that another one has: by external id, which of the two."""
    rows = conn.execute(
        """
        SELECT wish.external_id, CASE WHEN by_email.id IS NOT NULL THEN 'email' ELSE 'username' END
        FROM jsonb_to_recordset(%(wishes)s) AS wish (external_id text, email text, username text)
        LEFT JOIN LATERAL (
            SELECT id FROM users
            WHERE tenant_id = %(tenant_id)s AND email_key = lower(wish.email) AND external_id <> wish.external_id
            LIMIT 1
        ) AS by_email ON true
        LEFT JOIN LATERAL (
            SELECT id FROM users
            WHERE tenant_id = %(tenant_id)s AND username = wish.username AND external_id <> wish.external_id
            LIMIT 1
        ) AS by_username ON true
        WHERE by_email.id IS NOT NULL OR by_username.id IS NOT NULL
        """,
        {"tenant_id": tenant_id, "wishes": Jsonb(wishes)},
    ).fetchall()
    return dict(rows)


def external_ids(conn: Connection[Any], tenant_id: UUID, user_ids: list[UUID]) -> dict[UUID, str]:
    """What the producer calls them; those who are gone are left out."""
    rows = conn.execute(
        "SELECT id, external_id FROM users WHERE tenant_id = %(tenant_id)s AND id = ANY(%(user_ids)s)",
        {"tenant_id": tenant_id, "user_ids": user_ids},
    ).fetchall()
    return dict(rows)


def upsert_all(conn: Connection[Any], tenant_id: UUID, people: list[dict[str, Any]]) -> dict[str, tuple[UUID, bool]]:
    """Write these whole users, each once. By external id: their ids, and whether they are new.

    In the order of their ids, so that two batches never wait for each other in a ring."""
    rows = conn.execute(
        """
        INSERT INTO users (id, tenant_id, external_id, email, username, phone, locale, timezone, avatar_url, attributes)
        SELECT tocsin_uuid7(), %(tenant_id)s, external_id, email, username, phone, locale, timezone, avatar_url, attributes
        FROM jsonb_to_recordset(%(people)s) AS person (
            external_id text, email text, username text, phone text, locale text, timezone text, avatar_url text,
                attributes jsonb)
        ORDER BY external_id
        ON CONFLICT (tenant_id, external_id) DO UPDATE
            SET email = EXCLUDED.email, username = EXCLUDED.username, phone = EXCLUDED.phone, locale = EXCLUDED.locale,
                timezone = EXCLUDED.timezone, avatar_url = EXCLUDED.avatar_url, attributes = EXCLUDED.attributes,
                updated_at = tocsin_now()
        RETURNING external_id, id, xmax = '0'
        """,
        {"tenant_id": tenant_id, "people": Jsonb(people)},
    ).fetchall()
    return {external_id: (user_id, is_new) for external_id, user_id, is_new in rows}


def search(conn: Connection[Any], tenant_id: UUID, prefix: str, *, limit: int, before: UUID | None) -> list[User]:
    """Newest first: whose external id, email, username or phone begins so. At most a thousand of each are looked at.

    As a range, which an index finds; LIKE may not look into rows before row-level security has."""
    return (
        conn.cursor(row_factory=class_row(User))
        .execute(
            """
            WITH found AS (
                (SELECT id FROM users WHERE tenant_id = %(tenant_id)s AND external_id ~>=~ %(prefix)s
                   AND external_id ~<~ %(beyond)s LIMIT 1000)
                UNION
                (SELECT id FROM users
                 WHERE tenant_id = %(tenant_id)s AND email_key ~>=~ lower(%(prefix)s)
                   AND email_key ~<~ lower(%(beyond)s) LIMIT 1000)
                UNION
                (SELECT id FROM users
                 WHERE tenant_id = %(tenant_id)s AND username ~>=~ %(prefix)s
                   AND username ~<~ %(beyond)s LIMIT 1000)
                UNION
                (SELECT id FROM users
                 WHERE tenant_id = %(tenant_id)s AND phone ~>=~ %(prefix)s
                   AND phone ~<~ %(beyond)s LIMIT 1000)
            )
            SELECT id, external_id, email, username, phone, locale, timezone, avatar_url, attributes, created_at, updated_at
            FROM users
            WHERE tenant_id = %(tenant_id)s AND id = ANY(ARRAY(SELECT found.id FROM found))
              AND (%(before)s::uuid IS NULL OR id < %(before)s)
            ORDER BY id DESC
            LIMIT %(limit)s
            """,
            {"tenant_id": tenant_id, "prefix": prefix, "beyond": prefix + "\U0010ffff", "before": before, "limit": limit},
        )
        .fetchall()
    )


def find_exactly(conn: Connection[Any], tenant_id: UUID, text: str, *, limit: int) -> list[User]:
    """Whose external id, email (in either case), username or phone is this, newest first."""
    return (
        conn.cursor(row_factory=class_row(User))
        .execute(
            """
            WITH found AS (
                (SELECT id FROM users WHERE tenant_id = %(tenant_id)s AND external_id = %(text)s)
                UNION
                (SELECT id FROM users WHERE tenant_id = %(tenant_id)s AND email_key = lower(%(text)s) LIMIT %(limit)s)
                UNION
                (SELECT id FROM users WHERE tenant_id = %(tenant_id)s AND username = %(text)s LIMIT %(limit)s)
                UNION
                (SELECT id FROM users WHERE tenant_id = %(tenant_id)s AND phone = %(text)s LIMIT %(limit)s)
            )
            SELECT id, external_id, email, username, phone, locale, timezone, avatar_url, attributes, created_at, updated_at
            FROM users
            WHERE tenant_id = %(tenant_id)s AND id = ANY(ARRAY(SELECT found.id FROM found))
            ORDER BY id DESC
            LIMIT %(limit)s
            """,
            {"tenant_id": tenant_id, "text": text, "limit": limit},
        )
        .fetchall()
    )


def list_page(conn: Connection[Any], tenant_id: UUID, *, limit: int, before: UUID | None) -> list[User]:
    """Newest first: the ids are time-ordered."""
    return (
        conn.cursor(row_factory=class_row(User))
        .execute(
            """
            SELECT id, external_id, email, username, phone, locale, timezone, avatar_url, attributes, created_at, updated_at
            FROM users
            WHERE tenant_id = %(tenant_id)s AND id < %(before)s
            ORDER BY id DESC
            LIMIT %(limit)s
            """,
            {"tenant_id": tenant_id, "before": before or UUID(int=2**128 - 1), "limit": limit},
        )
        .fetchall()
    )
