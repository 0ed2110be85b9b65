"""The database tells: whatever ends a route, hears of one or buries work writes what hooks and triggers are owed, by itself."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC
from typing import Any

import pytest

from tests.integration.endings import ENDINGS, Ending, statements
from tests.listening import Said, await_letters, fired, listen, told
from tests.world import OTHER_TENANT, TENANT, World

RFC_3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def test_every_statement_that_ends_something_is_in_the_register() -> None:
    found, known = statements(), {one.statement for one in ENDINGS}

    assert [place for name, place in found.items() if name not in known] == []
    assert known - found.keys() == set(), "the register names what is not there"


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda one: one.name)
def test_each_ending_is_told_in_its_own_transaction(ending: Ending, world: World) -> None:
    _check(ending, world)


@pytest.mark.parametrize("ending", [one for one in ENDINGS if one.trigger], ids=lambda one: one.name)
def test_without_its_trigger_the_ending_is_not_told(ending: Ending, world: World) -> None:
    """So each case above rests on the database and on nothing else."""
    assert ending.trigger is not None

    with _without(world, ending.trigger), pytest.raises(AssertionError, match="told"):
        _check(ending, world)


@pytest.mark.parametrize("ending", [one for one in ENDINGS if one.letters], ids=lambda one: one.name)
def test_without_its_trigger_no_dead_letter_trigger_fires(ending: Ending, world: World) -> None:
    with _without(world, "fire_dead_letter_triggers"), pytest.raises(AssertionError, match="fired"):
        _check(ending, world)


@contextmanager
def _without(world: World, trigger: str) -> Iterator[None]:
    (found,) = world.rows(
        "SELECT tgrelid::regclass::text AS table, pg_get_triggerdef(oid) AS words FROM pg_trigger WHERE tgname = %(trigger)s",
        trigger=trigger,
    )
    world.admin.execute(f"DROP TRIGGER {trigger} ON {found['table']}")  # type: ignore[call-overload]
    try:
        yield
    finally:
        world.admin.execute(found["words"])


def _check(ending: Ending, world: World) -> None:
    """Let it happen in front of hooks and triggers that care and others that do not."""
    world.add_tenant()
    hook = listen(world, tries=7)
    listen(world, is_active=False)
    listen(world, tenant=OTHER_TENANT)
    listen(world, modes=("test",))
    wanted = [await_letters(world), await_letters(world, handler="webhook")]
    await_letters(world, enabled=False)
    await_letters(world, tenant=OTHER_TENANT)

    expected = ending.act(world)

    rows = told(world)
    assert Counter(_said(row) for row in rows) == Counter(expected), "told"
    assert {row["webhook_id"] for row in rows} <= {hook}, "told those who did not ask"
    for row in rows:
        _check_payload(row)
        if row["status"] == "pending":
            _check_work(row)
    _check_transactions(world, rows)
    letters = world.dead_letters()
    assert len(letters) == ending.letters
    assert fired(world) == sorted((one, letter["id"]) for one in wanted for letter in letters), "fired"
    _check_runs(world)


def _said(row: dict[str, Any]) -> Said:
    data = dict(row["payload"]["data"])
    for name in ("notification_id", "route_id", "status"):
        del data[name]
    return Said(row["event_type"].removeprefix("notification."), **data)


def _check_work(row: dict[str, Any]) -> None:
    assert (row["queue"], row["source_kind"], row["max_attempts"]) == ("webhook", "webhook", 7)
    assert row["tenant_id"] == row["work_tenant_id"] == TENANT
    assert (row["attempt_count"], row["due_at"], row["next_retry_at"]) == (0, row["created_at"], row["created_at"])
    assert row["txid"] == row["work_txid"]


def _check_payload(row: dict[str, Any]) -> None:
    payload, said = row["payload"], _said(row)
    data = said.data | {name: payload["data"][name] for name in ("notification_id", "route_id")}
    assert payload == {"type": row["event_type"], "timestamp": payload["timestamp"], "data": data}
    assert RFC_3339.fullmatch(payload["timestamp"])
    assert payload["timestamp"] == row["created_at"].astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if row["notification_id"]:
        assert payload["data"]["notification_id"] == str(row["notification_id"])


def _check_transactions(world: World, rows: list[dict[str, Any]]) -> None:
    """The last that was told of each route, and what was told of each letter, has the very transaction of the change."""
    last = {(row["payload"]["data"]["notification_id"], row["payload"]["data"]["route_id"]): row for row in rows}
    last = {name: row for name, row in last.items() if row["status"] == "pending"}
    for route in world.rows("SELECT notification_id::text, route_id, xmin::text AS txid, updated_at FROM routes"):
        if row := last.get((route["notification_id"], route["route_id"])):
            assert (row["txid"], row["created_at"]) == (route["txid"], route["updated_at"])
    for letter in world.rows(
        """SELECT notification_id::text, xmin::text AS txid FROM dead_letters
           WHERE route_id IS NULL AND source_kind NOT IN ('webhook', 'trigger')"""
    ):
        assert last[letter["notification_id"], None]["txid"] == letter["txid"]


def _check_runs(world: World) -> None:
    """A run takes the trigger's own policy and stands one deeper than the letter."""
    for run in world.rows(
        """
        SELECT outbox.*, outbox.xmin::text AS txid, letter.xmin::text AS letter_txid, letter.trigger_depth AS letter_depth,
               triggers.registered_by_principal, handler.kind AS handler
        FROM outbox
        JOIN triggers ON triggers.id = (outbox.payload ->> 'trigger_id')::uuid
        JOIN trigger_handlers AS handler ON handler.id = triggers.handler_id
        JOIN dead_letters AS letter ON letter.id = (outbox.payload ->> 'dead_letter_id')::uuid
        WHERE outbox.source_kind = 'trigger'
        """
    ):
        assert (run["max_attempts"], run["retry_backoff"], run["retry_base_ms"]) == (4, "linear", 250)
        assert (run["principal_id"], run["trigger_depth"]) == (run["registered_by_principal"], run["letter_depth"] + 1)
        assert run["queue"] == ("webhook" if run["handler"] == "webhook" else "trigger")
        assert run["txid"] == run["letter_txid"]
