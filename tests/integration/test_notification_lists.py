"""Lists of notifications: whatever way they are found by, they are what the plain definition says, page after page."""

import itertools
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

from devstack.postgres import Postgres
from tests import events
from tests.plans import rows_of, telling, walk
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.api.notifications import state_of
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.store import records
from tocsin.upkeep.migrate import roll_back

MakeDatabase = Callable[[], str]
MIGRATIONS = Path(__file__).parent.parent.parent / "migrations"
LISTS = "0018.lists.sql"

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
STATES = ("accepted", "in_progress", "finished")
STATUSES = ("pending", "failed", "published", "dead_letter", "skipped", "cancelled")
CHANNELS = ("email", "sms", "push", "in_app", "webhook")
PEOPLE = ("user:alice", "user:bob", "user:stranger", "address")
ENDED = {"published": "published_at", "dead_letter": "dead_lettered_at", "skipped": "skipped_at", "cancelled": "cancelled_at"}
NO_FILTER = dict.fromkeys(("type", "producer", "status", "channel", "recipient", "since", "until"))
PAGE = 7
Row = dict[str, Any]


@pytest.fixture
def asked(world: World) -> list[Row]:
    """Eighty records of few moments, with none to five routes each, some of them dead; the same again for another tenant."""
    chance = random.Random(9)  # noqa: S311 - the same world each time
    world.add_tenant()
    made = [_record(chance, n) for n in range(80)]
    for tenant in (TENANT, OTHER_TENANT):
        for record in made:
            _insert(world, record if tenant == TENANT else _copy(record), tenant)
    return sorted(made, key=lambda one: (one["accepted_at"], one["notification_id"]), reverse=True)


def _record(chance: random.Random, n: int) -> Row:
    routes = [_route(chance, place, CHANNELS if n % 2 else CHANNELS[:2]) for place in range(chance.randrange(6))]
    letter = chance.choice((*["none"] * 6, None, "ignored", "replayed"))
    # ids that do not follow the time, as those of several clocks do not
    return {
        "notification_id": UUID(int=chance.getrandbits(128)),
        "type": chance.choice(("news", "alarm")),
        "producer": chance.choice(("shop", "billing")),
        "accepted_at": NOON + timedelta(hours=chance.randrange(6)),
        "routes": routes,
        "letter": letter,  # of its plan, or of the rest of its audience: how it was resolved
        # a plan that is under way is in the outbox; what has neither routes nor a plan died, and its letter is forgotten
        "is_waiting": letter in ("none", "replayed") and chance.random() < (0.2 if routes else 0.7),
    }


def _route(chance: random.Random, place: int, channels: tuple[str, ...]) -> Row:
    channel = chance.choice(channels)
    statuses = STATUSES[2:] if channel == "in_app" else STATUSES  # what goes to the inbox does not wait
    return {
        "route_id": str(place),
        "status": chance.choice((*statuses, "published")),
        "channel": channel,
        "recipient": chance.choice(PEOPLE),
    }


def _copy(record: Row) -> Row:
    return record | {"notification_id": uuid7()}


def _insert(world: World, record: Row, tenant: UUID) -> None:
    known = {"tenant": tenant, "id": record["notification_id"], "at": record["accepted_at"]}
    world.admin.execute(
        """INSERT INTO records (notification_id, tenant_id, notification_type, producer, audience_kind, payload_json,
               idempotency_key, request_fingerprint, occurred_at, accepted_at, updated_at, idempotency_expires_at)
           VALUES (%(id)s, %(tenant)s, %(type)s, %(producer)s, 'users', '{}', %(id)s, '', %(at)s, %(at)s, %(at)s, %(at)s)""",
        known | {"type": record["type"], "producer": record["producer"]},
    )
    if record["is_waiting"]:
        world.admin.execute(
            """INSERT INTO outbox (id, tenant_id, source_kind, queue, notification_id, due_at, max_attempts, retry_backoff,
                   retry_base_ms)
               VALUES (%(id)s, %(tenant)s, 'plan', 'plan', %(id)s, %(at)s, 5, 'linear', 1)""",
            known,
        )
    if record["letter"] != "none":
        world.admin.execute(
            """INSERT INTO dead_letters (id, tenant_id, source_kind, outbox_id, notification_id, queue, final_attempt_count,
                   max_attempts, last_attempt_at, failure_classification, failure_message, recovery_hint, created_at,
                   notification_type, accepted_at, resolution, resolved_at, replayed_as)
               VALUES (%(letter_id)s, %(tenant)s, 'plan', %(id)s, %(id)s, 'plan', 5, 5, %(at)s, 'poison', '', '', %(at)s,
                   %(type)s, %(at)s, %(letter)s, CASE WHEN %(letter)s::text IS NOT NULL THEN %(at)s END,
                   CASE WHEN %(letter)s::text = 'replayed' THEN %(id)s END)""",
            known | {"letter_id": uuid7(), "type": record["type"], "letter": record["letter"]},
        )
    for route in record["routes"]:
        ended = f", {ENDED[route['status']]}" if route["status"] in ENDED else ""
        world.admin.execute(
            f"""INSERT INTO routes (notification_id, route_id, tenant_id, channel, recipient_ref, status, reason, max_attempts,
                    created_at, updated_at, accepted_at{ended})
                VALUES (%(id)s, %(route_id)s, %(tenant)s, %(channel)s, %(recipient)s, %(status)s, 'r', 5, %(at)s, %(at)s,
                    %(at)s{", %(at)s" if ended else ""})""",  # type: ignore[call-overload]
            known | route,
        )
        if not ended:
            world.admin.execute(
                """INSERT INTO outbox (id, tenant_id, source_kind, queue, notification_id, route_id, due_at, max_attempts,
                       retry_backoff, retry_base_ms)
                   VALUES (%(outbox_id)s, %(tenant)s, 'deliver', %(channel)s, %(id)s, %(route_id)s, %(at)s, 5, 'linear', 1)""",
                known | route | {"outbox_id": uuid7()},
            )


def _state(record: Row) -> str:
    """What a notification's own state is."""
    if record["letter"] in (None, "ignored"):
        return "dead_letter"
    if record["is_waiting"] and not record["routes"]:
        return "accepted"
    return "in_progress" if {"pending", "failed"} & {route["status"] for route in record["routes"]} else "finished"


def _matches_by_state(record: Row, wanted: Row) -> bool:
    """A route that is filtered for is, in progress, one that is; a word that is a route's too finds either."""
    on_routes = {name: wanted[name] for name in ("status", "channel", "recipient") if wanted[name] is not None}
    of = record["routes"]
    if wanted["status"] in STATES:
        if _state(record) != on_routes.pop("status"):
            return False
        of = [one for one in of if wanted["status"] != "in_progress" or one["status"] in ("pending", "failed")]
    return (
        not on_routes
        or any(on_routes.items() <= route.items() for route in of)
        or on_routes == {"status": "dead_letter"} == {"status": _state(record)}
    )


def _matches(record: Row, wanted: Row) -> bool:
    """The definition."""
    return (
        wanted["type"] in (None, record["type"])
        and wanted["producer"] in (None, record["producer"])
        and (wanted["since"] is None or record["accepted_at"] >= wanted["since"])
        and (wanted["until"] is None or record["accepted_at"] < wanted["until"])
        and _matches_by_state(record, wanted)
    )


def _pages(world: World, wanted: Row, limit: int = PAGE) -> Iterator[list[Row]]:
    after = None
    while True:
        with tenant_transaction(world.app, TENANT):
            page = records.list_page(world.app, TENANT, filters=wanted, limit=limit, after=after)
        yield page
        if len(page) < limit:
            return
        after = (page[-1]["accepted_at"], page[-1]["notification_id"])


def _every_wish() -> Iterator[Row]:
    more: tuple[Row, ...] = (
        {},
        {"type": "alarm"},
        {"producer": "billing", "since": NOON + timedelta(hours=2)},
        {"since": NOON + timedelta(hours=1), "until": NOON + timedelta(hours=4)},
    )
    for status, channel, recipient in itertools.product(
        (None, *STATES, *STATUSES), (None, *CHANNELS), (None, *PEOPLE, "user:nobody")
    ):
        yield from (NO_FILTER | {"status": status, "channel": channel, "recipient": recipient} | one for one in more)


def _differences(world: World, asked: list[Row]) -> list[Row]:
    return [
        wanted
        for wanted in _every_wish()
        if [row["notification_id"] for page in _pages(world, wanted) for row in page]
        != [one["notification_id"] for one in asked if _matches(one, wanted)]
    ]


def test_every_combination_of_filters_lists_page_by_page_what_matches_newest_first(world: World, asked: list[Row]) -> None:
    assert _differences(world, asked) == []


def test_whoever_filters_by_the_state_that_a_row_shows_finds_the_row(world: World, asked: list[Row]) -> None:
    states = {one["notification_id"]: _state(one) for one in asked}
    assert {*states.values()} == {*STATES, "dead_letter"}
    assert any(one["routes"] and _state(one) == "dead_letter" for one in asked)

    for wanted in (None, *STATES):
        listed = [row for page in _pages(world, NO_FILTER | {"status": wanted}) for row in page]
        shown = {
            row["notification_id"]: state_of(row["routes"] or {}, is_dead=row["is_dead"], is_accepted=row["is_accepted"])
            for row in listed
        }
        assert shown == {one: state for one, state in states.items() if wanted in (None, state)}


def test_a_backlog_too_deep_to_be_sorted_changes_nothing(world: World, asked: list[Row], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_MOST_SORTED", 3)

    for status, channel, kind in itertools.product(
        ("pending", "failed", "in_progress", "accepted"), (None, *CHANNELS), (None, "news")
    ):
        wanted = NO_FILTER | {"status": status, "channel": channel, "type": kind}
        listed = [row["notification_id"] for page in _pages(world, wanted) for row in page]
        assert listed == [one["notification_id"] for one in asked if _matches(one, wanted)]


@pytest.mark.parametrize(
    "wanted", [{"recipient": "user:alice"}, {"status": "skipped"}, {"channel": "email"}, {"status": "failed"}]
)
def test_a_row_counts_all_routes_of_its_notification_whatever_found_it(world: World, asked: list[Row], wanted: Row) -> None:
    counts = {one["notification_id"]: [route["status"] for route in one["routes"]] for one in asked}

    (page, *_) = _pages(world, NO_FILTER | wanted)

    for row in page:
        assert row["routes"] == {status: counts[row["notification_id"]].count(status) for status in row["routes"]}
        assert sum(row["routes"].values()) == len(counts[row["notification_id"]])


def test_every_route_carries_the_time_of_its_record_whoever_wrote_it(world: World) -> None:
    """Planned long after it was asked for, fanned out after a while, and collected in a digest."""
    world.add_user("alice")
    world.accept(send_at=(datetime.now(UTC) + timedelta(hours=1)).isoformat())
    events.route(world, rules={"subscribed": ["email"]})
    events.choose(world, "alice", subscribed=True)
    events.happen(world)
    world.accept(thread={"kind": "order", "id": "7"})
    world.accept(thread={"kind": "order", "id": "7"})
    world.pass_time(timedelta(hours=2))

    events.fan_out_all(world)
    for _ in range(3):
        world.dispatch()

    rows = world.rows(
        """SELECT audience_kind, routes.accepted_at = records.accepted_at AS is_carried,
                  routes.created_at > records.accepted_at AS is_later
           FROM routes JOIN records USING (notification_id)"""
    )
    assert {row["audience_kind"] for row in rows} == {"users", "event", "digest"}
    assert {row["audience_kind"] for row in rows if row["is_later"]} >= {"users", "event"}
    assert all(row["is_carried"] for row in rows)


def test_routes_from_before_the_migration_are_given_the_time_of_their_record(
    server: Postgres, make_database: MakeDatabase
) -> None:
    """By an owner who obeys row-level security like everyone else, as in an installation."""
    url = server.dsn(make_database())
    from_here_on = [one for one in MIGRATIONS.glob("*.sql") if one.name >= LISTS and "rollback" not in one.name]
    roll_back(url, MIGRATIONS, count=len(from_here_on))
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute(
            """INSERT INTO records (notification_id, tenant_id, notification_type, producer, audience_kind, payload_json,
                   idempotency_key, request_fingerprint, occurred_at, accepted_at, updated_at, idempotency_expires_at)
               VALUES (%(id)s, %(tenant)s, 'news', 'shop', 'users', '{}', 'k', '', %(at)s, %(at)s, %(at)s, %(at)s)""",
            {"id": UUID(int=1), "tenant": TENANT, "at": NOON},
        )
        conn.execute(
            """INSERT INTO routes (notification_id, route_id, tenant_id, channel, recipient_ref, status, max_attempts, created_at,
                   updated_at)
               VALUES (%(id)s, 'r', %(tenant)s, 'email', 'user:alice', 'pending', 5, tocsin_now(), tocsin_now())""",
            {"id": UUID(int=1), "tenant": TENANT},
        )
        conn.execute("CREATE ROLE plain_owner; GRANT CREATE ON SCHEMA public TO plain_owner")
        try:
            for (table,) in conn.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall():
                conn.execute(f'ALTER TABLE "{table}" OWNER TO plain_owner')  # type: ignore[call-overload]
            conn.execute("SET ROLE plain_owner")
            conn.execute((MIGRATIONS / LISTS).read_bytes())
            conn.execute("RESET ROLE")

            assert conn.execute("SELECT accepted_at FROM routes").fetchall() == [(NOON,)]
        finally:
            conn.execute(
                "RESET ROLE; REASSIGN OWNED BY plain_owner TO postgres; DROP OWNED BY plain_owner; DROP ROLE plain_owner"
            )


MANY = 20_000
# Nothing but published emails for weeks; before that a day of trouble. One in a hundred goes to somebody who gets much.
HISTORY = """
    INSERT INTO records (notification_id, tenant_id, notification_type, producer, audience_kind, payload_json, idempotency_key,
        request_fingerprint, occurred_at, accepted_at, updated_at, idempotency_expires_at)
    SELECT lpad(to_hex(n), 32, '0')::uuid, %(tenant)s, 'news', 'shop', 'users', '{}', n, '', at, at, at, at
    FROM generate_series(1, %(many)s) AS n CROSS JOIN LATERAL (SELECT tocsin_now() - n * interval '1 minute') AS row (at);
    INSERT INTO routes (notification_id, route_id, tenant_id, channel, recipient_ref, status, reason, max_attempts, created_at,
        updated_at, accepted_at, published_at, dead_lettered_at)
    SELECT notification_id, 'email-' || copy, tenant_id, 'email',
           CASE WHEN n = 1 THEN 'user:' || copy WHEN n %% 100 = 0 THEN 'user:much' ELSE 'user:' || n END,
           CASE WHEN is_dead THEN 'dead_letter' ELSE 'published' END, 'r', 5, accepted_at, accepted_at, accepted_at,
           CASE WHEN NOT is_dead THEN accepted_at END, CASE WHEN is_dead THEN accepted_at END
    FROM records
    CROSS JOIN LATERAL (SELECT idempotency_key::integer, idempotency_key::integer > %(many)s - 1000) AS row (n, is_dead)
    CROSS JOIN LATERAL generate_series(1, CASE WHEN n = 1 THEN 300 ELSE 1 END) AS copy
"""
EXPENSIVE_ONCE: list[tuple[Row, int]] = [
    ({}, PAGE),
    ({"recipient": "user:777"}, 1),
    ({"recipient": "user:much"}, PAGE),
    ({"recipient": "user:nobody"}, 0),
    ({"status": "dead_letter"}, PAGE),
    ({"status": "dead_letter", "channel": "sms"}, 0),
    ({"status": "skipped"}, 0),
    ({"status": "failed"}, 0),
    ({"status": "in_progress"}, 0),
    ({"status": "accepted"}, 0),
    ({"status": "finished"}, PAGE),
    ({"status": "finished", "channel": "email"}, PAGE),
    ({"status": "finished", "channel": "push"}, 0),
    ({"status": "finished", "recipient": "user:much"}, PAGE),
    ({"status": "published"}, PAGE),
    ({"channel": "email"}, PAGE),
    ({"channel": "push"}, 0),
]


def test_a_page_reads_little_more_than_it_shows_however_far_back_it_is(breakable_world: World) -> None:
    world = breakable_world
    world.admin.execute("SET session_replication_role = replica")  # twenty thousand foreign keys need not be looked up
    world.admin.execute("ALTER TABLE records SET (autovacuum_enabled = false)")
    world.admin.execute("ALTER TABLE routes SET (autovacuum_enabled = false)")
    for statement in HISTORY.split(";"):
        world.admin.execute(statement, {"tenant": TENANT, "many": MANY})  # type: ignore[call-overload]
    conn = world.connect("postgres")
    plans = telling(conn, "tocsin_app")
    conn.execute("RESET enable_seqscan; RESET enable_sort; SET jit = off")

    world.admin.execute("VACUUM ANALYZE records, routes")
    for planning in ("custom", "generic"):
        conn.execute(f"SET plan_cache_mode = force_{planning}_plan")  # type: ignore[call-overload]
        for wanted, found in EXPENSIVE_ONCE:
            plans.clear()
            with tenant_transaction(conn, TENANT):
                page = records.list_page(conn, TENANT, filters=NO_FILTER | wanted, limit=PAGE, after=None)
            nodes = [node for plan in plans for node in walk(plan["Plan"]) if node["Actual Loops"]]
            scans = [node for node in nodes if node.get("Relation Name") in ("records", "routes")]
            case = (planning, wanted)
            assert len(page) == found, case
            assert "Seq Scan" not in {node["Node Type"] for node in scans}, case
            assert sum(rows_of(node) for node in scans) <= 20 * PAGE + 700, case  # a crowd of 300 may be met, and is counted
