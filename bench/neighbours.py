"""Others' wait: how long small tenants wait while a large one floods, hangs or tells everybody, against the same in calm."""

import math
import os
import statistics
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from psycopg import Connection

from bench.ground import Ground
from bench.neighbourhood import Letters, Neighbourhood, Tenant, intent, letters_of, neighbourhood
from bench.report import Result, compared, counted
from bench.waits import Waits, by_inbox, by_letter, p95

FLOOD = int(os.environ.get("BENCH_FLOOD", "20000"))  # SMS of the noisy tenant; fewer on a machine that others load
PORTION = 500  # in one request
HANGING = 400  # SMS that the provider takes and never answers
CROWD = 50_000  # who watch what the noisy tenant tells of
LOADED = 3.0  # seconds of calm wait above which the machine is too busy with other things to tell
BOTH = ["email", "sms"]


def measure(ground: Ground) -> list[Result]:
    with neighbourhood(crowd=CROWD) as hood:
        letters = letters_of(hood.stack)
        _warm_up(hood, letters)
        calm = _say("calm", by_letter(hood, letters, BOTH) | {"inbox": by_inbox(hood)})
        with _news(hood):
            told = _say(f"events for {CROWD:,}", {"inbox": by_inbox(hood)})
        hood.calm_down()
        _send_sms(hood, FLOOD)
        flood = _say(f"{FLOOD:,} due SMS", by_letter(hood, letters, BOTH))
        flood_lasted = _lasted(hood)
        hood.calm_down()
        hood.fail(channel="sms", mode="accept_then_hang")
        _send_sms(hood, HANGING)
        hanging = _say(f"{HANGING} SMS hang", by_letter(hood, letters, ["email"]))
        hanging_lasted = _lasted(hood)
    return [
        *(counted(f"others' wait: calm, {what}, p50", statistics.median(waits), "s") for what, waits in calm.items()),
        *(counted(f"others' wait: calm, {what}, p95", p95(waits), "s") for what, waits in calm.items()),
        *(_result(f"{what} beside {FLOOD:,} due SMS", flood[what], calm[what], lasted=flood_lasted) for what in BOTH),
        _result(f"email while {HANGING} SMS hang", hanging["email"], calm["email"], lasted=hanging_lasted),
        _result(f"inbox beside events for {CROWD:,}", told["inbox"], calm["inbox"], lasted=True),
    ]


def _result(name: str, waits: Waits, calm: Waits, *, lasted: bool) -> Result:
    """Against the bound; with no verdict where the noise or the machine allows none."""
    doubt = " (machine too loaded to tell)" if p95(calm) > LOADED else "" if lasted else " (noise ended too early)"
    target = None if doubt else "<= 1"
    return compared(f"others' wait: {name}, p95{doubt}", p95(waits), "s", "2 x calm p95 + 2 s", 2 * p95(calm) + 2, target)


def _say(scenario: str, seen: dict[str, Waits]) -> dict[str, Waits]:
    for what, waits in seen.items():
        figures = f"p50 {statistics.median(waits):.2f} s, p95 {p95(waits):.2f} s, longest {max(waits):.2f} s"
        print(f"    {scenario}: {len(waits)} by {what}, {figures}", flush=True)
    return seen


def _lasted(hood: Neighbourhood) -> bool:
    undone = hood.undone()
    print(f"    {undone:,} of the noisy tenant's are left", flush=True)
    return undone > 0


def _warm_up(hood: Neighbourhood, letters: Letters) -> None:
    """Start the functions, several of each: what they take to start is not what is measured."""
    by_letter(hood, letters, BOTH, pace=math.inf)
    by_inbox(hood, pace=math.inf)


def _send_sms(hood: Neighbourhood, count: int) -> None:
    """One intent for each of so many people of the noisy tenant."""
    started = time.monotonic()
    people = [f"person-{n}" for n in range(1, count + 1)]
    for start in range(0, count, PORTION):
        portion = [intent({"kind": "users", "user_ids": [one]}, ["sms"]) for one in people[start : start + PORTION]]
        intents = [one | {"idempotency_key": uuid4().hex} for one in portion]
        hood.post(hood.noisy, "/v1/intents/batch", {"intents": intents})
    print(f"    {count:,} SMS accepted in {time.monotonic() - started:.0f} s, {hood.undone():,} not done yet", flush=True)


def _told(conn: Connection[Any], tenant: Tenant, event_id: str) -> int:
    """How many people know of an event, once all do."""
    row = conn.execute(
        "SELECT recipient_count FROM domain_events WHERE tenant_id = %s AND event_id = %s AND outcome = 'notified'",
        [tenant.id, event_id],
    ).fetchone()
    return int(row[0]) if row else 0


@contextmanager
def _news(hood: Neighbourhood) -> Iterator[None]:
    """One event after the other for the whole crowd: the next when everybody was told of the last."""
    over = threading.Event()

    def tell() -> int:
        told = 0
        with hood.connect() as conn:
            while not over.is_set():
                thread = uuid4().hex
                hood.happen(hood.noisy, thread, scope="everything")
                query = (
                    "SELECT recipient_count FROM domain_events WHERE tenant_id = %s AND event_id = %s AND outcome = 'notified'"
                )
                while not (row := conn.execute(query, [hood.noisy.id, thread]).fetchone()) and not over.wait(0.1):
                    pass
                told += row[0] if row else 0
        return told

    with ThreadPoolExecutor(1) as pool:
        telling = pool.submit(tell)
        try:
            yield
        finally:
            over.set()
        print(f"    {telling.result():,} inbox rows of the noisy tenant meanwhile", flush=True)
