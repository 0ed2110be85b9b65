"""The brands: who writes, as people see it, one for each tenant."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row

from tocsin.store.rows import Brand


@dataclass(frozen=True, slots=True)
class BrandRow:
    """What a tenant has said of itself, and nothing in place of what it has not."""

    name: str | None
    logo_url: str | None
    color: str | None
    postal_address: str | None
    reply_to: str | None
    from_name: str | None
    updated_at: datetime


def upsert(
    conn: Connection[Any],
    tenant_id: UUID,
    *,
    name: str | None,
    logo_url: str | None,
    color: str | None,
    postal_address: str | None,
    reply_to: str | None,
    from_name: str | None,
) -> BrandRow:
    row = (
        conn.cursor(row_factory=class_row(BrandRow))
        .execute(
            """
            INSERT INTO brands (tenant_id, name, logo_url, color, postal_address, reply_to, from_name)
            VALUES (%(tenant_id)s, %(name)s, %(logo_url)s, %(color)s, %(postal_address)s, %(reply_to)s, %(from_name)s)
            ON CONFLICT (tenant_id) DO UPDATE
                SET name = EXCLUDED.name, logo_url = EXCLUDED.logo_url, color = EXCLUDED.color,
                    postal_address = EXCLUDED.postal_address, reply_to = EXCLUDED.reply_to, from_name = EXCLUDED.from_name,
                    updated_at = tocsin_now()
            RETURNING name, logo_url, color, postal_address, reply_to, from_name, updated_at
            """,
            {
                "tenant_id": tenant_id,
                "name": name,
                "logo_url": logo_url,
                "color": color,
                "postal_address": postal_address,
                "reply_to": reply_to,
                "from_name": from_name,
            },
        )
        .fetchone()
    )
    assert row is not None  # noqa: S101 - an upsert without a WHERE always returns its row
    return row


def find_row(conn: Connection[Any], tenant_id: UUID) -> BrandRow | None:
    """None: the tenant has said nothing of itself."""
    return (
        conn.cursor(row_factory=class_row(BrandRow))
        .execute(
            """
            SELECT name, logo_url, color, postal_address, reply_to, from_name, updated_at
            FROM brands
            WHERE tenant_id = %(tenant_id)s
            """,
            {"tenant_id": tenant_id},
        )
        .fetchone()
    )


def find(conn: Connection[Any], tenant_id: UUID) -> Brand:
    return find_all(conn, [tenant_id]).get(tenant_id, Brand())


def find_all(conn: Connection[Any], tenant_ids: list[UUID]) -> dict[UUID, Brand]:
    """Of each tenant that there is. Without a brand, or without a name in it, the tenant's own name is the name; but the
    one that the first tenant is made with tells nobody who writes.

    A mail that says who it is from says the brand's name, where it has one and no other name for that."""
    rows = conn.execute(
        """
        SELECT tenants.id, COALESCE(brands.name, NULLIF(tenants.name, 'default'), ''), COALESCE(brands.logo_url, ''),
               COALESCE(brands.color, ''), COALESCE(brands.postal_address, ''), COALESCE(brands.reply_to, ''),
               COALESCE(brands.from_name, brands.name, '')
        FROM tenants LEFT JOIN brands ON brands.tenant_id = tenants.id
        WHERE tenants.id = ANY(%(tenant_ids)s)
        """,
        {"tenant_ids": tenant_ids},
    ).fetchall()
    return {tenant_id: Brand(*columns) for tenant_id, *columns in rows}
