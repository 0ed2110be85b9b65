"""Who may call, and as whom."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import class_row


@dataclass(frozen=True, slots=True)
class ApiKey:
    id: UUID
    tenant_id: UUID
    user_id: UUID | None
    owner: str | None  # the owner by the producer's own id
    producer: str
    name: str
    mode: str
    key_prefix: str
    scopes: list[str]
    rate_limit: int | None
    is_active: bool
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None
    created_at: datetime
    replaced_by: UUID | None


@dataclass(frozen=True, slots=True)
class KnownKey:
    """What authentication needs. `is_usable` was decided by the database's clock."""

    id: UUID
    tenant_id: UUID
    producer: str
    mode: str
    key_hash: bytes
    scopes: list[str]
    rate_limit: int | None  # its own, or its tenant's cap where that is less
    calls_cap: int | None  # its tenant's
    user_id: UUID | None
    is_usable: bool
    tenant_status: str


def find_by_hash(conn: Connection[Any], key_hash: bytes) -> Cursor[KnownKey]:
    """The key with this hash, at most one row; its use is noted, at most once a minute."""
    found = conn.cursor(row_factory=class_row(KnownKey)).execute(
        """
        SELECT api_keys.id, tenant_id, producer, mode, key_hash, scopes, user_id,
               LEAST(rate_limit, tocsin_cap(tenants.settings, 'intents_per_minute')) AS rate_limit,
               tocsin_cap(tenants.settings, 'api_calls_per_minute') AS calls_cap,
               is_active AND (expires_at IS NULL OR expires_at > tocsin_now()) AS is_usable,
               tenants.status AS tenant_status
        FROM api_keys
        JOIN tenants ON tenants.id = api_keys.tenant_id
        WHERE key_hash = %(key_hash)s
        """,
        {"key_hash": key_hash},
    )
    conn.execute(
        """
        UPDATE api_keys SET last_used_at = tocsin_now()
        WHERE key_hash = %(key_hash)s AND (last_used_at IS NULL OR last_used_at < tocsin_now() - interval '1 minute')
        """,
        {"key_hash": key_hash},
    )
    return found


def insert(
    conn: Connection[Any],
    *,
    key_id: UUID,
    tenant_id: UUID,
    producer: str,
    name: str,
    mode: str,
    key_prefix: str,
    key_hash: bytes,
    scopes: list[str],
    rate_limit: int | None,
    expires_at: datetime | None,
    user_id: UUID | None = None,
) -> None:
    conn.execute(
        """
        INSERT INTO api_keys (
            id, tenant_id, user_id, producer, name, mode, key_prefix, key_hash, scopes, rate_limit, expires_at)
        VALUES (%(key_id)s, %(tenant_id)s, %(user_id)s, %(producer)s, %(name)s, %(mode)s, %(key_prefix)s, %(key_hash)s,
                %(scopes)s, %(rate_limit)s, %(expires_at)s)
        """,
        {
            "key_id": key_id,
            "tenant_id": tenant_id,
            "user_id": user_id,
            "producer": producer,
            "name": name,
            "mode": mode,
            "key_prefix": key_prefix,
            "key_hash": key_hash,
            "scopes": scopes,
            "rate_limit": rate_limit,
            "expires_at": expires_at,
        },
    )


def find(conn: Connection[Any], tenant_id: UUID, key_id: UUID) -> ApiKey | None:
    return (
        conn.cursor(row_factory=class_row(ApiKey))
        .execute(
            """
            SELECT id, tenant_id, user_id, producer, name, mode, key_prefix, scopes, rate_limit,
                   is_active AND (expires_at IS NULL OR expires_at > tocsin_now()) AS is_active, expires_at, last_used_at,
                   revoked_at, created_at, replaced_by,
                   (SELECT external_id FROM users
                    WHERE users.tenant_id = api_keys.tenant_id AND users.id = api_keys.user_id) AS owner
            FROM api_keys
            WHERE tenant_id = %(tenant_id)s AND id = %(key_id)s
            """,
            {"tenant_id": tenant_id, "key_id": key_id},
        )
        .fetchone()
    )


def list_page(
    conn: Connection[Any],
    tenant_id: UUID,
    *,
    limit: int,
    after: tuple[datetime, UUID] | None,
    is_active: bool | None = None,
    owner_id: UUID | None = None,
    producer: str | None = None,
) -> list[ApiKey]:
    """Newest first. Filters that are None do not filter; one that has run out is not active."""
    return (
        conn.cursor(row_factory=class_row(ApiKey))
        .execute(
            """
            SELECT id, tenant_id, user_id, producer, name, mode, key_prefix, scopes, rate_limit,
                   is_active AND (expires_at IS NULL OR expires_at > tocsin_now()) AS is_active, expires_at, last_used_at,
                   revoked_at, created_at, replaced_by,
                   (SELECT external_id FROM users
                    WHERE users.tenant_id = api_keys.tenant_id AND users.id = api_keys.user_id) AS owner
            FROM api_keys
            WHERE tenant_id = %(tenant_id)s
              AND (%(is_active)s::boolean IS NULL
                   OR (is_active AND (expires_at IS NULL OR expires_at > tocsin_now())) = %(is_active)s)
              AND (%(owner_id)s::uuid IS NULL OR user_id = %(owner_id)s)
              AND (%(producer)s::text IS NULL OR producer = %(producer)s)
              AND (created_at, id) < (%(after_at)s, %(after_id)s)
            ORDER BY created_at DESC, id DESC
            LIMIT %(limit)s
            """,
            {
                "tenant_id": tenant_id,
                "is_active": is_active,
                "owner_id": owner_id,
                "producer": producer,
                "after_at": after[0] if after else "infinity",
                "after_id": after[1] if after else UUID(int=2**128 - 1),
                "limit": limit,
            },
            prepare=False,  # planned with its values: which filters there are decides what is read
        )
        .fetchall()
    )


def replace(conn: Connection[Any], tenant_id: UUID, key_id: UUID, successor_id: UUID, *, overlap: timedelta) -> datetime | None:
    """Let the key end when the overlap does, or when it was to end anyway, and return when that is.

    None, and nothing changed, when it has no rights left to hand on: it was revoked, replaced before, or has run out."""
    row = conn.execute(
        """
        UPDATE api_keys SET replaced_by = %(successor_id)s, expires_at = LEAST(expires_at, tocsin_now() + %(overlap)s)
        WHERE tenant_id = %(tenant_id)s AND id = %(key_id)s AND is_active AND replaced_by IS NULL
          AND (expires_at IS NULL OR expires_at > tocsin_now())
        RETURNING expires_at
        """,
        {"tenant_id": tenant_id, "key_id": key_id, "successor_id": successor_id, "overlap": overlap},
    ).fetchone()
    return row[0] if row else None


def revoke(conn: Connection[Any], tenant_id: UUID, key_id: UUID) -> bool:
    """Switch the key off for good. False: it was."""
    revoked = conn.execute(
        """
        UPDATE api_keys SET is_active = false, revoked_at = tocsin_now()
        WHERE tenant_id = %(tenant_id)s AND id = %(key_id)s AND is_active
        RETURNING true
        """,
        {"tenant_id": tenant_id, "key_id": key_id},
    ).fetchone()
    return revoked is not None


def delete_ended(conn: Connection[Any], *, age: timedelta, limit: int) -> int:
    """Forget keys that were revoked or ran out so long ago. One by which a trigger was registered stays with it, and one that
    took over from another stays until that one is forgotten."""
    return conn.execute(
        """
        WITH ended AS (
            SELECT id FROM api_keys AS key
            WHERE COALESCE(LEAST(key.revoked_at, key.expires_at), 'infinity') < tocsin_now() - %(age)s
              AND NOT EXISTS (SELECT FROM triggers WHERE triggers.registered_by_principal = key.id)
              AND NOT EXISTS (SELECT FROM api_keys AS former WHERE former.replaced_by = key.id)
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM api_keys USING ended WHERE api_keys.id = ended.id
        """,
        {"age": age, "limit": limit},
    ).rowcount
