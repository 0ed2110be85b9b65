"""Intake: the whole handler and its database part, against the least that a durable insert can cost."""

import importlib.util
import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import psycopg
from psycopg import Connection
from psycopg.types.json import Jsonb

from bench.ground import INTENT, ROOT, TENANT, Ground, accept_all, asked
from bench.peers import Pgqueuer
from bench.report import Result, compared
from bench.rounds import interleaved, rate_of
from tocsin.foundation.ids import uuid7

ROUNDS = 15
PER_ROUND = 60
BATCH = 500

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]


def measure(ground: Ground) -> list[Result]:
    handler, key = load_handler("intake"), ground.api_key
    with (
        ground.connect("tocsin_app") as ours,
        psycopg.connect(ground.url(), autocommit=True) as bare,
        Pgqueuer(ground) as peer,
    ):
        contestants = {
            "handler": rate_of(lambda one: answered(handler, one), lambda: [intent_event(key) for _ in range(PER_ROUND)]),
            "accept": rate_of(lambda one: accept_all(ours, [one]), lambda: [asked() for _ in range(PER_ROUND)]),
            "insert": rate_of(_bare_insert(bare), lambda: [uuid7() for _ in range(PER_ROUND)]),
            "pgqueuer": lambda: peer.enqueue_rate(PER_ROUND),
        }
        interleaved(contestants, rounds=1)  # warm: connections, prepared statements, cached key
        seen = interleaved(contestants, rounds=ROUNDS)
        many = _batch_against_singles(handler, key)
    insert, enqueue = "psycopg insert + commit", "pgqueuer enqueue"
    return [
        compared("intake: handler without SQS", seen["handler"], "/s", insert, seen["insert"], ">= 0.4"),
        compared("intake: accept (database part)", seen["accept"], "/s", insert, seen["insert"], ">= 0.55"),
        compared("intake: handler without SQS", seen["handler"], "/s", enqueue, seen["pgqueuer"]),
        compared("intake: accept (database part)", seen["accept"], "/s", enqueue, seen["pgqueuer"]),
        compared(f"intake: handler, {BATCH} in one batch", many["batch"] * BATCH, "/s", "one by one", many["single"], ">= 15"),
    ]


def load_handler(function: str) -> Handler:
    spec = importlib.util.spec_from_file_location(f"app_{function}", ROOT / "functions" / function / "app.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    handler: Handler = module.handler
    return handler


def answered(handler: Handler, event: dict[str, Any]) -> None:
    answer = handler(event, None)
    assert answer["statusCode"] in (200, 202), answer


def intent_event(api_key: str, *, key: str | None = None) -> dict[str, Any]:
    """One intent as API Gateway hands it over."""
    return _event("POST /v1/intents", json.dumps(INTENT), api_key, key or str(uuid7()))


def batch_event(api_key: str) -> dict[str, Any]:
    body = json.dumps({"intents": [INTENT | {"idempotency_key": str(uuid7())} for _ in range(BATCH)]})
    return _event("POST /v1/intents/batch", body, api_key, "")


def _event(route: str, body: str, api_key: str, key: str) -> dict[str, Any]:
    method, path = route.split()
    return {
        "version": "2.0",
        "routeKey": route,
        "rawPath": path,
        "rawQueryString": "",
        "headers": {
            "authorization": f"Bearer {api_key}",
            "content-type": "application/json",
            "idempotency-key": key,
            "user-agent": "bench",
        },
        "requestContext": {"requestId": "bench", "http": {"method": method, "path": path, "sourceIp": "127.0.0.1"}},
        "body": body,
        "isBase64Encoded": False,
    }


def _bare_insert(conn: Connection[Any]) -> Callable[[UUID], object]:
    """A narrow table with the same payload, a prepared statement, autocommit: nothing that could be left out."""
    conn.execute("CREATE TABLE IF NOT EXISTS bare (id uuid PRIMARY KEY, tenant_id uuid NOT NULL, payload jsonb NOT NULL)")

    def insert(row_id: UUID) -> object:
        row = [row_id, TENANT, Jsonb(INTENT["payload"])]
        return conn.execute("INSERT INTO bare (id, tenant_id, payload) VALUES (%s, %s, %s)", row, prepare=True)

    return insert


def _batch_against_singles(handler: Handler, api_key: str) -> dict[str, float]:
    def answer(event: dict[str, Any]) -> None:
        answered(handler, event)

    contestants = {
        "batch": rate_of(answer, lambda: [batch_event(api_key) for _ in range(2)]),
        "single": rate_of(answer, lambda: [intent_event(api_key) for _ in range(BATCH // 4)]),
    }
    interleaved(contestants, rounds=2)  # enough for the large statement to be prepared and planned for good
    return interleaved(contestants, rounds=7)
