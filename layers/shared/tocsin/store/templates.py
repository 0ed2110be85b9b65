"""The words: immutable versions, of which the newest is active."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row
from psycopg.types.json import Jsonb


@dataclass(frozen=True, slots=True)
class TemplateRow:
    id: UUID
    tenant_id: UUID
    name: str
    channel: str
    locale: str
    version: int
    subject: str | None
    body: str
    text: str | None
    variables: list[str]
    is_active: bool
    created_by: UUID | None
    created_at: datetime


def insert_version(
    conn: Connection[Any],
    *,
    template_id: UUID,
    tenant_id: UUID,
    name: str,
    channel: str,
    locale: str,
    subject: str | None,
    body: str,
    text: str | None,
    variables: list[str],
    created_by: UUID,
) -> TemplateRow:
    """Make the next version and the active one. Two at once take turns."""
    key = {"tenant_id": tenant_id, "name": name, "channel": channel, "locale": locale}
    conn.execute(
        """
        SELECT pg_advisory_xact_lock(hashtextextended(
            concat_ws('|', 'template', %(tenant_id)s::text, %(channel)s::text, %(locale)s::text, %(name)s::text), 0))
        """,
        key,
    )
    conn.execute(
        """
        UPDATE templates SET is_active = false, updated_at = tocsin_now()
        WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND channel = %(channel)s AND locale = %(locale)s AND is_active
        """,
        key,
    )
    row = (
        conn.cursor(row_factory=class_row(TemplateRow))
        .execute(
            """
            INSERT INTO templates (id, tenant_id, name, channel, locale, version, subject, body, text, variables, created_by)
            SELECT %(template_id)s, %(tenant_id)s, %(name)s, %(channel)s, %(locale)s, COALESCE(max(version), 0) + 1,
                   %(subject)s, %(body)s, %(text)s, %(variables)s, %(created_by)s
            FROM templates
            WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND channel = %(channel)s AND locale = %(locale)s
            RETURNING id, tenant_id, name, channel, locale, version, subject, body, text, variables, is_active, created_by,
                      created_at
            """,
            key
            | {
                "template_id": template_id,
                "subject": subject,
                "body": body,
                "text": text,
                "variables": variables,
                "created_by": created_by,
            },
        )
        .fetchone()
    )
    assert row is not None  # noqa: S101 - an aggregate always has a row
    return row


def list_page(
    conn: Connection[Any], tenant_id: UUID, *, name: str | None, limit: int, after: tuple[datetime, UUID] | None
) -> list[TemplateRow]:
    """Newest first: the active versions of all names, or every version of one name."""
    return (
        conn.cursor(row_factory=class_row(TemplateRow))
        .execute(
            """
            SELECT id, tenant_id, name, channel, locale, version, subject, body, text, variables, is_active, created_by,
                   created_at
            FROM templates
            WHERE tenant_id = %(tenant_id)s
              AND (CASE WHEN %(name)s::text IS NULL THEN is_active ELSE name = %(name)s END)
              AND (%(after_at)s::timestamptz IS NULL OR (created_at, id) < (%(after_at)s, %(after_id)s))
            ORDER BY created_at DESC, id DESC
            LIMIT %(limit)s
            """,
            {
                "tenant_id": tenant_id,
                "name": name,
                "after_at": after[0] if after else None,
                "after_id": after[1] if after else None,
                "limit": limit,
            },
        )
        .fetchall()
    )


def find_active(conn: Connection[Any], names: list[tuple[UUID, str]], *, channel: str) -> list[TemplateRow]:
    """The active versions, in every locale, of these tenants' templates for one channel."""
    return (
        conn.cursor(row_factory=class_row(TemplateRow))
        .execute(
            """
            SELECT id, tenant_id, name, channel, locale, version, subject, body, text, variables, is_active, created_by,
                   created_at
            FROM templates
            JOIN jsonb_to_recordset(%(names)s) AS wanted (wanted_tenant uuid, wanted_name text)
                ON templates.tenant_id = wanted_tenant AND templates.name = wanted_name
            WHERE channel = %(channel)s AND is_active
            ORDER BY created_at, id
            """,
            {
                "names": Jsonb([{"wanted_tenant": str(tenant), "wanted_name": name} for tenant, name in names]),
                "channel": channel,
            },
        )
        .fetchall()
    )


def count_other_locales(conn: Connection[Any], tenant_id: UUID, name: str, channel: str, locale: str) -> int:
    """How many locales besides this one the template has on the channel."""
    row = conn.execute(
        """
        SELECT count(*)
        FROM templates
        WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND channel = %(channel)s AND locale <> %(locale)s AND is_active
        """,
        {"tenant_id": tenant_id, "name": name, "channel": channel, "locale": locale},
    ).fetchone()
    assert row  # noqa: S101  for the type checker: count always answers
    return int(row[0])


def deactivate(conn: Connection[Any], tenant_id: UUID, name: str) -> bool:
    """Take a name out of use, in every channel and locale. Its versions stay: routes may have been planned with them."""
    found = conn.execute(
        """
        UPDATE templates SET is_active = false, updated_at = tocsin_now()
        WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND is_active
        RETURNING true
        """,
        {"tenant_id": tenant_id, "name": name},
    ).fetchone()
    return found is not None
