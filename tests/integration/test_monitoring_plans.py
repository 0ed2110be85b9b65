"""The questions that operators ask first read stretches of indexes, however much there is."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from psycopg import Connection

from tests.plans import indexes_in, rows_of, telling, walk
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.store import outbox, routes
from tocsin.upkeep.balance import balance, balance_of
from tocsin.upkeep.recent_metrics import recent
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
    "what happens now": (
        "tocsin_app",
        lambda conn: recent(conn, TENANT, minutes=60, mode="live"),
        {"attempts_time_idx", "records_listing_idx"},
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


# A message a minute for four weeks, a third of them another tenant's; every tenth failed.
MANY = 40_000
A_LONG_TIME = """
    INSERT INTO records (notification_id, tenant_id, notification_type, producer, audience_kind, payload_json, idempotency_key,
                         request_fingerprint, occurred_at, accepted_at, updated_at, idempotency_expires_at)
    SELECT id, tenant, 't', 'p', 'users', '{}', n::text, '', at, at, at, at FROM numbered;
    INSERT INTO routes (notification_id, route_id, tenant_id, channel, recipient_ref, status, max_attempts, provider, created_at,
                        updated_at, published_at, accepted_at)
    SELECT id, 'r', tenant, 'email', 'user:u', 'published', 5, 'ses', at, at, at, at FROM numbered;
    INSERT INTO attempts (notification_id, route_id, generation, attempt_no, tenant_id, provider, started_at, finished_at,
                          outcome)
    SELECT id, 'r', 1, 1, tenant, 'ses', at, at, CASE WHEN n % 10 = 0 THEN 'transient' ELSE 'accepted' END FROM numbered;
"""


def test_the_charts_read_little_more_than_their_minutes(breakable_world: World) -> None:
    admin = breakable_world.admin
    admin.execute("SET session_replication_role = replica")  # foreign keys need not be looked up
    admin.execute(
        """CREATE TEMP TABLE numbered AS
           SELECT n, gen_random_uuid() AS id, CASE WHEN n %% 3 = 0 THEN %s::uuid ELSE %s::uuid END AS tenant,
                  tocsin_now() - n * interval '1 minute' AS at
           FROM generate_series(%s, 1, -1) AS n""",
        [OTHER_TENANT, TENANT, MANY],
    )
    for statement in filter(str.strip, A_LONG_TIME.split(";")):
        admin.execute(statement)  # type: ignore[call-overload]
    for table in ("records", "routes", "attempts", "dead_letters"):
        admin.execute(f"VACUUM ANALYZE {table}")  # type: ignore[call-overload]
    conn = breakable_world.connect("postgres")
    plans = telling(conn, "tocsin_app")
    conn.execute("RESET enable_seqscan; RESET enable_sort; SET jit = off")

    found = recent(conn, TENANT, minutes=60, mode="live")

    assert sum(found.totals["published"]) == sum(found.totals["accepted"]) in (39, 40)
    assert sum(found.by["email", "ses"]["failed_attempts"]) == 4
    scans = [node for plan in plans for node in walk(plan["Plan"]) if "Relation Name" in node and node["Actual Loops"]]
    assert {"attempts_time_idx", "routes_time_idx"} <= indexes_in(plans)
    assert [(node["Relation Name"], rows_of(node)) for node in scans if rows_of(node) > MANY / 4] == []
    assert not [node["Relation Name"] for node in scans if node["Node Type"] == "Seq Scan"]
