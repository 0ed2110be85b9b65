"""A send whose answer was lost: an event proves it at once; without one, the policy decides, and the doubt is recorded."""

import threading
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.cancelling import cancel
from tests.content import add_type
from tests.crash.waiting import wait_until
from tests.ses_events import NEWS, heard
from tests.world import LEASE, TENANT, WINDOW, World
from tocsin.channels.outcomes import Failure, FailureClass, Outcome
from tocsin.channels.ways import Message
from tocsin.feedback.apply import apply_events

LOST = Failure(FailureClass.AMBIGUOUS, "ReadTimeoutError", "no answer")
DOWN = Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "")
AFTER = WINDOW + timedelta(seconds=1)
SOON = timedelta(minutes=1)


class WorkerDied(BaseException):
    """Not an Exception: nothing of ours may catch it, as nothing catches a killed process."""


def accept_and_lose(world: World, message: Message) -> Outcome:
    """The provider has it; its answer never arrives."""
    world.email.accepted.append(message)
    return LOST


def lost_email(world: World, **intent: Any) -> dict[str, Any]:
    """An email that the provider accepted and whose answer was lost; returns its attempt."""
    world.add_user()
    world.accept(**intent)
    world.email.answers.append(lambda message: accept_and_lose(world, message))
    world.dispatch()
    (attempt,) = world.attempts()
    assert (attempt["outcome"], len(world.email.accepted)) == ("unknown", 1)
    return attempt


def forget_nudges(world: World) -> None:
    assert world.work_queue is not None
    world.work_queue.clear()


def now(world: World) -> datetime:
    moment: datetime = world.one("SELECT tocsin_now()")
    return moment


def assert_proven(world: World, message_id: str = "m-proof") -> None:
    """Published on the event's word, without another send, without doubt, and long before the window ends."""
    route, attempts = world.route(), world.attempts()
    assert (route["status"], route["reason"], route["provider"], route["provider_message_id"]) == (
        "published",
        "",
        "ses",
        message_id,
    )
    assert (route["duplicate_suspected"], route["attempt_count"], len(world.email.accepted)) == (False, 1, 1)
    assert [(one["outcome"], one["provider_message_id"]) for one in attempts] == [("accepted", message_id)]
    assert route["published_at"] - attempts[0]["started_at"] < WINDOW / 2
    assert (world.count("outbox"), world.count("dead_letters")) == (0, 0)


@pytest.mark.parametrize("news", NEWS)
def test_any_event_about_the_attempt_proves_it_and_the_route_is_published_at_once(news: str, world: World) -> None:
    attempt = lost_email(world)
    forget_nudges(world)
    world.pass_time(SOON)

    apply_events(world.worker, [heard(news, attempt, message_id="m-proof")])

    assert world.one("SELECT due_at <= tocsin_now() FROM outbox"), "it waits for the window's end although it is proven"
    assert [(nudge.ids, nudge.delay_seconds) for nudge in world.nudges()] == [(world.due(), 0)]
    world.dispatch()
    assert_proven(world)


def test_a_bounce_proves_the_send_and_suppresses_the_address(world: World) -> None:
    attempt = lost_email(world)

    apply_events(world.worker, [heard("hard bounce", attempt, message_id="m-proof")])
    world.dispatch()

    assert_proven(world)
    assert (world.route()["feedback"], world.one("SELECT reason FROM suppressions")) == ("hard_bounced", "hard_bounce")


def test_events_repeated_and_out_of_order_prove_it_once(world: World) -> None:
    attempt = lost_email(world)

    for news in ("delivery", "send", "delivery", "delay", "send"):
        apply_events(world.worker, [heard(news, attempt, message_id="m-proof")])
        world.dispatch()

    assert_proven(world)
    assert (world.route()["feedback"], world.count("provider_events")) == ("delivered", 3)


def test_an_event_that_comes_before_the_answer_is_given_up_is_kept(world: World) -> None:
    """The event overtakes the timeout: the attempt is accepted before anyone could call it unknown, and stays so."""
    world.add_user()
    world.accept()
    other = world.connect()

    def hear_first(message: Message) -> Outcome:
        (attempt,) = world.attempts()
        apply_events(other, [heard("send", attempt, message_id="m-proof")])
        return accept_and_lose(world, message)

    world.email.answers.append(hear_first)
    world.dispatch(concurrency=1)

    assert [one["outcome"] for one in world.attempts()] == ["accepted"]
    assert world.one("SELECT due_at <= tocsin_now() FROM outbox"), "it waits for the window's end although it is proven"
    world.dispatch()
    assert_proven(world)


def test_an_event_that_commits_while_the_doubt_is_being_recorded_is_not_overlooked(world: World) -> None:
    """Its transaction is open when the worker settles: the worker waits for the attempt's row, and must then see the proof."""
    world.add_user()
    world.accept()
    teller, sender = world.connect(), world.connect()
    teller.execute("BEGIN")

    def hear_halfway(message: Message) -> Outcome:
        (attempt,) = world.attempts()
        apply_events(teller, [heard("send", attempt, message_id="m-proof")])
        return accept_and_lose(world, message)

    world.email.answers.append(hear_halfway)
    settling = threading.Thread(target=lambda: world.dispatch(sender, concurrency=1))
    settling.start()
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    wait_until(lambda: world.one(waiting) or not settling.is_alive())
    teller.execute("COMMIT")
    settling.join(30)

    assert [one["outcome"] for one in world.attempts()] == ["accepted"]
    assert world.one("SELECT due_at <= tocsin_now() FROM outbox"), "it waits for the window's end although it is proven"
    world.dispatch()
    assert_proven(world)


@pytest.mark.parametrize(
    "when", ["while the dead worker's lease lasts", "after its lease", "after somebody found the open attempt"]
)
def test_an_event_proves_the_send_of_a_worker_that_died(when: str, world: World) -> None:
    world.add_user()
    world.accept()

    def accept_and_die(message: Message) -> Outcome:
        world.email.accepted.append(message)
        raise WorkerDied

    world.email.answers.append(accept_and_die)
    with pytest.raises(WorkerDied):
        world.dispatch(world.connect(), concurrency=1)
    (attempt,) = world.attempts()
    proof = [heard("send", attempt, message_id="m-proof")]

    if when == "while the dead worker's lease lasts":
        apply_events(world.worker, proof)
    world.pass_time(LEASE + timedelta(seconds=1))
    if when == "after its lease":
        apply_events(world.worker, proof)
    world.dispatch()
    if when == "after somebody found the open attempt":
        assert world.route()["reason"] == "awaiting_evidence"
        apply_events(world.worker, proof)
        world.dispatch()

    assert_proven(world)


def test_an_event_after_the_retry_was_accepted_is_recorded_and_the_doubt_stays(world: World) -> None:
    first = lost_email(world)
    world.pass_time(AFTER)
    world.dispatch()
    assert world.route()["duplicate_suspected"]
    before = world.route()

    apply_events(world.worker, [heard("delivery", first, message_id="m-first")])
    world.dispatch()

    route, attempts = world.route(), world.attempts()
    assert (route["status"], route["duplicate_suspected"], route["feedback"]) == ("published", True, "delivered")
    assert route["provider_message_id"] == before["provider_message_id"]
    assert [(one["outcome"], one["provider_message_id"]) for one in attempts] == [("accepted", "m-first"), ("accepted", "m-2")]
    assert len(world.email.accepted) == 2


@pytest.mark.parametrize("second", [DOWN, LOST], ids=["the second try failed for sure", "the second answer was lost too"])
def test_an_event_of_the_first_attempt_stops_a_third_copy(second: Failure, world: World) -> None:
    """The window ended, the second try did not settle it: proof of the first is proof enough, and nothing more is sent."""
    first = lost_email(world)
    world.email.answers.append(second)
    world.pass_time(AFTER)
    world.dispatch()
    assert (world.route()["status"], world.email.calls) == ("failed", 2)

    apply_events(world.worker, [heard("delivery", first, message_id="m-first")])
    for _ in range(3):
        world.pass_time(AFTER)
        world.dispatch()

    assert (world.email.calls, world.route()["status"], world.route()["provider_message_id"]) == (2, "published", "m-first")


@pytest.mark.parametrize("outcome", [DOWN, LOST], ids=["surely not accepted", "in doubt"])
def test_an_event_of_the_attempt_under_way_is_not_taken_for_another_one(outcome: Failure, world: World) -> None:
    """The attempt's number tells them apart: news of the second try proves the second, and leaves the first in doubt."""
    lost_email(world)
    world.email.answers.append(outcome)
    world.pass_time(AFTER)
    world.dispatch()
    _, second = world.attempts()
    apply_events(world.worker, [heard("delivery", second, message_id="m-second")])
    world.dispatch()

    first, second = world.attempts()
    assert first["outcome"] == "unknown"
    if outcome is LOST:
        assert (second["outcome"], world.route()["status"], world.route()["duplicate_suspected"]) == (
            "accepted",
            "published",
            True,
        )
    else:
        assert second["outcome"] == "transient", "the provider had refused it for sure: such an event is not believed"


def test_with_events_lost_too_an_email_is_sent_again_and_the_doubt_is_counted(world: World) -> None:
    lost_email(world)
    world.pass_time(AFTER)

    world.dispatch()

    route = world.route()
    assert (route["status"], route["duplicate_suspected"], len(world.email.accepted)) == ("published", True, 2)
    assert [one["outcome"] for one in world.attempts()] == ["unknown", "accepted"]


def test_with_every_answer_and_event_lost_there_are_at_most_two_copies(world: World) -> None:
    """I4: a provider that takes everything and never answers must not make five letters of one."""
    world.add_user()
    world.accept()
    for _ in range(5):
        world.email.answers.append(lambda message: accept_and_lose(world, message))
    for _ in range(7):
        world.dispatch()
        world.pass_time(AFTER)

    (letter,) = world.dead_letters()
    assert (world.route()["status"], letter["failure_classification"]) == ("dead_letter", "ambiguous")
    assert world.route()["duplicate_suspected"]
    assert len(world.email.accepted) <= 2


@pytest.mark.parametrize(
    ("channel", "policy", "end"),
    [
        ("email", None, "again"),
        ("email", "retry", "again"),
        ("email", "hold", "held"),
        ("sms", None, "held"),
        ("sms", "hold", "held"),
        ("sms", "retry", "again"),
        ("push", None, "again"),
        ("push", "hold", "held"),
    ],
)
def test_without_evidence_the_types_policy_decides_and_else_the_channels(
    channel: str, policy: str | None, end: str, world: World
) -> None:
    world.add_device(world.add_user(phone="+14155550100"))
    add_type(world, ambiguous_policy=policy)
    world.accept(channels=[channel])
    way = {"email": world.email, "sms": world.sms, "push": world.push}[channel]
    way.answers.append(LOST)
    world.dispatch()
    world.pass_time(AFTER)

    world.dispatch()

    route = world.route()
    if end == "again":
        assert (route["status"], route["duplicate_suspected"], way.calls) == ("published", True, 2)
    else:
        (letter,) = world.dead_letters()
        assert (route["status"], route["reason"], route["duplicate_suspected"], way.calls) == (
            "dead_letter",
            "ambiguous",
            False,
            1,
        )
        assert (letter["failure_classification"], letter["resolution"]) == ("ambiguous", None)


def test_an_event_decides_before_the_policy_does(world: World) -> None:
    add_type(world, ambiguous_policy="hold")
    attempt = lost_email(world)

    apply_events(world.worker, [heard("send", attempt, message_id="m-proof")])
    world.dispatch()

    assert_proven(world)


def test_a_cancel_in_doubt_is_too_late_and_an_event_still_tells_the_truth(world: World) -> None:
    attempt = lost_email(world)
    answer = cancel(world.app, TENANT, attempt["notification_id"])
    assert answer is not None and answer.is_too_late

    apply_events(world.worker, [heard("send", attempt, message_id="m-proof")])
    world.dispatch()

    assert_proven(world)


def test_an_event_for_work_that_somebody_leases_leaves_the_lease_alone(world: World) -> None:
    attempt = lost_email(world)
    world.admin.execute("UPDATE outbox SET leased_until = tocsin_now() + interval '1 minute', lease_token = gen_random_uuid()")
    before = world.rows("SELECT leased_until, lease_token, due_at FROM outbox")

    apply_events(world.worker, [heard("send", attempt, message_id="m-proof")])

    assert world.rows("SELECT leased_until, lease_token, due_at FROM outbox") == before
    assert [one["outcome"] for one in world.attempts()] == ["accepted"]
