"""What people want on a channel, or of one kind of notification on it."""

from dataclasses import dataclass
from datetime import datetime, time
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row


@dataclass(frozen=True, slots=True)
class Preference:
    channel: str
    notification_type: str
    enabled: bool | None  # None in a finer rule: as the channel's rule says
    frequency_cap: int | None
    quiet_hours_start: time | None
    quiet_hours_end: time | None
    timezone: str
    created_at: datetime | None
    updated_at: datetime | None


def list_of(conn: Connection[Any], tenant_id: UUID, user_id: UUID, *, limit: int) -> list[Preference]:
    return (
        conn.cursor(row_factory=class_row(Preference))
        .execute(
            """
            SELECT channel, notification_type, enabled, frequency_cap, quiet_hours_start, quiet_hours_end, timezone,
                   created_at, updated_at
            FROM preferences
            WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s
            ORDER BY notification_type, channel
            LIMIT %(limit)s
            """,
            {"tenant_id": tenant_id, "user_id": user_id, "limit": limit},
        )
        .fetchall()
    )


def find(conn: Connection[Any], tenant_id: UUID, user_id: UUID, channel: str, notification_type: str) -> Preference | None:
    return (
        conn.cursor(row_factory=class_row(Preference))
        .execute(
            """
            SELECT channel, notification_type, enabled, frequency_cap, quiet_hours_start, quiet_hours_end, timezone,
                   created_at, updated_at
            FROM preferences
            WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND channel = %(channel)s
              AND notification_type = %(notification_type)s
            """,
            {"tenant_id": tenant_id, "user_id": user_id, "channel": channel, "notification_type": notification_type},
        )
        .fetchone()
    )


def lock(conn: Connection[Any], tenant_id: UUID, user_id: UUID, channel: str, notification_type: str) -> Preference | None:
    """The rule as it is until this transaction changes it."""
    return (
        conn.cursor(row_factory=class_row(Preference))
        .execute(
            """
            SELECT channel, notification_type, enabled, frequency_cap, quiet_hours_start, quiet_hours_end, timezone, created_at,
                   updated_at
            FROM preferences
            WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND channel = %(channel)s
              AND notification_type = %(notification_type)s
            FOR NO KEY UPDATE
            """,
            {"tenant_id": tenant_id, "user_id": user_id, "channel": channel, "notification_type": notification_type},
        )
        .fetchone()
    )


def upsert(
    conn: Connection[Any],
    *,
    preference_id: UUID,
    tenant_id: UUID,
    user_id: UUID,
    channel: str,
    notification_type: str,
    enabled: bool | None,
    frequency_cap: int | None,
    quiet_hours_start: time | None,
    quiet_hours_end: time | None,
    timezone: str | None,
) -> Preference:
    """Write the whole rule. Without a time zone it is the user's own, else UTC."""
    row = (
        conn.cursor(row_factory=class_row(Preference))
        .execute(
            """
            INSERT INTO preferences (
                id, tenant_id, user_id, channel, notification_type, enabled, frequency_cap, quiet_hours_start, quiet_hours_end,
                timezone)
            VALUES (%(preference_id)s, %(tenant_id)s, %(user_id)s, %(channel)s, %(notification_type)s, %(enabled)s,
                    %(frequency_cap)s, %(quiet_hours_start)s, %(quiet_hours_end)s,
                    COALESCE(%(timezone)s,
                             (SELECT users.timezone FROM users
                              WHERE users.tenant_id = %(tenant_id)s AND users.id = %(user_id)s),
                             'UTC'))
            ON CONFLICT (tenant_id, user_id, channel, notification_type) DO UPDATE
                SET enabled = EXCLUDED.enabled, frequency_cap = EXCLUDED.frequency_cap,
                    quiet_hours_start = EXCLUDED.quiet_hours_start, quiet_hours_end = EXCLUDED.quiet_hours_end,
                    timezone = EXCLUDED.timezone, updated_at = tocsin_now()
            RETURNING channel, notification_type, enabled, frequency_cap, quiet_hours_start, quiet_hours_end, timezone,
                      created_at, updated_at
            """,
            {
                "preference_id": preference_id,
                "tenant_id": tenant_id,
                "user_id": user_id,
                "channel": channel,
                "notification_type": notification_type,
                "enabled": enabled,
                "frequency_cap": frequency_cap,
                "quiet_hours_start": quiet_hours_start,
                "quiet_hours_end": quiet_hours_end,
                "timezone": timezone,
            },
        )
        .fetchone()
    )
    assert row is not None  # noqa: S101 - an upsert without a WHERE always returns its row
    return row


def default_timezone(conn: Connection[Any], tenant_id: UUID, user_id: UUID) -> str:
    """The zone of a rule that names none: the user's own, else UTC."""
    row = conn.execute(
        "SELECT COALESCE(timezone, 'UTC') FROM users WHERE tenant_id = %(tenant_id)s AND id = %(user_id)s",
        {"tenant_id": tenant_id, "user_id": user_id},
    ).fetchone()
    return row[0] if row else "UTC"


def delete(conn: Connection[Any], tenant_id: UUID, user_id: UUID, channel: str, notification_type: str) -> None:
    conn.execute(
        """
        DELETE FROM preferences
        WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s AND channel = %(channel)s
          AND notification_type = %(notification_type)s
        """,
        {"tenant_id": tenant_id, "user_id": user_id, "channel": channel, "notification_type": notification_type},
    )
