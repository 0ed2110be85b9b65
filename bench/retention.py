"""Retention: a million expired rows go, compared with the plainest batched DELETE, and while intake goes on."""

import multiprocessing
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import psycopg
from psycopg import Connection

from bench.ground import TENANT, Ground, accept_all, asked, furnish
from bench.report import Result, compared
from bench.rounds import interleaved
from tocsin.foundation import connecting
from tocsin.foundation.settings import Settings
from tocsin.upkeep.retain import BATCH, retain
from tocsin.upkeep.retention_rules import rules_of

RECORDS = 334_000  # with a route and an attempt each: a million rows
SLICE = 20_000  # records of one round of the race
ROUNDS = 5
TURN_SECONDS = 3.0
SPAWN = multiprocessing.get_context("spawn")


def measure(ground: Ground) -> list[Result]:
    return _against_plain(ground) + _beside_intake(ground)


def _against_plain(ground: Ground) -> list[Result]:
    grounds = {name: replace(ground, database=f"forget_{name}") for name in ("ours", "plain")}
    with ExitStack() as stack:
        for one in grounds.values():
            furnish(ground.server, one.database, people=1)
            _grow_old(one, SLICE * (ROUNDS + 1))
        ours = stack.enter_context(grounds["ours"].connect("tocsin_retention"))
        plain = stack.enter_context(psycopg.connect(grounds["plain"].url(), autocommit=True))
        contestants = {"ours": lambda: _rate(_forget(ours)), "plain": lambda: _rate(_delete(plain))}
        interleaved(contestants, rounds=1)
        seen = interleaved(contestants, rounds=ROUNDS)
    name, against = "retention: records forgotten, with routes and attempts, pauses apart", "plain batched DELETE"
    return [compared(name, seen["ours"], "/s", against, seen["plain"], ">= 0.7")]


def _beside_intake(ground: Ground) -> list[Result]:
    """By turns: some seconds beside retention, some in peace, until nothing is left to forget."""
    one = replace(ground, database="forget_beside")
    furnish(ground.server, one.database)
    _grow_old(one, RECORDS)
    rates: dict[bool, list[float]] = {True: [], False: []}
    with one.connect("tocsin_app") as app, _retention_beside(one) as (run, may_work):
        _intake_rate(app, TURN_SECONDS)
        while run.is_alive():
            for is_busy in (True, False):
                (may_work.set if is_busy else may_work.clear)()
                rate = _intake_rate(app, TURN_SECONDS)
                if run.is_alive() or not is_busy:
                    rates[is_busy].append(rate)
    busy, calm = (sum(rates[is_busy]) / len(rates[is_busy]) for is_busy in (True, False))
    took = TURN_SECONDS * len(rates[True])
    left = f"intake: accept, while {3 * RECORDS:,} expired rows go in {took:.0f} s"
    return [compared(left, busy, "/s", "in peace", calm, ">= 0.8")]


def _grow_old(one: Ground, count: int) -> None:
    """Records of a hundred days ago, each with a route that was published and its attempt."""
    with psycopg.connect(one.url(), autocommit=True) as conn:
        conn.execute(
            """
            CREATE TABLE old AS
            SELECT tocsin_uuid7() AS id, tocsin_now() - interval '100 days' + n * interval '1 ms' AS at
            FROM generate_series(1, %s) AS n
            """,
            [count],
        )
        conn.execute(
            """
            INSERT INTO records (notification_id, tenant_id, notification_type, producer, audience_kind, payload_json,
                                 idempotency_key, request_fingerprint, holds_key, occurred_at, accepted_at, updated_at,
                                 idempotency_expires_at)
            SELECT id, %s, 'order.shipped', 'shop', 'users', '{"title": "Shipped", "message": "It is on its way."}', id::text,
                   sha256(id::text::bytea), false, at, at, at, at + interval '7 days'
            FROM old
            """,
            [TENANT],
        )
        conn.execute(
            """
            INSERT INTO routes (notification_id, route_id, tenant_id, channel, recipient_ref, status, max_attempts,
                                resolved_email, provider, created_at, updated_at, published_at, accepted_at)
            SELECT id, 'email:1', %s, 'email', 'user:person-1', 'published', 5, 'person-1@example.com', 'ses', at, at, at, at
            FROM old
            """,
            [TENANT],
        )
        conn.execute(
            """
            INSERT INTO attempts (notification_id, route_id, generation, attempt_no, tenant_id, provider, started_at, finished_at,
                                  outcome)
            SELECT id, 'email:1', 1, 1, %s, 'ses', at, at, 'accepted' FROM old
            """,
            [TENANT],
        )
        conn.execute("DROP TABLE old")
        conn.execute("VACUUM ANALYZE")
        conn.execute("CHECKPOINT")


def _rate(batches: Iterator[int]) -> float:
    began, gone = time.monotonic(), 0
    for count in batches:
        gone += count
        if gone >= SLICE or not count:
            break
    return gone / (time.monotonic() - began)


def _forget(conn: Connection[Any]) -> Iterator[int]:
    (rule,) = (rule for rule in rules_of(Settings()) if rule.name == "records")
    while True:
        yield rule.apply(conn, BATCH)


def _delete(conn: Connection[Any]) -> Iterator[int]:
    """The least that can be done: the next thousand, their routes and attempts by the foreign keys, and no question asked."""
    while True:
        yield conn.execute(
            """
            DELETE FROM records
            WHERE notification_id IN (
                SELECT notification_id FROM records
                WHERE tenant_id = %s AND accepted_at < tocsin_now() - interval '90 days'
                ORDER BY accepted_at LIMIT %s)
            """,
            [TENANT, BATCH],
        ).rowcount


def _intake_rate(conn: Connection[Any], seconds: float) -> float:
    began, count = time.monotonic(), 0
    while time.monotonic() - began < seconds:
        accept_all(conn, [asked()])
        count += 1
    return count / (time.monotonic() - began)


@contextmanager
def _retention_beside(one: Ground) -> Iterator[Any]:
    """In a process of its own, as in the cloud, which works while it may."""
    may_work = SPAWN.Event()
    run = SPAWN.Process(target=_retain, args=(one.url("tocsin_retention"), may_work))
    run.start()
    try:
        yield run, may_work
    finally:
        may_work.set()
        run.join()
    assert run.exitcode == 0, run.exitcode


def _retain(url: str, may_work: Any) -> None:
    with connecting.connect(Settings(tocsin_database_url=url)) as conn:
        report = retain(conn, rules_of(Settings()), has_time=lambda: bool(may_work.wait(timeout=600)))
    assert report.forgotten["records"] > 0, report
