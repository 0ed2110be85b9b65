"""Intake for a tenant with many people: what an intent and an event cost the server, against the same among few."""

import random
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from psycopg import Connection

from bench.ground import INTENT, PEOPLE, SENDER, Ground, accept_all, furnish
from bench.report import Result, compared, counted
from bench.rounds import Contestant, interleaved
from tocsin import strict_json
from tocsin.accept import Asked
from tocsin.cloud_events import CloudEvent
from tocsin.ids import uuid7
from tocsin.intents import Intent
from tocsin.record_events import Told, record_events

FEW, MANY = 2_000, 200_000
PER_ROUND = 100
ROUNDS = 7
UNIT = "µs"


def measure(ground: Ground) -> list[Result]:
    with ExitStack() as stack:
        contestants: dict[str, Contestant] = {}
        for people in (FEW, PEOPLE, MANY):
            crowd = replace(ground, database=f"people_{people}")
            furnish(ground.server, crowd.database, people)
            conn = stack.enter_context(crowd.connect("tocsin_app"))
            contestants |= {
                f"intent {people}": partial(_cpu_of, conn, partial(_intent, conn, people)),
                f"event {people}": partial(_cpu_of, conn, partial(_event, conn, people)),
            }
        interleaved(contestants, rounds=1)  # warm: prepared statements
        seen = interleaved(contestants, rounds=ROUNDS)
    among = f"among {FEW:,}"
    results = [counted(f"intake: server's CPU of an intent among {PEOPLE:,} people", seen[f"intent {PEOPLE}"], UNIT)]
    for what in ("intent", "event"):
        name = f"intake: server's CPU of an {what} among {MANY:,} people"
        results.append(compared(name, seen[f"{what} {MANY}"], UNIT, among, seen[f"{what} {FEW}"], "<= 1.3"))
    return results


def _cpu_of(conn: Connection[Any], work: Any) -> float:
    """Microseconds of processor that the connection's own server process took for each."""
    account = Path(f"/proc/{conn.info.backend_pid}/schedstat")  # nanoseconds on the processor come first
    before = int(account.read_text().split()[0])
    for _ in range(PER_ROUND):
        work()
    return (int(account.read_text().split()[0]) - before) / PER_ROUND / 1000


def _intent(conn: Connection[Any], people: int) -> None:
    intent = INTENT | {"audience": {"kind": "users", "user_ids": [f"person-{random.randint(1, people)}"]}}
    accept_all(conn, [Asked(str(uuid7()), Intent.model_validate(intent), strict_json.fingerprint(intent))])


def _event(conn: Connection[Any], people: int) -> None:
    event_id, data = str(uuid7()), {"title": "It happened", "actor": f"person-{random.randint(1, people)}"}
    event = {"specversion": "1.0", "id": event_id, "source": "bench", "type": "build.broken", "data": data}
    told = Told(CloudEvent.model_validate(event), data, uuid7())
    record_events(conn, [told], sender=SENDER, request_id="bench", trace_id="")
