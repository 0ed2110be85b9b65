"""The rules of forgetting: each tenant its own numbers, never below what is safe, and nothing that is still in use."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from annotated_types import Ge
from psycopg.types.json import Jsonb

from tests.integration.forgetting import DAY, RULES, RULES_OF_ALL, apply, make_dead_device, make_old_version, make_revoked_key
from tests.triggers import add_trigger, keep
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.foundation.settings import Settings
from tocsin.store import devices
from tocsin.upkeep.retention_rules import rules_of

OWN = {rule.name: rule for rule in RULES_OF_ALL if rule.own}
MADE = {name: (make, table) for name, make, table, _ in RULES}
AGREED = {
    *("records", "malformed_intents", "dead_letters", "resolved_dead_letters", "abandoned_executions", "notifications"),
    *("hidden_notifications", "email_log", "webhook_deliveries", "domain_events", "audit_logs", "system_events", "kv_entries"),
}


def say(world: World, tenant: UUID = TENANT, **days: Any) -> None:
    world.admin.execute("UPDATE tenants SET settings = %s WHERE id = %s", [Jsonb({"retention": days}), tenant])


def test_the_numbers_that_a_tenant_may_have_of_its_own_are_these() -> None:
    assert {rule.own for rule in OWN.values()} == AGREED
    assert set(OWN) == AGREED


@pytest.mark.parametrize("name", sorted(AGREED - {"kv_entries", "dead_letters", "system_events"}))
def test_a_tenant_keeps_each_of_these_for_its_own_number_of_days(world: World, name: str) -> None:
    make, table = MADE[name]
    days = max(2, OWN[name].least)
    world.add_user()
    world.add_tenant()
    say(world, **{f"{name}_days": days})
    make(world)

    world.pass_time(DAY * days - timedelta(minutes=2))
    apply(world)
    kept = world.count(table)
    world.pass_time(timedelta(minutes=4))
    late = apply(world)

    assert (kept, late.forgotten[name], world.count(table)) == (1, 1, 0)


@pytest.mark.parametrize(
    ("name", "days"), [("dead_letters", 200), ("system_events", 400), ("audit_logs", 400), ("email_log", 300)]
)
def test_a_tenant_may_keep_things_longer_than_others(world: World, name: str, days: int) -> None:
    make, table = MADE[name]
    world.add_user()
    say(world, records_days=3_650, **{f"{name}_days": days})
    make(world)
    world.admin.execute("UPDATE admin_system_events SET tenant_id = %s", [TENANT])
    world.admin.execute("UPDATE records SET accepted_at = accepted_at + interval '1 year'")

    world.pass_time(DAY * (days - 1))
    apply(world)
    kept = world.count(table)
    world.pass_time(DAY * 2)
    apply(world)

    assert (kept, world.count(table)) == (1, 0)


def test_no_tenant_keeps_its_records_for_less_than_is_safe(world: World) -> None:
    world.add_user()
    say(world, records_days=1)
    world.accept()
    world.dispatch()

    world.pass_time(DAY * 7 - timedelta(minutes=2))
    apply(world)
    kept = world.count("records")
    world.pass_time(timedelta(minutes=4))
    apply(world)

    assert (kept, world.count("records")) == (1, 0)


def test_a_record_stays_while_it_holds_its_idempotency_key(world: World) -> None:
    world.add_user()
    world.accept()
    world.dispatch()
    world.admin.execute("UPDATE records SET idempotency_expires_at = tocsin_now() + interval '100 days'")

    world.pass_time(DAY * 99)
    apply(world)
    kept = world.count("records")
    world.pass_time(DAY * 2)
    apply(world)

    assert (kept, world.count("records")) == (1, 0)


def test_every_least_number_is_the_least_that_the_setting_takes() -> None:
    for rule in RULES_OF_ALL:
        if rule.setting:
            known = Settings.model_fields[rule.setting.lower()]
            assert (rule.days, rule.least) == (known.default, next(each.ge for each in known.metadata if isinstance(each, Ge)))


def test_an_installation_decides_each_number_that_has_a_setting() -> None:
    given = {rule.setting.lower(): rule.least + 1 for rule in RULES_OF_ALL if rule.setting}

    chosen = rules_of(Settings(**given))  # type: ignore[arg-type]

    assert [rule.days for rule in chosen] == [rule.least + 1 if rule.setting else None for rule in chosen]
    assert given.keys() == {rule.setting.lower() for rule in chosen if rule.setting}


def test_values_stay_for_ever_unless_their_tenant_says_otherwise(world: World) -> None:
    world.add_tenant()
    keep(world, "old")
    keep(world, "written-again")
    keep(world, "old", tenant=OTHER_TENANT)
    world.pass_time(DAY * 4_000)
    assert apply(world).forgotten["kv_entries"] == 0
    keep(world, "written-again", 2)

    say(world, kv_entries_days=10)
    report = apply(world, batch=1)

    left = world.rows("SELECT tenant_id, key FROM kv_entries ORDER BY key")
    assert report.forgotten["kv_entries"] == 1
    assert [(row["tenant_id"], row["key"]) for row in left] == [(OTHER_TENANT, "old"), (TENANT, "written-again")]
    assert {row["tenant_id"]: row["entries"] for row in world.rows("SELECT * FROM kv_usage")} == {TENANT: 1, OTHER_TENANT: 1}


def test_no_trigger_hears_of_a_value_that_is_forgotten(world: World) -> None:
    add_trigger(world, "*", ("delete",))
    keep(world)
    say(world, kv_entries_days=10)
    world.pass_time(DAY * 11)

    assert apply(world).forgotten["kv_entries"] == 1
    assert world.count("outbox") == 0


def test_a_device_that_came_back_is_kept(world: World) -> None:
    user_id = world.add_user()
    make_dead_device(world)
    world.pass_time(DAY * 80)
    world.admin.execute("SELECT set_config('tocsin.tenant', %s, false)", [str(TENANT)])
    device = devices.upsert(
        world.admin, device_id=UUID(int=1), tenant_id=TENANT, user_id=user_id, platform="fcm", token="device-1"
    )
    world.pass_time(DAY * 400)

    assert (apply(world).forgotten["devices"], device.enabled) == (0, True)
    assert world.one("SELECT disabled_at FROM devices") is None


def test_a_device_that_older_code_switched_off_is_forgotten_by_when_it_was_last_seen(world: World) -> None:
    world.add_user()
    make_dead_device(world)
    world.admin.execute("UPDATE devices SET disabled_at = NULL")
    world.pass_time(DAY * 91)

    assert apply(world).forgotten["devices"] == 1


@pytest.mark.parametrize("kept", ["active", "records are kept longer", "something is to be sent with it"])
def test_a_version_that_is_still_needed_is_kept(world: World, kept: str) -> None:
    world.add_user()
    make_old_version(world)
    if kept == "active":
        world.admin.execute("UPDATE templates SET is_active = true")
    elif kept == "records are kept longer":
        say(world, records_days=500)
    else:
        world.accept(channels=["in_app"])
        world.dispatch()
        world.admin.execute("UPDATE routes SET template_id = (SELECT id FROM templates), status = 'pending', published_at = NULL")
        world.admin.execute(
            """INSERT INTO outbox (id, tenant_id, source_kind, notification_id, route_id, due_at, max_attempts, retry_backoff,
                                   retry_base_ms)
               SELECT gen_random_uuid(), tenant_id, 'deliver', notification_id, route_id, tocsin_now() + interval '9 years', 5,
                      'constant', 5000 FROM routes"""
        )
    world.pass_time(DAY * 400)

    assert apply(world).forgotten["template_versions"] == 0


def test_a_key_that_registered_a_trigger_stays_with_it(world: World) -> None:
    make_revoked_key(world)
    trigger = add_trigger(world)
    world.pass_time(DAY * 400)

    assert apply(world).forgotten["api_keys"] == 0
    world.admin.execute("DELETE FROM triggers WHERE id = %s", [trigger])
    assert apply(world).forgotten["api_keys"] == 1


def test_a_key_in_use_stays_and_a_chain_of_keys_is_forgotten_from_its_beginning(world: World) -> None:
    world.admin.execute("DELETE FROM api_keys")
    for _ in range(3):
        world.add_key("send")
    first, second, third = (row["id"] for row in world.rows("SELECT id FROM api_keys ORDER BY id"))
    for old, new in ((first, second), (second, third)):
        world.admin.execute("UPDATE api_keys SET replaced_by = %s, expires_at = tocsin_now() WHERE id = %s", [new, old])
    world.pass_time(DAY * 400)

    report = apply(world)

    assert report.forgotten["api_keys"] == 2
    assert [row["id"] for row in world.rows("SELECT id FROM api_keys")] == [third]


def test_retention_sees_no_hash_of_a_key_and_no_token_of_a_device(world: World) -> None:
    for table, column in (("api_keys", "key_hash"), ("devices", "token"), ("kv_entries", "value"), ("templates", "body")):
        allowed = world.one("SELECT has_column_privilege('tocsin_retention', %(t)s, %(c)s, 'SELECT')", t=table, c=column)
        assert not allowed, f"{table}.{column}"


@pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make, _, _ in RULES])
def test_nothing_of_today_is_ever_forgotten(world: World, make: Callable[[World], Any]) -> None:
    world.add_user()
    make(world)
    say(world, **{f"{rule.own}_days": 1 for rule in RULES_OF_ALL if rule.own})

    forgotten = apply(world).forgotten
    assert {name: count for name, count in forgotten.items() if count and name != "reply_inboxes"} == {}
