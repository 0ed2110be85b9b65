"""The scheduled check of the audit log: every chain once a day, a stretch at a time, and an alarm where one is broken."""

from datetime import timedelta

import psycopg
import pytest

from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.foundation.database import tenant_transaction
from tocsin.upkeep.check_audit import BROKEN, Checked, check


def _write(world: World, count: int, tenant: object = TENANT) -> None:
    with tenant_transaction(world.app, tenant):  # type: ignore[arg-type]
        for number in range(count):
            audit.record(world.app, Actor(tenant, "key:test"), "update", "thing", str(number), {})  # type: ignore[arg-type]


def _check(world: World, *, turns: int = 100) -> Checked:
    left = iter(range(turns))
    return check(world.retention, has_time=lambda: next(left, None) is not None, page=2)


@pytest.fixture
def two(world: World) -> World:
    world.add_tenant()
    _write(world, 5)
    _write(world, 3, OTHER_TENANT)
    return world


def _tamper(world: World) -> None:
    with psycopg.connect(world.dsn("postgres"), autocommit=True) as conn:
        conn.execute("SET session_replication_role = replica")
        conn.execute("UPDATE audit_logs SET action = 'x' WHERE tenant_id = %s AND seq = 3", [TENANT])


def test_every_chain_is_walked_once_a_day(two: World) -> None:
    assert _check(two) == Checked(chains=2, rows=8, broken=0, is_complete=True)
    assert _check(two) == Checked(chains=0, rows=0, broken=0, is_complete=True)

    two.pass_time(timedelta(days=1))

    assert _check(two).rows == 8
    assert two.system_events() == []


def test_a_check_whose_time_is_up_goes_on_where_it_was(two: World) -> None:
    first, second = _check(two, turns=2), _check(two, turns=100)

    assert (first.is_complete, first.rows) == (False, 4)
    assert (second.is_complete, first.rows + second.rows) == (True, 8)


def test_a_broken_chain_is_a_critical_event_of_its_tenant(two: World) -> None:
    _tamper(two)

    assert _check(two) == Checked(chains=2, rows=4 + 3, broken=1, is_complete=True)

    (event,) = two.system_events()
    assert (event["event_type"], event["severity"], event["tenant_id"]) == (BROKEN, "critical", TENANT)
    assert (event["details"]["seq"], event["details"]["problem"]) == (3, "altered")


def test_it_is_told_once_and_stays_until_somebody_resolves_it(two: World) -> None:
    _tamper(two)
    _check(two)
    two.pass_time(timedelta(days=1))

    assert _check(two).broken == 1
    assert [event["is_resolved"] for event in two.system_events()] == [False]


def test_an_end_that_somebody_took_away_is_missed(two: World) -> None:
    two.admin.execute("DELETE FROM audit_heads WHERE tenant_id = %s", [TENANT])

    assert _check(two).broken == 1

    (event,) = two.system_events()
    assert (event["tenant_id"], event["details"]["problem"]) == (TENANT, "head")
