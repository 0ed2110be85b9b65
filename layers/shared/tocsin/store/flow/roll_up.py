"""Roll up: what was sent, failed and skipped, and what waits, counted from the rows themselves by hour and by day."""

from datetime import date, datetime
from typing import Any

from psycopg import Connection, Cursor


def find_start(conn: Connection[Any]) -> tuple[datetime, datetime | None]:
    """The hour it is, and the one of the first record there is."""
    row = conn.execute(
        """
        SELECT date_trunc('hour', tocsin_now(), 'UTC'),
               date_trunc('hour', (SELECT accepted_at FROM records ORDER BY accepted_at LIMIT 1), 'UTC')
        """
    ).fetchone()
    assert row is not None  # noqa: S101 - it reads no table
    return row[0], row[1]


def count_hours(conn: Connection[Any], since: datetime, until: datetime) -> Cursor[Any]:
    """Count anew what happened in these hours, for every tenant. The same rows give the same numbers, however often.

    Routes are found by when they ended; a failure is its dead letter, which stays when it is replayed. The cursor's row count
    is what had other numbers before."""
    return conn.execute(
        """
        WITH ended AS (
            SELECT routes.tenant_id, records.mode, routes.published_at AS at, routes.provider, routes.channel,
                   1 AS sent, 0 AS failed, 0 AS skipped,
                   GREATEST(0, floor(extract(epoch FROM
                       routes.published_at - GREATEST(records.accepted_at, records.send_at)) * 1000))::bigint AS delivery_ms
            FROM routes JOIN records USING (notification_id)
            WHERE routes.published_at >= %(since)s AND routes.published_at < %(until)s
            UNION ALL
            SELECT routes.tenant_id, records.mode, routes.skipped_at, routes.provider, routes.channel, 0, 0, 1, 0
            FROM routes JOIN records USING (notification_id)
            WHERE routes.skipped_at >= %(since)s AND routes.skipped_at < %(until)s
            UNION ALL
            SELECT letter.tenant_id, records.mode, letter.created_at, letter.provider, letter.channel, 0, 1, 0, 0
            FROM dead_letters AS letter JOIN records USING (notification_id)
            WHERE letter.created_at >= %(since)s AND letter.created_at < %(until)s
              AND letter.source_kind = 'deliver' AND letter.channel <> ''
        ), counted AS MATERIALIZED (
            SELECT tenant_id, mode, (at AT TIME ZONE 'UTC')::date AS date,
                   extract(hour FROM at AT TIME ZONE 'UTC')::smallint AS hour, provider, channel,
                   sum(sent) AS sent, sum(failed) AS failed, sum(skipped) AS skipped, sum(delivery_ms) AS delivery_ms
            FROM ended
            GROUP BY 1, 2, 3, 4, 5, 6
        ), gone AS (
            -- what was counted before and is not there any more: erased, within the hour or two in which they are counted again
            UPDATE metrics
            SET total_sent = 0, total_failed = 0, total_skipped = 0, total_delivery_ms = 0, updated_at = tocsin_now()
            WHERE (date, hour) >= ((%(since)s AT TIME ZONE 'UTC')::date,
                                   extract(hour FROM %(since)s AT TIME ZONE 'UTC')::smallint)
              AND (date, hour) < ((%(until)s AT TIME ZONE 'UTC')::date,
                                  extract(hour FROM %(until)s AT TIME ZONE 'UTC')::smallint)
              AND hour IS NOT NULL AND (total_sent, total_failed, total_skipped) <> (0, 0, 0)
              AND NOT EXISTS (
                  SELECT FROM counted
                  WHERE counted.tenant_id = metrics.tenant_id AND counted.mode = metrics.mode
                    AND counted.date = metrics.date AND counted.hour = metrics.hour
                    AND counted.provider = metrics.provider AND counted.channel = metrics.channel)
        )
        INSERT INTO metrics (
            tenant_id, mode, date, hour, provider, channel, total_sent, total_failed, total_skipped, total_delivery_ms)
        SELECT tenant_id, mode, date, hour, provider, channel, sent, failed, skipped, delivery_ms
        FROM counted
        ORDER BY tenant_id, date, hour, mode, provider, channel
        ON CONFLICT ON CONSTRAINT metrics_key DO UPDATE
            SET total_sent = EXCLUDED.total_sent, total_failed = EXCLUDED.total_failed,
                total_skipped = EXCLUDED.total_skipped, total_delivery_ms = EXCLUDED.total_delivery_ms,
                updated_at = tocsin_now()
            WHERE (metrics.total_sent, metrics.total_failed, metrics.total_skipped, metrics.total_delivery_ms)
                <> (EXCLUDED.total_sent, EXCLUDED.total_failed, EXCLUDED.total_skipped, EXCLUDED.total_delivery_ms)
        """,
        {"since": since, "until": until},
        prepare=False,  # an hour, or the months of the first run: each is planned for what it is
    )


def count_pending(conn: Connection[Any], since: datetime) -> list[date]:
    """Count what waits now, under the hour in which it was accepted, and that nothing waits of other hours any more.
    Returns the days of which something changed."""
    rows = conn.execute(
        """
        WITH pending AS MATERIALIZED (
            SELECT routes.tenant_id, records.mode, (routes.accepted_at AT TIME ZONE 'UTC')::date AS date,
                   extract(hour FROM routes.accepted_at AT TIME ZONE 'UTC')::smallint AS hour,
                   routes.provider, routes.channel, count(*) AS routes
            FROM outbox
            JOIN routes ON routes.notification_id = outbox.notification_id AND routes.route_id = outbox.route_id
            JOIN records ON records.notification_id = outbox.notification_id
            WHERE outbox.source_kind = 'deliver' AND routes.status IN ('pending', 'failed') AND routes.accepted_at >= %(since)s
            GROUP BY 1, 2, 3, 4, 5, 6
        ), finished AS (
            UPDATE metrics SET total_pending = 0, updated_at = tocsin_now()
            WHERE total_pending > 0 AND hour IS NOT NULL AND NOT EXISTS (
                SELECT FROM pending
                WHERE pending.tenant_id = metrics.tenant_id AND pending.mode = metrics.mode AND pending.date = metrics.date
                  AND pending.hour = metrics.hour AND pending.provider = metrics.provider
                  AND pending.channel = metrics.channel)
            RETURNING metrics.date
        ), waiting AS (
            INSERT INTO metrics (tenant_id, mode, date, hour, provider, channel, total_pending)
            SELECT tenant_id, mode, date, hour, provider, channel, routes
            FROM pending
            ORDER BY tenant_id, date, hour, mode, provider, channel
            ON CONFLICT ON CONSTRAINT metrics_key DO UPDATE
                SET total_pending = EXCLUDED.total_pending, updated_at = tocsin_now()
                WHERE metrics.total_pending <> EXCLUDED.total_pending
            RETURNING metrics.date
        )
        SELECT date FROM finished UNION SELECT date FROM waiting
        """,
        {"since": since},
        prepare=False,
    ).fetchall()
    return [row[0] for row in rows]


def sum_days(conn: Connection[Any], days: list[date]) -> Cursor[Any]:
    """Make these days the sum of their hours. All hours must still be there. The cursor's row count is what changed."""
    return conn.execute(
        """
        INSERT INTO metrics (
            tenant_id, mode, date, hour, provider, channel, total_sent, total_failed, total_skipped, total_pending,
            total_delivery_ms)
        SELECT tenant_id, mode, date, NULL, provider, channel, sum(total_sent), sum(total_failed), sum(total_skipped),
               sum(total_pending), sum(total_delivery_ms)
        FROM metrics
        WHERE date = ANY(%(days)s) AND hour IS NOT NULL
        GROUP BY tenant_id, mode, date, provider, channel
        ORDER BY tenant_id, date, mode, provider, channel
        ON CONFLICT ON CONSTRAINT metrics_key DO UPDATE
            SET total_sent = EXCLUDED.total_sent, total_failed = EXCLUDED.total_failed,
                total_skipped = EXCLUDED.total_skipped, total_pending = EXCLUDED.total_pending,
                total_delivery_ms = EXCLUDED.total_delivery_ms, updated_at = tocsin_now()
            WHERE (metrics.total_sent, metrics.total_failed, metrics.total_skipped, metrics.total_pending,
                   metrics.total_delivery_ms)
                <> (EXCLUDED.total_sent, EXCLUDED.total_failed, EXCLUDED.total_skipped, EXCLUDED.total_pending,
                    EXCLUDED.total_delivery_ms)
        """,
        {"days": days},
    )
