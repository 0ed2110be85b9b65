"""The questions that operators ask first read stretches of indexes, however much there is."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from psycopg import Connection

from tests.plans import indexes_in, telling, walk
from tests.world import TENANT, World
from tocsin.store import outbox, routes
from tocsin.upkeep.balance import balance, balance_of
from tocsin.upkeep.roll_up import roll_up

HOUR = timedelta(hours=1)
Question = Callable[[Connection[Any]], object]

QUESTIONS: dict[str, tuple[str, Question, set[str]]] = {
    "what became of what came in": (
        "tocsin_app",
        lambda conn: routes.count_since(conn, TENANT, window=HOUR, mode="live"),
        {"records_listing_idx"},
    ),
    "what is not planned": (
        "tocsin_app",
        lambda conn: outbox.count_unplanned(conn, TENANT, window=HOUR, mode="live"),
        {"outbox_queue_idx"},
    ),
    "what is stuck": (
        "tocsin_app",
        lambda conn: outbox.find_stuck(conn, TENANT, older_than=HOUR, limit=10, after=None),
        {"outbox_queue_idx"},
    ),
    "one tenant's books": (
        "tocsin_app",
        lambda conn: balance_of(conn, TENANT, past=HOUR, has_time=lambda: True),
        {"attempts_pkey"},
    ),
    "all tenants' books": (
        "tocsin_retention",
        lambda conn: balance(conn, has_time=lambda: True),
        {"attempts_pkey", "domain_events_recorded_idx", "records_accepted_idx"},
    ),
    "the roll-up": (
        "tocsin_retention",
        lambda conn: roll_up(conn, has_time=lambda: True),
        {"dead_letters_created_idx", "routes_time_idx"},
    ),
}
LARGE = {"attempts", "dead_letters", "domain_events", "notifications", "records", "routes", "webhook_deliveries"}


@pytest.mark.parametrize("question", QUESTIONS)
def test_nothing_large_is_read_whole(breakable_world: World, question: str) -> None:
    role, ask, indexes = QUESTIONS[question]
    conn = breakable_world.connect("postgres")
    conn.execute("SELECT set_config('tocsin.tenant', %s, false)", [str(TENANT)])
    plans = telling(conn, role)

    ask(conn)

    whole = {node.get("Relation Name") for plan in plans for node in walk(plan["Plan"]) if node["Node Type"] == "Seq Scan"}
    assert whole & LARGE == set()
    assert indexes - indexes_in(plans) == set()
