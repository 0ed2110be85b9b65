"""Searching reads an index, whatever is looked for and however much there is beside it: the plans that really ran."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from psycopg import Connection

from tests.lookups import MAILBOX, PHONE, crowd
from tests.plans import Node, rows_of, telling, walk
from tests.world import TENANT, World
from tocsin.delivery.decisions import Wish, decisions
from tocsin.delivery.search import search
from tocsin.foundation.database import tenant_transaction
from tocsin.store import notifications, records, routes, users

MANY = 20_000  # records with a route each, of two tenants in turns
STRETCH = 1_200  # rows that a summary may hold, and a filter that is wrong now and then
Ask = Callable[[Connection[Any]], object]


@pytest.fixture
def crowded(breakable_world: World) -> World:
    world = breakable_world
    world.add_tenant()
    crowd(world, MANY)
    return world


def _key(world: World) -> str:
    return str(world.one("SELECT idempotency_key FROM records WHERE tenant_id = %(tenant)s OFFSET 5555 LIMIT 1", tenant=TENANT))


def _asks(world: World) -> dict[str, Ask]:
    key = _key(world)
    message = str(world.one("SELECT md5('message' || %(key)s)", key=key))
    return {
        "a key": lambda conn: records.find_by_key(conn, TENANT, key, limit=20),
        "a key that nobody used": lambda conn: records.find_by_key(conn, TENANT, "nothing", limit=20),
        "a message": lambda conn: routes.find_by_message_id(conn, TENANT, [message, "x"], limit=20),
        "a message that nobody sent": lambda conn: routes.find_by_message_id(conn, TENANT, ["x", "y"], limit=20),
        "a mailbox": lambda conn: records.find_newest_to_email(conn, TENANT, MAILBOX, limit=20),
        "a phone": lambda conn: records.find_newest_to_phone(conn, TENANT, PHONE, limit=20),
        "a user": lambda conn: users.find_exactly(conn, TENANT, "u7777", limit=20),
        "a user's email": lambda conn: users.find_exactly(conn, TENANT, "u7777@example.com", limit=20),
        "a user's phone": lambda conn: users.find_exactly(conn, TENANT, "+14155557777", limit=20),
    }


def _scans(plans: list[Node]) -> list[tuple[str, str, int]]:
    nodes = [node for plan in plans for node in walk(plan["Plan"]) if node["Actual Loops"] and "Relation Name" in node]
    return [(node["Relation Name"], node["Node Type"], rows_of(node)) for node in nodes]


def test_whatever_is_looked_for_is_found_by_an_index(crowded: World) -> None:
    conn = crowded.connect("postgres")
    plans = telling(conn, "tocsin_app")
    conn.execute("RESET enable_seqscan; RESET enable_sort; SET jit = off")
    costly: list[str] = []

    for planning in ("custom", "generic"):
        conn.execute(f"SET plan_cache_mode = force_{planning}_plan")  # type: ignore[call-overload]
        for name, ask in _asks(crowded).items():
            plans.clear()
            with tenant_transaction(conn, TENANT):
                ask(conn)
            scans = _scans(plans)
            if any(kind == "Seq Scan" for _, kind, _ in scans) or sum(rows for _, _, rows in scans) > STRETCH:
                costly.append(f"{planning}: {name}: {scans}")

    assert not costly, "\n".join(costly)


def test_a_whole_search_reads_no_table_from_end_to_end(crowded: World) -> None:
    key = _key(crowded)
    message = str(crowded.one("SELECT md5('message' || %(key)s)", key=key))
    conn = crowded.connect("postgres")
    plans = telling(conn, "tocsin_app")
    conn.execute("RESET enable_seqscan; RESET enable_sort; SET jit = off")

    for text in (key, message, MAILBOX, PHONE, "u7777", "u77", "u7777@example.com"):
        assert search(conn, TENANT, text, sees_people=True, sees_letters=True) != [], text
    assert search(conn, TENANT, "nothing at all", sees_people=True, sees_letters=True) == []

    large = {"records", "routes", "users"}
    assert [scan for scan in _scans(plans) if scan[0] in large and scan[1] == "Seq Scan"] == []


def test_rows_of_a_stretch_without_a_summary_are_found_too(world: World) -> None:
    """What is newest has none yet."""
    world.add_user()
    asked = world.accept(key="the newest")
    world.dispatch()
    (route,) = world.routes()

    with tenant_transaction(world.app, TENANT):
        assert records.find_by_key(world.app, TENANT, "the newest", limit=20) == [asked.notification_id]
        (sent,) = routes.find_by_message_id(world.app, TENANT, [route["provider_message_id"]], limit=20)
    assert sent.route_id == route["route_id"]


def test_a_message_id_that_comes_after_the_summary_is_found(world: World) -> None:
    world.add_user()
    world.accept()
    world.dispatch()
    world.admin.execute("SELECT brin_summarize_new_values('routes_message_idx')")
    world.admin.execute("UPDATE routes SET provider_message_id = 'later'")
    world.app.execute("SET enable_seqscan = off; SET enable_indexscan = off")

    with tenant_transaction(world.app, TENANT):
        assert len(routes.find_by_message_id(world.app, TENANT, ["later"], limit=20)) == 1


@pytest.mark.parametrize("whose", ["one person", "everyone"])
def test_the_row_of_an_inbox_is_found_by_an_index(breakable_world: World, whose: str) -> None:
    """Also one that was put off since, or ends."""
    world = breakable_world
    world.add_user()
    audience = {"kind": "users", "user_ids": ["alice"]} if whose == "one person" else {"kind": "tenant"}
    asked = world.accept(channels=["in_app"], audience=audience)
    world.dispatch()
    route = world.route()
    world.admin.execute(
        """UPDATE notifications
           SET shown_at = last_event_at + interval '1 hour', expires_at = last_event_at + interval '1 day', unread = false,
               read_at = last_event_at"""
    )
    world.admin.execute(
        """INSERT INTO notifications (id, tenant_id, user_id, kind, reason, scope, title, message, told_at, last_event_at,
               shown_at, created_at, updated_at)
           SELECT tocsin_uuid7(), tenant_id, user_id, kind, reason, scope, title, message, told_at,
                  last_event_at - n * interval '1 second', last_event_at - n * interval '1 second', created_at, updated_at
           FROM notifications CROSS JOIN generate_series(1, 20000) AS n"""
    )
    world.admin.execute("VACUUM ANALYZE notifications")
    conn = world.connect("postgres")
    plans = telling(conn, "tocsin_app")
    conn.execute("RESET enable_seqscan")

    with tenant_transaction(conn, TENANT):
        words = notifications.find_words(conn, TENANT, route["user_id"], asked.notification_id, planned_at=route["published_at"])

    assert words == ("Shipped", "It is on its way.")
    assert [kind for _, kind, _ in _scans(plans) if kind not in ("Index Scan", "Bitmap Heap Scan", "Bitmap Index Scan")] == []
    assert max(rows for _, _, rows in _scans(plans)) == 1


def test_what_was_decided_lately_costs_what_was_decided(crowded: World) -> None:
    """A minute of a morning: of each table a few stretches are read, wherever in it the minute lies."""
    conn = crowded.connect("postgres")
    plans = telling(conn, "tocsin_app")
    conn.execute("RESET enable_seqscan; RESET enable_sort; SET jit = off")
    newest = crowded.one("SELECT max(accepted_at) FROM records")

    for since in (newest - timedelta(minutes=1), newest - timedelta(hours=4)):
        plans.clear()
        page = decisions(conn, TENANT, Wish(), since=since, limit=100)

        scans = _scans(plans)
        assert len(page.data) >= 100
        assert [scan for scan in scans if scan[1] == "Seq Scan" and scan[0] != "dead_letters"] == []
        assert [scan for scan in scans if scan[2] > 4 * STRETCH] == []
