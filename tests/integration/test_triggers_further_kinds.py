"""A further kind of trigger needs a detail table and a wider CHECK, nothing else: one is planted, and runs."""

import json

import pytest
from psycopg.types.json import Jsonb

from tests.trigger_runs import Triggers, calling, server, telling_alice
from tests.world import TENANT, World
from tocsin.foundation.ids import uuid7
from tocsin.store.triggers import Trigger

MIGRATION = """
    ALTER TABLE triggers DROP CONSTRAINT triggers_kind_check;
    ALTER TABLE triggers ADD CONSTRAINT triggers_kind_check CHECK (kind IN ('kv', 'dead_letter', 'cron'));
    CREATE TABLE cron_trigger_details (
        trigger_id uuid PRIMARY KEY REFERENCES triggers (id) ON DELETE CASCADE,
        tenant_id uuid NOT NULL,
        schedule text NOT NULL
    );
"""
FIRE = """
    INSERT INTO outbox (
        id, tenant_id, source_kind, queue, payload, due_at, max_attempts, retry_backoff, retry_base_ms, principal_id,
        trigger_depth)
    SELECT %(id)s, triggers.tenant_id, 'trigger', CASE handler.kind WHEN 'webhook' THEN 'webhook' ELSE 'trigger' END,
           jsonb_build_object('trigger_id', triggers.id) || %(event)s, tocsin_now(), triggers.retry_max_attempts,
           triggers.retry_backoff, triggers.retry_base_ms, triggers.registered_by_principal, 1
    FROM triggers
    JOIN cron_trigger_details AS wanted ON wanted.trigger_id = triggers.id
    JOIN trigger_handlers AS handler ON handler.id = triggers.handler_id
    WHERE triggers.kind = 'cron' AND triggers.enabled
"""


@pytest.fixture
def triggers(breakable_world: World, monkeypatch: pytest.MonkeyPatch) -> Triggers:
    breakable_world.admin.execute(MIGRATION)
    breakable_world.add_user()
    return Triggers(breakable_world, monkeypatch)


def become_cron(triggers: Triggers, trigger: Trigger) -> None:
    """As its own endpoint would register it."""
    world = triggers.world
    world.admin.execute("DELETE FROM kv_trigger_details WHERE trigger_id = %s", [trigger.id])
    world.admin.execute("UPDATE triggers SET kind = 'cron' WHERE id = %s", [trigger.id])
    world.admin.execute("INSERT INTO cron_trigger_details VALUES (%s, %s, '0 8 * * *')", [trigger.id, TENANT])


def fire(triggers: Triggers) -> None:
    triggers.world.admin.execute(FIRE, {"id": uuid7(), "event": Jsonb({"schedule": "0 8 * * *", "at": "2026-11-17T08:00:00Z"})})


def test_it_sends_an_intent_with_its_own_events_fields(triggers: Triggers) -> None:
    become_cron(triggers, triggers.register("kv", telling_alice(payload={"title": "{{ event.schedule }} at {{ event.at }}"})))

    fire(triggers)
    triggers.run(2)

    (mail,) = triggers.world.email.accepted
    assert mail.content.title == "0 8 * * * at 2026-11-17T08:00:00Z"
    assert (triggers.waiting(), triggers.world.dead_letters()) == ([], [])


def test_it_calls_a_webhook_that_is_told_its_kind(triggers: Triggers) -> None:
    with server() as receiver:
        become_cron(triggers, triggers.register("kv", calling(receiver.url)))
        fire(triggers)
        triggers.run()

    said = json.loads(receiver.asked[0][2])
    assert said["type"] == "trigger.cron"
    assert said["data"]["event"] == {"schedule": "0 8 * * *", "at": "2026-11-17T08:00:00Z"}


def test_its_failures_are_dead_letters_that_other_triggers_hear_of(triggers: Triggers) -> None:
    fails = telling_alice(audience={"kind": "users", "user_ids": ["nobody"]})
    trigger = triggers.register("kv", fails)
    become_cron(triggers, trigger)
    told = telling_alice(payload={"title": "{{ event.trigger_id }}"})
    triggers.register("dead_letter", told, trigger_id_filter=trigger.id)

    fire(triggers)
    triggers.run(3)

    (letter,) = triggers.world.dead_letters()
    assert (letter["trigger_id"], letter["resolution"]) == (trigger.id, "handled_by_script")
    assert [mail.content.title for mail in triggers.world.email.accepted] == [str(trigger.id)]


def test_switched_off_it_stops(triggers: Triggers) -> None:
    trigger = triggers.register("kv", telling_alice())
    become_cron(triggers, trigger)
    fire(triggers)
    triggers.world.admin.execute("UPDATE triggers SET enabled = false WHERE id = %s", [trigger.id])

    triggers.run()

    assert (triggers.waiting(), triggers.world.dead_letters(), triggers.world.count("records")) == ([], [], 0)
