"""The words: immutable versions, of which the newest is active."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
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
    layout: str | None  # of an email: what its body stands in
    partials: list[str]  # those that its body renders
    is_active: bool
    created_by: UUID | None
    created_at: datetime
    updated_at: datetime  # when it was made, or taken out of use


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
    layout: str | None = None,
    partials: Sequence[str] = (),
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
            INSERT INTO templates (
                id, tenant_id, name, channel, locale, version, subject, body, text, variables, layout, partials, created_by)
            SELECT %(template_id)s, %(tenant_id)s, %(name)s, %(channel)s, %(locale)s, COALESCE(max(version), 0) + 1,
                   %(subject)s, %(body)s, %(text)s, %(variables)s, %(layout)s, %(partials)s, %(created_by)s
            FROM templates
            WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND channel = %(channel)s AND locale = %(locale)s
            RETURNING id, tenant_id, name, channel, locale, version, subject, body, text, variables, layout, partials, is_active,
                      created_by, created_at, updated_at
            """,
            key
            | {
                "template_id": template_id,
                "subject": subject,
                "body": body,
                "text": text,
                "variables": variables,
                "layout": layout,
                "partials": list(partials),
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
    wanted = {
        "tenant_id": tenant_id,
        "name": name,
        "after_at": after[0] if after else "infinity",
        "after_id": after[1] if after else UUID(int=2**128 - 1),
        "limit": limit,
    }
    return _list_active(conn, wanted) if name is None else _list_versions(conn, wanted)


def _list_active(conn: Connection[Any], wanted: dict[str, Any]) -> list[TemplateRow]:
    return (
        conn.cursor(row_factory=class_row(TemplateRow))
        .execute(
            """
            SELECT id, tenant_id, name, channel, locale, version, subject, body, text, variables, layout, partials, is_active,
                   created_by, created_at, updated_at
            FROM templates
            WHERE tenant_id = %(tenant_id)s AND is_active AND (created_at, id) < (%(after_at)s, %(after_id)s)
            ORDER BY created_at DESC, id DESC
            LIMIT %(limit)s
            """,
            wanted,
        )
        .fetchall()
    )


def _list_versions(conn: Connection[Any], wanted: dict[str, Any]) -> list[TemplateRow]:
    return (
        conn.cursor(row_factory=class_row(TemplateRow))
        .execute(
            """
            SELECT id, tenant_id, name, channel, locale, version, subject, body, text, variables, layout, partials, is_active,
                   created_by, created_at, updated_at
            FROM templates
            WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND (created_at, id) < (%(after_at)s, %(after_id)s)
            ORDER BY created_at DESC, id DESC
            LIMIT %(limit)s
            """,
            wanted,
        )
        .fetchall()
    )


def find_active(conn: Connection[Any], names: list[tuple[UUID, str]], *, channel: str) -> list[TemplateRow]:
    """The active versions, in every locale, of these tenants' templates for one channel."""
    return (
        conn.cursor(row_factory=class_row(TemplateRow))
        .execute(
            """
            SELECT template.*
            FROM jsonb_to_recordset(%(names)s) AS wanted (tenant_id uuid, name text)
            CROSS JOIN LATERAL (
                SELECT id, tenant_id, name, channel, locale, version, subject, body, text, variables, layout, partials, is_active,
                       created_by, created_at, updated_at
                FROM templates
                WHERE templates.tenant_id = wanted.tenant_id AND templates.name = wanted.name
                  AND templates.channel = %(channel)s AND templates.is_active
                OFFSET 0  -- looked up one by one, however many the planner expects
            ) AS template
            ORDER BY template.created_at, template.id
            """,
            {
                "names": Jsonb([{"tenant_id": str(tenant), "name": name} for tenant, name in names]),
                "channel": channel,
            },
        )
        .fetchall()
    )


def find_version(conn: Connection[Any], tenant_id: UUID, name: str, *, channel: str, version: int) -> list[TemplateRow]:
    """One version of a template for one channel, active or not, in every locale that got so far."""
    return (
        conn.cursor(row_factory=class_row(TemplateRow))
        .execute(
            """
            SELECT id, tenant_id, name, channel, locale, version, subject, body, text, variables, layout, partials, is_active,
                   created_by, created_at, updated_at
            FROM templates
            WHERE tenant_id = %(tenant_id)s AND name = %(name)s AND channel = %(channel)s AND version = %(version)s
            ORDER BY created_at, id
            """,
            {"tenant_id": tenant_id, "name": name, "channel": channel, "version": version},
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


def delete_superseded(conn: Connection[Any], *, age: timedelta, records_age: timedelta, limit: int) -> int:
    """Forget versions that another one followed so long ago, and not before every record of that time may be forgotten: what was
    sent shows its words. What is still to be sent keeps the version it was planned with."""
    return conn.execute(
        """
        WITH expired AS (
            SELECT templates.id
            FROM tocsin_kept('records_days', %(records_age)s, '0') AS kept
            JOIN templates ON templates.tenant_id = kept.tenant_id
            WHERE NOT templates.is_active AND templates.updated_at < tocsin_now() - GREATEST(%(age)s, kept.age)
              AND NOT EXISTS (
                  SELECT FROM outbox JOIN routes USING (notification_id, route_id)
                  WHERE outbox.tenant_id = templates.tenant_id AND routes.template_id = templates.id)
            LIMIT %(limit)s
            FOR UPDATE OF templates SKIP LOCKED
        )
        DELETE FROM templates USING expired WHERE templates.id = expired.id
        """,
        {"age": age, "records_age": records_age, "limit": limit},
    ).rowcount
