"""Accept events: each one's row, once, and the count of its sender's allowance."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import class_row
from psycopg.types.json import Jsonb


@dataclass(frozen=True, slots=True)
class Inserted:
    """The answer to one event, in the order of the request. recorded_at None: it was known before. is_routed: a rule says whom
    events of its type tell."""

    n: int
    recorded_at: datetime | None
    is_routed: bool
    rate_used: int


def insert_unless_known(
    conn: Connection[Any],
    events: list[dict[str, Any]],
    *,
    tenant_id: UUID,
    mode: str,
    request_id: str,
    trace_id: str,
    rate_subject: str,
    rate_limit: int,
) -> Cursor[Inserted]:
    """Take each event that is new to its source, and count them all; read the cursor after the commit."""
    return conn.cursor(row_factory=class_row(Inserted)).execute(
        """
        WITH event AS (
            SELECT *
            FROM jsonb_to_recordset(%(events)s) AS event (
                n integer, notification_id uuid, event_id text, source text, type text, scope text, thread_kind text,
                thread_id text, actor text, data jsonb, occurred_at timestamptz, trigger_depth smallint)
        ), taken AS (
            INSERT INTO domain_events (
                tenant_id, event_id, type, source, scope, thread_kind, thread_id, actor_user_id, data, notification_id, mode,
                request_id, trace_id, trigger_depth, occurred_at, recorded_at)
            SELECT %(tenant_id)s, event_id, type, source, scope, thread_kind, thread_id, actor.id, data, notification_id,
                   %(mode)s, %(request_id)s, %(trace_id)s, trigger_depth, COALESCE(occurred_at, tocsin_now()), tocsin_now()
            FROM event
            LEFT JOIN LATERAL (
                -- LIMIT: one probe of the index each; as a join it would read the whole table
                SELECT id FROM users WHERE tenant_id = %(tenant_id)s AND external_id = event.actor LIMIT 1
            ) AS actor ON true
            ORDER BY n
            ON CONFLICT (tenant_id, source, event_id) DO NOTHING
            RETURNING notification_id, recorded_at
        ), counted AS (
            INSERT INTO rate_limits (tenant_id, subject, limit_type, window_start, request_count, max_count)
            SELECT %(tenant_id)s, %(rate_subject)s, 'events', date_trunc('minute', tocsin_now()), %(cost)s, %(rate_limit)s
            FROM (SELECT count(*) FROM taken) AS after_the_events
            ON CONFLICT (tenant_id, subject, limit_type, window_start) DO UPDATE
                SET request_count = rate_limits.request_count + EXCLUDED.request_count, max_count = EXCLUDED.max_count
            RETURNING request_count
        )
        SELECT event.n, taken.recorded_at, (SELECT request_count FROM counted) AS rate_used,
               EXISTS (SELECT FROM tocsin_event_rule(%(tenant_id)s, event.type)) AS is_routed
        FROM event LEFT JOIN taken USING (notification_id)
        ORDER BY event.n
        """,
        {
            "events": Jsonb(events),
            "tenant_id": tenant_id,
            "mode": mode,
            "request_id": request_id,
            "trace_id": trace_id,
            "rate_subject": rate_subject,
            "rate_limit": rate_limit,
            "cost": len(events),
        },
    )
