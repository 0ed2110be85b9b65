"""What a noisy tenant does to its neighbours. Each lasts as long as its block, if the tenant is not served sooner."""

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from psycopg import Connection

from bench.neighbourhood import Neighbourhood, event, intent

FLOOD = int(os.environ.get("BENCH_FLOOD", "20000"))  # fewer on a machine that others load
PORTION = 500  # in one request
HANGING = 400  # SMS that the provider takes and never answers
CROWD = 50_000  # people of the noisy tenant, who watch what it tells of
TO_EVERYONE = 20


@contextmanager
def many_sms(hood: Neighbourhood, count: int = FLOOD) -> Iterator[None]:
    """One intent for each of so many people."""
    people = [f"person-{n}" for n in range(1, count + 1)]
    intents = [intent({"kind": "users", "user_ids": [one]}, ["sms"]) | {"idempotency_key": uuid4().hex} for one in people]
    started = time.monotonic()
    for start in range(0, count, PORTION):
        hood.post(hood.noisy, "/v1/intents/batch", {"intents": intents[start : start + PORTION]})
    _say(hood, f"{count:,} SMS", started)
    yield


@contextmanager
def hanging_sms(hood: Neighbourhood) -> Iterator[None]:
    hood.fail(channel="sms", mode="accept_then_hang")
    with many_sms(hood, HANGING):
        yield


@contextmanager
def everyone(hood: Neighbourhood) -> Iterator[None]:
    started = time.monotonic()
    for _ in range(TO_EVERYONE):
        hood.post(hood.noisy, "/v1/intents", intent({"kind": "tenant"}, ["sms"]))
    _say(hood, f"{TO_EVERYONE} SMS to everyone", started)
    yield


@contextmanager
def many_events(hood: Neighbourhood) -> Iterator[None]:
    """Events that mention one person each."""
    events = [event(uuid4().hex, mentions=[f"person-{n}"]) for n in range(1, FLOOD + 1)]
    started = time.monotonic()
    for start in range(0, FLOOD, PORTION):
        hood.post(hood.noisy, "/v1/events", events[start : start + PORTION], "application/cloudevents-batch+json")
    _say(hood, f"{FLOOD:,} events", started)
    yield


@contextmanager
def news(hood: Neighbourhood) -> Iterator[None]:
    """An event for the whole crowd, and the next as soon as everybody knows of it."""
    over = threading.Event()

    def tell() -> int:
        told = 0
        with hood.connect() as conn:
            while not over.is_set():
                event_id = uuid4().hex
                hood.happen(hood.noisy, event_id, scope="everything")
                while not (now := _told(conn, event_id)) and not over.wait(0.1):
                    pass
                told += now
        return told

    with ThreadPoolExecutor(1) as pool:
        telling = pool.submit(tell)
        try:
            yield
        finally:
            over.set()
        print(f"    {telling.result():,} inbox rows of the noisy tenant meanwhile", flush=True)


def _told(conn: Connection[Any], event_id: str) -> int:
    """How many people know of an event, once all do."""
    row = conn.execute(
        "SELECT recipient_count FROM domain_events WHERE event_id = %s AND outcome = 'notified'", [event_id]
    ).fetchone()
    return int(row[0]) if row else 0


def _say(hood: Neighbourhood, what: str, started: float) -> None:
    print(f"    {what} accepted in {time.monotonic() - started:.0f} s, {hood.undone():,} pieces of work left", flush=True)
