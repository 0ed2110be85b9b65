"""A hook that fails: when it is told again, what is left when it is given up, and when it is disabled."""

from datetime import timedelta
from uuid import UUID

import pytest

from devstack.post_office.letters import Reply
from tests.webhooks import Receiver, add_hook, call_hooks, deliveries, delivery, nudges_within, status, tell
from tests.world import TENANT, World
from tocsin.access.audit import Actor
from tocsin.webhooks import redeliver, register
from tocsin.webhooks.register import WebhookChange
from tocsin.webhooks.schedule import JITTER, SCHEDULE, delay_after

ACTOR = Actor(TENANT, "key:test")
MOMENT = timedelta(seconds=1)  # what a statement may be later than the one before


def wait_for_the_next(world: World) -> timedelta:
    """Until the moment when the next try is due. Returns how long that was."""
    wait: timedelta = world.one("SELECT due_at - tocsin_now() FROM outbox")
    world.pass_time(wait + timedelta(milliseconds=1))
    return wait


def disabled(world: World) -> tuple[bool, str]:
    (row,) = world.rows("SELECT is_active, disabled_reason, disabled_at FROM webhooks")
    assert (row["disabled_at"] is None) == row["is_active"]
    return row["is_active"], row["disabled_reason"]


def fail_for(world: World, how_long: timedelta) -> None:
    """As if the first failure had been so long ago."""
    world.admin.execute("UPDATE webhooks SET failing_since = tocsin_now() - %s", [how_long])


def test_ten_tries_are_made_at_their_times_and_then_it_is_a_dead_letter(world: World, receiver: Receiver) -> None:
    add_hook(world, receiver.url)
    receiver.always = status(500, "broken")
    tell(world)
    call_hooks(world)
    delivery_id: UUID = delivery(world)["id"]

    for tries, usual in enumerate(SCHEDULE, 1):
        assert (delivery(world)["status"], delivery(world)["attempt_count"], len(receiver.heard)) == ("pending", tries, tries)
        world.pass_time(usual - MOMENT)
        call_hooks(world)
        assert len(receiver.heard) == tries, "too early"
        wait = usual - MOMENT + wait_for_the_next(world)
        assert abs(wait - delay_after(tries, delivery_id)) < MOMENT
        assert usual - MOMENT <= wait <= usual * (1 + JITTER)
        call_hooks(world)

    row, (letter,) = delivery(world), world.dead_letters()
    assert (row["status"], row["attempt_count"], row["next_retry_at"]) == ("failed", 10, None)
    assert (letter["source_kind"], letter["outbox_id"], letter["queue"]) == ("webhook", row["id"], "webhook")
    assert (letter["notification_id"], letter["final_attempt_count"]) == (row["notification_id"], 10)
    assert (letter["failure_classification"], letter["provider_code"]) == ("exhausted", "500")
    assert letter["failure_message"] == "the endpoint answered 500"
    assert "replay" in letter["recovery_hint"]
    assert letter["payload"] == {"webhook_id": str(row["webhook_id"]), "delivery_id": str(row["id"])}
    assert letter["last_attempt_at"] - letter["first_attempt_at"] > timedelta(days=3)
    assert (world.count("outbox"), len(set(receiver.ids))) == (0, 1)


def test_a_hook_may_have_fewer_tries(world: World, receiver: Receiver) -> None:
    add_hook(world, receiver.url, retry_count=2)
    receiver.always = status(400)
    tell(world)

    call_hooks(world)
    wait_for_the_next(world)
    call_hooks(world)

    assert (delivery(world)["status"], len(receiver.heard), len(world.dead_letters())) == ("failed", 2, 1)


def test_the_dead_letter_of_a_hook_is_told_to_no_hook(world: World, receiver: Receiver) -> None:
    add_hook(world, receiver.url, retry_count=1)
    receiver.always = status(500)
    tell(world)

    call_hooks(world)

    assert (len(world.dead_letters()), world.count("webhook_deliveries"), world.count("outbox")) == (1, 1, 0)


def test_what_is_due_soon_is_nudged_for_its_moment(world: World, receiver: Receiver) -> None:
    add_hook(world, receiver.url)
    receiver.always = status(500)
    tell(world)
    assert world.work_queue is not None
    world.work_queue.clear()

    call_hooks(world)

    assert nudges_within(world, 900) == [6]
    wait_for_the_next(world)
    call_hooks(world)
    assert all(300 <= seconds <= 331 for seconds in nudges_within(world, 900)[1:])
    assert world.one("SELECT nudged_at = due_at FROM outbox")


@pytest.mark.parametrize(
    ("code", "said", "expected"),
    [
        (429, "60", timedelta(seconds=60)),
        (503, "60", timedelta(seconds=60)),
        (503, "1", timedelta(seconds=5)),
        (500, "60", timedelta(seconds=5)),
        (429, "999999", timedelta(hours=24)),
        (429, "soon", timedelta(seconds=5)),
        (429, "-5", timedelta(seconds=5)),
    ],
)
def test_the_endpoints_own_wish_is_the_least_that_it_waits(
    code: int, said: str, expected: timedelta, world: World, receiver: Receiver
) -> None:
    add_hook(world, receiver.url)
    receiver.answers.append(status(code, Retry_After=said))
    tell(world)

    call_hooks(world)

    wait = world.one("SELECT due_at - tocsin_now() FROM outbox")
    assert expected - MOMENT <= wait <= expected * (1 + JITTER)


def test_an_endpoint_that_says_it_is_gone_disables_its_hook_at_once(world: World, receiver: Receiver) -> None:
    hook = add_hook(world, receiver.url)
    receiver.always = status(410)
    for _ in range(2):
        tell(world)

    call_hooks(world)

    assert disabled(world) == (False, "gone")
    assert {(row["status"], row["error"]) for row in deliveries(world)} <= {("failed", "gone"), ("failed", "disabled")}
    assert 410 in {row["response_status"] for row in deliveries(world)}
    assert (world.dead_letters(), world.count("outbox")) == ([], 0)
    (event,) = world.system_events()
    assert (event["event_type"], event["tenant_id"], event["subject"]) == ("webhook_disabled", TENANT, f"webhook:{hook.id}")
    assert (event["is_resolved"], event["details"]["reason"]) == (False, "gone")
    tell(world)
    assert world.count("webhook_deliveries") == 2, "a disabled hook was told of something"


def test_five_days_of_nothing_but_failures_disable_the_hook_and_say_so_once(world: World, receiver: Receiver) -> None:
    add_hook(world, receiver.url)
    receiver.always = status(500)
    for _ in range(3):
        tell(world)
    fail_for(world, timedelta(days=5))

    call_hooks(world)

    assert disabled(world) == (False, "failing")
    assert [event["event_type"] for event in world.system_events()] == ["webhook_disabled"]
    world.pass_time(timedelta(minutes=10))
    call_hooks(world)
    assert {(row["status"], row["error"]) for row in deliveries(world)} == {("failed", "disabled")}
    assert (world.dead_letters(), world.count("outbox")) == ([], 0)


def test_a_little_less_than_five_days_do_not(world: World, receiver: Receiver) -> None:
    add_hook(world, receiver.url)
    receiver.always = status(500)
    tell(world)
    fail_for(world, timedelta(days=5) - timedelta(minutes=1))

    call_hooks(world)

    assert disabled(world) == (True, "")


def test_one_success_begins_the_five_days_anew(world: World, receiver: Receiver) -> None:
    add_hook(world, receiver.url)
    receiver.answers.extend([status(500), status(200)])
    tell(world)
    call_hooks(world)
    assert world.one("SELECT failing_since FROM webhooks") is not None
    wait_for_the_next(world)

    call_hooks(world)

    assert world.one("SELECT failing_since FROM webhooks") is None
    world.pass_time(timedelta(days=6))
    receiver.always = status(500)
    tell(world)
    call_hooks(world)
    assert disabled(world) == (True, "")


def test_a_hook_that_is_switched_on_again_has_not_failed_yet_and_its_trouble_is_over(world: World, receiver: Receiver) -> None:
    hook = add_hook(world, receiver.url)
    receiver.answers.append(status(410))
    tell(world)
    call_hooks(world)

    register.change(world.app, ACTOR, hook.id, WebhookChange(is_active=True))

    (row,) = world.rows("SELECT failing_since, disabled_at, is_active FROM webhooks")
    assert (row["failing_since"], row["disabled_at"], row["is_active"]) == (None, None, True)
    assert [event["is_resolved"] for event in world.system_events()] == [True]
    redeliver.redeliver(world.app, ACTOR, delivery(world)["id"])
    call_hooks(world)
    assert [row["status"] for row in deliveries(world)] == ["failed", "delivered"]


def test_a_hook_that_was_switched_off_meanwhile_stays_off(world: World, receiver: Receiver) -> None:
    """The answer is recorded after somebody changed the hook: a success does not undo that."""
    hook = add_hook(world, receiver.url)
    app = world.connect("tocsin_app")

    def switch_off() -> Reply:
        register.change(app, ACTOR, hook.id, WebhookChange(is_active=False))
        return status(200)

    receiver.always = switch_off
    tell(world)

    call_hooks(world)

    assert disabled(world) == (False, "request")
    assert delivery(world)["status"] == "delivered"
