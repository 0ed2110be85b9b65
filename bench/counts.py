"""Round trips to Postgres, counted on the wire: the same on every machine, and what a distant database costs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from psycopg import Connection

from bench.deliveries import make_deliveries, worker
from bench.ground import TENANT, Ground, point_functions_at
from bench.inbox import inbox_event
from bench.intake import answered, batch_event, intent_event, load_handler
from bench.proxy import CountingProxy
from bench.report import Result, counted
from tocsin.access.user_tokens import Person
from tocsin.foundation.ids import uuid7
from tocsin.outbox.dispatch import dispatch
from tocsin.people import issue_token

WARM = 4  # enough for every statement to be prepared
FURTHER = 5  # batches
UNIT = "round trips"


def measure(ground: Ground) -> list[Result]:
    with _proxied(ground) as (proxy, url):
        return [
            *_intake(ground, proxy, url("tocsin_app")),
            *_dispatch(ground, proxy, url("tocsin_worker")),
            *_queue(ground, proxy, url("tocsin_worker")),
            *_inbox(ground, proxy, url("tocsin_app")),
        ]


def _intake(ground: Ground, proxy: CountingProxy, url: str) -> list[Result]:
    handler = load_handler("intake")
    point_functions_at(url)
    known = str(uuid7())
    try:
        single = _count(proxy, lambda: answered(handler, intent_event(ground.api_key)))
        replay = _count(proxy, lambda: answered(handler, intent_event(ground.api_key, key=known)))
        batch = _count(proxy, lambda: answered(handler, batch_event(ground.api_key)))
    finally:
        point_functions_at(ground.url("tocsin_app"))
    return [
        counted("round trips: an accepted intent", single, UNIT, "<= 1"),
        counted("round trips: a replay", replay, UNIT, "<= 2"),
        counted("round trips: a batch of 500 intents", batch, UNIT),
    ]


def _dispatch(ground: Ground, proxy: CountingProxy, url: str) -> list[Result]:
    results = []
    with ground.connect("tocsin_worker", url=url) as conn:
        for size in (10, 100):
            ids = iter(_groups(make_deliveries(ground, size * (WARM + 1)), size))
            count = _count(proxy, partial(_dispatch_next, conn, ids, size))
            results.append(counted(f"round trips: dispatching {size} emails to people", count, UNIT, "<= 4"))
    return results


def _queue(ground: Ground, proxy: CountingProxy, url: str) -> list[Result]:
    """A worker of a queue looks for its work itself: what finding nothing costs, an only batch, and each further one."""
    with ground.connect("tocsin_worker", url=url) as conn:
        drains = {size: partial(dispatch, conn, [], replace(worker(size), queue="email")) for size in (10, 100)}
        only = {size: _count(proxy, drain, partial(make_deliveries, ground, size)) for size, drain in drains.items()}
        more = {
            size: _count(proxy, drain, partial(make_deliveries, ground, size * (1 + FURTHER))) for size, drain in drains.items()
        }
        nothing = _count(proxy, drains[100])
    return [
        counted("round trips: a worker of the email queue, nothing due", nothing, UNIT),
        counted("round trips: a worker of the email queue, an only 100", only[100], UNIT),
        *(
            counted(
                f"round trips: a worker of the email queue, a further {size}", (more[size] - only[size]) / FURTHER, UNIT, "<= 4"
            )
            for size in drains
        ),
    ]


def _inbox(ground: Ground, proxy: CountingProxy, url: str) -> list[Result]:
    handler = load_handler("inbox_api")
    with ground.connect("postgres") as conn:
        (somebody,) = conn.execute("SELECT id FROM users LIMIT 1").fetchone() or (None,)
    token, _ = issue_token.token_for(Person(TENANT, somebody), timedelta(hours=1))
    point_functions_at(url)
    try:
        page = _count(proxy, lambda: answered(handler, inbox_event("GET /v1/inbox", token)))
    finally:
        point_functions_at(ground.url("tocsin_app"))
    return [counted("round trips: a page of the inbox, with a user token", page, UNIT)]


def _dispatch_next(conn: Connection[Any], groups: Iterator[list[UUID]], size: int) -> None:
    dispatch(conn, next(groups), worker(size))


def _count(proxy: CountingProxy, work: Callable[[], object], prepare: Callable[[], object] = lambda: None) -> int:
    """The exchanges of the last of some repetitions, each after what prepares it elsewhere."""
    exchanges = 0
    for _ in range(WARM + 1):
        prepare()
        before = proxy.exchanges
        work()
        exchanges = proxy.exchanges - before
    return exchanges


@contextmanager
def _proxied(ground: Ground) -> Iterator[tuple[CountingProxy, Callable[[str], str]]]:
    with CountingProxy(ground.server.port) as proxy:
        yield proxy, lambda user: f"postgresql://{user}@127.0.0.1:{proxy.port}/tocsin"


def _groups(ids: list[UUID], size: int) -> list[list[UUID]]:
    return [ids[start : start + size] for start in range(0, len(ids), size)]
