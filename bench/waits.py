"""How long what small tenants send takes to arrive: from just before the request until the provider has accepted the message, or
the inbox row is there. The post office's clock and ours are the same."""

import itertools
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from bench.neighbourhood import Letters, Neighbourhood, Tenant, intent

SAMPLES = 60
PACE = 3.0  # a second, by the quiet tenants in turn
PATIENCE = 40.0  # seconds; what has not arrived by then has waited so long at least
LOOK_SECONDS = 0.05  # between two looks into the inbox
PARTS = {"email": "email", "sms": "phone"}  # of an address

Waits = list[float]
_numbers = itertools.count(1)


def p95(waits: Waits) -> float:
    return sorted(waits)[math.ceil(0.95 * len(waits)) - 1]


def by_letter(hood: Neighbourhood, letters: Letters, channels: list[str], *, pace: float = PACE) -> dict[str, Waits]:
    """The waits on each of these channels; every intent goes out on all of them."""
    address = {n: {"email": f"sample-{n}@example.com", "sms": f"+1415{n:07}"} for n in itertools.islice(_numbers, SAMPLES)}

    def send(tenant: Tenant, n: int) -> None:
        audience = {"kind": "address"} | {PARTS[channel]: address[n][channel] for channel in channels}
        hood.post(tenant, "/v1/intents", intent(audience, channels))

    sent_at = _send_each(hood, list(address), send, pace)
    wanted = {address[n][channel] for n in address for channel in channels}
    _wait_until(lambda: not wanted - letters.look().keys())
    ended_at = time.time()
    return {
        channel: [letters.accepted_at.get(address[n][channel], ended_at) - sent_at[n] for n in address] for channel in channels
    }


def by_inbox(hood: Neighbourhood, *, pace: float = PACE) -> Waits:
    """The waits until somebody who is mentioned in an event has it in the inbox."""
    threads = {n: f"sample-{n}" for n in itertools.islice(_numbers, SAMPLES)}
    seen_at: dict[str, float] = {}
    over = threading.Event()

    def watch() -> None:
        with hood.connect() as conn:
            while not over.wait(LOOK_SECONDS):
                missing = [thread for thread in threads.values() if thread not in seen_at]
                rows = conn.execute(
                    """
                    SELECT inbox.thread_id
                    FROM users JOIN notifications AS inbox ON inbox.tenant_id = users.tenant_id AND inbox.user_id = users.id
                    WHERE users.tenant_id = ANY(%s) AND inbox.thread_kind = 'sample' AND inbox.thread_id = ANY(%s)
                    """,
                    [[one.id for one in hood.quiet], missing],
                ).fetchall()
                seen_at.update({row[0]: time.time() for row in rows})

    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(watch)
        try:
            sent_at = _send_each(hood, list(threads), lambda one, n: hood.happen(one, threads[n], mentions=["reader"]), pace)
            _wait_until(lambda: len(seen_at) == SAMPLES or watching.done())
        finally:
            over.set()
        watching.result()
    ended_at = time.time()
    return [seen_at.get(threads[n], ended_at) - sent_at[n] for n in threads]


def _send_each(hood: Neighbourhood, numbers: list[int], send: Callable[[Tenant, int], None], pace: float) -> dict[int, float]:
    """Send each at its time, whatever became of those before; returns when that was."""
    sent_at: dict[int, float] = {}

    def one(tenant: Tenant, n: int) -> None:
        sent_at[n] = time.time()
        send(tenant, n)

    started = time.monotonic()
    with ThreadPoolExecutor(SAMPLES) as pool:
        sends = []
        for place, (tenant, n) in enumerate(zip(itertools.cycle(hood.quiet), numbers, strict=False)):
            time.sleep(max(0.0, started + place / pace - time.monotonic()))
            sends.append(pool.submit(one, tenant, n))
    if refused := [error for each in sends if (error := each.exception())]:
        print(f"    {len(refused)} requests were not accepted: {refused[0]}", flush=True)
    return sent_at


def _wait_until(arrived: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not arrived() and time.monotonic() < deadline:
        time.sleep(0.25)
