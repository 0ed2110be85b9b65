"""The audit log is a chain for each tenant: whoever alters, removes, moves or adds a row is found out, and the row is named."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.triggers import keep
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access import audit, verify_audit
from tocsin.access.audit import Actor
from tocsin.access.verify_audit import BEGINNING, ChainPlace, Verification
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.store.flow import forget_audit
from tocsin.upkeep.migrate import migrate, roll_back

OPERATOR = Actor(TENANT, "key:test", "192.0.2.1", "curl")
JANE = Actor(TENANT, "key:test", "192.0.2.1", "curl", person_name="Jane Doe")
YEAR = timedelta(days=365)
MIGRATIONS = Path(__file__).parent.parent.parent / "migrations"


def _write(world: World, count: int, actor: Actor = OPERATOR, conn: Any = None) -> None:
    with tenant_transaction(conn or world.app, actor.tenant_id):
        for number in range(count):
            audit.record(conn or world.app, actor, "update", "thing", str(number), {"new": {"n": number, "é": "ü"}})


def _verify(world: World, tenant: UUID = TENANT, **options: Any) -> Verification:
    return verify_audit.verify(world.app, tenant, **options)


def _tamper(world: World, statement: str, **parameters: Any) -> None:
    """As somebody who owns the database, and knows to switch the triggers off."""
    with psycopg.connect(world.dsn("postgres"), autocommit=True) as conn:
        conn.execute("SET session_replication_role = replica")
        assert conn.execute(statement, parameters).rowcount > 0  # type: ignore[call-overload]


def _found(verdict: Verification) -> tuple[int | None, str]:
    assert verdict.broken is not None
    return verdict.broken.seq, verdict.broken.problem


def test_each_row_has_the_next_number_and_follows_the_one_before(world: World) -> None:
    _write(world, 3)

    rows = world.rows("SELECT * FROM audit_logs ORDER BY seq")
    assert [row["seq"] for row in rows] == [1, 2, 3]
    assert [row["previous_hash"] for row in rows] == [bytes(32), rows[0]["hash"], rows[1]["hash"]]
    verdict = _verify(world)
    assert (verdict.broken, verdict.checked, verdict.next) == (None, 3, None)
    assert verdict.head == ChainPlace(3, rows[2]["hash"])


def test_a_log_in_which_nothing_stands_holds(world: World) -> None:
    assert _verify(world) == Verification(0, None, 1, BEGINNING, None)


FLIPS = {
    "id": "gen_random_uuid()",
    "actor": "'key:other'",
    "user_digest": "sha256('x')",
    "action": "'updata'",
    "resource_type": "'thinh'",
    "resource_id": "'0'",
    "ip_address": "'192.0.2.2'",
    "user_agent": "'curm'",
    "person": "'Jane Roe'",
    "changes": """'{"new": {"n": 2}}'""",
    "created_at": "created_at - interval '1 microsecond'",
    "previous_hash": "set_byte(previous_hash, 7, 255 - get_byte(previous_hash, 7))",
    "hash": "set_byte(hash, 31, 255 - get_byte(hash, 31))",
}


@pytest.mark.parametrize("column", FLIPS)
def test_a_byte_that_was_altered_names_its_row(world: World, column: str) -> None:
    _write(world, 5)

    _tamper(world, f"UPDATE audit_logs SET {column} = {FLIPS[column]} WHERE seq = 3")

    assert _found(_verify(world)) == (3, "altered")


@pytest.mark.parametrize("name", ["'Jane Roe'", "NULL", "'jane doe'"])
def test_a_person_who_was_another_or_nobody_names_the_row(world: World, name: str) -> None:
    _write(world, 2)
    _write(world, 2, JANE)
    assert _verify(world).broken is None

    _tamper(world, f"UPDATE audit_logs SET person = {name} WHERE seq = 3")

    assert _found(_verify(world)) == (3, "altered")


def test_what_was_written_before_people_were_named_still_verifies(breakable_world: World) -> None:
    """By the code of then, which knows neither the column nor what the hash is made of now."""
    world, url = breakable_world, breakable_world.dsn("postgres")
    since = [one for one in MIGRATIONS.glob("*.sql") if one.name >= "0030." and "rollback" not in one.name]
    roll_back(url, MIGRATIONS, count=len(since))
    for _ in range(2):
        world.admin.execute(
            """INSERT INTO audit_logs (id, tenant_id, actor, action, resource_type, resource_id, ip_address, user_agent, changes)
               VALUES (%s, %s, 'key:test', 'update', 'thing', 'é', '192.0.2.1', 'curl', '{"new": {"n": 1.0}}')""",
            [uuid7(), TENANT],
        )
    kept = [row["hash"] for row in world.rows("SELECT hash FROM audit_logs ORDER BY seq")]

    migrate(url, MIGRATIONS)
    _write(world, 1, JANE)
    _write(world, 1)

    verdict = _verify(world, known=ChainPlace(2, kept[1]))
    assert (verdict.broken, verdict.checked, verdict.head.seq) == (None, 4, 4)
    assert [row["person"] for row in world.rows("SELECT person FROM audit_logs ORDER BY seq")] == [None, None, "Jane Doe", None]


def test_a_column_that_is_emptied_names_its_row(world: World) -> None:
    _write(world, 5)

    _tamper(world, "UPDATE audit_logs SET hash = NULL, previous_hash = NULL WHERE seq = 3")

    assert _found(_verify(world)) == (3, "altered")


def test_every_column_is_looked_at(world: World) -> None:
    rows = world.rows("SELECT attname FROM pg_attribute WHERE attrelid = 'audit_logs'::regclass AND attnum > 0")

    elsewhere = {"tenant_id", "user_id", "seq"}  # each has a test of its own
    assert {row["attname"] for row in rows} - elsewhere == set(FLIPS)


def test_an_act_that_is_laid_at_anothers_door_names_its_row(world: World) -> None:
    alice, bob = world.add_user("alice"), world.add_user("bob")
    _write(world, 2, Actor(TENANT, "key:test", user_id=alice))

    _tamper(world, "UPDATE audit_logs SET user_id = %(bob)s WHERE seq = 2", bob=bob)

    assert _found(_verify(world)) == (2, "altered")


def test_a_row_that_is_given_to_another_tenant_is_missed_by_the_one_and_strange_to_the_other(world: World) -> None:
    world.add_tenant()
    _write(world, 2)
    _write(world, 1, Actor(OTHER_TENANT, "key:test"))

    _tamper(world, "UPDATE audit_logs SET tenant_id = %(other)s WHERE seq = 2", other=OTHER_TENANT)

    assert _found(_verify(world)) == (2, "missing")
    assert _found(_verify(world, OTHER_TENANT)) == (2, "altered")


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("DELETE FROM audit_logs WHERE seq = 3", (3, "missing")),
        ("DELETE FROM audit_logs WHERE seq = 1", (1, "missing")),
        ("DELETE FROM audit_logs WHERE seq >= 4", (4, "missing")),
        ("DELETE FROM audit_logs", (1, "missing")),
        ("DELETE FROM audit_heads", (5, "head")),
        ("UPDATE audit_heads SET seq = 4", (5, "head")),
        ("UPDATE audit_heads SET hash = sha256('x')", (5, "head")),
        ("UPDATE audit_logs SET seq = 9 WHERE seq = 3", (3, "missing")),
    ],
)
def test_what_is_not_there_is_missed(world: World, statement: str, named: tuple[int, str]) -> None:
    _write(world, 5)

    _tamper(world, statement)

    assert _found(_verify(world)) == named


def test_two_rows_that_change_places_are_found(world: World) -> None:
    _write(world, 5)

    for renumbered in ("seq = -1 WHERE seq = 2", "seq = 2 WHERE seq = 4", "seq = 4 WHERE seq = -1"):
        _tamper(world, f"UPDATE audit_logs SET {renumbered}")

    assert _found(_verify(world)) == (2, "reordered")


def test_a_row_that_is_removed_and_the_rest_counted_anew_is_found(world: World) -> None:
    _write(world, 5)

    _tamper(world, "DELETE FROM audit_logs WHERE seq = 3")
    for seq in (4, 5):
        _tamper(world, "UPDATE audit_logs SET seq = seq - 1 WHERE seq = %(seq)s", seq=seq)
    _tamper(world, "UPDATE audit_heads SET seq = 4")

    assert _found(_verify(world)) == (3, "reordered")


def test_a_row_that_is_added_past_the_chain_is_found(world: World) -> None:
    _write(world, 2)

    _tamper(
        world,
        """INSERT INTO audit_logs (id, tenant_id, actor, action, resource_type, resource_id)
           VALUES (%(id)s, %(tenant)s, 'key:x', 'create', 'api_key', 'x')""",
        id=(added := uuid7()),
        tenant=TENANT,
    )

    verdict = _verify(world)
    assert _found(verdict) == (None, "unchained")
    assert verdict.broken is not None
    assert verdict.broken.id == added


def test_whoever_kept_a_head_notices_that_all_was_rewritten(world: World) -> None:
    _write(world, 3)
    kept = _verify(world).head
    _tamper(world, "DELETE FROM audit_logs")
    _tamper(world, "DELETE FROM audit_heads")

    _write(world, 4)

    assert _verify(world).broken is None
    assert _found(_verify(world, known=kept)) == (3, "altered")
    assert _found(_verify(world, known=ChainPlace(9, kept.hash))) == (9, "missing")


def test_rows_from_before_there_was_a_chain_are_none_of_it(world: World) -> None:
    _tamper(
        world,
        """INSERT INTO audit_logs (id, tenant_id, actor, action, resource_type, resource_id, created_at)
           VALUES (%(id)s, %(tenant)s, 'key:x', 'create', 'api_key', 'x', tocsin_now() - interval '1 day')""",
        id=uuid7(),
        tenant=TENANT,
    )

    _write(world, 2)

    assert (_verify(world).broken, _verify(world).checked) == (None, 2)


def test_a_long_log_is_walked_in_pages_and_says_the_same(world: World) -> None:
    _write(world, 7)
    _tamper(world, "UPDATE audit_logs SET action = 'x' WHERE seq = 6")

    first = _verify(world, limit=3)
    assert first.next is not None
    second = _verify(world, limit=3, after=first.next)

    assert (first.broken, first.next.seq) == (None, 3)
    assert _found(second) == (6, "altered")


@pytest.mark.parametrize("role", ["app", "worker", "retention", "admin"])
def test_nobody_alters_a_row_who_does_not_switch_the_triggers_off(world: World, role: str) -> None:
    _write(world, 1)

    with pytest.raises(psycopg.errors.InsufficientPrivilege), tenant_transaction(getattr(world, role), TENANT):
        getattr(world, role).execute("UPDATE audit_logs SET changes = '{}'")

    assert _verify(world).broken is None


def test_erasing_a_person_takes_their_id_and_leaves_the_chain_whole(world: World) -> None:
    alice = world.add_user()
    _write(world, 2, Actor.person(TENANT, alice))

    world.admin.execute("DELETE FROM users WHERE id = %s", [alice])

    assert [row["user_id"] for row in world.rows("SELECT user_id FROM audit_logs")] == [None, None]
    assert _verify(world).broken is None


def test_a_key_whose_owner_is_gone_still_leaves_its_row(world: World) -> None:
    """For five seconds a function may remember the key, and its owner."""
    _write(world, 1, Actor(TENANT, "key:test", user_id=uuid7()))

    assert world.one("SELECT user_id FROM audit_logs") is None


def test_eight_who_write_at_once_make_one_chain(world: World) -> None:
    world.add_tenant()
    actors = [OPERATOR, Actor(OTHER_TENANT, "key:test")]
    connections = [world.connect("tocsin_app") for _ in range(8)]

    def write(number: int) -> None:
        for turn in range(10):
            if turn % 3 == 0:
                keep(world, key=f"{number}-{turn}", conn=connections[number])
            _write(world, 2, actors[(number + turn) % 2], connections[number])

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(8)))

    mine, others = _verify(world), _verify(world, OTHER_TENANT)
    assert (mine.broken, others.broken) == (None, None)
    assert mine.checked + others.checked == 8 * 10 * 2 + 8 * 4


def test_what_is_rolled_back_leaves_no_gap(world: World) -> None:
    _write(world, 1)
    with pytest.raises(ZeroDivisionError), tenant_transaction(world.app, TENANT):
        audit.record(world.app, OPERATOR, "update", "thing", "x", {})
        raise ZeroDivisionError

    _write(world, 1)

    verdict = _verify(world)
    assert (verdict.broken, verdict.checked) == (None, 2)


def _forget(world: World, **options: Any) -> int:
    return forget_audit.delete_expired(world.retention, age=YEAR, least=timedelta(days=30), **({"limit": 100} | options))


def test_after_retention_the_chain_still_holds(world: World) -> None:
    _write(world, 5)
    kept = _verify(world).head
    world.pass_time(YEAR + timedelta(days=1))
    _write(world, 3)

    assert (_forget(world, limit=4), _forget(world, limit=4), _forget(world)) == (4, 1, 0)

    verdict = _verify(world, known=kept)
    assert (verdict.broken, verdict.checked, verdict.first_seq, verdict.head.seq) == (None, 3, 6, 8)
    assert _found(_verify(world, known=ChainPlace(5, bytes(32)))) == (5, "altered"), "the last that was forgotten is still known"


def test_when_all_is_forgotten_the_chain_goes_on_where_it_was(world: World) -> None:
    _write(world, 2)
    world.pass_time(YEAR + timedelta(days=1))
    _forget(world)
    assert _verify(world).broken is None

    _write(world, 1)

    assert (_verify(world).broken, world.one("SELECT seq FROM audit_logs")) == (None, 3)


def test_what_an_attacker_deletes_at_the_beginning_is_not_taken_for_retention(world: World) -> None:
    _write(world, 4)
    world.pass_time(YEAR + timedelta(days=1))
    _write(world, 2)
    _forget(world)

    _tamper(world, "DELETE FROM audit_logs WHERE seq = 5")

    assert _found(_verify(world)) == (5, "missing")


def test_a_row_is_not_forgotten_before_the_one_that_it_follows(world: World) -> None:
    """Two whose transactions crossed: the later one in the chain was begun earlier."""
    _write(world, 3)
    _tamper(world, "UPDATE audit_logs SET created_at = created_at - interval '2 years' WHERE seq <> 2")

    assert _forget(world) == 1
    assert [row["seq"] for row in world.rows("SELECT seq FROM audit_logs ORDER BY seq")] == [2, 3]


@pytest.mark.parametrize(
    ("whose", "days", "left"),
    [(TENANT, 30, OTHER_TENANT), (TENANT, 500, TENANT)],
)
def test_a_tenant_with_a_rule_of_its_own_is_forgotten_by_that(world: World, whose: UUID, days: int, left: UUID) -> None:
    world.add_tenant()
    settings = json.dumps({"retention": {"audit_logs_days": days}})
    world.admin.execute("UPDATE tenants SET settings = %s WHERE id = %s", [settings, whose])
    _write(world, 2)
    _write(world, 2, Actor(OTHER_TENANT, "key:test"))
    world.pass_time(timedelta(days=60) if days < 365 else YEAR + timedelta(days=1))

    assert _forget(world) == 2
    assert {row["tenant_id"] for row in world.rows("SELECT tenant_id FROM audit_logs")} == {left}
    assert (_verify(world).broken, _verify(world, OTHER_TENANT).broken) == (None, None)


def test_rows_from_before_the_chain_are_forgotten_too(world: World) -> None:
    _tamper(
        world,
        """INSERT INTO audit_logs (id, tenant_id, actor, action, resource_type, resource_id, created_at)
           SELECT gen_random_uuid(), %(tenant)s, 'key:x', 'create', 'api_key', 'x', tocsin_now() - interval '2 years'
           FROM generate_series(1, 3)""",
        tenant=TENANT,
    )
    _write(world, 1)

    assert (_forget(world), world.count("audit_logs")) == (3, 1)


def test_whoever_erases_a_key_owner_and_whoever_acts_with_the_key_do_not_wait_for_each_other(world: World) -> None:
    """The owner is looked at before the tenant's turn is taken, as erasing them does: no two hold what the other needs."""
    alice = world.add_user()
    _write(world, 1)
    eraser, owner = world.connect("postgres"), world.connect("tocsin_app")
    acts: Callable[[], None] = lambda: _write(world, 1, Actor(TENANT, "key:test", user_id=alice), owner)  # noqa: E731

    with ThreadPoolExecutor(1) as threads:
        with eraser.transaction():
            eraser.execute("DELETE FROM users WHERE id = %s", [alice])
            acting = threads.submit(acts)
            _until_somebody_waits(world)
            eraser.execute("SELECT set_config('tocsin.tenant', %s, true)", [str(TENANT)])
            eraser.execute(
                """INSERT INTO audit_logs (id, tenant_id, actor, action, resource_type, resource_id)
                   VALUES (gen_random_uuid(), %s, 'key:x', 'erase', 'user', 'x')""",
                [TENANT],
            )
        acting.result(timeout=10)

    verdict = _verify(world)
    assert (verdict.broken, verdict.checked) == (None, 3)


def _until_somebody_waits(world: World) -> None:
    while not world.one("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"):
        pass
