"""Every list reads an index, in the order of the list: a page costs what it shows, however much there is beside it.

(The lists of notifications and of the inbox have tests of their own: test_notification_lists.py, test_inbox_plans.py.)"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection

from tests.plans import Node, rows_of, telling, walk
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.foundation.database import tenant_transaction
from tocsin.store import (
    api_keys,
    audit_logs,
    devices,
    kv_entries,
    preferences,
    suppressions,
    templates,
    users,
    watches,
    webhook_deliveries,
)

MANY = 6_000
PAGE = 20
ALICE, HOOK, MIDDLE = UUID(int=1), UUID(int=7), UUID(int=MANY // 2)
NOW = datetime.now(UTC)
BACK = (NOW - timedelta(minutes=MANY // 2), MIDDLE)

# `n` is a row's number, `id` the UUID of that number, `at` a moment n minutes ago. Tenants take turns; alice has many.
ROWS = {
    "users": "INSERT INTO users (id, tenant_id, external_id, email) SELECT id, tenant, 'u' || n, n || '@x.example'",
    "templates": """INSERT INTO templates (id, tenant_id, name, channel, version, body, created_at)
        SELECT id, tenant, 'n' || n, 'sms', 1, 'b', at""",
    "suppressions": """INSERT INTO suppressions (id, tenant_id, channel, address, address_hash, notification_type, reason,
            created_at)
        SELECT id, tenant, 'email', n || '@x.example', sha256(n::text::bytea), '', 'manual', at""",
    "api_keys": """INSERT INTO api_keys (id, tenant_id, producer, name, mode, key_prefix, key_hash, scopes, created_at)
        SELECT id, tenant, 'p', 'n', 'live', 'x', sha256(n::text::bytea), '{send}', at""",
    "audit_logs": """INSERT INTO audit_logs (id, tenant_id, seq, actor, person, action, resource_type, resource_id, created_at)
        SELECT id, tenant, n, 'key:x', CASE WHEN n % 3 = 0 THEN 'p' || n % 1000 END, 'update', 'thing', n, at""",
    "devices": "INSERT INTO devices (id, tenant_id, user_id, platform, token) SELECT id, tenant, person, 'fcm', 't' || n",
    "watches": "INSERT INTO watches (tenant_id, user_id, scope, level) SELECT tenant, person, 's' || n, 'all'",
    "preferences": """INSERT INTO preferences (id, tenant_id, user_id, channel, notification_type)
        SELECT id, tenant, person, 'email', 't' || n""",
    "kv_entries": """INSERT INTO kv_entries (tenant_id, collection, key, value, write_id)
        SELECT tenant, 'orders', 'k' || n, '1', id""",
    "webhook_deliveries": """INSERT INTO webhook_deliveries (id, tenant_id, webhook_id, event_type, payload, message_id, status)
        SELECT id, tenant, lpad(to_hex(n % 100), 32, '0')::uuid, 'notification.published', '{}', id,
               CASE WHEN n % 1000 = 7 THEN 'failed' ELSE 'pending' END""",
}
NUMBERED = """
    FROM generate_series(1, %(many)s) AS n
    CROSS JOIN LATERAL (
        SELECT lpad(to_hex(n), 32, '0')::uuid, CASE WHEN n %% 2 = 0 THEN %(other)s::uuid ELSE %(tenant)s::uuid END,
               lpad(to_hex(CASE WHEN n %% 100 = 1 THEN 1 ELSE n END), 32, '0')::uuid, %(now)s - n * interval '1 minute'
    ) AS row (id, tenant, person, at)
"""
UNFILTERED = dict.fromkeys(("actor", "user_id", "person", "action", "resource_type", "resource_id", "since", "until"))
ANY = {"status": None, "event_type": None, "notification_id": None}
List = Callable[[Connection[Any]], object]
LISTS: dict[str, List] = {
    "users": lambda conn: users.list_page(conn, TENANT, limit=PAGE, before=None),
    "users, from the middle": lambda conn: users.list_page(conn, TENANT, limit=PAGE, before=MIDDLE),
    "templates": lambda conn: templates.list_page(conn, TENANT, name=None, limit=PAGE, after=None),
    "templates, from the middle": lambda conn: templates.list_page(conn, TENANT, name=None, limit=PAGE, after=BACK),
    "templates, of a name": lambda conn: templates.list_page(conn, TENANT, name="n7", limit=PAGE, after=None),
    "templates, of a version": lambda conn: templates.find_version(conn, TENANT, "n7", channel="sms", version=1),
    "suppressions": lambda conn: suppressions.list_page(conn, TENANT, channel=None, address=None, limit=PAGE, after=None),
    "suppressions, from the middle": lambda conn: suppressions.list_page(
        conn, TENANT, channel=None, address=None, limit=PAGE, after=BACK
    ),
    "suppressions, of an address": lambda conn: suppressions.list_page(
        conn, TENANT, channel="email", address="777@x.example", limit=PAGE, after=None
    ),
    "api keys": lambda conn: api_keys.list_page(conn, TENANT, limit=PAGE, after=None),
    "api keys, from the middle": lambda conn: api_keys.list_page(conn, TENANT, limit=PAGE, after=BACK),
    "the audit log": lambda conn: audit_logs.list_page(conn, TENANT, filters=UNFILTERED, limit=PAGE, after=None),
    "the audit log, from the middle": lambda conn: audit_logs.list_page(conn, TENANT, filters=UNFILTERED, limit=PAGE, after=BACK),
    "the audit log, of a person": lambda conn: audit_logs.list_page(
        conn, TENANT, filters=UNFILTERED | {"person": "p777"}, limit=PAGE, after=None
    ),
    "the audit log, of nobody": lambda conn: audit_logs.list_page(
        conn, TENANT, filters=UNFILTERED | {"person": "nobody"}, limit=PAGE, after=BACK
    ),
    "devices": lambda conn: devices.list_of(conn, TENANT, UUID(int=5)),
    "watches": lambda conn: watches.list_page(conn, TENANT, ALICE, limit=PAGE, after=None),
    "watches, from the middle": lambda conn: watches.list_page(conn, TENANT, ALICE, limit=PAGE, after="s2"),
    "preferences": lambda conn: preferences.list_of(conn, TENANT, ALICE, limit=PAGE),
    "values": lambda conn: kv_entries.list_page(conn, TENANT, "orders", prefix="", after="", limit=PAGE, max_bytes=1_000_000),
    "values, of a prefix": lambda conn: kv_entries.list_page(
        conn, TENANT, "orders", prefix="k77", after="", limit=PAGE, max_bytes=1_000_000
    ),
    "deliveries": lambda conn: webhook_deliveries.list_page(conn, TENANT, HOOK, limit=PAGE, after=None, **ANY),
    "deliveries, from the middle": lambda conn: webhook_deliveries.list_page(conn, TENANT, HOOK, limit=PAGE, after=MIDDLE, **ANY),
    "deliveries, that failed": lambda conn: webhook_deliveries.list_page(
        conn, TENANT, HOOK, limit=PAGE, after=None, **(ANY | {"status": "failed"})
    ),
    "deliveries, of a notification": lambda conn: webhook_deliveries.list_page(
        conn, TENANT, HOOK, limit=PAGE, after=None, **(ANY | {"notification_id": MIDDLE})
    ),
}
# Planned with its values each time: which filters there are decides what is read.
FILTERED = {name for name in LISTS if name.startswith(("api keys", "the audit log"))}


@pytest.fixture
def crowded(breakable_world: World) -> World:
    known = {"tenant": TENANT, "other": OTHER_TENANT, "many": MANY, "now": NOW}
    breakable_world.admin.execute("SET session_replication_role = replica")  # foreign keys need not be looked up
    for table, insert in ROWS.items():
        breakable_world.admin.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")  # type: ignore[call-overload]
        breakable_world.admin.execute(insert.replace("%", "%%") + NUMBERED, known)  # type: ignore[call-overload]
        breakable_world.admin.execute(f"VACUUM ANALYZE {table}")  # type: ignore[call-overload]
    return breakable_world


def _scans(plans: list[Node]) -> list[Node]:
    return [node for plan in plans for node in walk(plan["Plan"]) if node["Actual Loops"] and "Relation Name" in node]


def test_a_page_of_any_list_reads_little_more_than_it_shows(crowded: World) -> None:
    conn = crowded.connect("postgres")
    plans = telling(conn, "tocsin_app")
    conn.execute("RESET enable_seqscan; RESET enable_sort; SET jit = off")
    costly: list[str] = []

    for planning in ("custom", "generic"):
        conn.execute(f"SET plan_cache_mode = force_{planning}_plan")  # type: ignore[call-overload]
        for name, read in LISTS.items():
            if planning == "generic" and name in FILTERED:
                continue
            plans.clear()
            with tenant_transaction(conn, TENANT):
                read(conn)
            scans = [(node["Relation Name"], node["Node Type"], rows_of(node)) for node in _scans(plans)]
            if sum(rows for _, _, rows in scans) > 4 * PAGE or any(kind == "Seq Scan" for _, kind, _ in scans):
                costly.append(f"{planning}: {name}: {scans}")

    assert not costly, "\n".join(costly)


@pytest.mark.parametrize("after", ["", "c3"], ids=["from the beginning", "from the middle"])
def test_collections_are_walked_from_one_to_the_next(breakable_world: World, after: str) -> None:
    """A hundred of sixty entries each: the names of a page cost a look each, and the counts what they count."""
    breakable_world.admin.execute(
        """INSERT INTO kv_entries (tenant_id, collection, key, value, write_id)
           SELECT %s, 'c' || n %% 100, 'k' || n, '1', gen_random_uuid() FROM generate_series(1, %s) AS n""",
        [TENANT, MANY],
    )
    breakable_world.admin.execute("VACUUM ANALYZE kv_entries")
    conn = breakable_world.connect("postgres")
    plans = telling(conn, "tocsin_app")
    conn.execute("RESET enable_seqscan; RESET enable_sort; SET jit = off")

    for planning in ("custom", "generic"):
        conn.execute(f"SET plan_cache_mode = force_{planning}_plan")  # type: ignore[call-overload]
        plans.clear()
        with tenant_transaction(conn, TENANT):
            found = kv_entries.list_collections(conn, TENANT, after=after, limit=PAGE, most=10)

        scans = _scans(plans)
        assert [one.count for one in found] == [10] * PAGE
        assert {node["Node Type"] for node in scans} <= {"Index Scan", "Index Only Scan"}
        assert sum(map(rows_of, scans)) <= 12 * PAGE
