"""Each class of failure: what becomes of the route and its attempts, and what a person is told at the end."""

from datetime import timedelta

import pytest

from tests.world import World
from tocsin.channels.outcomes import Failure, FailureClass

TRANSIENT = Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "try again")
PERMANENT = Failure(FailureClass.PERMANENT, "MessageRejected", "Email address is on the blacklist")
GONE = Failure(FailureClass.PERMANENT, "EndpointDisabled", "endpoint is disabled", device_gone=True)


def test_a_transient_failure_waits_and_is_nudged_with_its_delay(world: World) -> None:
    world.add_user()
    world.accept()
    world.email.answers.append(TRANSIENT)
    world.dispatch()

    route, (attempt,) = world.route(), world.attempts()
    assert (route["status"], route["reason"], route["attempt_count"]) == ("failed", "retry", 1)
    assert (route["last_error_classification"], route["last_error_message"]) == (
        "transient",
        "ServiceUnavailable: try again",
    )
    assert attempt["outcome"] == "transient"
    (outbox_id,) = world.due()
    assert route["next_attempt_at"] == world.one("SELECT due_at FROM outbox")
    nudge = world.nudges()[-1]
    assert nudge.ids == [outbox_id]
    assert 4 <= nudge.delay_seconds <= 6  # 5 s base, 20 % jitter, rounded up


def test_a_retry_is_not_made_before_its_time(world: World) -> None:
    world.add_user()
    world.accept()
    world.email.answers.append(TRANSIENT)
    world.dispatch()

    world.pass_time(timedelta(seconds=3))
    assert world.dispatch() == 0
    world.pass_time(timedelta(seconds=4))
    assert world.dispatch() == 1

    assert (world.route()["status"], world.route()["attempt_count"], world.email.calls) == ("published", 2, 2)
    assert [attempt["outcome"] for attempt in world.attempts()] == ["transient", "accepted"]


@pytest.mark.parametrize(
    ("backoff", "waits"),
    [("exponential", [10, 20, 40]), ("linear", [10, 20, 30]), ("constant", [10, 10, 10])],
)
def test_the_wait_grows_as_the_intent_asked(world: World, backoff: str, waits: list[int]) -> None:
    world.add_user()
    world.accept(retry={"max_attempts": 5, "backoff": backoff, "base_ms": 10_000})

    waited = []
    for _ in waits:
        world.email.answers.append(TRANSIENT)
        world.dispatch()
        waited.append(world.one("SELECT extract(epoch FROM next_attempt_at - updated_at)::float8 FROM routes"))
        world.pass_time(timedelta(seconds=waited[-1] + 1))

    for got, wanted in zip(waited, waits, strict=True):
        assert wanted * 0.8 <= got <= wanted * 1.2


def test_a_wait_longer_than_the_queue_can_keep_is_left_to_the_sweep(world: World) -> None:
    world.add_user()
    world.accept(retry={"max_attempts": 5, "backoff": "constant", "base_ms": 3_600_000})
    world.email.answers.append(TRANSIENT)
    world.dispatch()

    assert len(world.nudges()) == 1  # only the one from intake
    assert world.one("SELECT nudged_at IS NULL FROM outbox")


def test_a_provider_that_says_when_to_come_back_is_believed_up_to_twice_our_own_wait(world: World) -> None:
    world.add_user()
    world.accept(retry={"max_attempts": 5, "backoff": "constant", "base_ms": 10_000})
    world.email.answers.append(Failure(FailureClass.TRANSIENT, "X", "", retry_after=timedelta(hours=3)))
    world.dispatch()

    assert 16 <= world.one("SELECT extract(epoch FROM next_attempt_at - updated_at)::float8 FROM routes") <= 24


def test_after_its_last_attempt_a_route_is_a_dead_letter_that_says_what_to_do(world: World) -> None:
    world.add_user()
    asked = world.accept(retry={"max_attempts": 3, "backoff": "constant", "base_ms": 1_000})
    world.email.answers.extend([TRANSIENT] * 10)

    for _ in range(6):
        world.dispatch()
        world.pass_time(timedelta(seconds=5))

    route, (letter,) = world.route(), world.dead_letters()
    assert (route["status"], route["reason"], route["attempt_count"]) == ("dead_letter", "exhausted", 3)
    assert route["next_attempt_at"] is None
    assert world.email.calls == 3
    assert (letter["notification_id"], letter["route_id"]) == (asked.notification_id, route["route_id"])
    assert (letter["failure_classification"], letter["failure_message"]) == ("exhausted", "ServiceUnavailable: try again")
    assert (letter["final_attempt_count"], letter["max_attempts"], letter["channel"]) == (3, 3, "email")
    assert (letter["recipient_ref"], letter["resolution"]) == ("user:alice", None)
    assert "healthy" in letter["recovery_hint"]
    assert world.count("outbox") == 0


def test_a_permanent_failure_is_a_dead_letter_at_once_and_its_neighbours_go_out(world: World) -> None:
    world.add_user()
    for _ in range(10):
        world.accept()
    world.email.answers.append(PERMANENT)

    world.dispatch(concurrency=1)

    statuses = [route["status"] for route in world.routes()]
    assert (statuses.count("published"), statuses.count("dead_letter")) == (9, 1)
    (letter,) = world.dead_letters()
    assert (letter["failure_classification"], letter["final_attempt_count"]) == ("permanent", 1)
    assert "refused" in letter["recovery_hint"]
    assert world.system_events() == []


def test_a_device_that_is_gone_is_switched_off_and_not_planned_for_again(world: World) -> None:
    world.add_device(world.add_user())
    world.accept(channels=["push"])
    world.push.answers.append(GONE)
    world.dispatch()

    (device,) = world.rows("SELECT * FROM devices")
    assert (device["enabled"], device["disabled_reason"], device["endpoint_arn"]) == (False, "EndpointDisabled", None)
    assert world.route()["status"] == "dead_letter"

    world.accept(channels=["push"])
    world.dispatch()

    assert world.one("SELECT reason FROM routes WHERE status = 'skipped'") == "no_address"
    assert world.push.calls == 1


def test_a_device_switched_off_while_a_push_waited_is_not_pushed_to(world: World) -> None:
    world.add_device(world.add_user())
    world.accept(channels=["push"])
    world.push.answers.append(TRANSIENT)
    world.dispatch()
    world.admin.execute("UPDATE devices SET enabled = false")
    world.pass_time(timedelta(minutes=1))

    world.dispatch()

    assert (world.route()["status"], world.route()["reason"], world.push.calls) == ("skipped", "no_address", 1)
