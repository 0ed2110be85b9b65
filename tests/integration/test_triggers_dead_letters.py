"""Triggers that wait for dead letters: every letter is matched, its handler runs, and the letter says what came of it."""

from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.claiming import claim
from tests.listening import listen
from tests.trigger_runs import Triggers, calling, server, telling_alice
from tests.triggers import add_trigger, runs
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.outbox.dispatch import dispatch
from tocsin.store.flow.bury import bury
from tocsin.store.rows import Buried
from tocsin.store.triggers import Trigger

REFUSED = Failure(FailureClass.PERMANENT, "MessageRejected", "Address blacklisted.")
TELL_BOB = {
    "audience": {"kind": "users", "user_ids": ["bob"]},
    "payload": {"title": "{{ event.source_kind }}", "message": "{{ event.failure_classification }}: {{ event.failure_message }}"},
}
NO_SUCH_USER = telling_alice(audience={"kind": "users", "user_ids": ["nobody"]})


def die(world: World) -> UUID:
    """A delivery that its provider refuses, by the workers of the other queues: the id of its letter."""
    world.email.answers.append(REFUSED)
    world.accept()
    for queue in ("plan", "email"):
        dispatch(world.worker, world.due(), replace(world.worker_policy(), queue=queue))
    return UUID(str(world.rows("SELECT id FROM dead_letters ORDER BY created_at DESC, id DESC")[0]["id"]))


def letter(world: World, letter_id: UUID) -> dict[str, Any]:
    (found,) = [one for one in world.dead_letters() if one["id"] == letter_id]
    return found


@pytest.fixture(autouse=True)
def _people(world: World) -> None:
    world.add_user("alice")
    world.add_user("bob")


def test_a_dead_delivery_is_told_by_its_trigger_and_counts_as_handled(world: World, triggers: Triggers) -> None:
    key = triggers.key()
    triggers.register("dead_letter", telling_alice(**TELL_BOB), key=key)

    died = die(world)
    triggers.run(2)

    assert [(mail.email, mail.content.title) for mail in world.email.accepted] == [("bob@example.com", "deliver")]
    handled = letter(world, died)
    assert (handled["resolution"], handled["resolved_by"]) == ("handled_by_script", key.key_id)
    assert handled["resolved_at"] is not None
    assert len(world.dead_letters()) == 1


def test_a_handler_that_fails_for_good_marks_the_letter_and_leaves_no_other(world: World, triggers: Triggers) -> None:
    key = triggers.key()
    triggers.register("dead_letter", NO_SUCH_USER, key=key)
    triggers.register("dead_letter", NO_SUCH_USER, key=key, source_filter="trigger")

    died = die(world)
    triggers.run(3)

    (only,) = world.dead_letters()
    assert (only["id"], only["resolution"], only["resolved_by"]) == (died, "handler_failed", key.key_id)
    assert world.count("outbox") == 0


def test_a_handler_that_keeps_failing_marks_the_letter_when_its_tries_are_used_up(world: World, triggers: Triggers) -> None:
    with server(503) as handler:
        triggers.register("dead_letter", calling(handler.url), retry={"max_attempts": 2, "backoff": "constant", "base_ms": 1_000})
        died = die(world)
        triggers.run()
        assert letter(world, died)["resolution"] is None
        triggers.later(seconds=2)
        triggers.run()

    assert len(handler.asked) == 2
    assert letter(world, died)["resolution"] == "handler_failed"
    assert (len(world.dead_letters()), world.count("outbox")) == (1, 0)


@pytest.mark.parametrize("first", ["succeeds", "fails"])
def test_of_several_handlers_one_that_succeeds_is_enough(first: str, world: World, triggers: Triggers) -> None:
    handlers = [telling_alice(**TELL_BOB), NO_SUCH_USER]
    for handler in handlers if first == "succeeds" else reversed(handlers):
        triggers.register("dead_letter", handler)

    died = die(world)
    for row in triggers.waiting():
        world.admin.execute("UPDATE outbox SET due_at = tocsin_now() + interval '1 hour' WHERE id = %s", [row["id"]])
    for row in triggers.waiting():  # one after the other
        world.admin.execute("UPDATE outbox SET due_at = tocsin_now() WHERE id = %s", [row["id"]])
        triggers.run()

    assert letter(world, died)["resolution"] == "handled_by_script"


def test_handlers_that_run_together_mark_the_letter_as_handled(world: World, triggers: Triggers) -> None:
    for handler in (NO_SUCH_USER, telling_alice(**TELL_BOB), NO_SUCH_USER):
        triggers.register("dead_letter", handler)

    died = die(world)
    triggers.run()

    assert letter(world, died)["resolution"] == "handled_by_script"


@pytest.mark.parametrize("resolution", ["ignored", "replayed"])
def test_what_a_person_has_resolved_meanwhile_stays_as_they_left_it(resolution: str, world: World, triggers: Triggers) -> None:
    triggers.register("dead_letter", telling_alice(**TELL_BOB))
    died = die(world)
    world.admin.execute("UPDATE dead_letters SET resolution = %s, resolved_at = tocsin_now() WHERE id = %s", [resolution, died])

    triggers.run()

    assert (letter(world, died)["resolution"], letter(world, died)["resolved_by"]) == (resolution, None)


def _other(value: Any) -> Any:
    return "plan" if isinstance(value, str) else uuid4()


@pytest.mark.parametrize("filters", list(product(["any", "match", "other"], repeat=3)))
def test_a_letter_fires_what_matches_it_in_every_respect(filters: tuple[str, str, str], world: World, triggers: Triggers) -> None:
    """Of a run that died: by the kind of work, by its trigger and by its handler (`script_id_filter`)."""
    fired = triggers.register("kv", NO_SUCH_USER)
    names = ("source_filter", "trigger_id_filter", "script_id_filter")
    its_own = ("trigger", fired.id, fired.handler_id)
    said = {
        name: own if choice == "match" else _other(own)
        for name, own, choice in zip(names, its_own, filters, strict=True)
        if choice != "any"
    }
    triggers.register("dead_letter", telling_alice(**TELL_BOB), **said)

    triggers.put()
    triggers.run(3)

    (died,) = world.dead_letters()
    matches = "other" not in filters
    assert (died["resolution"] == "handled_by_script") is matches
    assert (len(world.email.accepted) == 1) is matches


def test_a_handlers_id_matches_each_trigger_that_shares_it(world: World, triggers: Triggers) -> None:
    first = triggers.register("kv", NO_SUCH_USER, ops=["insert"])
    second = triggers.register("kv", {"id": first.handler_id}, ops=["update"])
    stranger = triggers.register("kv", NO_SUCH_USER, collection_glob="other")
    triggers.register("dead_letter", telling_alice(**TELL_BOB), script_id_filter=first.handler_id)

    triggers.put()
    triggers.put()
    triggers.put(collection="other")
    triggers.run(3)

    came_of = {one["trigger_id"]: one["resolution"] for one in world.dead_letters()}
    assert came_of == {first.id: "handled_by_script", second.id: "handled_by_script", stranger.id: None}


def test_a_letter_that_no_run_left_has_no_trigger_or_handler_to_match(world: World, triggers: Triggers) -> None:
    triggers.register("dead_letter", telling_alice(**TELL_BOB), trigger_id_filter=uuid4())
    triggers.register("dead_letter", telling_alice(**TELL_BOB), script_id_filter=uuid4())
    triggers.register("dead_letter", telling_alice(**TELL_BOB), source_filter="plan")

    died = die(world)

    assert (triggers.waiting(), letter(world, died)["resolution"]) == ([], None)


def test_one_tenants_letters_fire_nothing_of_anothers(world: World, triggers: Triggers) -> None:
    world.add_tenant()
    stranger = triggers.key(tenant=OTHER_TENANT)
    triggers.register("dead_letter", telling_alice(**TELL_BOB), key=stranger)

    die(world)

    assert triggers.waiting() == []


def test_a_letter_that_is_gone_is_not_handled(world: World, triggers: Triggers) -> None:
    triggers.register("dead_letter", telling_alice(**TELL_BOB))
    died = die(world)
    world.admin.execute("DELETE FROM dead_letters WHERE id = %s", [died])

    triggers.run(2)

    assert (world.email.accepted, world.dead_letters(), world.count("outbox")) == ([], [], 0)


def test_a_revoked_key_fails_the_handler(world: World, triggers: Triggers) -> None:
    key = triggers.key()
    triggers.register("dead_letter", telling_alice(**TELL_BOB), key=key)
    died = die(world)
    world.admin.execute("UPDATE api_keys SET is_active = false WHERE id = %s", [key.key_id])

    triggers.run()

    assert [(one["id"], one["resolution"]) for one in world.dead_letters()] == [(died, "handler_failed")]


def test_a_run_that_ends_its_workers_marks_the_letter_and_leaves_no_other(world: World, triggers: Triggers) -> None:
    trigger = triggers.register("dead_letter", telling_alice(**TELL_BOB))
    died = die(world)

    _poison(world, triggers)

    (only,) = world.dead_letters()
    assert (only["id"], only["resolution"], only["resolved_by"]) == (died, "handler_failed", trigger.registered_by_principal)
    assert world.count("outbox") == 0


def test_a_run_without_a_letter_that_ends_its_workers_is_a_letter_of_its_own(world: World, triggers: Triggers) -> None:
    trigger: Trigger = triggers.register("kv", telling_alice())
    triggers.put()

    _poison(world, triggers)

    (only,) = world.dead_letters()
    assert (only["failure_classification"], only["source_kind"]) == ("poison", "trigger")
    assert (only["trigger_id"], only["handler_id"]) == (trigger.id, trigger.handler_id)
    assert only["payload"]["key"] == "A-17"


def _poison(world: World, triggers: Triggers) -> None:
    (row,) = triggers.waiting()
    for _ in range(3):
        claim(world.worker, [row["id"]])
        world.pass_time(timedelta(minutes=2))
    triggers.run()


@pytest.mark.parametrize("mode", ["live", "test"])
def test_a_letter_fires_what_keys_of_its_own_mode_registered(world: World, mode: str) -> None:
    live = add_trigger(world, None)
    world.add_key("send", mode="test")
    test = add_trigger(world, None)  # registered by the newest key
    asked = world.accept(mode=mode)

    world.admin.execute(
        """INSERT INTO dead_letters (id, tenant_id, source_kind, outbox_id, notification_id, final_attempt_count, max_attempts,
                                     failure_classification, failure_message, created_at)
           VALUES (tocsin_uuid7(), %s, 'plan', tocsin_uuid7(), %s, 1, 1, 'poison', '', tocsin_now())""",
        [TENANT, asked.notification_id],
    )

    assert [run["payload"]["trigger_id"] for run in runs(world)] == [str(live if mode == "live" else test)]


def test_a_buried_webhook_keeps_what_it_was_about_and_its_mode(world: World) -> None:
    listen(world, modes=("test", "live"))
    live = add_trigger(world, None)
    world.add_key("send", mode="test")
    test = add_trigger(world, None)
    asked = world.accept(mode="test")
    for queue in ("plan", "email"):
        dispatch(world.worker, world.due(), replace(world.worker_policy(), queue=queue))
    delivery_id = world.one("SELECT id FROM webhook_deliveries LIMIT 1")
    token = uuid4()
    claim(world.worker, [delivery_id], token=token)

    bury(world.worker, [Buried(delivery_id, "poison", "it ended three workers", "")], lease_token=token)

    (found,) = world.dead_letters()
    assert (found["notification_id"], found["payload"]["delivery_id"]) == (asked.notification_id, str(delivery_id))
    fired = {run["payload"]["trigger_id"] for run in runs(world)}
    assert (str(test) in fired, str(live) in fired) == (True, False)


def test_a_run_that_a_key_of_one_mode_fired_is_not_run_by_one_of_the_other(world: World, triggers: Triggers) -> None:
    key = triggers.key()
    triggers.register("kv", telling_alice(), key=key)
    triggers.put()
    other = triggers.key(mode="test")
    world.admin.execute("UPDATE triggers SET registered_by_principal = %s", [other.key_id])

    triggers.run()

    (found,) = world.dead_letters()
    assert found["failure_classification"] == "principal_revoked"
