"""Writing to the KV store: the database decides between rivals, and what a write fires is there exactly when the write is."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import Connection

from tests.triggers import FREELY, add_trigger, keep, runs
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access.audit import Actor
from tocsin.foundation import notices, settings, strict_json
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.store import kv_entries
from tocsin.store.flow.write_kv import KvCondition
from tocsin.store.kv_entries import KvEntry
from tocsin.triggers import kv
from tocsin.triggers.kv import KvFull, ValueTooLarge

NEW = KvCondition(must_be_new=True)
ACTOR = Actor(TENANT, "key:test")
RIVALS = 8


def _found(conn: Connection[Any], key: str = "A-17") -> KvEntry | None:
    with tenant_transaction(conn, TENANT):
        return kv_entries.find(conn, TENANT, "orders", key)


def _delete(world: World, key: str = "A-17", *, conn: Any = None, depth: int = 0, condition: KvCondition = FREELY) -> bool:
    return kv.delete(conn or world.app, ACTOR, "orders", key, condition=condition, depth=depth, mode="live")


def test_a_version_names_a_state_as_its_tag_does(world: World) -> None:
    keep(world)
    assert keep(world, condition=KvCondition(must_exist=True, write_ids=[], versions=[2])) is None
    assert keep(world, condition=KvCondition(must_exist=True, write_ids=[], versions=[1])) is not None
    assert not _delete(world, condition=KvCondition(True, write_ids=[], versions=[1]))
    assert _delete(world, condition=KvCondition(True, write_ids=[], versions=[2]))


def test_each_change_and_nothing_else_is_in_the_audit_log_without_its_value(world: World) -> None:
    keep(world, value={"secret": "of theirs"})
    keep(world)
    keep(world, condition=NEW)
    _delete(world, "unknown")
    _delete(world)

    rows = world.rows("SELECT actor, action, resource_type, resource_id, changes FROM audit_logs ORDER BY created_at, id")
    assert [(row["action"], row["changes"]) for row in rows] == [
        ("create", {"new": {"version": 1}}),
        ("update", {"new": {"version": 2}}),
        ("delete", {"old": {"version": 2}}),
    ]
    assert {(row["actor"], row["resource_type"], row["resource_id"]) for row in rows} == {("key:test", "kv", "orders/A-17")}


def _entries_counted(world: World) -> int:
    return int(world.one("SELECT entries FROM kv_usage WHERE tenant_id = %(t)s", t=TENANT))


@pytest.fixture
def at_most_five(monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    monkeypatch.setenv("KV_ENTRIES_PER_TENANT", "5")
    settings.settings.cache_clear()


def test_rivals_who_count_with_if_match_lose_no_step(world: World) -> None:
    keep(world, "counter", 0)
    conns = [world.connect("tocsin_app") for _ in range(RIVALS)]

    def count(conn: Connection[Any]) -> int:
        refused = 0
        for _ in range(10):
            while True:
                now = _found(conn, "counter")
                assert now is not None
                mine = KvCondition(must_exist=True, write_ids=[now.write_id])
                if keep(world, "counter", now.value + 1, conn=conn, condition=mine):
                    break
                refused += 1
        return refused

    with ThreadPoolExecutor(RIVALS) as pool:
        refused = sum(pool.map(count, conns))

    entry = _found(world.app, "counter")
    assert entry is not None
    assert (entry.value, entry.version) == (RIVALS * 10, RIVALS * 10 + 1)
    assert refused > 0  # they really met


def test_of_rivals_who_want_a_new_key_one_wins_and_the_rest_changes_nothing(world: World) -> None:
    add_trigger(world)
    conns = [world.connect("tocsin_app") for _ in range(RIVALS)]

    def create(n: int) -> KvEntry | None:
        return keep(world, "A-17", n, conn=conns[n], condition=NEW)

    with ThreadPoolExecutor(RIVALS) as pool:
        made = [entry for entry in pool.map(create, range(RIVALS)) if entry]

    assert _found(world.app) == made[0]
    assert len(made) == len(runs(world)) == _entries_counted(world) == 1


def test_rivals_without_a_condition_insert_once_and_update_the_rest(world: World) -> None:
    add_trigger(world)
    conns = [world.connect("tocsin_app") for _ in range(RIVALS)]

    with ThreadPoolExecutor(RIVALS) as pool:
        made = list(pool.map(lambda conn: keep(world, conn=conn), conns))

    assert sorted(entry.version for entry in made if entry) == list(range(1, RIVALS + 1))
    assert sorted(run["payload"]["op"] for run in runs(world)) == ["insert"] + ["update"] * (RIVALS - 1)
    assert _entries_counted(world) == 1


def test_of_rivals_who_delete_one_does_and_it_fires_once(world: World) -> None:
    keep(world)
    add_trigger(world)
    conns = [world.connect("tocsin_app") for _ in range(RIVALS)]

    with ThreadPoolExecutor(RIVALS) as pool:
        gone = list(pool.map(lambda conn: _delete(world, conn=conn), conns))

    assert gone.count(True) == len(runs(world)) == 1
    assert _entries_counted(world) == 0


def test_of_rivals_for_the_last_places_exactly_as_many_are_stored_as_fit(world: World, at_most_five: None) -> None:
    conns = [world.connect("tocsin_app") for _ in range(20)]

    def attempt(n: int) -> bool:
        try:
            return keep(world, f"k-{n}", n, conn=conns[n]) is not None
        except KvFull:
            return False

    with ThreadPoolExecutor(20) as pool:
        stored = list(pool.map(attempt, range(20)))

    assert stored.count(True) == world.count("kv_entries") == _entries_counted(world) == 5


def test_what_is_refused_fires_nothing_and_a_delete_makes_room(world: World, at_most_five: None) -> None:
    for n in range(5):
        keep(world, f"k-{n}")
    add_trigger(world)

    with pytest.raises(KvFull):
        keep(world, "one-too-many")
    assert (runs(world), world.count("kv_entries")) == ([], 5)
    assert keep(world, "k-0", "changed")  # what is there can still be changed
    assert _delete(world, "k-1")
    assert keep(world, "one-too-many")


def test_a_bound_that_was_lowered_refuses_new_keys_only(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(3):
        keep(world, f"k-{n}")
    monkeypatch.setenv("KV_ENTRIES_PER_TENANT", "2")
    settings.settings.cache_clear()

    with pytest.raises(KvFull):
        keep(world, "k-3")
    assert keep(world, "k-0")
    assert _delete(world, "k-0")
    assert _delete(world, "k-1")
    assert keep(world, "k-3")


def test_one_tenants_entries_take_no_room_of_another(world: World, at_most_five: None) -> None:
    world.add_tenant()
    for n in range(5):
        keep(world, f"k-{n}")

    assert keep(world, tenant=OTHER_TENANT)


def test_a_write_fires_one_run_per_trigger_that_wants_it_with_all_it_needs(world: World) -> None:
    wanted = add_trigger(world, "orders", handler="webhook", retry=(7, "linear", 250))
    add_trigger(world, "invoices")
    keep(world, "A-17", {"state": "new"}, depth=2)

    (run,) = runs(world)
    assert run["payload"] == {
        "trigger_id": str(wanted),
        "op": "insert",
        "collection": "orders",
        "key": "A-17",
        "value": {"state": "new"},
        "version": 1,
    }
    assert (run["tenant_id"], run["queue"], run["trigger_depth"], run["attempt_count"]) == (TENANT, "webhook", 3, 0)
    assert (run["max_attempts"], run["retry_backoff"], run["retry_base_ms"]) == (7, "linear", 250)
    assert run["principal_id"] == world.one("SELECT registered_by_principal FROM triggers WHERE id = %(id)s", id=wanted)


@pytest.mark.parametrize(("handler", "queue"), [("intent", "trigger"), ("lambda", "trigger"), ("webhook", "webhook")])
def test_a_run_waits_on_the_queue_of_its_handlers_kind(world: World, handler: str, queue: str) -> None:
    add_trigger(world, handler=handler)
    keep(world)

    assert [run["queue"] for run in runs(world)] == [queue]


def test_every_kind_of_change_is_told_by_its_name(world: World) -> None:
    add_trigger(world)
    keep(world, value=1)
    keep(world, value=1)
    _delete(world, depth=4)

    told = [(run["payload"]["op"], run["payload"]["value"], run["payload"]["version"]) for run in runs(world)]
    assert told == [("insert", 1, 1), ("update", 1, 2), ("delete", None, 2)]
    assert [run["trigger_depth"] for run in runs(world)] == [1, 1, 5]


def test_no_match_is_success_with_nothing_to_do(world: World) -> None:
    add_trigger(world, "invoices")
    add_trigger(world, "orders", ("delete",))
    add_trigger(world, "*", enabled=False)

    assert keep(world)
    assert runs(world) == []


def test_deleting_nothing_fires_nothing(world: World) -> None:
    add_trigger(world)

    assert not _delete(world)
    assert runs(world) == []


def test_another_tenants_trigger_hears_nothing(world: World) -> None:
    world.add_tenant()
    add_trigger(world, tenant=OTHER_TENANT)

    keep(world)

    assert runs(world) == []


def test_a_condition_that_does_not_hold_fires_nothing_and_counts_nothing(world: World) -> None:
    add_trigger(world)
    entry = keep(world, value=1)
    assert entry is not None
    before = runs(world)

    assert keep(world, condition=NEW) is None
    assert keep(world, condition=KvCondition(must_exist=True, write_ids=[uuid4()])) is None
    assert keep(world, condition=KvCondition(must_exist=True, write_ids=[])) is None
    assert keep(world, "B-18", condition=KvCondition(must_exist=True)) is None
    assert not kv.delete(
        world.app, ACTOR, "orders", "A-17", condition=KvCondition(must_exist=True, write_ids=[uuid4()]), depth=0, mode="live"
    )

    assert (_found(world.app), runs(world), _entries_counted(world)) == (entry, before, 1)


def test_a_write_that_is_repeated_after_a_lost_answer_happened_once_and_says_so(world: World) -> None:
    """As `database.run` repeats it on another connection: with its condition, it would otherwise be refused by its own effect."""
    add_trigger(world)
    for condition in (NEW, KvCondition(must_exist=True), FREELY):
        write_id = uuid7()
        first = keep(world, value=7, condition=condition, write_id=write_id)

        again = keep(world, value=7, condition=condition, write_id=write_id, conn=world.connect("tocsin_app"))

        assert first == again is not None
    assert [run["payload"]["version"] for run in runs(world)] == [1, 2, 3]


def test_the_mutation_and_its_work_are_undone_together(breakable_world: World) -> None:
    add_trigger(breakable_world)
    breakable_world.admin.execute("ALTER TABLE outbox ADD CONSTRAINT nothing_more CHECK (source_kind <> 'trigger')")

    with pytest.raises(psycopg.errors.CheckViolation):
        keep(breakable_world)

    assert (breakable_world.count("kv_entries"), breakable_world.count("kv_usage")) == (0, 0)


def test_what_a_write_makes_due_is_heard_on_its_connection(world: World) -> None:
    add_trigger(world)
    keep(world)

    (run,) = runs(world)
    assert [(due.id, due.queue, due.tenant_id) for due in notices.heard(world.app)] == [(run["id"], "trigger", TENANT)]


def test_numbers_that_grow_when_they_are_written_out_are_bounded(world: World) -> None:
    assert keep(world, value=[1e308] * 400)
    with pytest.raises(ValueTooLarge):
        keep(world, value=[1e308] * 10_000)


NUMBERS = [0, -1.5, 2**53, 1e16, 1e22, 1e308, -1e308, 5e-324]


@pytest.mark.parametrize("value", [*NUMBERS, None, True, "", "é😀\u2028", [], {}, {"a": [{"b": None}]}, [1] * 30_000])
def test_any_value_comes_back_as_it_was(world: World, value: Any) -> None:
    keep(world, value=value)

    entry = _found(world.app)
    assert entry is not None
    assert entry.value == value
    assert strict_json.parse(json.dumps(entry.value).encode()) == value  # and can be sent again


def test_a_page_ends_where_its_values_reach_the_bound(world: World) -> None:
    for n in range(6):
        keep(world, f"k-{n}", "x" * 1_000)

    with tenant_transaction(world.app, TENANT):
        first = kv_entries.list_page(world.app, TENANT, "orders", prefix="", after="", limit=50, max_bytes=2_500)
        rest = kv_entries.list_page(world.app, TENANT, "orders", prefix="", after="k-2", limit=50, max_bytes=3_100)

    assert ([entry.key for entry in first.entries], first.is_last) == (["k-0", "k-1", "k-2"], False)
    assert ([entry.key for entry in rest.entries], rest.is_last) == (["k-3", "k-4", "k-5"], True)
