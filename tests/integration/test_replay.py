"""A dead letter is replayed: each kind of work is done once more, once, and says what became of it."""

import threading
from datetime import timedelta
from typing import Any

import pytest

from tests.cancelling import cancel
from tests.content import add_suppression, add_template
from tests.events import fan_out_all, fan_out_once, happen, outcomes, populate, route, tell_page, wait_until_readable
from tests.letters import (
    LOST,
    OPERATOR,
    REFUSED,
    bury_delivery,
    bury_plan,
    letter,
    newest,
    poison,
    replay,
    try_replay,
    why_not,
)
from tests.trigger_runs import Triggers, telling_alice
from tests.webhooks import Receiver, add_hook, call_hooks, deliveries, status, tell
from tests.world import OTHER_TENANT, WINDOW, World
from tocsin.audience import fan_out
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.dead_letters.obstacles import Obstacle
from tocsin.dead_letters.replay import Replayed
from tocsin.foundation.database import tenant_transaction
from tocsin.store.flow.letter_standing import find_replay
from tocsin.store.flow.replay import lock

MINUTE = timedelta(minutes=1)


@pytest.fixture
def alice(world: World) -> World:
    world.add_user()
    return world


def in_an_hour(world: World) -> str:
    return str(world.one("SELECT tocsin_rfc3339(tocsin_now() + interval '1 hour')"))


def state(world: World, letter_id: Any) -> str | None:
    with tenant_transaction(world.app, letter(world, letter_id)["tenant_id"]):
        found = find_replay(world.app, letter(world, letter_id)["tenant_id"], letter_id)
    return found.status if found else None


def test_a_delivery_goes_out_again_in_a_new_generation_with_all_its_attempts_before_it(alice: World) -> None:
    died = bury_delivery(alice)
    assert state(alice, died) is None

    made = replay(alice, died)

    assert (made.again.generation, made.in_doubt) == (2, False)
    route_then = alice.route()
    assert (route_then["status"], route_then["generation"], route_then["attempt_count"]) == ("pending", 2, 0)
    assert (route_then["dead_lettered_at"], route_then["outbox_id"]) == (None, made.again.outbox_id)
    assert state(alice, died) == "under_way"
    assert [one.ids for one in alice.nudges() if one.queue == "email"][-1] == [made.again.outbox_id]
    alice.dispatch()
    assert (alice.route()["status"], len(alice.email.accepted), alice.count("outbox")) == ("published", 1, 0)
    assert [(one["generation"], one["attempt_no"], one["outcome"]) for one in alice.attempts()] == [
        (1, 1, "permanent"),
        (2, 1, "accepted"),
    ]
    row = letter(alice, died)
    assert (row["resolution"], row["resolved_by"], row["replayed_as"]) == ("replayed", OPERATOR, made.again.outbox_id)
    assert state(alice, died) == "published"
    assert alice.one("SELECT count(*) FROM audit_logs WHERE action = 'replay' AND resource_id = %(id)s", id=str(died)) == 1


def test_what_dies_again_is_a_letter_of_its_own_which_can_be_replayed_in_turn(alice: World) -> None:
    first = bury_delivery(alice)
    alice.email.answers.append(REFUSED)
    replay(alice, first)
    alice.dispatch()
    second = newest(alice)

    assert (state(alice, first), letter(alice, second)["generation"]) == ("dead_letter", 2)
    assert why_not(alice, first) == "already_resolved"
    replay(alice, second)
    alice.dispatch()
    assert (alice.route()["status"], alice.route()["generation"]) == ("published", 3)


def test_two_operators_at_once_replay_once(alice: World) -> None:
    """The second waits for the first, and is told."""
    died = bury_delivery(alice)
    first, second = alice.connect("tocsin_app"), alice.connect("tocsin_app")
    made: list[Any] = []
    with tenant_transaction(first, letter(alice, died)["tenant_id"]):
        lock(first, letter(alice, died)["tenant_id"], [died])
        first.execute("SELECT 1").fetchone()  # the pipeline has been carried out up to here
        waits = threading.Thread(target=lambda: made.append(try_replay(alice, died, conn=second)))
        waits.start()
    made.append(try_replay(alice, died, conn=first))
    waits.join(10)

    assert sorted(type(one).__name__ for one in made) == ["Obstacle", "Replayed"]
    assert [one.reason for one in made if isinstance(one, Obstacle)] == ["already_resolved"]
    assert (alice.route()["generation"], alice.count("outbox")) == (2, 1)


def test_the_gate_is_asked_again(alice: World) -> None:
    died = bury_delivery(alice)
    add_suppression(alice, "alice@example.com")

    replay(alice, died)
    alice.dispatch()

    assert (alice.route()["status"], alice.email.accepted) == ("skipped", [])
    assert state(alice, died) == "skipped"


def test_it_goes_to_where_the_person_is_reached_now(alice: World) -> None:
    died = bury_delivery(alice)
    alice.admin.execute("UPDATE users SET email = 'alice@new.example.com'")

    replay(alice, died)
    alice.dispatch()

    assert [one.email for one in alice.email.accepted] == ["alice@new.example.com"]


def test_what_could_not_be_rendered_is_rendered_with_the_templates_next_version(alice: World) -> None:
    broken = {"channel": "email", "subject": "S", "body": "{{ payload.n | divided_by: 0 }}"}
    add_template(alice, "t", **broken)
    alice.accept(template="t", payload={"n": 1})
    alice.dispatch()
    died = newest(alice)
    assert letter(alice, died)["failure_classification"] == "unrenderable"
    add_template(alice, "t", **(broken | {"body": "Hello"}))

    replay(alice, died)
    alice.dispatch()

    assert alice.route()["status"] == "published"


def test_an_expired_notification_is_replayed_when_that_is_asked_and_is_really_sent(alice: World) -> None:
    died = bury_delivery(alice, expires_at=in_an_hour(alice))
    alice.pass_time(timedelta(hours=2))

    assert why_not(alice, died) == "expired"
    assert alice.count("outbox") == 0
    replay(alice, died, past_expiry=True)
    alice.dispatch()

    assert (alice.route()["status"], len(alice.email.accepted)) == ("published", 1)


def test_past_its_expiry_it_still_waits_for_a_retry_like_any_other(alice: World) -> None:
    """What is due at its expiry at the latest would be due for ever."""
    died = bury_delivery(alice, expires_at=in_an_hour(alice))
    alice.pass_time(timedelta(hours=2))
    alice.email.answers.append(Failure(FailureClass.TRANSIENT, "Unavailable", "later"))

    replay(alice, died, past_expiry=True)
    alice.dispatch()

    assert alice.route()["status"] == "failed"
    assert alice.one("SELECT due_at > tocsin_now() FROM outbox") is True
    alice.pass_time(MINUTE)
    alice.dispatch()
    assert alice.route()["status"] == "published"


def test_an_ambiguous_one_says_that_a_second_copy_is_possible(alice: World) -> None:
    alice.admin.execute("UPDATE users SET phone = '+4915112345678'")
    alice.sms.answers.append(LOST)
    alice.accept(channels=["sms"])
    alice.dispatch()
    alice.pass_time(WINDOW + MINUTE)
    alice.dispatch()
    died = newest(alice)
    assert letter(alice, died)["failure_classification"] == "ambiguous"

    made = replay(alice, died)
    alice.dispatch()

    assert (made.in_doubt, alice.route()["status"], alice.route()["duplicate_suspected"]) == (True, "published", True)


def test_one_that_the_provider_has_confirmed_since_is_not_sent_twice(alice: World) -> None:
    died = bury_delivery(alice)
    alice.admin.execute("UPDATE attempts SET outcome = 'accepted'")

    assert why_not(alice, died) == "arrived"


def test_a_plan_goes_on_and_its_notification_is_as_if_nothing_had_happened(alice: World) -> None:
    died = bury_plan(alice)
    assert alice.routes() == []

    made = replay(alice, died)
    assert (state(alice, died), made.again.queue) == ("under_way", "plan")
    alice.dispatch()

    assert (alice.route()["status"], state(alice, died), alice.count("outbox")) == ("published", "done", 0)


def test_an_expired_plan_is_planned_and_delivered_past_its_expiry_when_that_is_asked(alice: World) -> None:
    died = bury_plan(alice, channels=["email", "in_app"], expires_at=in_an_hour(alice))
    alice.pass_time(timedelta(hours=2))

    assert why_not(alice, died) == "expired"
    replay(alice, died, past_expiry=True)
    alice.dispatch()

    assert {one["status"] for one in alice.routes()} == {"published"}
    assert [row["expires_at"] for row in alice.inbox()] == [None]


def test_an_event_that_was_set_aside_is_told(alice: World) -> None:
    route(alice)
    happen(alice, mentions=["alice"])
    alice.admin.execute("UPDATE domain_events_processed SET claim_count = 3")
    fan_out_all(alice)
    assert (outcomes(alice), alice.inbox()) == ([("dead_letter", 0)], [])
    died = newest(alice)

    replay(alice, died)
    assert outcomes(alice) == [("waiting", 0)]
    alice.dispatch()

    assert (outcomes(alice), len(alice.inbox()), state(alice, died)) == ([("notified", 1)], 1, "done")


def test_the_rest_of_a_large_audience_is_told_from_where_it_died(alice: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fan_out, "PAGE", 2)
    monkeypatch.setattr(fan_out, "MOST_IN_BATCH", 2)
    route(alice)
    populate(alice, 6)
    happen(alice, mentions=[f"user-{n}" for n in range(1, 7)])
    wait_until_readable(alice)
    fan_out_once(alice)
    tell_page(alice)
    told = len(alice.inbox())
    assert 0 < told < 6
    died = poison(alice, "fanout")
    assert letter(alice, died)["payload"].keys() == {"event", "after"}

    replay(alice, died)
    for _ in range(4):
        alice.dispatch()

    assert (len(alice.inbox()), {row["event_count"] for row in alice.inbox()}) == (6, {1}), "nobody is told twice"


def test_a_webhook_is_delivered_again_under_the_same_message_id(world: World, receiver: Receiver) -> None:
    add_hook(world, receiver.url, retry_count=1)
    receiver.answers.append(status(500))
    tell(world)
    call_hooks(world)
    died = newest(world)

    replay(world, died)
    call_hooks(world)

    first, second = receiver.ids
    assert first == second
    assert [row["status"] for row in sorted(deliveries(world), key=lambda row: row["id"])] == ["failed", "delivered"]
    assert (state(world, died), world.count("outbox")) == ("delivered", 0)


def test_a_webhook_that_is_disabled_or_gone_is_not_replayed(world: World, receiver: Receiver) -> None:
    hook = add_hook(world, receiver.url, retry_count=1)
    receiver.answers.append(status(500))
    tell(world)
    call_hooks(world)
    died = newest(world)

    world.admin.execute("UPDATE webhooks SET is_active = false, disabled_reason = 'request', disabled_at = tocsin_now()")
    assert why_not(world, died) == "webhook_disabled"
    world.admin.execute("DELETE FROM webhooks WHERE id = %s", [hook.id])
    assert why_not(world, died) == "delivery_gone"


def test_a_run_of_a_trigger_is_made_again_as_its_key(world: World, triggers: Triggers) -> None:
    world.add_user()
    key = triggers.key()
    triggers.register("kv", telling_alice(), key=key)
    triggers.put()
    world.admin.execute("UPDATE api_keys SET scopes = '{manage,data}' WHERE id = %s", [key.key_id])
    triggers.run()
    died = newest(world)
    assert letter(world, died)["failure_classification"] == "principal_revoked"

    replay(world, died)
    triggers.run()
    again = newest(world)
    assert (again != died, letter(world, again)["generation"], state(world, died)) == (True, 2, "dead_letter")

    world.admin.execute("UPDATE api_keys SET scopes = '{manage,data,send}' WHERE id = %s", [key.key_id])
    replay(world, again)
    triggers.run(2)
    assert (state(world, again), len(world.email.accepted)) == ("done", 1)


def test_a_run_whose_trigger_is_disabled_or_gone_is_not_replayed(world: World, triggers: Triggers) -> None:
    key = triggers.key()
    triggers.register("kv", telling_alice(), key=key)
    triggers.put()
    world.admin.execute("UPDATE api_keys SET scopes = '{manage,data}' WHERE id = %s", [key.key_id])
    triggers.run()
    died = newest(world)

    world.admin.execute("UPDATE triggers SET enabled = false")
    assert why_not(world, died) == "trigger_disabled"
    world.admin.execute("DELETE FROM triggers")
    assert why_not(world, died) == "trigger_gone"


def test_what_cannot_be_replayed_says_why_and_nothing_is_changed(alice: World) -> None:
    died = bury_delivery(alice)
    cases = {
        "UPDATE records SET cancelled_at = tocsin_now()": "cancelled",
        "UPDATE dead_letters SET failure_classification = 'orphaned'": "orphaned",
        "UPDATE dead_letters SET source_kind = 'telegraph'": "unknown_kind",
        "DELETE FROM users": "recipient_gone",
    }
    for change, reason in cases.items():
        alice.admin.execute(change)  # type: ignore[call-overload]
        assert why_not(alice, died) == reason, change
        _put_back(alice)
    assert (alice.count("outbox"), alice.route()["status"], alice.count("audit_logs")) == (0, "dead_letter", 0)


def _put_back(world: World) -> None:
    world.admin.execute("UPDATE records SET cancelled_at = NULL")
    world.admin.execute("UPDATE dead_letters SET failure_classification = 'permanent', source_kind = 'deliver'")


def test_a_plan_whose_record_is_gone_is_not_replayed(alice: World) -> None:
    died = bury_plan(alice)
    alice.admin.execute("DELETE FROM records")

    assert why_not(alice, died) == "record_gone"


def test_a_letter_whose_handler_failed_still_waits_for_a_person(alice: World) -> None:
    died = bury_delivery(alice)
    alice.admin.execute("UPDATE dead_letters SET resolution = 'handler_failed', resolved_at = tocsin_now()")

    assert isinstance(try_replay(alice, died), Replayed)


def test_another_tenants_letter_is_not_there(alice: World) -> None:
    alice.add_tenant()
    died = bury_delivery(alice)

    assert try_replay(alice, died, tenant=OTHER_TENANT) is None
    assert letter(alice, died)["resolution"] is None


def test_what_a_test_key_sent_stays_in_the_sandbox(alice: World) -> None:
    died = bury_plan(alice, mode="test")

    replay(alice, died)
    alice.dispatch()

    assert (alice.route()["status"], alice.route()["provider"], alice.email.calls) == ("published", "sandbox", 0)


def test_what_is_cancelled_after_a_replay_is_not_sent(alice: World) -> None:
    died = bury_delivery(alice)
    replay(alice, died)

    row = letter(alice, died)
    cancel(alice.app, row["tenant_id"], row["notification_id"])
    alice.dispatch()

    assert (alice.route()["status"], alice.email.accepted) == ("cancelled", [])
