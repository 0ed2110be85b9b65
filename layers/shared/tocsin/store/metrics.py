"""How much was sent, failed and waits, by hour and by day, as the last roll-up counted it."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row


@dataclass(frozen=True, slots=True)
class Counted:
    """Of an hour, or (without one) of a day."""

    id: UUID
    date: date
    hour: int | None
    channel: str
    provider: str
    total_sent: int
    total_failed: int
    total_skipped: int
    total_pending: int
    total_delivery_ms: int
    avg_delivery_ms: int | None
    created_at: datetime
    updated_at: datetime


def find_between(
    conn: Connection[Any],
    tenant_id: UUID,
    first: date,
    last: date,
    *,
    mode: str,
    hourly: bool,
    channel: str | None,
    provider: str | None,
) -> list[Counted]:
    """What was counted from one day to another, both included, oldest first. Where nothing was, there is no row."""
    return (
        conn.cursor(row_factory=class_row(Counted))
        .execute(
            """
            SELECT id, date, hour, channel, provider, total_sent, total_failed, total_skipped, total_pending, total_delivery_ms,
                   avg_delivery_ms, created_at, updated_at
            FROM metrics
            WHERE tenant_id = %(tenant_id)s AND date BETWEEN %(first)s AND %(last)s AND (hour IS NOT NULL) = %(hourly)s
              AND mode = %(mode)s
              AND (%(channel)s::text IS NULL OR channel = %(channel)s)
              AND (%(provider)s::text IS NULL OR provider = %(provider)s)
              AND (total_sent, total_failed, total_skipped, total_pending) <> (0, 0, 0, 0)
            ORDER BY date, hour, channel, provider
            """,
            {
                "tenant_id": tenant_id,
                "first": first,
                "last": last,
                "hourly": hourly,
                "mode": mode,
                "channel": channel,
                "provider": provider,
            },
            prepare=False,  # planned for the filters there are
        )
        .fetchall()
    )


def delete_expired(conn: Connection[Any], *, hourly_age: timedelta, daily_age: timedelta, limit: int) -> int:
    """Hours go first; the days they add up to stay longer."""
    return conn.execute(
        """
        WITH hours AS (
            SELECT id FROM metrics
            WHERE hour IS NOT NULL AND date < (tocsin_now() AT TIME ZONE 'UTC')::date - %(hourly_days)s::integer
            ORDER BY date, hour
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        ), days AS (
            SELECT id FROM metrics
            WHERE hour IS NULL AND date < (tocsin_now() AT TIME ZONE 'UTC')::date - %(daily_days)s::integer
            ORDER BY date
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM metrics
        USING (SELECT id FROM hours UNION ALL SELECT id FROM days) AS expired
        WHERE metrics.id = expired.id
        """,
        {"hourly_days": hourly_age.days, "daily_days": daily_age.days, "limit": limit},
    ).rowcount
