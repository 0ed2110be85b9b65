"""Retention at work: in small batches, within the time there is, around what others hold, and reported."""

from itertools import pairwise

import pytest

from tests.events import took_part
from tests.integration.forgetting import (
    DAY,
    RULES,
    apply,
    make_dead_letter,
    make_email_log_row,
    make_event,
    make_inbox_row,
    make_malformed,
    make_system_event,
)
from tests.world import World
from tocsin.upkeep.retain import Report


def test_much_is_forgotten_in_small_batches(world: World) -> None:
    for _ in range(7):
        make_malformed(world)
    world.pass_time(DAY * 31)
    deleted: list[int] = []

    def watch() -> bool:
        deleted.append(7 - world.count("malformed_intents"))
        return True

    report = apply(world, batch=3, has_time=watch)

    assert (report.forgotten["malformed_intents"], report.is_complete) == (7, True)
    steps = [after - before for before, after in pairwise(deleted)]
    assert max(steps) <= 3


def test_when_time_is_up_it_stops_and_the_next_run_goes_on(world: World) -> None:
    for _ in range(9):
        make_malformed(world)
    world.pass_time(DAY * 31)
    left = iter([True] * 4 + [False])

    first = apply(world, batch=2, has_time=lambda: next(left))
    second = apply(world, batch=2)

    assert (first.is_complete, second.is_complete) == (False, True)
    assert 0 < first.forgotten["malformed_intents"] < 9
    assert first.forgotten["malformed_intents"] + second.forgotten["malformed_intents"] == 9


def test_without_any_time_nothing_is_touched(world: World) -> None:
    make_malformed(world)
    world.pass_time(DAY * 31)

    report = apply(world, has_time=lambda: False)

    assert (report.is_complete, world.count("malformed_intents")) == (False, 1)


@pytest.mark.parametrize(
    "table",
    [
        "malformed_intents", "records", "dead_letters", "notifications", "rate_limits", "admin_system_events", "domain_events",
        "notification_email_log", "notification_threads",
    ],
)  # fmt: skip
def test_a_row_that_someone_holds_is_skipped_and_not_waited_for(world: World, table: str) -> None:
    world.add_user()
    make_malformed(world)
    make_system_event(world)
    make_inbox_row(world)
    make_event(world)
    make_email_log_row(world)
    took_part(world, "alice", "comment")
    world.admin.execute("DELETE FROM records")
    make_dead_letter(world)
    world.pass_time(DAY * 400)
    if table == "dead_letters":  # by its own rule, not along with its record
        world.admin.execute("UPDATE records SET accepted_at = tocsin_now()")
    holder = world.connect("postgres")
    holder.execute("BEGIN")
    holder.execute(f"SELECT FROM {table} FOR UPDATE")  # type: ignore[call-overload]
    world.retention.execute("SET lock_timeout = '500ms'")

    held = apply(world)
    still_there = world.count(table)
    holder.execute("ROLLBACK")
    free = apply(world)

    assert (held.forgotten[table], still_there) == (0, still_there)
    assert still_there > 0
    assert free.forgotten[table] > 0
    assert world.count(table) == 0


def test_a_held_route_of_an_old_record_does_not_stop_the_rest(world: World) -> None:
    world.add_user()
    world.accept()
    world.dispatch()
    world.pass_time(DAY * 91)
    holder = world.connect("postgres")
    holder.execute("BEGIN")
    holder.execute("SELECT FROM routes FOR UPDATE")
    world.retention.execute("SET lock_timeout = '200ms'")

    report = apply(world)

    assert report.forgotten["records"] == 0
    assert world.count("records") == 1


def test_the_report_names_every_rule_also_those_with_nothing_to_do(world: World) -> None:
    report = apply(world)

    assert report == Report(dict.fromkeys([*(rule[0] for rule in RULES), "idempotency_windows"], 0), is_complete=True)
