"""What telling costs: planning and delivering a batch with nobody who listens, with a hook that wants nothing of it, and with one
that wants all. The ground is the same work without the triggers that tell."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import psycopg
from psycopg import Connection

from bench.deliveries import worker
from bench.ground import TENANT, Ground, accept_all, asked
from bench.report import Result, compared
from bench.rounds import interleaved
from tocsin.foundation.ids import uuid7
from tocsin.outbox.dispatch import dispatch

ROWS = 1000
BATCH = 100
ROUNDS = 9
PUBLISHED, COMPLAINED = "notification.published", "notification.complained"


def measure(ground: Ground) -> list[Result]:
    with psycopg.connect(ground.url(), autocommit=True) as admin, ground.connect("tocsin_worker") as conn:
        contestants: dict[str, Callable[[], float]] = {
            "silent": partial(_silently, ground, admin, conn),
            "no hook": partial(_told, ground, admin, conn, None),
            "wants nothing": partial(_told, ground, admin, conn, COMPLAINED),
            "wants all": partial(_told, ground, admin, conn, PUBLISHED),
        }
        interleaved(contestants, rounds=1)
        seen = interleaved(contestants, rounds=ROUNDS)
    silent, alone = seen["silent"], seen["no hook"]
    name = f"telling: plan + deliver, batch {BATCH}"
    return [
        compared(f"{name}, no hook", alone, "/s", "without the triggers", silent, ">= 0.95"),
        compared(f"{name}, a hook that wants none of it", seen["wants nothing"], "/s", "no hook", alone, ">= 0.9"),
        compared(f"{name}, a hook that wants all", seen["wants all"], "/s", "no hook", alone),
    ]


def _silently(ground: Ground, admin: Connection[Any], conn: Connection[Any]) -> float:
    admin.execute("ALTER TABLE routes DISABLE TRIGGER USER; ALTER TABLE outbox DISABLE TRIGGER USER")
    try:
        return _rate(ground, conn)
    finally:
        admin.execute("ALTER TABLE routes ENABLE TRIGGER USER; ALTER TABLE outbox ENABLE TRIGGER USER")


def _told(ground: Ground, admin: Connection[Any], conn: Connection[Any], wanted: str | None) -> float:
    if wanted:
        _listen(admin, wanted)
    try:
        rate = _rate(ground, conn)
        told = admin.execute("SELECT count(*) FROM webhook_deliveries").fetchone()
        assert told == (BATCH + ROWS if wanted == PUBLISHED else 0,)
        return rate
    finally:
        admin.execute("DELETE FROM webhooks; DELETE FROM outbox WHERE queue = 'webhook'")


def _listen(admin: Connection[Any], wanted: str) -> None:
    admin.execute(
        "INSERT INTO webhooks (id, tenant_id, url, secret, events, created_by)"
        " VALUES (%s, %s, 'https://example.com/', '', %s, %s)",
        [uuid7(), TENANT, [wanted], uuid7()],
    )


def _rate(ground: Ground, conn: Connection[Any]) -> float:
    """Plans and deliveries a second. Off the clock: accepting the intents, and a first batch, for which statements are planned
    anew wherever a trigger was switched on or off."""
    _work_off(ground, conn, BATCH)
    return ROWS / _work_off(ground, conn, ROWS)


def _work_off(ground: Ground, conn: Connection[Any], count: int) -> float:
    intents = [asked() for _ in range(count)]
    with ground.connect("tocsin_app") as app:
        accept_all(app, intents)
    started = time.perf_counter()
    dispatch(conn, [one.notification_id for one in intents[:BATCH]], replace(worker(BATCH), queue="plan"))
    dispatch(conn, [], replace(worker(BATCH), queue="email"))
    seconds = time.perf_counter() - started
    left = conn.execute("SELECT count(*) FROM outbox WHERE queue <> 'webhook'").fetchone()
    assert left == (0,), "work was left behind"
    return seconds
