"""A send in doubt that must not be repeated: whatever forbids it, the end says that the message may have arrived."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.cancelling import cancel
from tests.content import add_type
from tests.world import LEASE, TENANT, WINDOW, World
from tocsin.channels.outcomes import Failure, FailureClass, Outcome
from tocsin.channels.ways import Message
from tocsin.content import plain, render
from tocsin.delivery.gate import MAX_CLAIMS
from tocsin.outbox.dispatch import dispatch
from tocsin.store.attempts import CUT_OFF

LOST = Failure(FailureClass.AMBIGUOUS, "ReadTimeoutError", "no answer")
DOWN = Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "later")
REFUSED = Failure(FailureClass.PERMANENT, "MessageRejected", "no")
AFTER = WINDOW + timedelta(seconds=1)


class WorkerDied(BaseException):
    """Not an Exception: nothing of ours may catch it, as nothing catches a killed process."""


def cancelled(world: World) -> None:
    answer = cancel(world.app, TENANT, world.one("SELECT notification_id FROM records"))
    assert answer is not None and answer.is_too_late


def expired(world: World) -> None:
    world.admin.execute("UPDATE records SET expires_at = tocsin_now() + interval '1 minute'")


def suppressed(world: World) -> None:
    world.admin.execute(
        """INSERT INTO suppressions (id, tenant_id, channel, address_hash, reason)
           VALUES (gen_random_uuid(), %s, 'email', tocsin_address_hash(%s, 'email', 'alice@example.com'), 'complaint')""",
        [TENANT, TENANT],
    )


def switched_off(world: World) -> None:
    world.admin.execute(
        """INSERT INTO preferences (id, tenant_id, user_id, channel, enabled)
           SELECT gen_random_uuid(), tenant_id, id, 'email', false FROM users"""
    )


def capped(world: World) -> None:
    """Somebody else's mail used up the cap of the day while the first attempt was in doubt."""
    world.admin.execute(
        """INSERT INTO preferences (id, tenant_id, user_id, channel, frequency_cap)
           SELECT gen_random_uuid(), tenant_id, id, 'email', 0 FROM users"""
    )


def without_address(world: World) -> None:
    world.admin.execute("UPDATE routes SET resolved_email = ''")


OBSTACLES: dict[str, Callable[[World], None]] = {
    "cancelled": cancelled,
    "expired": expired,
    "suppressed: complaint": suppressed,
    "no_address": without_address,
    "preference: email off": switched_off,
    "frequency_cap: 0 a day": capped,
}


def accepted_and_lost(world: World) -> Callable[[Message], Outcome]:
    """The provider has it; its answer never arrives."""

    def answer(message: Message) -> Outcome:
        world.email.accepted.append(message)
        return LOST

    return answer


def lost_email(world: World, **intent: Any) -> None:
    world.add_user()
    world.accept(**intent)
    world.email.answers.append(accepted_and_lost(world))
    world.dispatch()
    assert (world.one("SELECT outcome FROM attempts"), len(world.email.accepted)) == ("unknown", 1)


def go_on(world: World) -> None:
    for _ in range(3):
        world.pass_time(AFTER)
        world.dispatch()


@pytest.mark.parametrize("policy", ["retry", "hold"])
@pytest.mark.parametrize("reason", OBSTACLES)
def test_a_mail_that_may_have_arrived_ends_in_doubt_whatever_forbids_another(reason: str, policy: str, world: World) -> None:
    add_type(world, ambiguous_policy=policy)
    lost_email(world)
    before = world.attempts()
    OBSTACLES[reason](world)

    go_on(world)

    route, (letter,) = world.route(), world.dead_letters()
    assert (route["status"], route["reason"], route["may_have_arrived"]) == ("dead_letter", "ambiguous", True)
    assert (len(world.email.accepted), world.count("outbox")) == (1, 0)
    assert world.attempts() == before, "the attempt's own words and time stay"
    assert before[0]["error_message"] == "ReadTimeoutError: no answer"
    if policy == "retry" or reason != "frequency_cap: 0 a day":  # a held one comes to no cap
        assert letter["failure_message"].endswith(f"not sent again: {reason}")
    assert "may be a second copy" in letter["recovery_hint"]


@pytest.mark.parametrize("reason", ["expired", "suppressed: complaint", "preference: email off"])
def test_so_does_one_that_was_sent_again_and_surely_not_taken(reason: str, world: World) -> None:
    """The second try failed for sure, so nothing is open; the first is in doubt all the same."""
    lost_email(world)
    world.email.answers.append(DOWN)
    world.pass_time(AFTER)
    world.dispatch()
    assert [one["outcome"] for one in world.attempts()] == ["unknown", "transient"]
    OBSTACLES[reason](world)

    go_on(world)

    route = world.route()
    assert (route["status"], route["reason"], route["may_have_arrived"]) == ("dead_letter", "ambiguous", True)
    assert [one["outcome"] for one in world.attempts()] == ["unknown", "transient"]


def test_a_cancel_of_such_a_one_is_too_late_and_nothing_more_is_sent(world: World) -> None:
    lost_email(world)
    world.email.answers.append(DOWN)
    world.pass_time(AFTER)
    world.dispatch()

    cancelled(world)
    go_on(world)

    assert (world.route()["status"], world.route()["reason"], world.email.calls) == ("dead_letter", "ambiguous", 2)


@pytest.mark.parametrize(("second", "reason"), [(REFUSED, "permanent"), (DOWN, "exhausted")])
def test_a_second_try_that_is_the_last_one_keeps_the_doubt_about_the_first(second: Failure, reason: str, world: World) -> None:
    lost_email(world, retry={"max_attempts": 2})
    world.email.answers.append(second)

    go_on(world)

    route, (letter,) = world.route(), world.dead_letters()
    assert (route["reason"], route["may_have_arrived"], route["duplicate_suspected"]) == (reason, True, True)
    assert letter["failure_message"].endswith("an earlier attempt may have arrived")
    assert world.attempts()[1]["error_message"] == f"{second.code}: {second.message}"


def test_poison_in_doubt_keeps_the_doubt(world: World) -> None:
    lost_email(world)
    before = world.attempts()
    world.admin.execute("UPDATE outbox SET claim_count = %s", [MAX_CLAIMS])

    go_on(world)

    route, (letter,) = world.route(), world.dead_letters()
    assert (route["reason"], route["may_have_arrived"], len(world.email.accepted)) == ("poison", True, 1)
    assert "may be a second copy" in letter["recovery_hint"]
    assert world.attempts() == before


def test_words_that_cannot_be_made_any_more_keep_the_doubt(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def unrenderable(*_: object) -> object:
        raise plain.Unrenderable("the template is gone")

    lost_email(world)
    monkeypatch.setattr(render, "of_delivery", unrenderable)

    go_on(world)

    assert (world.route()["reason"], world.route()["may_have_arrived"]) == ("unrenderable", True)
    assert [(one["outcome"], one["error_message"]) for one in world.attempts()] == [("unknown", "ReadTimeoutError: no answer")]


def test_an_attempt_that_nobody_came_back_to_in_time_is_closed_with_words_of_its_own(world: World) -> None:
    """Its worker died, and so long nobody came that the window was over at the first look."""
    world.add_user()
    world.accept(retry={"max_attempts": 1})

    def die(message: Message) -> Outcome:
        raise WorkerDied

    world.email.answers.append(die)
    with pytest.raises(WorkerDied):
        world.dispatch(world.connect(), concurrency=1)
    world.pass_time(LEASE + AFTER)

    world.dispatch()

    (attempt,) = world.attempts()
    assert (world.route()["reason"], world.route()["may_have_arrived"]) == ("ambiguous", True)
    assert (attempt["outcome"], attempt["error_classification"], attempt["error_message"]) == ("unknown", "ambiguous", CUT_OFF)


def test_an_attempt_that_is_given_up_for_another_has_words_too(world: World) -> None:
    world.add_user()
    world.accept()

    def die(message: Message) -> Outcome:
        raise WorkerDied

    world.email.answers.append(die)
    with pytest.raises(WorkerDied):
        world.dispatch(world.connect(), concurrency=1)
    world.pass_time(LEASE + AFTER)

    world.dispatch()

    assert [(one["outcome"], one["error_message"]) for one in world.attempts()] == [("unknown", CUT_OFF), ("accepted", "")]


def test_a_worker_that_dies_with_the_second_copy_leaves_the_doubt_and_there_is_no_third(world: World) -> None:
    """The doubt is on record before the second copy is sent: whoever comes next must know that there may be two already."""
    lost_email(world)
    world.pass_time(AFTER)

    def accept_and_die(message: Message) -> Outcome:
        world.email.accepted.append(message)
        raise WorkerDied

    world.email.answers.append(accept_and_die)
    with pytest.raises(WorkerDied):
        world.dispatch(world.connect(), concurrency=1)
    assert world.route()["duplicate_suspected"]
    world.pass_time(LEASE)

    go_on(world)

    assert (world.route()["status"], world.route()["reason"]) == ("dead_letter", "ambiguous")
    assert len(world.email.accepted) == 2


def test_what_may_have_arrived_counts_against_the_cap_of_the_day(world: World) -> None:
    lost_email(world)
    expired(world)
    go_on(world)
    assert world.route()["may_have_arrived"]

    assert world.count("notification_email_log") == 1


def test_what_was_surely_not_sent_does_not(world: World) -> None:
    world.add_user()
    world.accept()
    world.email.answers.append(REFUSED)
    world.dispatch()

    assert (world.route()["may_have_arrived"], world.count("notification_email_log")) == (False, 0)


def test_an_end_in_doubt_and_a_second_copy_are_counted(world: World) -> None:
    counted: list[tuple[str, int]] = []
    lost_email(world)
    world.accept(expires_at=(datetime.now(UTC) + timedelta(minutes=5)).isoformat())
    world.email.answers.append(accepted_and_lost(world))
    world.dispatch()
    world.pass_time(AFTER)

    dispatch(
        world.worker, world.due(), replace(world.worker_policy(), count=lambda name, value, **_: counted.append((name, value)))
    )

    assert {("DuplicatesSuspected", 1), ("EndedInDoubt", 1)} <= set(counted)
