"""Forget the oldest rows of the audit log, and with them move the place where each tenant's chain begins."""

from datetime import timedelta
from typing import Any

from psycopg import Connection


def delete_expired(conn: Connection[Any], *, age: timedelta, least: timedelta, limit: int) -> int:
    """Rows go in the order of their chain, none before the one that it follows; a tenant that is writing just now waits for the
    next run."""
    row = conn.execute(
        """
        WITH kept AS MATERIALIZED (
            SELECT tenant_id, age FROM tocsin_kept('audit_logs_days', %(age)s, %(least)s)
        ), old AS (
            SELECT entry.id, entry.tenant_id, entry.seq
            FROM kept
            CROSS JOIN LATERAL (
                SELECT audit_logs.id, audit_logs.tenant_id, audit_logs.seq
                FROM audit_logs
                WHERE audit_logs.tenant_id = kept.tenant_id AND audit_logs.created_at < tocsin_now() - kept.age
                ORDER BY audit_logs.created_at
                LIMIT %(limit)s
            ) AS entry
            LIMIT %(limit)s
        ), head AS (
            SELECT audit_heads.tenant_id, audit_heads.forgotten_seq
            FROM audit_heads
            WHERE audit_heads.tenant_id IN (SELECT tenant_id FROM old WHERE seq IS NOT NULL)
            ORDER BY audit_heads.tenant_id
            FOR UPDATE SKIP LOCKED
        ), expired AS (
            SELECT id FROM old WHERE seq IS NULL
            UNION ALL
            (SELECT entry.id
             FROM head
             JOIN kept USING (tenant_id)
             CROSS JOIN LATERAL (
                 SELECT id, seq, bool_and(created_at < tocsin_now() - kept.age) OVER (ORDER BY seq) AS is_expired
                 FROM (SELECT id, seq, created_at
                       FROM audit_logs
                       WHERE tenant_id = head.tenant_id AND seq > head.forgotten_seq
                       ORDER BY seq
                       LIMIT %(limit)s) AS first
             ) AS entry
             WHERE entry.is_expired
             ORDER BY head.tenant_id, entry.seq
             LIMIT %(limit)s)
        ), gone AS (
            DELETE FROM audit_logs USING expired WHERE audit_logs.id = expired.id
            RETURNING audit_logs.tenant_id, audit_logs.seq, audit_logs.hash
        ), moved AS (
            UPDATE audit_heads SET forgotten_seq = last.seq, forgotten_hash = last.hash
            FROM (SELECT DISTINCT ON (tenant_id) tenant_id, seq, hash FROM gone
                  WHERE seq IS NOT NULL ORDER BY tenant_id, seq DESC) AS last
            WHERE audit_heads.tenant_id = last.tenant_id
        )
        SELECT count(*) FROM gone
        """,
        {"age": age, "least": least, "limit": limit},
    ).fetchone()
    return int(row[0]) if row else 0
