"""Retention: every table has its rule, and no row that is still needed goes by it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.events import choose, fan_out_all, happen, prefer, watch
from tests.integration.forgetting import DAY, RULES, apply, make_dead_letter, make_inbox_row
from tests.listening import listen
from tests.webhooks import carry_out
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.foundation.settings import Settings
from tocsin.upkeep.retention_rules import rules_of


@pytest.mark.parametrize(("rule", "make", "table", "days"), RULES, ids=[rule[0] for rule in RULES])
def test_each_rule_keeps_its_rows_for_its_days_and_not_longer(
    world: World, rule: str, make: Callable[[World], Any], table: str, days: int
) -> None:
    world.add_user()
    make(world)

    world.pass_time(DAY * days - timedelta(minutes=2))
    early = apply(world)
    kept = world.count(table)
    world.pass_time(timedelta(minutes=4))
    late = apply(world)

    assert (early.forgotten[rule], kept) == (0, 1)
    assert (late.forgotten[rule], world.count(table)) == (1, 0)


def test_an_idempotency_window_ends_after_seven_days_and_the_record_stays(world: World) -> None:
    world.add_user()
    world.accept()
    world.dispatch()
    world.pass_time(DAY * 7 - timedelta(minutes=1))
    assert apply(world).forgotten["idempotency_windows"] == 0

    world.pass_time(timedelta(minutes=2))

    assert apply(world).forgotten["idempotency_windows"] == 1
    assert world.one("SELECT holds_key FROM records") is False


def test_a_record_takes_its_routes_attempts_and_dead_letters_along(world: World) -> None:
    world.add_user()
    make_dead_letter(world)
    world.pass_time(DAY * 60)
    world.admin.execute("UPDATE dead_letters SET created_at = tocsin_now()")  # not yet old enough by its own rule
    world.pass_time(DAY * 31)

    apply(world)

    assert [world.count(table) for table in ("records", "routes", "attempts", "dead_letters")] == [0, 0, 0, 0]


@pytest.mark.parametrize("answer", [Failure(FailureClass.CONFIGURATION, "x", ""), Failure(FailureClass.AMBIGUOUS, "x", "")])
def test_a_record_with_a_live_route_is_kept_however_old(world: World, answer: Failure) -> None:
    world.add_user()
    world.accept()
    world.email.answers.append(answer)
    world.dispatch()
    world.pass_time(DAY * 400)

    apply(world)

    assert (world.count("records"), world.count("outbox")) == (1, 1)


def test_a_record_that_is_not_planned_yet_is_kept_however_old(world: World) -> None:
    world.add_user()
    world.accept(send_at=(datetime.now(UTC) + DAY * 360).isoformat())
    world.pass_time(DAY * 200)

    apply(world)

    assert (world.count("records"), world.count("outbox")) == (1, 1)


def test_a_record_whose_plan_was_buried_is_forgotten_like_any_other(world: World) -> None:
    world.add_user()
    world.accept()
    world.admin.execute("UPDATE outbox SET claim_count = 3")
    world.dispatch()
    assert (world.count("dead_letters"), world.count("outbox")) == (1, 0)
    world.pass_time(DAY * 400)

    apply(world)

    assert [world.count(table) for table in ("records", "dead_letters")] == [0, 0]


def test_a_resolved_dead_letter_is_kept_thirty_days_after_its_resolution(world: World) -> None:
    world.add_user()
    make_dead_letter(world)
    world.pass_time(DAY * 40)
    world.admin.execute("UPDATE dead_letters SET resolution = 'ignored', resolved_at = tocsin_now()")

    world.pass_time(DAY * 29)
    assert apply(world).forgotten["resolved_dead_letters"] == 0
    world.pass_time(DAY * 2)
    assert apply(world).forgotten["resolved_dead_letters"] == 1


def test_an_inbox_row_goes_when_it_expires(world: World) -> None:
    world.add_user()
    world.accept(channels=["in_app"], expires_at=(datetime.now(UTC) + DAY).isoformat())
    world.dispatch()
    world.pass_time(DAY * 2)

    assert apply(world).forgotten["expired_notifications"] == 1


def test_a_hidden_inbox_row_goes_a_week_later(world: World) -> None:
    world.add_user()
    make_inbox_row(world)
    world.admin.execute("UPDATE notifications SET deleted_at = tocsin_now()")

    world.pass_time(DAY * 6)
    assert apply(world).forgotten["hidden_notifications"] == 0
    world.pass_time(DAY * 2)
    assert apply(world).forgotten["hidden_notifications"] == 1


@pytest.mark.parametrize(("days", "kept"), [(181, 1), (729, 1), (731, 0)])
def test_a_saved_inbox_row_is_kept_for_two_years(world: World, days: int, kept: int) -> None:
    world.add_user()
    make_inbox_row(world)
    world.admin.execute("UPDATE notifications SET saved_at = tocsin_now()")
    world.pass_time(DAY * days)

    apply(world)

    assert world.count("notifications") == kept


def test_an_inbox_row_takes_along_what_people_did_with_it(world: World) -> None:
    user_id = world.add_user()
    world.accept(channels=["in_app"], audience={"kind": "tenant"})
    world.dispatch()
    world.admin.execute(
        "INSERT INTO notification_reads (notification_id, user_id, tenant_id) SELECT id, %s, tenant_id FROM notifications",
        [user_id],
    )
    world.pass_time(DAY * 181)

    apply(world)

    assert [world.count(table) for table in ("notifications", "notification_reads")] == [0, 0]


def test_what_a_person_chose_themselves_is_kept_for_ever(world: World) -> None:
    world.add_user()
    choose(world, "alice", subscribed=False)
    watch(world, "alice")
    prefer(world, "alice", enabled=False)
    world.pass_time(DAY * 4000)

    apply(world)

    assert [world.count(table) for table in ("notification_threads", "watches", "preferences")] == [1, 1, 1]


def test_an_event_that_waits_for_the_fan_out_is_kept_however_old(world: World) -> None:
    happen(world, event_id="passed")
    fan_out_all(world)
    happen(world, event_id="waits")
    world.pass_time(DAY * 400)

    apply(world)

    assert [row["event_id"] for row in world.rows("SELECT event_id FROM domain_events")] == ["waits"]


def test_a_condition_that_is_still_open_is_kept_for_ever(world: World) -> None:
    world.admin.execute("INSERT INTO admin_system_events (event_type, severity, description) VALUES ('x', 'low', 'x')")
    world.pass_time(DAY * 4000)

    assert apply(world).forgotten["system_events"] == 0


@pytest.mark.parametrize(("days", "after", "kept"), [(10, 11, 0), (10, 9, 1), (200, 150, 1), (200, 201, 0)])
def test_a_tenant_keeps_its_records_for_its_own_number_of_days(world: World, days: int, after: int, kept: int) -> None:
    world.add_tenant()
    world.add_user()
    world.add_user(tenant=OTHER_TENANT)
    world.admin.execute(
        "UPDATE tenants SET settings = %s WHERE id = %s", [Jsonb({"retention": {"records_days": days}}), OTHER_TENANT]
    )
    for tenant in (TENANT, OTHER_TENANT):
        world.accept(tenant=tenant)
    world.dispatch()
    world.pass_time(DAY * after)

    apply(world)

    assert world.one("SELECT count(*) FROM records WHERE tenant_id = %(t)s", t=OTHER_TENANT) == kept
    assert world.one("SELECT count(*) FROM records WHERE tenant_id = %(t)s", t=TENANT) == (1 if after < 90 else 0)


@pytest.mark.parametrize("value", [None, "soon", 1.5, -1, True, {}])
def test_a_number_of_days_that_makes_no_sense_stops_nobodys_retention(world: World, value: Any) -> None:
    world.add_tenant()
    world.add_user()
    world.add_user(tenant=OTHER_TENANT)
    world.admin.execute(
        "UPDATE tenants SET settings = %s WHERE id = %s", [Jsonb({"retention": {"records_days": value}}), OTHER_TENANT]
    )
    for tenant in (TENANT, OTHER_TENANT):
        world.accept(tenant=tenant)
    world.dispatch()
    fresh = apply(world)
    assert world.count("records") == 2
    world.pass_time(DAY * 91)

    report = apply(world)

    assert (fresh.is_complete, report.is_complete) == (True, True)
    assert world.one("SELECT count(*) FROM records WHERE tenant_id = %(t)s", t=TENANT) == 0


@pytest.mark.parametrize(("resolution", "days"), [(None, 5), ("ignored", 2)])
def test_an_installation_decides_how_long_dead_letters_are_kept(world: World, resolution: str | None, days: int) -> None:
    rules = rules_of(Settings(dead_letter_retention_days=5, resolved_dead_letter_retention_days=2))
    world.add_user()
    make_dead_letter(world)
    world.admin.execute(
        """UPDATE dead_letters SET resolution = %(resolution)s,
                  resolved_at = CASE WHEN %(resolution)s::text IS NOT NULL THEN tocsin_now() END""",
        {"resolution": resolution},
    )

    world.pass_time(DAY * days - timedelta(minutes=2))
    apply(world, rules=rules)
    kept = world.count("dead_letters")
    world.pass_time(timedelta(minutes=4))
    apply(world, rules=rules)

    assert (kept, world.count("dead_letters")) == (1, 0)


def test_a_record_stays_while_a_hook_is_still_to_hear_of_it(world: World) -> None:
    listen(world)
    world.add_user()
    world.accept()
    carry_out(world)
    world.pass_time(400 * DAY)

    apply(world)
    assert (world.count("records"), world.count("webhook_deliveries")) == (1, 1)
    world.admin.execute("UPDATE webhook_deliveries SET status = 'failed', next_retry_at = NULL")
    apply(world)

    assert (world.count("records"), world.count("webhook_deliveries")) == (0, 0)
