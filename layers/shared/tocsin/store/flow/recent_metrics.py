"""Recent metrics: what happened in the last minutes, counted from the rows of records, routes, attempts and dead letters."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row

Happening = Literal["accepted", "published", "skipped", "dead_lettered", "failed_attempts"]


@dataclass(frozen=True, slots=True)
class MinuteCount:
    what: Happening
    minute: int  # how many minutes after the first
    channel: str
    provider: str
    count: int


def count_minutes(conn: Connection[Any], tenant_id: UUID, since: datetime, until: datetime, *, mode: str) -> list[MinuteCount]:
    """By minute, channel and provider; where nothing happened there is no row. A record has neither channel nor provider.

    Each is found by when it happened. What no provider saw (`not_sent`) is no failed attempt, nor is one still under way."""
    # Of a summary of what is nearly always empty (skipped_at) the planner expects nothing, and would read all routes instead.
    conn.execute("SELECT set_config('enable_seqscan', 'off', true)")
    return (
        conn.cursor(row_factory=class_row(MinuteCount))
        .execute(
            """
            WITH ended AS MATERIALIZED (
                -- by the time alone, before anything is looked up
                SELECT 'published' AS what, notification_id, published_at AS at, channel, provider
                FROM routes
                WHERE tenant_id = %(tenant_id)s AND published_at >= %(since)s AND published_at < %(until)s
                UNION ALL
                SELECT 'skipped', notification_id, skipped_at, channel, provider
                FROM routes
                WHERE tenant_id = %(tenant_id)s AND skipped_at >= %(since)s AND skipped_at < %(until)s
                UNION ALL
                SELECT 'dead_lettered', notification_id, created_at, channel, provider
                FROM dead_letters
                WHERE tenant_id = %(tenant_id)s AND created_at >= %(since)s AND created_at < %(until)s
                  AND source_kind = 'deliver' AND channel <> ''
            ), failed AS MATERIALIZED (
                SELECT notification_id, route_id, started_at AS at, provider
                FROM attempts
                WHERE tenant_id = %(tenant_id)s AND started_at >= %(since)s AND started_at < %(until)s
                  AND outcome NOT IN ('accepted', 'not_sent')
            ), happened AS (
                SELECT 'accepted' AS what, accepted_at AS at, '' AS channel, '' AS provider
                FROM records
                WHERE tenant_id = %(tenant_id)s AND accepted_at >= %(since)s AND accepted_at < %(until)s AND mode = %(mode)s
                UNION ALL
                SELECT ended.what, ended.at, ended.channel, ended.provider
                FROM ended JOIN records USING (notification_id)
                WHERE records.mode = %(mode)s
                UNION ALL
                SELECT 'failed_attempts', failed.at, routes.channel, failed.provider
                FROM failed JOIN routes USING (notification_id, route_id) JOIN records USING (notification_id)
                WHERE records.mode = %(mode)s
            )
            SELECT what, floor(extract(epoch FROM at - %(since)s) / 60)::integer AS minute, channel, provider, count(*) AS count
            FROM happened
            GROUP BY 1, 2, 3, 4
            ORDER BY 1, 2, 3, 4
            """,
            {"tenant_id": tenant_id, "since": since, "until": until, "mode": mode},
            prepare=False,  # planned for its minutes
        )
        .fetchall()
    )
