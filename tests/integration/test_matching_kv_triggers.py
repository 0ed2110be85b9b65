"""Which triggers a change fires: every shape of glob against every kind of name, and every set of ops against every op."""

from itertools import combinations

import pytest

from tests.triggers import add_trigger
from tests.world import OTHER_TENANT, TENANT, World

OPS = ("insert", "update", "delete")
# a glob, and which of these collections it matches
COLLECTIONS = ["users", "users:", "users:7", "users:7:tags", "userships", "Users:7", "orders", ":", ":x", "u"]
GLOBS: dict[str, set[str]] = {
    "*": set(COLLECTIONS),
    "users": {"users"},
    "users:*": {"users:", "users:7", "users:7:tags"},
    "users:7": {"users:7"},
    "users:7:*": {"users:7:tags"},
    "Users:*": {"Users:7"},
    ":*": {":", ":x"},
    "u": {"u"},
    "customers:*": set(),
}


def _matching(world: World, collection: str, op: str, tenant: object = TENANT) -> list[str]:
    rows = world.rows(
        "SELECT trigger_id FROM tocsin_matching_kv_triggers(%(tenant)s, %(collection)s, %(op)s, 'live')",
        tenant=tenant,
        collection=collection,
        op=op,
    )
    return [row["trigger_id"] for row in rows]


@pytest.mark.parametrize("glob", GLOBS)
def test_a_glob_matches_these_names_and_no_others(world: World, glob: str) -> None:
    trigger_id = add_trigger(world, glob)

    matched = {name for name in COLLECTIONS if _matching(world, name, "insert") == [trigger_id]}

    assert matched == GLOBS[glob]


@pytest.mark.parametrize("ops", [chosen for size in range(4) for chosen in combinations(OPS, size)], ids=str)
def test_a_trigger_hears_the_ops_it_names_and_without_any_all(world: World, ops: tuple[str, ...]) -> None:
    trigger_id = add_trigger(world, "orders", ops)

    heard = tuple(op for op in OPS if _matching(world, "orders", op) == [trigger_id])

    assert heard == (ops or OPS)


def test_only_enabled_triggers_of_the_tenant_and_of_this_kind_match(world: World) -> None:
    world.add_tenant()
    add_trigger(world, enabled=False)
    add_trigger(world, None)
    theirs, ours = add_trigger(world, tenant=OTHER_TENANT), add_trigger(world)

    assert _matching(world, "orders", "insert") == [ours]
    assert _matching(world, "orders", "insert", OTHER_TENANT) == [theirs]
