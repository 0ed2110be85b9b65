"""The dispatch drain: ready deliveries against an instant provider, and the peers' no-op jobs, by one worker each."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from psycopg import Connection

from bench.deliveries import claim_and_complete, make_deliveries, worker
from bench.ground import Ground
from bench.peers import Pgqueuer, Procrastinate
from bench.report import Result, compared
from bench.rounds import interleaved
from tocsin.outbox.dispatch import dispatch

ROWS = 1500
FEWER_ROWS = 400  # for procrastinate, whose pace does not depend on them and would take most of the run
ROUNDS = 5

Step = Callable[[Connection[Any], list[UUID]], object]


def measure(ground: Ground) -> list[Result]:
    pgqueuer, procrastinate = Pgqueuer(ground), Procrastinate(ground)
    with ground.connect("tocsin_worker") as conn, pgqueuer, procrastinate:
        pgqueuer.clear()
        contestants: dict[str, Callable[[], float]] = {"procrastinate": partial(_procrastinate, procrastinate)}
        for size in (10, 100):
            contestants |= {
                f"queue {size}": partial(_ours, ground, conn, size, claim_and_complete),
                f"whole {size}": partial(_ours, ground, conn, size, _delivery(size)),
                f"pgqueuer {size}": partial(_pgqueuer, pgqueuer, size),
            }
        interleaved(contestants, rounds=1)
        seen = interleaved(contestants, rounds=ROUNDS)
    results = []
    for size, wanted in ((10, ">= 1.4"), (100, ">= 2")):
        theirs, name = seen[f"pgqueuer {size}"], f"{Pgqueuer.SETTINGS}, batch {size}"
        results.append(compared(f"drain: claim + complete, batch {size}", seen[f"queue {size}"], "/s", name, theirs, wanted))
        results.append(compared(f"drain: whole delivery, batch {size}", seen[f"whole {size}"], "/s", name, theirs, ">= 1"))
    slow, name = seen["procrastinate"], Procrastinate.SETTINGS
    results.append(compared("drain: whole delivery, batch 10", seen["whole 10"], "/s", name, slow))
    results.append(compared("drain: whole delivery, batch 100", seen["whole 100"], "/s", name, slow, ">= 8"))
    return results


def _ours(ground: Ground, conn: Connection[Any], size: int, step: Step) -> float:
    ids = make_deliveries(ground, ROWS)
    started = time.perf_counter()
    for start in range(0, ROWS, size):
        step(conn, ids[start : start + size])
    seconds = time.perf_counter() - started
    left = conn.execute("SELECT count(*) FROM outbox WHERE id = ANY(%s)", [ids]).fetchone()
    assert left == (0,), "work was left behind"
    return ROWS / seconds


def _delivery(size: int) -> Step:
    brought = worker(size)
    return lambda conn, ids: dispatch(conn, ids, brought)


def _pgqueuer(peer: Pgqueuer, size: int) -> float:
    peer.fill(ROWS)
    return ROWS / peer.drain(size)


def _procrastinate(peer: Procrastinate) -> float:
    peer.fill(FEWER_ROWS)
    return FEWER_ROWS / peer.drain()
