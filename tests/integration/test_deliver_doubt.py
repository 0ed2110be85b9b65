"""When the provider's answer is lost: wait for evidence, then the channel's policy decides, and the doubt is recorded."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.cancelling import cancel
from tests.world import LEASE, TENANT, WINDOW, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.store import attempts
from tocsin.store.rows import Evidence

LOST = Failure(FailureClass.AMBIGUOUS, "ReadTimeoutError", "no answer")
AFTER = WINDOW + timedelta(seconds=1)


class WorkerDied(BaseException):
    """Not an Exception: nothing of ours may catch it, as nothing catches a killed process."""


def _die(message: object) -> None:
    raise WorkerDied


def _crash_while_sending(world: World) -> None:
    """A worker that opened its attempt and never came back; its lease has lapsed since."""
    world.email.answers.append(_die)  # type: ignore[arg-type]
    world.sms.answers.append(_die)  # type: ignore[arg-type]
    with pytest.raises(WorkerDied):
        world.dispatch(world.connect(), concurrency=1)
    world.pass_time(LEASE + timedelta(seconds=1))


def _evidence(world: World) -> None:
    (attempt,) = world.attempts()
    proof = Evidence(attempt["notification_id"], attempt["route_id"], 1, attempt["attempt_no"], "m-late")
    assert attempts.record_evidence(world.worker, [proof]) == 1


def test_a_lost_answer_waits_for_evidence_until_the_window_ends(world: World) -> None:
    world.add_user()
    world.accept()
    world.email.answers.append(LOST)
    world.dispatch()

    route, (attempt,) = world.route(), world.attempts()
    assert (route["status"], route["reason"], route["last_error_classification"]) == ("failed", "awaiting_evidence", "ambiguous")
    assert attempt["outcome"] == "unknown"
    assert route["next_attempt_at"] == attempt["started_at"] + WINDOW
    assert world.one("SELECT attempt_open FROM outbox")

    world.pass_time(WINDOW - timedelta(seconds=5))
    assert world.dispatch() == 0
    assert world.email.calls == 1


def test_without_evidence_an_email_is_sent_again_and_the_doubt_is_recorded(world: World) -> None:
    world.add_user()
    world.accept()
    world.email.answers.append(LOST)
    world.dispatch()
    world.pass_time(AFTER)

    world.dispatch()

    route = world.route()
    assert (route["status"], route["attempt_count"], route["duplicate_suspected"]) == ("published", 2, True)
    assert [attempt["outcome"] for attempt in world.attempts()] == ["unknown", "accepted"]


def test_without_evidence_an_sms_is_held_for_a_person_to_decide(world: World) -> None:
    world.add_user(phone="+14155550100")
    world.accept(channels=["sms"])
    world.sms.answers.append(LOST)
    world.dispatch()
    world.pass_time(AFTER)

    world.dispatch()

    route, (letter,) = world.route(), world.dead_letters()
    assert (route["status"], route["reason"], world.sms.calls) == ("dead_letter", "ambiguous", 1)
    assert letter["failure_classification"] == "ambiguous"
    assert "second copy" in letter["recovery_hint"]


def test_evidence_within_the_window_proves_the_send_and_nothing_is_sent_again(world: World) -> None:
    world.add_user()
    world.accept()
    world.email.answers.append(LOST)
    world.dispatch()
    _evidence(world)
    world.pass_time(AFTER)

    world.dispatch()

    route = world.route()
    assert (route["status"], route["provider_message_id"], route["provider"]) == ("published", "m-late", "ses")
    assert (route["duplicate_suspected"], world.email.calls) == (False, 1)


def test_evidence_for_an_attempt_that_was_settled_changes_nothing(world: World) -> None:
    world.add_user()
    world.accept()
    world.email.answers.append(Failure(FailureClass.PERMANENT, "MessageRejected", ""))
    world.dispatch()
    (attempt,) = world.attempts()

    proof = Evidence(attempt["notification_id"], attempt["route_id"], 1, 1, "forged")

    assert attempts.record_evidence(world.worker, [proof]) == 0
    assert world.attempts() == [attempt]


def test_a_worker_that_died_while_sending_leaves_an_attempt_that_waits_for_evidence(world: World) -> None:
    world.add_user()
    world.accept()
    _crash_while_sending(world)

    world.dispatch()

    route, (attempt,) = world.route(), world.attempts()
    assert (route["reason"], attempt["outcome"], world.email.calls) == ("awaiting_evidence", "unknown", 1)
    assert route["next_attempt_at"] == attempt["started_at"] + WINDOW

    world.pass_time(WINDOW)
    world.dispatch()

    assert (world.route()["status"], world.route()["duplicate_suspected"]) == ("published", True)


def test_a_crash_counts_as_an_attempt(world: World) -> None:
    world.add_user()
    world.accept(retry={"max_attempts": 1})
    _crash_while_sending(world)
    world.pass_time(WINDOW)

    world.dispatch()
    world.dispatch()

    (letter,) = world.dead_letters()
    assert (letter["failure_classification"], letter["final_attempt_count"], world.email.calls) == ("ambiguous", 1, 1)


def test_proof_that_came_too_late_to_settle_is_found_on_the_attempt(world: World) -> None:
    world.add_user()
    world.accept()
    _crash_while_sending(world)
    _evidence(world)

    world.dispatch()

    assert (world.route()["status"], world.route()["provider_message_id"]) == ("published", "m-late")
    assert world.email.calls == 1


def test_a_worker_that_wakes_up_after_its_lease_keeps_its_proof_on_the_attempt_and_touches_nothing_else(world: World) -> None:
    world.add_user()
    world.accept()

    def oversleep(message: object) -> None:
        world.pass_time(LEASE + timedelta(seconds=1))
        world.dispatch(world.connect())  # another worker takes the row over and finds the open attempt

    world.email.answers.append(oversleep)  # type: ignore[arg-type]
    world.dispatch(concurrency=1)

    (attempt,) = world.attempts()
    assert attempt["outcome"] == "accepted"
    assert world.route()["status"] == "pending"
    world.pass_time(WINDOW)
    world.dispatch()
    assert (world.route()["status"], world.email.calls, world.route()["duplicate_suspected"]) == ("published", 1, False)


def test_after_a_cancel_a_send_in_doubt_is_not_repeated(world: World) -> None:
    world.add_user()
    asked = world.accept()
    world.email.answers.append(LOST)
    world.dispatch()
    cancelled = cancel(world.app, TENANT, asked.notification_id)
    world.pass_time(AFTER)

    world.dispatch()

    assert cancelled is not None
    assert (cancelled.stopped, cancelled.too_late) == (0, 1)
    assert (world.route()["status"], world.route()["reason"], world.email.calls) == ("dead_letter", "ambiguous", 1)


def test_a_send_in_doubt_that_expires_is_not_repeated(world: World) -> None:
    world.add_user()
    world.accept(expires_at=(datetime.now(UTC) + timedelta(minutes=10)).isoformat())
    world.email.answers.append(LOST)
    world.dispatch()
    world.pass_time(AFTER)

    world.dispatch()

    assert (world.route()["status"], world.route()["reason"], world.email.calls) == ("dead_letter", "ambiguous", 1)
    assert [attempt["outcome"] for attempt in world.attempts()] == ["unknown"]
