"""Put off what an endpoint has no room for, and what else is due for it, so that others are found behind it."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import args_row
from psycopg.types.json import Jsonb

PACE = timedelta(milliseconds=100)  # between two pieces of work that wait for one endpoint
MOST_AT_ONCE = 1_000  # of a tenant's due work, looked through for neighbours
MOST_COUNTED = 5_000  # of what waits already: the next comes behind them


@dataclass(frozen=True, slots=True)
class PutOff:
    """One piece of claimed work, the endpoint it waits for (the name of its lane), and how long at least."""

    outbox_id: UUID
    lane: str
    delay: timedelta


@dataclass(frozen=True, slots=True)
class Postponed:
    """Of each endpoint the piece that is due first, and in how many seconds."""

    id: UUID
    queue: str
    tenant_id: UUID
    seconds: float


def put_off(conn: Connection[Any], waits: list[PutOff], *, lease_token: UUID) -> Cursor[Postponed]:
    """Give claimed work back, due one after the other; no attempt is counted. Answers, and the sweep, bring it forward."""
    return conn.cursor(row_factory=args_row(Postponed)).execute(
        """
        WITH wait AS (
            SELECT * FROM jsonb_to_recordset(%(waits)s) AS wait (outbox_id uuid, lane text, delay_ms float8)
        ), endpoint AS (
            SELECT asked.lane, asked.delay_ms, waiting.count
            FROM (SELECT lane, max(delay_ms) AS delay_ms FROM wait GROUP BY lane) AS asked
            CROSS JOIN LATERAL (
                SELECT count(*) AS count
                FROM (SELECT FROM outbox WHERE waits_for = asked.lane LIMIT %(most_counted)s) AS some
            ) AS waiting
        ), held AS (
            SELECT outbox.id, wait.lane, outbox.tenant_id, outbox.due_at, true AS is_ours
            FROM outbox JOIN wait ON wait.outbox_id = outbox.id
            WHERE outbox.lease_token = %(lease_token)s
        ), due AS MATERIALIZED (
            SELECT piece.id
            FROM (SELECT DISTINCT tenant_id FROM held) AS tenant CROSS JOIN LATERAL (
                SELECT outbox.id
                FROM outbox
                WHERE outbox.queue = 'webhook' AND outbox.tenant_id = tenant.tenant_id AND outbox.due_at <= tocsin_now()
                  AND (outbox.leased_until IS NULL OR outbox.leased_until <= tocsin_now())
                ORDER BY outbox.due_at
                LIMIT %(most_at_once)s
            ) AS piece
        ), neighbour AS (
            SELECT outbox.id, endpoint.lane, outbox.tenant_id, outbox.due_at, false AS is_ours
            FROM due
            JOIN webhook_deliveries AS delivery ON delivery.id = due.id
            JOIN endpoint ON endpoint.lane = 'webhook:' || delivery.webhook_id
            JOIN outbox ON outbox.id = due.id
            WHERE outbox.due_at <= tocsin_now() AND (outbox.leased_until IS NULL OR outbox.leased_until <= tocsin_now())
              AND outbox.claim_count = 0
            FOR UPDATE OF outbox SKIP LOCKED
        ), turn AS (
            SELECT one.id, one.lane, one.is_ours, tocsin_now() + (endpoint.delay_ms + %(pace_ms)s * (
                       endpoint.count + row_number() OVER (PARTITION BY one.lane ORDER BY one.due_at, one.id) - 1
                   )) * interval '1 millisecond' AS due_at
            FROM (SELECT * FROM held UNION ALL SELECT * FROM neighbour) AS one
            JOIN endpoint ON endpoint.lane = one.lane
        ), postponed AS (
            UPDATE outbox
            SET due_at = turn.due_at, waits_for = turn.lane, lease_token = NULL, leased_until = NULL, nudged_at = NULL,
                claim_count = 0
            FROM turn
            WHERE outbox.id = turn.id AND (NOT turn.is_ours OR outbox.lease_token = %(lease_token)s)
            RETURNING outbox.id, outbox.queue, outbox.tenant_id, outbox.due_at, outbox.waits_for
        )
        SELECT DISTINCT ON (waits_for) id, queue, tenant_id, extract(epoch FROM due_at - tocsin_now())::float8
        FROM postponed
        ORDER BY waits_for, due_at
        """,
        {
            "waits": Jsonb(
                [
                    {
                        "outbox_id": str(one.outbox_id),
                        "lane": one.lane,
                        "delay_ms": one.delay.total_seconds() * 1000,
                    }
                    for one in waits
                ]
            ),
            "lease_token": lease_token,
            "pace_ms": PACE.total_seconds() * 1000,
            "most_at_once": MOST_AT_ONCE,
            "most_counted": MOST_COUNTED,
        },
    )
