"""Layouts and partials: immutable versions, of which the newest is active."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row
from psycopg.types.json import Jsonb


@dataclass(frozen=True, slots=True)
class LayoutRow:
    id: UUID
    tenant_id: UUID
    kind: str
    name: str
    locale: str
    version: int
    body: str
    partials: list[str]  # those that its body renders
    is_active: bool
    created_by: UUID | None
    created_at: datetime
    updated_at: datetime  # when it was made, or taken out of use


@dataclass(frozen=True, slots=True)
class WantedParts:
    """Parts by name, as they were at a moment, in the nearest locale; and all that they render. None: as they are now."""

    tenant_id: UUID
    names: tuple[str, ...]
    locale: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Part:
    """A version that is wanted by the n-th."""

    n: int
    name: str
    kind: str
    body: str
    is_active: bool


def lock(conn: Connection[Any], tenant_id: UUID) -> None:
    """Whoever makes something that uses a part, and whoever takes one out of use, take turns."""
    conn.execute(
        "SELECT pg_advisory_xact_lock(hashtextextended(concat_ws('|', 'layouts', %(tenant_id)s::text), 0))",
        {"tenant_id": tenant_id},
    )


def insert_version(
    conn: Connection[Any],
    *,
    layout_id: UUID,
    tenant_id: UUID,
    kind: str,
    name: str,
    locale: str,
    body: str,
    partials: list[str],
    created_by: UUID,
) -> LayoutRow:
    """Make the next version and the active one. The caller holds the lock."""
    key = {"tenant_id": tenant_id, "name": name, "locale": locale}
    conn.execute(
        """
        UPDATE layouts SET is_active = false, updated_at = tocsin_now()
        WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND locale = %(locale)s AND is_active
        """,
        key,
    )
    row = (
        conn.cursor(row_factory=class_row(LayoutRow))
        .execute(
            """
            INSERT INTO layouts (id, tenant_id, kind, name, locale, version, body, partials, created_by)
            SELECT %(layout_id)s, %(tenant_id)s, %(kind)s, %(name)s, %(locale)s, COALESCE(max(version), 0) + 1, %(body)s,
                   %(partials)s, %(created_by)s
            FROM layouts
            WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND locale = %(locale)s
            RETURNING id, tenant_id, kind, name, locale, version, body, partials, is_active, created_by, created_at, updated_at
            """,
            key | {"layout_id": layout_id, "kind": kind, "body": body, "partials": partials, "created_by": created_by},
        )
        .fetchone()
    )
    assert row is not None  # noqa: S101 - an aggregate always has a row
    return row


def list_page(
    conn: Connection[Any], tenant_id: UUID, *, name: str | None, limit: int, after: tuple[datetime, UUID] | None
) -> list[LayoutRow]:
    """Newest first: the active versions of all names, or every version of one name."""
    return (
        conn.cursor(row_factory=class_row(LayoutRow))
        .execute(
            """
            SELECT id, tenant_id, kind, name, locale, version, body, partials, is_active, created_by, created_at, updated_at
            FROM layouts
            WHERE tenant_id = %(tenant_id)s AND CASE WHEN %(name)s::text IS NULL THEN is_active ELSE name = %(name)s END
              AND (created_at, id) < (%(after_at)s, %(after_id)s)
            ORDER BY created_at DESC, id DESC
            LIMIT %(limit)s
            """,
            {
                "tenant_id": tenant_id,
                "name": name,
                "after_at": after[0] if after else "infinity",
                "after_id": after[1] if after else UUID(int=2**128 - 1),
                "limit": limit,
            },
        )
        .fetchall()
    )


def find_versions(conn: Connection[Any], tenant_id: UUID, name: str) -> list[LayoutRow]:
    """The newest version of a name in each locale, active or not."""
    return (
        conn.cursor(row_factory=class_row(LayoutRow))
        .execute(
            """
            SELECT DISTINCT ON (locale)
                   id, tenant_id, kind, name, locale, version, body, partials, is_active, created_by, created_at, updated_at
            FROM layouts
            WHERE tenant_id = %(tenant_id)s AND name = %(name)s
            ORDER BY locale, version DESC
            """,
            {"tenant_id": tenant_id, "name": name},
        )
        .fetchall()
    )


def find_parts(conn: Connection[Any], wanted: list[WantedParts]) -> list[Part]:
    """What is wanted, and the partials that these render, and theirs. Each version's words come once over the wire."""
    found = conn.execute(
        """
        WITH RECURSIVE wanted AS (
            SELECT n, tenant_id, names, locale, COALESCE(at, 'infinity') AS at
            FROM jsonb_to_recordset(%(wanted)s)
                AS wanted (n integer, tenant_id uuid, names text[], locale text, at timestamptz)
        ), part AS (
            SELECT wanted.n, found.layout_id
            FROM wanted
            CROSS JOIN LATERAL unnest(wanted.names) AS one (name)
            CROSS JOIN LATERAL tocsin_layout(wanted.tenant_id, one.name, wanted.locale, wanted.at) AS found
            UNION
            SELECT wanted.n, found.layout_id
            FROM part
            JOIN wanted USING (n)
            JOIN layouts ON layouts.id = part.layout_id
            CROSS JOIN LATERAL unnest(layouts.partials) AS one (name)
            CROSS JOIN LATERAL tocsin_layout(wanted.tenant_id, one.name, wanted.locale, wanted.at) AS found
        )
        SELECT n, layout_id FROM part
        """,
        {
            "wanted": Jsonb(
                [
                    {
                        "n": n,
                        "tenant_id": str(one.tenant_id),
                        "names": list(one.names),
                        "locale": one.locale,
                        "at": one.at.isoformat() if one.at else None,
                    }
                    for n, one in enumerate(wanted)
                ]
            )
        },
    ).fetchall()
    rows = conn.execute(
        "SELECT id, name, kind, body, is_active FROM layouts WHERE id = ANY(%(ids)s)",
        {"ids": list({layout_id for _, layout_id in found})},
    ).fetchall()
    versions = {row[0]: row[1:] for row in rows}
    return [Part(n, *versions[layout_id]) for n, layout_id in found if layout_id in versions]


def find_users(conn: Connection[Any], tenant_id: UUID, name: str, *, limit: int) -> list[str]:
    """What uses a part now, each by what it is and its name: templates, layouts, partials."""
    rows = conn.execute(
        """
        SELECT DISTINCT 'template' AS kind, name FROM templates
        WHERE tenant_id = %(tenant_id)s AND is_active AND (layout = %(name)s OR %(name)s = ANY(partials))
        UNION
        SELECT DISTINCT kind, name FROM layouts
        WHERE tenant_id = %(tenant_id)s AND is_active AND %(name)s = ANY(partials)
        ORDER BY kind, name
        LIMIT %(limit)s
        """,
        {"tenant_id": tenant_id, "name": name, "limit": limit},
    ).fetchall()
    return [f"{kind} `{user}`" for kind, user in rows]


def deactivate(conn: Connection[Any], tenant_id: UUID, name: str) -> bool:
    """Take a name out of use, in every locale. Its versions stay: routes may have been planned with them."""
    found = conn.execute(
        """
        UPDATE layouts SET is_active = false, updated_at = tocsin_now()
        WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND is_active
        RETURNING true
        """,
        {"tenant_id": tenant_id, "name": name},
    ).fetchone()
    return found is not None


def delete_superseded(conn: Connection[Any], *, age: timedelta, records_age: timedelta, limit: int) -> int:
    """Forget versions that another one followed so long ago, and not before every record of that time may be forgotten. What is
    still to be sent, and was planned before, keeps them."""
    return conn.execute(
        """
        WITH expired AS (
            SELECT layouts.id
            FROM tocsin_kept('records_days', %(records_age)s, '0') AS kept
            JOIN layouts ON layouts.tenant_id = kept.tenant_id
            WHERE NOT layouts.is_active AND layouts.updated_at < tocsin_now() - GREATEST(%(age)s, kept.age)
              AND NOT EXISTS (
                  SELECT FROM outbox JOIN routes USING (notification_id, route_id)
                  WHERE outbox.tenant_id = layouts.tenant_id AND routes.created_at <= layouts.updated_at)
            LIMIT %(limit)s
            FOR UPDATE OF layouts SKIP LOCKED
        )
        DELETE FROM layouts USING expired WHERE layouts.id = expired.id
        """,
        {"age": age, "records_age": records_age, "limit": limit},
    ).rowcount
