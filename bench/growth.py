"""What time does to the queue: a long history behind it, and a snapshot that somebody keeps open."""

import time
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import uuid4

import psycopg
from psycopg import Connection

from bench.deliveries import claim, claim_and_complete, complete, make_deliveries
from bench.ground import TENANT, Ground, furnish
from bench.report import Result, compared
from bench.rounds import Contestant, interleaved

FEW, MANY = 10_000, 200_000
BATCH = 100
BATCHES = 5
ROUNDS = 5


def measure(ground: Ground) -> list[Result]:
    grounds = {name: replace(ground, database=name) for name in ("young", "old", "held")}
    with ExitStack() as stack:
        conns: dict[str, Connection[Any]] = {}
        for name, one in grounds.items():
            furnish(ground.server, name)
            _add_history(one, MANY if name == "old" else FEW)
            conns[name] = stack.enter_context(one.connect("tocsin_worker"))
        report = stack.enter_context(psycopg.connect(grounds["held"].url()))
        report.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        report.execute("SELECT count(*) FROM outbox")
        contestants: dict[str, Contestant] = {
            "claim old": partial(_claim_milliseconds, grounds["old"], conns["old"]),
            "claim young": partial(_claim_milliseconds, grounds["young"], conns["young"]),
            "drain held": partial(_drain_rate, grounds["held"], conns["held"]),
            "drain young": partial(_drain_rate, grounds["young"], conns["young"]),
        }
        interleaved(contestants, rounds=1)
        seen = interleaved(contestants, rounds=ROUNDS)
        report.rollback()
    few, many = f"{FEW:,} behind", f"{MANY:,} finished behind"
    return [
        compared(f"growth: claiming {BATCH}, {many}", seen["claim old"], "ms", few, seen["claim young"], "<= 1.3"),
        compared("growth: claim + complete, a snapshot open", seen["drain held"], "/s", "without", seen["drain young"], ">= 0.5"),
    ]


def _add_history(ground: Ground, count: int) -> None:
    """Finished notifications with a route and an attempt each, as delivering them would have left them."""
    with psycopg.connect(ground.url(), autocommit=True) as conn:
        conn.execute("SET session_replication_role = replica")  # foreign keys hold by construction
        conn.execute(
            """
            CREATE TEMPORARY TABLE history AS
            SELECT tocsin_uuid7() AS id, tocsin_now() - n * interval '1 second' AS at FROM generate_series(1, %s) AS n
            """,
            [count],
        )
        conn.execute(
            """
            INSERT INTO records (notification_id, tenant_id, notification_type, producer, audience_kind, payload_json,
                idempotency_key, request_fingerprint, occurred_at, accepted_at, updated_at, idempotency_expires_at)
            SELECT id, %s, 'order.shipped', 'shop', 'users', '{"title": "a", "message": "b"}', id, '\\x00', at, at, at,
                at + interval '7 days'
            FROM history
            """,
            [TENANT],
        )
        conn.execute(
            """
            INSERT INTO routes (notification_id, route_id, tenant_id, channel, recipient_ref, status, max_attempts,
                attempt_count, provider, created_at, updated_at, published_at)
            SELECT id, 'email-' || id, %s, 'email', 'user:person-1', 'published', 5, 1, 'ses', at, at, at FROM history
            """,
            [TENANT],
        )
        conn.execute(
            """
            INSERT INTO attempts (notification_id, route_id, generation, attempt_no, tenant_id, provider, started_at,
                finished_at, outcome)
            SELECT id, 'email-' || id, 1, 1, %s, 'ses', at, at, 'accepted' FROM history
            """,
            [TENANT],
        )
        conn.execute("VACUUM (ANALYZE) records, routes, attempts")


def _claim_milliseconds(ground: Ground, conn: Connection[Any]) -> float:
    ids = make_deliveries(ground, BATCH * BATCHES)
    seconds = 0.0
    for start in range(0, len(ids), BATCH):
        token = uuid4()
        started = time.perf_counter()
        claimed = claim(conn, ids[start : start + BATCH], token)
        seconds += time.perf_counter() - started
        complete(conn, claimed, token)
    return seconds / BATCHES * 1000


def _drain_rate(ground: Ground, conn: Connection[Any]) -> float:
    ids = make_deliveries(ground, BATCH * BATCHES)
    started = time.perf_counter()
    for start in range(0, len(ids), BATCH):
        claim_and_complete(conn, ids[start : start + BATCH])
    return len(ids) / (time.perf_counter() - started)
