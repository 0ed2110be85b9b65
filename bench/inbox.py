"""The inbox as its readers meet it: a page and the badge among millions of rows, against the least a read can cost."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
from psycopg import Connection
from psycopg.rows import dict_row

from bench.ground import TENANT, Ground, furnish, point_functions_at
from bench.inbox_rows import HEAVY_SHARE, fill
from bench.intake import answered, load_handler
from bench.report import Result, compared, counted
from bench.rounds import interleaved, rate_of
from tocsin.access.user_tokens import Person
from tocsin.foundation.database import tenant_round_trip
from tocsin.people import issue_token
from tocsin.store import notifications
from tocsin.store.notifications import View

PAGE = 20
READERS = 50  # ordinary ones, who come back: what they read is in memory, as is the row of the point read
PER_ROUND = 100
ROUNDS = 15


@dataclass(frozen=True, slots=True)
class Sample:
    """Who reads, and which rows are read by their id. `anyone` and `anywhere`: drawn from the whole table."""

    ordinary: list[UUID]
    heavy: UUID
    rows: list[UUID]
    anyone: list[UUID]
    anywhere: list[UUID]


def measure(ground: Ground) -> list[Result]:
    inbox = replace(ground, database="inbox")
    furnish(ground.server, inbox.database)
    with psycopg.connect(inbox.url(), autocommit=True) as admin, inbox.connect("tocsin_app") as conn:
        fill(admin, ground.inbox_rows)
        sample = draw(admin)
        seen = _times(conn, sample)
        scans, page_rows = _touched(admin, conn, lambda: [_page(conn, one) for one in sample.ordinary])
        more_scans, badge_rows = _touched(admin, conn, lambda: [_badge(conn, one) for one in [sample.heavy, *sample.ordinary]])
    seen |= _through_the_handler(inbox, sample)
    size, heavy = f"{ground.inbox_rows:,}", f"{ground.inbox_rows // HEAVY_SHARE:,}"
    point = "a row by its primary key"

    def took(what: str, name: str, against: str, other: str, target: str | None = None) -> Result:
        return compared(f"inbox: {what}", 1e6 / seen[name], "µs", against, 1e6 / seen[other], target)

    return [
        took(f"a page of {PAGE} among {size} rows", "page", point, "point", "<= 4"),
        took(f"a page of {PAGE} of a reader with {heavy} rows", "heavy page", "an ordinary reader's", "page", "<= 2"),
        took(f"the badge among {heavy} read rows", "heavy badge", point, "point", "<= 2"),
        took("the badge of an ordinary reader", "badge", point, "point", "<= 2"),
        counted("inbox: sequential scans for pages and badges", scans + more_scans, "scans", "<= 0"),
        counted("inbox: rows fetched from the table for a badge", badge_rows / (len(sample.ordinary) + 1), "rows", "<= 0"),
        counted(f"inbox: rows fetched from the table for a page of {PAGE}", page_rows / len(sample.ordinary), "rows"),
        took(f"a page of {PAGE}, any reader at all", "any page", "any row by its primary key", "any point"),
        took(f"GET /v1/inbox?limit={PAGE} through the handler", "handler page", point, "point"),
        took("GET /v1/inbox/unread-count through the handler", "handler badge", point, "point"),
    ]


def draw(admin: Connection[Any]) -> Sample:
    """The same at every run: readers spread over the table, and rows of theirs."""
    ordinary = _ids(admin, "SELECT id FROM users WHERE external_id LIKE 'reader-%%' ORDER BY id LIMIT %s", READERS)
    heavy = _ids(admin, "SELECT id FROM users WHERE external_id = 'heavy' LIMIT %s", 1)[0]
    rows = _ids(admin, "SELECT id FROM notifications WHERE user_id = ANY(%s) ORDER BY id LIMIT %s", ordinary, PER_ROUND)
    anyone = _ids(admin, "SELECT id FROM users WHERE external_id LIKE 'reader-%%' ORDER BY md5(id::text) LIMIT %s", 20_000)
    anywhere = _ids(admin, "SELECT id FROM notifications TABLESAMPLE SYSTEM (2) ORDER BY md5(id::text) LIMIT %s", 20_000)
    return Sample(ordinary, heavy, rows, anyone, anywhere)


def _ids(admin: Connection[Any], query: str, *values: Any) -> list[UUID]:
    return [row[0] for row in admin.execute(query, values).fetchall()]


def _times(conn: Connection[Any], sample: Sample) -> dict[str, float]:
    anyone, anywhere = itertools.cycle(sample.anyone), itertools.cycle(sample.anywhere)

    def per_round(ids: Any) -> Callable[[], list[UUID]]:
        turns = itertools.cycle(ids)
        return lambda: list(itertools.islice(turns, PER_ROUND))

    contestants = {
        "point": rate_of(lambda one: _point(conn, one), per_round(sample.rows)),
        "page": rate_of(lambda one: _page(conn, one), per_round(sample.ordinary)),
        "heavy page": rate_of(lambda one: _page(conn, one), per_round([sample.heavy])),
        "badge": rate_of(lambda one: _badge(conn, one), per_round(sample.ordinary)),
        "heavy badge": rate_of(lambda one: _badge(conn, one), per_round([sample.heavy])),
        "any point": rate_of(lambda one: _point(conn, one), per_round(anywhere)),
        "any page": rate_of(lambda one: _page(conn, one), per_round(anyone)),
    }
    interleaved(contestants, rounds=1)  # warm: prepared statements, cached pages
    return interleaved(contestants, rounds=ROUNDS)


def _point(conn: Connection[Any], row_id: UUID) -> object:
    with tenant_round_trip(conn, TENANT):
        cursor = conn.cursor(row_factory=dict_row).execute("SELECT * FROM notifications WHERE id = %s", [row_id])
    return cursor.fetchone()


def _page(conn: Connection[Any], user_id: UUID) -> list[Any]:
    """As GET /v1/inbox asks: one row more than it shows."""
    with tenant_round_trip(conn, TENANT):
        cursor = notifications.list_page(conn, TENANT, user_id, View(), limit=PAGE + 1, after=None)
    rows = cursor.fetchall()
    assert len(rows) == PAGE + 1
    return rows


def _badge(conn: Connection[Any], user_id: UUID) -> object:
    with tenant_round_trip(conn, TENANT):
        cursor = notifications.count_unread(conn, TENANT, user_id)
    return cursor.fetchone()


def _touched(admin: Connection[Any], conn: Connection[Any], work: Callable[[], object]) -> tuple[int, int]:
    """(sequential scans of any table, rows that index scans fetched from the inbox's table) while this was done."""
    before = _scans(admin, conn)
    work()
    scans, fetched = (now - then for now, then in zip(_scans(admin, conn), before, strict=True))
    return scans, fetched


def _scans(admin: Connection[Any], conn: Connection[Any]) -> tuple[int, int]:
    for one in (admin, conn):  # both have scans that they have not reported yet
        one.execute("SELECT pg_stat_force_next_flush()")
        one.execute("SELECT 1")
    row = admin.execute(
        """
        SELECT sum(seq_scan)::bigint, sum(idx_tup_fetch) FILTER (WHERE relname = 'notifications')::bigint
        FROM pg_stat_user_tables
        """
    ).fetchone()
    assert row is not None
    return row[0], row[1]


def _through_the_handler(inbox: Ground, sample: Sample) -> dict[str, float]:
    """Event in, answer out, warm, with a browser's token."""
    handler = load_handler("inbox_api")
    point_functions_at(inbox.url("tocsin_app"))
    try:
        tokens = [issue_token.token_for(Person(TENANT, one), timedelta(hours=1))[0] for one in sample.ordinary]
        turns = itertools.cycle(tokens)

        def events(route: str, query: str = "") -> Callable[[], list[dict[str, Any]]]:
            return lambda: [inbox_event(route, token, query) for token in itertools.islice(turns, PER_ROUND)]

        def answer(event: dict[str, Any]) -> None:
            answered(handler, event)

        contestants = {
            "handler page": rate_of(answer, events("GET /v1/inbox", f"limit={PAGE}")),
            "handler badge": rate_of(answer, events("GET /v1/inbox/unread-count")),
        }
        interleaved(contestants, rounds=1)
        return interleaved(contestants, rounds=5)
    finally:
        point_functions_at(inbox.url("tocsin_app", database="tocsin"))


def inbox_event(route: str, token: str, query: str = "") -> dict[str, Any]:
    """A browser's request as API Gateway hands it over."""
    method, path = route.split()
    return {
        "version": "2.0",
        "routeKey": route,
        "rawPath": path,
        "rawQueryString": query,
        "headers": {"authorization": f"Bearer {token}", "user-agent": "bench"},
        "requestContext": {"requestId": "bench", "http": {"method": method, "path": path, "sourceIp": "127.0.0.1"}},
        "isBase64Encoded": False,
    }
