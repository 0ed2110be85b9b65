"""A tenant is deleted with everything, and nothing of another."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from tests.integration import test_tenancy
from tests.integration.test_tenancy import READABLE
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access import tenants
from tocsin.access.audit import Actor
from tocsin.store.flow import delete_tenant
from tocsin.upkeep.delete_tenants import GRACE, Deleted, delete_tenants

two = test_tenancy.two
ADMIN = Actor(TENANT, "key:admin")
LEFT_TO_CASCADE = {"attempts", "dead_letter_trigger_details", "kv_trigger_details", "webhook_deliveries"}


def _run(world: World, *, has_time: Callable[[], bool] = lambda: True, batch: int = 3) -> Deleted:
    return delete_tenants(world.retention, has_time=has_time, batch=batch)


def _owned(world: World) -> dict[str, dict[Any, int]]:
    """How many rows of each table each tenant has."""
    found: dict[str, dict[Any, int]] = {}
    for table in READABLE:
        column = "id" if table == "tenants" else "tenant_id"
        rows = world.rows(f"SELECT {column} AS whose, count(*) AS rows FROM {table} GROUP BY 1")
        found[table] = {row["whose"]: row["rows"] for row in rows}
    return found


def test_one_tenant_is_gone_entirely_and_the_other_is_untouched(two: World) -> None:
    before = _owned(two)
    assert all({TENANT, OTHER_TENANT} <= rows.keys() for rows in before.values())

    receipt = tenants.delete(two.app, ADMIN, OTHER_TENANT, confirm="other")
    ours = _owned(two)
    assert _run(two).tenants == 0  # not before whoever still writes for it has ended
    two.pass_time(GRACE)
    done = _run(two)

    assert receipt is not None
    assert (done.tenants, done.is_complete) == (1, True)
    after = _owned(two)
    assert {table for table, rows in after.items() if OTHER_TENANT in rows} == set()
    for table, rows in after.items():
        assert rows == {TENANT: ours[table][TENANT]}, table
    (row,) = two.rows("SELECT * FROM erasures WHERE id = %(id)s", id=receipt.id)
    assert row["finished_at"] is not None
    assert row["subject"] is None
    assert row["counts"]["users"] == before["users"][OTHER_TENANT]
    assert row["counts"]["routes"] == before["routes"][OTHER_TENANT]
    assert str(OTHER_TENANT) not in str(two.rows("SELECT * FROM outbox"))


def test_a_deletion_whose_time_is_up_goes_on_next_time(two: World) -> None:
    tenants.delete(two.app, ADMIN, OTHER_TENANT, confirm="other")
    two.pass_time(GRACE)
    runs = 0
    while True:
        moments = iter([True] * 45)
        done = _run(two, has_time=lambda moments=moments: next(moments, False), batch=1)  # type: ignore[misc]
        runs += 1
        if done.is_complete:
            break
        assert runs < 200

    assert runs > 1
    assert {table for table, rows in _owned(two).items() if OTHER_TENANT in rows} == set()
    assert two.one("SELECT counts ->> 'users' FROM erasures WHERE kind = 'tenant'") == "1"


def test_a_tenant_that_was_not_to_be_deleted_stays(two: World) -> None:
    before = _owned(two)

    two.pass_time(timedelta(days=1))
    assert _run(two).tenants == 0
    assert not delete_tenant.delete_row(two.retention, OTHER_TENANT)

    assert _owned(two) == before


def test_every_table_of_a_tenant_is_deleted_from_or_goes_along(world: World) -> None:
    """By the catalogue: a table that comes later is found by itself, and retention must be allowed to delete from it."""
    found = {one.name for one in delete_tenant.find_owned(world.retention)}

    assert found | LEFT_TO_CASCADE == set(READABLE) - {"tenants"}
    for table in READABLE:
        assert world.one("SELECT has_table_privilege('tocsin_retention', %(table)s, 'DELETE')", table=table), table


def test_only_a_transaction_of_the_installation_sees_or_changes_other_tenants(world: World) -> None:
    world.add_tenant()
    with pytest.raises(psycopg.errors.InsufficientPrivilege), tenants.installation_transaction(world.app, TENANT):
        world.app.execute("SELECT set_config('tocsin.installation', '', true)")
        world.app.execute("INSERT INTO tenants (id, name) VALUES (gen_random_uuid(), 'spy')")
    with tenants.installation_transaction(world.app, TENANT):
        seen = world.app.execute("SELECT id FROM tenants")
        users = world.app.execute("SELECT tenant_id FROM users")
    assert {row[0] for row in seen} == {TENANT, OTHER_TENANT}
    assert users.fetchall() == []


def test_a_tenants_own_transaction_changes_no_tenant(world: World) -> None:
    with tenants.installation_transaction(world.app, TENANT):
        world.app.execute("SELECT set_config('tocsin.installation', '', true)")
        changed = world.app.execute("UPDATE tenants SET name = 'mine'")
    assert changed.rowcount == 0


def test_a_dry_run_counts_every_table_that_is_deleted_from_in_batches(world: World) -> None:
    def batched(conn: psycopg.Connection[Any]) -> set[str]:
        return {one.name for one in delete_tenant.find_owned(conn) if one.is_batched}

    assert batched(world.retention) - batched(world.app) == set()
