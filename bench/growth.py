"""What weighs on the queue: a long history behind it, a snapshot that somebody keeps open, and much that is due around it."""

import time
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import uuid4

import psycopg
from psycopg import Connection

from bench.copies import copy_deliveries
from bench.deliveries import claim, claim_and_complete, complete, make_deliveries
from bench.ground import TENANT, Ground, furnish
from bench.report import Result, compared
from bench.rounds import Contestant, interleaved
from tocsin.store import outbox

FEW, MANY = 10_000, 200_000
TENANTS = 200
PEOPLE_OF_EACH = 50
FEW_DUE, MANY_DUE = 5, 2_500  # deliveries of each tenant
BATCH = 100
BATCHES = 5
ROUNDS = 5


def measure(ground: Ground) -> list[Result]:
    return _aged(ground) + _amid_others(ground)


def _aged(ground: Ground) -> list[Result]:
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


def _amid_others(ground: Ground) -> list[Result]:
    grounds = {count: replace(ground, database=f"due_{count}") for count in (FEW_DUE, MANY_DUE)}
    with ExitStack() as stack:
        contestants: dict[str, Contestant] = {}
        for count, one in grounds.items():
            furnish(ground.server, one.database)
            _add_tenants(one)
            people = min(count, PEOPLE_OF_EACH)
            made = copy_deliveries(one, each=count // people, people_per_tenant=people)
            assert len(made) == TENANTS * count
            conn = stack.enter_context(one.connect("tocsin_worker"))
            contestants[f"look {count}"] = partial(_find_milliseconds, conn, with_claim=False)
            contestants[f"claim {count}"] = partial(_find_milliseconds, conn, with_claim=True)
        interleaved(contestants, rounds=1)
        seen = interleaved(contestants, rounds=3 * ROUNDS)  # short ones
    few, many = f"{TENANTS * FEW_DUE:,} due", f"{TENANTS * MANY_DUE:,} due of {TENANTS} tenants"
    look, find = ((seen[f"{what} {MANY_DUE}"], "ms", few, seen[f"{what} {FEW_DUE}"]) for what in ("look", "claim"))
    return [
        compared(f"growth: looking for {BATCH} and claiming them, {many}", *find, "<= 1.3"),
        compared(f"growth: looking alone, {many}", *look),
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


def _add_tenants(ground: Ground) -> None:
    with psycopg.connect(ground.url(), autocommit=True) as conn:
        conn.execute(
            "INSERT INTO tenants (id, name) SELECT tocsin_uuid7(), 'tenant ' || n FROM generate_series(2, %s) AS n", [TENANTS]
        )
        conn.execute(
            """
            INSERT INTO users (id, tenant_id, external_id, email)
            SELECT tocsin_uuid7(), tenants.id, 'person-' || n, 'person-' || n || '@example.com'
            FROM tenants CROSS JOIN generate_series(1, %s) AS n
            WHERE tenants.id <> %s
            """,
            [PEOPLE_OF_EACH, TENANT],
        )
        conn.execute("VACUUM (ANALYZE) users")


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


def _find_milliseconds(conn: Connection[Any], *, with_claim: bool) -> float:
    """What a worker's look for work takes, and the claim of what it found; it is given back, off the clock."""
    seconds = 0.0
    for _ in range(BATCHES):
        token = uuid4()
        started = time.perf_counter()
        choice = outbox.choice("email", outbox.choose_due(conn, "email", limit=BATCH))
        found = [one.id for one in choice.due]
        claimed = claim(conn, found, token) if with_claim else []
        seconds += time.perf_counter() - started
        assert (len(found), len(claimed)) == (BATCH, BATCH if with_claim else 0)
        outbox.release(conn, found, lease_token=token)
    return seconds / BATCHES * 1000


def _drain_rate(ground: Ground, conn: Connection[Any]) -> float:
    ids = make_deliveries(ground, BATCH * BATCHES)
    started = time.perf_counter()
    for start in range(0, len(ids), BATCH):
        claim_and_complete(conn, ids[start : start + BATCH])
    return len(ids) / (time.perf_counter() - started)
