"""Retention at work: in small batches, within the time there is, around what others hold, and reported."""

from itertools import pairwise
from uuid import uuid4

import pytest

from tests.events import took_part
from tests.integration.forgetting import (
    DAY,
    RULES,
    RULES_OF_ALL,
    apply,
    make_dead_letter,
    make_email_log_row,
    make_event,
    make_inbox_row,
    make_malformed,
    make_system_event,
)
from tests.world import World
from tocsin.store import job_runs
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

    named = {"admin_system_events": "system_events", "notification_email_log": "email_log", "rate_limits": "rate_windows"}
    rule = named.get(table, table)
    assert (held.forgotten[rule], still_there) == (0, still_there)
    assert still_there > 0
    assert free.forgotten[rule] > 0
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

    assert report == Report(
        dict.fromkeys([*(rule[0] for rule in RULES), "idempotency_windows", "kv_entries"], 0), is_complete=True
    )


def test_a_rule_with_much_to_do_holds_up_no_other(world: World) -> None:
    world.add_user()
    for _ in range(20):
        make_malformed(world)
    make_email_log_row(world)
    world.pass_time(DAY * 31)
    left = iter([True] * (len(RULES_OF_ALL) + 5) + [False])

    report = apply(world, batch=1, has_time=lambda: next(left))

    assert not report.is_complete
    assert 0 < report.forgotten["malformed_intents"] < 20
    assert report.forgotten["email_log"] == 1


def test_a_run_goes_on_with_the_rule_whose_turn_it_was(world: World) -> None:
    """Also where there is time for one batch only: then each rule has its turn, run by run."""
    world.add_user()
    for _ in range(2):
        make_malformed(world)
    make_email_log_row(world)
    world.pass_time(DAY * 31)

    for _ in range(2 * len(RULES_OF_ALL)):
        turns = iter([True, False])
        report = apply(world, batch=1, has_time=lambda turns=turns: next(turns))  # type: ignore[misc]
        run_id = uuid4()
        job_runs.start(world.retention, run_id, "retention")
        job_runs.finish(world.retention, run_id, outcome="partial", report=report.report())

    assert (world.count("malformed_intents"), world.count("notification_email_log")) == (0, 0)


def test_a_batch_that_takes_too_long_is_tried_with_less(breakable_world: World) -> None:
    world = breakable_world
    for _ in range(4):
        make_malformed(world)
    world.admin.execute(
        """CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.12); RETURN OLD; END';
           CREATE TRIGGER dawdle BEFORE DELETE ON malformed_intents FOR EACH ROW EXECUTE FUNCTION dawdle()"""
    )
    world.retention.execute("SET statement_timeout = '200ms'")
    world.pass_time(DAY * 31)

    report = apply(world, batch=4)

    assert (report.is_complete, report.forgotten["malformed_intents"]) == (True, 4)


def test_a_row_that_cannot_go_in_time_holds_up_its_rule_alone_and_is_reported(breakable_world: World) -> None:
    world = breakable_world
    world.add_user()
    make_malformed(world)
    make_email_log_row(world)
    world.admin.execute(
        """CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(9); RETURN OLD; END';
           CREATE TRIGGER dawdle BEFORE DELETE ON malformed_intents FOR EACH ROW EXECUTE FUNCTION dawdle()"""
    )
    world.retention.execute("SET statement_timeout = '100ms'")
    world.pass_time(DAY * 31)

    report = apply(world)

    assert (report.is_complete, report.held_up) == (False, {"malformed_intents": "statement_timeout"})
    assert report.forgotten["email_log"] == 1
