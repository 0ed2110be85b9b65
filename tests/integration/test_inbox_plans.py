"""The inbox is as fast with a hundred thousand rows as with ten: every view and the badge read one stretch of an index.

The plans are those that really ran (auto_explain), as the application's role under row-level security, with and without
statistics, planned for the values at hand and for any values."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import Connection, Cursor, sql

from devstack.postgres import Postgres
from tests.plans import EXPLAINING, Node, rows_of, walk
from tests.world import TENANT
from tocsin.foundation.database import tenant_round_trip
from tocsin.store import notifications
from tocsin.store.notifications import COUNT_CAP, View

PAGE = 51  # fifty rows, and one that tells whether there are more
MANY = 100_000
SHARED = 20
MOST_ROWS = 2 * PAGE + SHARED  # two boxes, and what is for everyone
MOST_BUFFERS = 1_000  # a box of 100,000 rows has 3,600
Query = Callable[[Connection[Any]], Cursor[Any]]

# Of 100,030 rows the reader has thirty unread, spread over all of time; the hoarder has never read anything.
ROWS = """
    INSERT INTO notifications (
        id, tenant_id, user_id, kind, reason, title, message, summary, last_event_at, shown_at, created_at, updated_at,
        unread, read_at, done_at, saved_at)
    SELECT lpad(to_hex(inbox.place * 1000000 + n), 32, '0')::uuid, %(tenant)s, users.id, 'k', 'intent', 'row ' || n, 'about',
           '{}', at, CASE WHEN n <= inbox.snoozed THEN tocsin_now() + n * interval '1 hour' ELSE at END, at, at, is_unread,
           CASE WHEN NOT is_unread THEN at END, CASE WHEN n %% 3000 = 1 AND NOT is_unread THEN at END,
           CASE WHEN n %% 2500 = 2 THEN at END
    FROM (VALUES (1, 'reader', %(many)s + 30, 3334, 0), (2, 'hoarder', %(many)s, 1, 8), (3, 'newcomer', 500, 2, 0))
        AS inbox (place, name, total, unread_every, snoozed)
    JOIN users ON users.external_id = inbox.name
    CROSS JOIN LATERAL generate_series(1, inbox.total) AS n
    CROSS JOIN LATERAL (SELECT tocsin_now() - n * interval '1 minute', n %% inbox.unread_every = 0) AS row (at, is_unread)
"""
ANNOUNCEMENTS = """
    WITH announced AS (
        INSERT INTO notifications (
            id, tenant_id, kind, reason, title, message, summary, last_event_at, shown_at, created_at, updated_at)
        SELECT gen_random_uuid(), %(tenant)s, 'k', 'intent', 'for all ' || n, '', '{}', at, at, at, at
        FROM generate_series(1, %(shared)s) AS n CROSS JOIN LATERAL (SELECT tocsin_now() - n * interval '1 hour') AS row (at)
        RETURNING id, tenant_id
    )
    INSERT INTO notification_reads (notification_id, tenant_id, user_id, read_at)
    SELECT announced.id, announced.tenant_id, users.id, tocsin_now() FROM announced CROSS JOIN users
    WHERE users.external_id <> 'nobody'
"""

# Everybody has looked eight hours ago, but the one who has no row of their own.
VISITS = """
    INSERT INTO inbox_visits (tenant_id, user_id, seen_at)
    SELECT tenant_id, id, tocsin_now() - interval '8 hours' FROM users WHERE external_id <> 'nobody'
"""

# how many rows the first page of each view has, for each person
VIEWS = {
    "reader": {"all": PAGE, "unread": 30, "read": PAGE, "done": 34, "saved": 41, "snoozed": 0},
    "hoarder": {"all": PAGE, "unread": PAGE, "read": SHARED, "done": 0, "saved": 40, "snoozed": 8},
    "nobody": {"all": SHARED, "unread": SHARED, "read": 0, "done": 0, "saved": 0, "snoozed": 0},
}
BADGES = {"reader": (30, 0), "hoarder": (COUNT_CAP, 471), "nobody": (SHARED, SHARED)}  # unread, and unseen of these


class Explained:
    """What a query read, and how."""

    def __init__(self, plan: Node, rows: list[Any]) -> None:
        self.rows = rows
        self.nodes = list(walk(plan))
        self.buffers = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]

    def scans_of(self, table: str) -> list[Node]:
        return [node for node in self.nodes if node.get("Relation Name") == table]

    def faults(self, most_rows: int) -> list[str]:
        """What is wrong with it, if anything."""
        scans = [*self.scans_of("notifications"), *self.scans_of("notification_reads")]
        sorts = [part for node in self.nodes if "Sort" in node["Node Type"] for part in node["Plans"]]
        return [
            *(f"{scan['Node Type']} of {scan['Relation Name']}" for scan in scans if not scan["Node Type"].startswith("Index")),
            *(f"reads {rows_of(scan)} rows" for scan in self.scans_of("notifications") if rows_of(scan) > most_rows),
            *(f"sorts {rows_of(part)} rows" for part in sorts if rows_of(part) > MOST_ROWS),
            *([f"touches {self.buffers} buffers"] if self.buffers > MOST_BUFFERS else []),
        ]


@pytest.fixture
def admin(server: Postgres, make_database: Callable[[], str]) -> Iterator[Connection[Any]]:
    """A database with all these rows, that explains what it does and keeps no statistics of its own accord."""
    name = make_database()
    with psycopg.connect(server.dsn(name), autocommit=True) as conn:
        conn.execute(f"ALTER DATABASE {name} SET session_preload_libraries = 'auto_explain'")
        for table in ("notifications", "notification_reads"):
            conn.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
        conn.execute("SET session_replication_role = replica")  # a fifth of a million foreign keys need not be looked up
        conn.execute(
            """INSERT INTO users (id, tenant_id, external_id)
               SELECT tocsin_uuid7(), %(tenant)s, name FROM unnest(ARRAY['reader', 'hoarder', 'newcomer', 'nobody']) AS name
               UNION ALL SELECT tocsin_uuid7(), %(tenant)s, 'user-' || n FROM generate_series(1, 500) AS n""",
            {"tenant": TENANT},
        )
        conn.execute("ANALYZE users")
        with _indexes_made_afterwards(conn):
            conn.execute(ROWS, {"tenant": TENANT, "many": MANY})
        conn.execute(ANNOUNCEMENTS, {"tenant": TENANT, "shared": SHARED})
        conn.execute(VISITS)
        for setting, value in EXPLAINING.items():
            conn.execute(f"ALTER DATABASE {name} SET auto_explain.log_{setting} = '{value}'")
        yield conn


@contextmanager
def _indexes_made_afterwards(conn: Connection[Any]) -> Iterator[None]:
    indexes = conn.execute(
        "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'notifications' AND indexname NOT LIKE '%pkey'"
    ).fetchall()
    for name, _ in indexes:
        conn.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(name)))
    yield
    for _, definition in indexes:
        conn.execute(definition)


def _explain(conn: Connection[Any], said: list[str], query: Query) -> Explained:
    """Run a query as the functions do, and tell how it went."""
    said.clear()
    with tenant_round_trip(conn, TENANT):
        cursor = query(conn)
    plans = [json.loads(text[text.index("{") :]) for text in said if "{" in text]
    (plan,) = [one["Plan"] for one in plans if "FROM notifications" in one["Query Text"]]
    return Explained(plan, cursor.fetchall())


def _people(admin: Connection[Any]) -> dict[str, UUID]:
    return dict(admin.execute("SELECT external_id, id FROM users WHERE external_id NOT LIKE 'user-%'").fetchall())


def _pages(admin: Connection[Any], place: tuple[datetime, UUID] | None) -> Iterator[tuple[str, str, Query]]:
    for person, user_id in _people(admin).items():
        for view in VIEWS["reader"]:
            if person in VIEWS:
                query = partial(
                    notifications.list_page, tenant_id=TENANT, user_id=user_id, view=View(view), limit=PAGE, after=place
                )
                yield person, view, query


def _badges(admin: Connection[Any]) -> Iterator[tuple[str, Query]]:
    for person, user_id in _people(admin).items():
        if person in BADGES:
            yield person, partial(notifications.count_unread, tenant_id=TENANT, user_id=user_id)


def _faults(admin: Connection[Any], conn: Connection[Any], said: list[str]) -> Iterator[tuple[str, ...]]:
    now = admin.execute("SELECT tocsin_now()").fetchone()
    assert now is not None
    for place in (None, (now[0] - timedelta(minutes=MANY // 2), UUID(int=0))):
        for person, view, query in _pages(admin, place):
            page = _explain(conn, said, query)
            assert place or len(page.rows) == VIEWS[person][view], (person, view)
            yield from ((person, view, "from the middle" if place else "first", fault) for fault in page.faults(MOST_ROWS))
    for person, query in _badges(admin):
        badge = _explain(conn, said, query)
        assert badge.rows == [BADGES[person]]
        yield from ((person, "badge", fault) for fault in badge.faults(COUNT_CAP + 8))  # those put off are passed over
        if (own := badge.scans_of("notifications")[0]["Node Type"]) != "Index Only Scan":
            yield person, "badge", own


def test_every_view_and_the_badge_read_little_more_than_they_show(server: Postgres, admin: Connection[Any]) -> None:
    faults: list[tuple[str, ...]] = []
    for statistics in ("never analysed", "analysed"):
        if statistics == "analysed":
            admin.execute("VACUUM ANALYZE notifications, notification_reads")
        for planning in ("force_custom_plan", "force_generic_plan"):
            dsn = server.dsn(admin.info.dbname, "tocsin_app")
            with psycopg.connect(dsn, autocommit=True, prepare_threshold=0) as conn:
                said: list[str] = []
                conn.add_notice_handler(lambda notice, said=said: said.append(notice.message_primary or ""))  # type: ignore[misc]
                conn.execute(f"SET plan_cache_mode = {planning}")
                faults += [(statistics, planning, *fault) for fault in _faults(admin, conn, said)]

    assert "\n".join(" | ".join(fault) for fault in faults) == ""
