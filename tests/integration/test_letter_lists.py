"""Lists of dead letters: what the plain definition says, page after page, and by an index however many there are."""

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.content import add_template
from tests.letters import LONG_HISTORY
from tests.plans import rows_of, telling, walk
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.store import dead_letters, records
from tocsin.store.dead_letters import Wanted

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
RESOLUTIONS = (None, None, "replayed", "ignored", "handled_by_script", "handler_failed")
PAGE = 7
Row = dict[str, Any]


@pytest.fixture
def died(world: World) -> list[Row]:
    """Two hundred letters of few moments and causes; the same again for another tenant."""
    chance = random.Random(11)  # noqa: S311 - the same world each time
    world.add_tenant()
    templates = [add_template(world, "t", body=body).id for body in ("one", "two")]
    triggers, notifications = [uuid7(), uuid7()], [uuid7() for _ in range(20)]
    made = [
        {
            "id": UUID(int=chance.getrandbits(128)),
            "created_at": NOON + timedelta(hours=chance.randrange(6)),
            "source_kind": chance.choice(("deliver", "plan", "trigger")),
            "channel": chance.choice(("email", "sms", "")),
            "classification": chance.choice(("permanent", "exhausted")),
            "provider": chance.choice(("ses", "sns")),
            "provider_code": chance.choice(("MessageRejected", "500")),
            "notification_id": chance.choice(notifications),
            "recipient": chance.choice(("user:alice", "user:bob", "")),
            "type": chance.choice(("news", "alarm", "")),
            "template_id": chance.choice((None, *templates)),
            "trigger_id": chance.choice((None, *triggers)),
            "resolution": chance.choice(RESOLUTIONS),
        }
        for _ in range(200)
    ]
    for tenant in (TENANT, OTHER_TENANT):
        for one in made:
            insert(world, one if tenant == TENANT else one | {"id": uuid7()}, tenant)
    return sorted(made, key=lambda one: (one["created_at"], one["id"]), reverse=True)


def insert(world: World, row: Row, tenant: UUID) -> None:
    world.admin.execute(
        """INSERT INTO dead_letters (id, tenant_id, source_kind, outbox_id, notification_id, generation, channel, recipient_ref,
               final_attempt_count, max_attempts, failure_classification, failure_message, created_at, provider, provider_code,
               notification_type, template_id, trigger_id, resolution, resolved_at, replayed_as)
           VALUES (%(id)s, %(tenant)s, %(source_kind)s, %(id)s, %(notification_id)s, 1, %(channel)s, %(recipient)s, 5, 5,
               %(classification)s, 'm', %(created_at)s, %(provider)s, %(provider_code)s, %(type)s, %(template_id)s,
               %(trigger_id)s, %(resolution)s, CASE WHEN %(resolution)s::text IS NOT NULL THEN tocsin_now() END,
               CASE WHEN %(resolution)s = 'replayed' THEN gen_random_uuid() END)""",
        row | {"tenant": tenant},
    )


def matches(row: Row, wanted: Wanted, versions: dict[UUID, int]) -> bool:
    """The definition."""
    names = ("source_kind", "channel", "classification", "provider", "provider_code", "notification_id", "type", "trigger_id")
    states = {"all": True, "unresolved": row["resolution"] is None, "resolved": row["resolution"] is not None}
    return (
        all(getattr(wanted, name) in (None, row[name]) for name in (*names, "recipient"))
        and states.get(wanted.state, row["resolution"] == wanted.state)
        and (wanted.since is None or row["created_at"] >= wanted.since)
        and (wanted.until is None or row["created_at"] < wanted.until)
        and (wanted.template is None or row["template_id"] is not None)
        and (wanted.template_version is None or versions.get(row["template_id"]) == wanted.template_version)
    )


def wishes(died: list[Row]) -> Iterator[Wanted]:
    one = died[0]
    filters: list[Row] = [
        {}, {"source_kind": "plan"}, {"channel": "sms", "provider": "sns"}, {"classification": "exhausted"},
        {"provider_code": "500"}, {"notification_id": one["notification_id"]}, {"recipient": "user:bob"}, {"type": "alarm"},
        {"template": "t"}, {"template": "t", "template_version": 2}, {"trigger_id": one["trigger_id"] or uuid7()},
        {"recipient": "user:alice", "type": "news"},
    ]  # fmt: skip
    times: list[Row] = [{}, {"since": NOON + timedelta(hours=2)}, {"until": NOON + timedelta(hours=3)}]
    states = ("unresolved", "resolved", "all", "replayed", "handler_failed")
    for said, when, state in itertools.product(filters, times, states):
        yield Wanted(state=state, **said, **when)


def pages(world: World, wanted: Wanted) -> list[UUID]:
    found: list[UUID] = []
    before = None
    while True:
        with tenant_transaction(world.app, TENANT):
            page = dead_letters.find_page(world.app, TENANT, wanted, limit=PAGE, before=before)
        found += [letter_id for _, letter_id in page]
        if len(page) < PAGE:
            return found
        before = page[-1]


def test_every_filter_lists_page_by_page_what_matches_newest_first(world: World, died: list[Row]) -> None:
    versions = {row["id"]: row["version"] for row in world.rows("SELECT id, version FROM templates")}

    for wanted in wishes(died):
        assert pages(world, wanted) == [one["id"] for one in died if matches(one, wanted, versions)], wanted


def test_groups_count_what_waits_by_its_cause(world: World, died: list[Row]) -> None:
    with tenant_transaction(world.app, TENANT):
        causes = dead_letters.group_by_cause(world.app, TENANT, limit=200)
        unresolved = dead_letters.count_unresolved(world.app, TENANT)

    waiting = [one for one in died if one["resolution"] is None]
    assert sum(one.count for one in causes) == unresolved == len(waiting)
    assert [one.count for one in causes] == sorted((one.count for one in causes), reverse=True)
    for cause in causes:
        listed = pages(world, wanted_of(cause))
        alike = [one for one in waiting if one["id"] in listed and (one["template_id"] is None) == (cause.template is None)]
        assert (len(alike), max(one["created_at"] for one in alike)) == (cause.count, cause.last_seen_at)
        assert (min(one["created_at"] for one in alike), cause.example_id) == (cause.first_seen_at, alike[0]["id"])
    assert {one.template_version for one in causes} == {None, 1, 2}


def wanted_of(cause: dead_letters.Cause) -> Wanted:
    names = ("source_kind", "channel", "classification", "provider", "provider_code", "template", "template_version")
    return Wanted(**{name: getattr(cause, name) for name in names})


MANY = 20_000
RARE = {"source_kind": "plan", "channel": "email", "provider": "ses", "provider_code": "rare"}
EXPENSIVE_ONCE: list[tuple[Row, int]] = [
    ({}, PAGE),
    ({"state": "all"}, PAGE),
    ({"state": "replayed"}, 0),
    ({"classification": "poison"}, 5),
    ({"classification": "exhausted", "provider_code": "500"}, PAGE),
    ({"classification": "poison"} | RARE, 5),
    ({"recipient": "user:rare"}, 5),
    ({"recipient": "user:rare", "state": "all"}, 5),
    ({"type": "rare"}, 5),
    ({"trigger_id": UUID(int=1), "state": "all"}, 5),
    ({"notification_id": UUID(int=MANY), "state": "all"}, 1),
]


def test_a_page_and_the_badge_read_little_however_many_have_died(breakable_world: World) -> None:
    world = breakable_world
    world.admin.execute("SET session_replication_role = replica")
    world.admin.execute("ALTER TABLE dead_letters SET (autovacuum_enabled = false)")
    world.admin.execute(LONG_HISTORY, {"tenant": TENANT, "many": MANY})
    world.admin.execute("VACUUM ANALYZE dead_letters")
    conn = world.connect("postgres")
    plans = telling(conn, "tocsin_app")
    conn.execute("RESET enable_seqscan; RESET enable_sort; SET jit = off")

    for wanted, found in EXPENSIVE_ONCE:
        plans.clear()
        with tenant_transaction(conn, TENANT):
            page = dead_letters.find_page(conn, TENANT, replace(Wanted(), **wanted), limit=PAGE)
        assert len(page) == found, wanted
        scanned = _scanned(plans)
        assert "Seq Scan" not in {node["Node Type"] for node in scanned}, wanted
        assert sum(rows_of(node) for node in scanned) <= 10 * PAGE, (wanted, scanned)

    plans.clear()
    with tenant_transaction(conn, TENANT):
        assert dead_letters.count_unresolved(conn, TENANT) == MANY // 20 + 4
    assert "Seq Scan" not in {node["Node Type"] for node in _scanned(plans)}
    assert sum(rows_of(node) for node in _scanned(plans)) == MANY // 20 + 4

    filters = dict.fromkeys(("type", "producer", "channel", "recipient", "since", "until")) | {"status": "dead_letter"}
    plans.clear()
    with tenant_transaction(conn, TENANT):
        records.list_page(conn, TENANT, filters=filters, limit=PAGE, after=None)
    assert sum(rows_of(node) for node in _scanned(plans)) <= 10 * PAGE


def _scanned(plans: list[Any]) -> list[Any]:
    nodes = [node for plan in plans for node in walk(plan["Plan"]) if node["Actual Loops"]]
    return [node for node in nodes if node.get("Relation Name") == "dead_letters"]
