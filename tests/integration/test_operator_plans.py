"""What operators ask costs little however much there is: the plans that really ran, with many rows of several tenants."""

from collections.abc import Callable
from typing import Any

import pytest
from psycopg import Connection

from tests.plans import Node, rows_of, telling, walk
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.foundation.settings import QUEUES
from tocsin.store import (
    abandoned_executions,
    admin_system_events,
    dead_letters,
    domain_events_processed,
    lanes,
    malformed_intents,
    outbox,
)
from tocsin.upkeep.status import status

MANY = 10_000  # rows of each tenant
PARTS = 10  # in which they come, in turns
MOST = 300  # what is counted
LOOKED_AT = 3_000  # rows that one step of a plan may handle: four urgencies, due and not yet, and what ties

FILL = {
    "outbox": """
        INSERT INTO outbox (id, tenant_id, source_kind, queue, priority, due_at, max_attempts, retry_backoff, retry_base_ms,
                            waits_for)
        SELECT tocsin_uuid7(), %(tenant)s, 'deliver', 'email', 1 + n %% 4,
               tocsin_now() + (n - %(many)s / 2) * interval '1 second', 5, 'linear', 1, CASE WHEN n %% 3 = 0 THEN 'ses:email' END
        FROM generate_series(1, %(many)s) AS n""",
    "lanes": """
        INSERT INTO lanes (lane, tenant_id, state, reason, resume_at, updated_at)
        SELECT 'webhook:' || tocsin_uuid7(), %(tenant)s, 'broken', 'x', tocsin_now(), tocsin_now()
        FROM generate_series(1, %(many)s / 10)
        UNION ALL SELECT 'ses:email', NULL, 'stopped', 'x', tocsin_now(), tocsin_now()
        ON CONFLICT DO NOTHING""",
    "admin_system_events": """
        INSERT INTO admin_system_events (
            event_type, severity, subject, description, tenant_id, created_at, is_resolved, resolved_at)
        SELECT 'e', (ARRAY['low', 'medium', 'high', 'critical'])[1 + n %% 4], tocsin_uuid7()::text, 'd', %(tenant)s,
               tocsin_now() - n * interval '1 second', n > 20, CASE WHEN n > 20 THEN tocsin_now() END
        FROM generate_series(1, %(many)s) AS n""",
    "malformed_intents": """
        INSERT INTO malformed_intents (stream_entry_id, tenant_id, failure_code, failure_message, raw_fields, recorded_at)
        SELECT tocsin_uuid7()::text, %(tenant)s, 'x', 'x', '{}', tocsin_now() - n * interval '1 second'
        FROM generate_series(1, %(many)s) AS n""",
    "dead_letters": """
        INSERT INTO dead_letters (id, tenant_id, source_kind, outbox_id, final_attempt_count, max_attempts,
                                  failure_classification, failure_message, created_at)
        SELECT tocsin_uuid7(), %(tenant)s, 'plan', tocsin_uuid7(), 1, 1, 'poison', 'x', tocsin_now()
        FROM generate_series(1, %(many)s)""",
    "abandoned_executions": """
        INSERT INTO abandoned_executions (id, tenant_id, outbox_id, reply_to, source_kind, outcome, abandoned_at)
        SELECT tocsin_uuid7(), %(tenant)s, tocsin_uuid7(), tocsin_uuid7(), 'deliver', '{}', tocsin_now() - n * interval '1 second'
        FROM generate_series(1, %(many)s) AS n""",
    "domain_events": """
        INSERT INTO domain_events (tenant_id, event_id, type, source, notification_id, occurred_at, recorded_at)
        SELECT %(tenant)s, tocsin_uuid7()::text, 't', 's', tocsin_uuid7(), tocsin_now(), tocsin_now()
        FROM generate_series(1, %(many)s) AS n""",
}
ASK: dict[str, Callable[[Connection[Any]], object]] = {
    "the outbox in numbers": lambda conn: outbox.measure_tenant(conn, TENANT, list(QUEUES)),
    "events behind the cursor": lambda conn: domain_events_processed.measure_tenant(conn, TENANT),
    "lanes": lambda conn: lanes.list_troubled(conn, TENANT, limit=50),
    "one lane": lambda conn: lanes.find(conn, TENANT, "ses:email"),
    "causes of dead letters": lambda conn: dead_letters.group_by_cause(conn, TENANT, limit=10),
    "open system events": lambda conn: admin_system_events.count_open(conn, TENANT),
    "system events": lambda conn: admin_system_events.list_page(
        conn, TENANT, admin_system_events.SystemEventFilters(), limit=50, after=None
    ),
    "critical system events": lambda conn: admin_system_events.list_page_of_severity(
        conn, TENANT, admin_system_events.SystemEventFilters(severity="critical"), limit=50, after=None
    ),
    "malformed intents": lambda conn: malformed_intents.list_page(
        conn, TENANT, malformed_intents.MalformedFilters(), limit=50, after=None
    ),
    "how many malformed intents": lambda conn: malformed_intents.count_open(conn, TENANT),
    "abandoned executions": lambda conn: abandoned_executions.list_page(
        conn, TENANT, abandoned_executions.AbandonedFilters(source_kind="deliver"), limit=50, after=None
    ),
    "everything at once": lambda conn: status(conn, TENANT),
}


def test_no_question_reads_more_than_a_bounded_part_of_what_there_is(
    breakable_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = breakable_world
    world.add_tenant()
    for module in (outbox, malformed_intents, lanes):
        monkeypatch.setattr(module, "MOST_COUNTED", MOST)
    monkeypatch.setattr(dead_letters, "MOST_GROUPED", MOST)
    monkeypatch.setattr(domain_events_processed, "NEAR", MOST)
    world.admin.execute("SET session_replication_role = replica")  # nothing is told or done because of these
    for statement in FILL.values():
        for tenant in (OTHER_TENANT, TENANT) * PARTS:
            world.admin.execute(statement, {"tenant": tenant, "many": MANY // PARTS})  # type: ignore[call-overload]
    world.admin.execute("UPDATE domain_events_processed SET last_event_id = %s", [MANY + 100])
    world.admin.execute("ANALYZE")
    conn = world.connect("postgres")
    conn.execute("SELECT set_config('tocsin.tenant', %s, false)", [str(TENANT)])
    plans = telling(conn, "tocsin_app")
    conn.execute("SET enable_seqscan = on; SET enable_sort = on")

    costly = {question: most for question, ask in ASK.items() if (most := _most_rows(conn, plans, ask)) > LOOKED_AT}

    assert costly == {}


def _most_rows(conn: Connection[Any], plans: list[Node], ask: Callable[[Connection[Any]], object]) -> int:
    plans.clear()
    ask(conn)
    assert plans
    return max(rows_of(node) for plan in plans for node in walk(plan["Plan"]))
