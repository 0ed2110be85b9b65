"""Very many deliveries due at one moment and never nudged, as when quiet hours end: a worker that looks for its work, against
one that is told the ids."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import psycopg
from psycopg import Connection

from bench.copies import copy_deliveries
from bench.deliveries import make_deliveries, worker
from bench.ground import Ground, furnish
from bench.report import Result, compared
from tocsin.outbox.dispatch import dispatch

EACH = 2  # for each of the tenant's people: far from the hourly limit
BATCH = 100
PORTION = 5_000  # for one invocation, then it is the other worker's turn
NUDGED = 1_000  # for the other worker, in each of its turns


def measure(ground: Ground) -> list[Result]:
    timers = replace(ground, database="timers")
    furnish(ground.server, timers.database)
    with psycopg.connect(timers.url(), autocommit=True) as admin, timers.connect("tocsin_worker") as conn:
        due = len(copy_deliveries(timers, each=EACH))
        seconds = {"looked for": 0.0, "nudged": 0.0}
        done = rounds = 0
        while done < due:
            rounds += 1
            seconds["nudged"] += _nudged(timers, conn)
            claimed, taken = _looked_for(conn)
            assert claimed, "nothing was found"
            done += claimed
            seconds["looked for"] += taken
        assert _count(admin, "SELECT count(*) FROM outbox") == 0, "work was left behind"
        sent = _count(admin, "SELECT count(*) FROM attempts WHERE outcome = 'accepted'")
        assert sent == due + rounds * NUDGED, "something was not sent"
    rate, other = due / seconds["looked for"], rounds * NUDGED / seconds["nudged"]
    name = f"timers: {due:,} due at one moment, batch {BATCH}"
    return [compared(name, rate, "/s", "whole delivery, ids nudged", other, ">= 0.9")]


def _nudged(timers: Ground, conn: Connection[Any]) -> float:
    """Seconds for some newer deliveries beside the crowd, by their ids."""
    ids = make_deliveries(timers, NUDGED)
    brought = worker(BATCH)
    started = time.perf_counter()
    for start in range(0, len(ids), BATCH):
        dispatch(conn, ids[start : start + BATCH], brought)
    return time.perf_counter() - started


def _looked_for(conn: Connection[Any]) -> tuple[int, float]:
    """One invocation of a worker of the queue: how many deliveries it found, and in how many seconds it did them."""
    settled = 0

    def settle(work: Callable[[Connection[Any]], object]) -> object:
        nonlocal settled
        settled += 1
        return work(conn)

    def remaining() -> timedelta:
        return timedelta(seconds=30 if settled * BATCH < PORTION else 0)

    brought = replace(worker(BATCH), queue="email", remaining=remaining, insist=settle)
    started = time.perf_counter()
    claimed = dispatch(conn, [], brought)
    return claimed, time.perf_counter() - started


def _count(admin: Connection[Any], query: str) -> int:
    row = admin.execute(query).fetchone()
    assert row is not None
    return int(row[0])
