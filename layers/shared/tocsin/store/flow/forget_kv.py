"""Forget entries of the KV store that their tenant keeps for a time only; nobody else's are ever touched."""

from datetime import timedelta
from typing import Any

from psycopg import Connection


def forget(conn: Connection[Any], *, least: timedelta, limit: int) -> int:
    """By the time of the last write. No trigger hears of it: what fires is what somebody does.

    The entry before the counter, as those do who write one: nobody waits in a ring."""
    row = conn.execute(
        """
        WITH expired AS (
            SELECT old.tenant_id, old.collection, old.key
            FROM tocsin_kept('kv_entries_days', NULL, %(least)s) AS kept
            CROSS JOIN LATERAL (
                SELECT entry.tenant_id, entry.collection, entry.key FROM kv_entries AS entry
                WHERE entry.tenant_id = kept.tenant_id AND entry.updated_at < tocsin_now() - kept.age
                LIMIT %(limit)s
                FOR UPDATE SKIP LOCKED
            ) AS old
            WHERE kept.age IS NOT NULL
            LIMIT %(limit)s
        ), gone AS (
            DELETE FROM kv_entries AS entry USING expired
            WHERE entry.tenant_id = expired.tenant_id AND entry.collection = expired.collection AND entry.key = expired.key
            RETURNING entry.tenant_id
        ), counted AS (
            UPDATE kv_usage SET entries = kv_usage.entries - fewer.entries
            FROM (SELECT tenant_id, count(*) AS entries FROM gone GROUP BY tenant_id) AS fewer
            WHERE kv_usage.tenant_id = fewer.tenant_id
        )
        SELECT count(*) FROM gone
        """,
        {"least": least, "limit": limit},
    ).fetchone()
    return int(row[0]) if row else 0
