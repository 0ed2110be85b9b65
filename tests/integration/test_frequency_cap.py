"""A cap is so many a day where the recipient is: reserved before the send, counted once, and given back if nothing came of it."""

from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest

from tests.cancelling import cancel
from tests.crash.desk import Crew
from tests.crash.staging import plan_only
from tests.recipients import end, prefer, route_of, send, set_clock
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.channels.outcomes import Accepted, Failure, FailureClass
from tocsin.outbox.dispatch import dispatch

NOON = "2026-11-15T12:00:00+00:00"
TRANSIENT = Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "")
PERMANENT = Failure(FailureClass.PERMANENT, "MessageRejected", "no")
AMBIGUOUS = Failure(FailureClass.AMBIGUOUS, "ReadTimeout", "")
SENT = ("published", "")


def capped(cap: int) -> tuple[str, str]:
    return "skipped", f"frequency_cap: {cap} a day"


def test_of_five_in_a_day_the_first_three_are_sent_and_the_others_say_why_not(world: World) -> None:
    set_clock(world, NOON)
    prefer(world, world.add_user(), frequency_cap=3)

    ends = [end(send(world)) for _ in range(5)]

    assert ends == [SENT] * 3 + [capped(3)] * 2
    assert (world.email.calls, world.count("attempts"), world.count("outbox"), world.count("dead_letters")) == (3, 3, 0, 0)


def test_it_is_the_same_when_they_all_come_at_once(world: World) -> None:
    set_clock(world, NOON)
    prefer(world, world.add_user(), frequency_cap=3)
    asked = [world.asked() for _ in range(5)]
    world.try_accept(*asked)

    world.dispatch()

    assert sorted(end(route) for route in world.routes()) == sorted([SENT] * 3 + [capped(3)] * 2)
    assert world.email.calls == 3


@pytest.mark.parametrize(
    ("zone", "evening", "night", "is_another_day"),
    [
        ("UTC", "2026-11-15T23:50:00+00:00", "2026-11-16T00:10:00+00:00", True),
        ("Asia/Tokyo", "2026-11-15T14:50:00+00:00", "2026-11-15T15:10:00+00:00", True),
        ("Asia/Tokyo", "2026-11-15T23:50:00+00:00", "2026-11-16T00:10:00+00:00", False),
        ("America/New_York", "2026-11-16T04:50:00+00:00", "2026-11-16T05:10:00+00:00", True),
        # a day of 25 hours is one day
        ("America/New_York", "2026-11-01T04:10:00+00:00", "2026-11-02T04:50:00+00:00", False),
        ("America/New_York", "2026-11-01T04:10:00+00:00", "2026-11-02T05:10:00+00:00", True),
        # midnight is left out: the last hour of the evening counts too
        ("Africa/Cairo", "2026-04-23T21:20:00+00:00", "2026-04-23T21:40:00+00:00", False),
        ("Africa/Cairo", "2026-04-23T12:00:00+00:00", "2026-04-24T12:00:00+00:00", True),
    ],
)
def test_a_day_ends_at_midnight_there(zone: str, evening: str, night: str, is_another_day: bool, world: World) -> None:
    set_clock(world, evening)
    prefer(world, world.add_user(), frequency_cap=1, timezone=zone)

    ends = [end(send(world)), end(send(world))]
    set_clock(world, night)
    ends.append(end(send(world)))

    assert ends == [SENT, capped(1), SENT if is_another_day else capped(1)]


@pytest.mark.parametrize(("capped_type", "is_another_day"), [("alarm", True), ("other", False)])
def test_the_day_is_that_of_the_rule_whose_cap_it_is(capped_type: str, is_another_day: bool, world: World) -> None:
    """Midnight in Tokyo, by the rule of a type; in UTC, by the channel's, it is still the same afternoon."""
    set_clock(world, "2026-11-15T14:50:00+00:00")
    alice = world.add_user()
    prefer(world, alice, frequency_cap=1)
    prefer(world, alice, of_type="alarm", frequency_cap=1, timezone="Asia/Tokyo")
    prefer(world, alice, of_type="other", timezone="Asia/Tokyo")

    ends = [end(send(world, type=capped_type))]
    set_clock(world, "2026-11-15T15:10:00+00:00")
    ends.append(end(send(world, type=capped_type)))

    assert ends == [SENT, SENT if is_another_day else capped(1)]


def test_a_cap_of_none_a_day_lets_nothing_through(world: World) -> None:
    prefer(world, world.add_user(), frequency_cap=0)

    assert (end(send(world)), world.email.calls) == (capped(0), 0)


def test_a_channels_cap_counts_all_its_types_and_emails_of_before_the_cap_was_made(world: World) -> None:
    set_clock(world, NOON)
    alice = world.add_user()
    ends = [end(send(world, type="a"))]

    prefer(world, alice, frequency_cap=2)
    ends += [end(send(world, type="b")), end(send(world, type="c"))]

    assert ends == [SENT, SENT, capped(2)]


def test_a_types_cap_counts_its_own_type_and_comes_before_the_channels(world: World) -> None:
    set_clock(world, NOON)
    alice = world.add_user()
    prefer(world, alice, frequency_cap=2)
    prefer(world, alice, of_type="alarm", frequency_cap=3)

    ends = [end(send(world, type=kind)) for kind in ("alarm", "other", "other", "alarm", "alarm", "alarm")]

    assert ends == [SENT, SENT, capped(2), SENT, SENT, capped(3)]


def test_a_types_rule_without_a_cap_leaves_the_channels_in_force(world: World) -> None:
    set_clock(world, NOON)
    alice = world.add_user()
    prefer(world, alice, frequency_cap=1)
    prefer(world, alice, of_type="alarm", timezone="Asia/Tokyo")

    assert [end(send(world, type=kind)) for kind in ("other", "alarm")] == [SENT, capped(1)]


@pytest.mark.parametrize("channel", ["sms", "push"])
def test_sms_and_push_have_caps_of_their_own(channel: str, world: World) -> None:
    set_clock(world, NOON)
    alice = world.add_user(phone="+14155550100")
    world.add_device(alice)
    prefer(world, alice, channel, frequency_cap=1)
    send(world)

    ends = [end(send(world, channels=[channel])) for _ in range(2)]

    assert ends == [SENT, capped(1)]
    others = [one for one in ("email", "sms", "push") if one != channel]
    assert [end(send(world, channels=[other])) for other in others * 2] == [SENT] * 4


def test_a_cap_is_of_one_person_in_one_tenant_and_of_no_bare_address(world: World) -> None:
    set_clock(world, NOON)
    world.add_tenant()
    prefer(world, world.add_user(), frequency_cap=1)
    prefer(world, world.add_user("bob"), frequency_cap=1)
    world.add_user(tenant=OTHER_TENANT)
    to_bob: dict[str, Any] = {"audience": {"kind": "users", "user_ids": ["bob"]}}
    to_address: dict[str, Any] = {"audience": {"kind": "address", "email": "alice@example.com"}}

    intents: list[dict[str, Any]] = [{}, to_bob, to_address, to_address, {"tenant": OTHER_TENANT}, {"tenant": OTHER_TENANT}]
    ends = [end(send(world, **intent)) for intent in intents]

    assert ends == [SENT] * 6
    assert [end(send(world)), end(send(world, **to_bob))] == [capped(1)] * 2


def test_the_sandbox_neither_counts_nor_is_counted(world: World) -> None:
    set_clock(world, NOON)
    alice = world.add_user()
    prefer(world, alice, frequency_cap=1)

    ends = [end(send(world, mode=mode)) for mode in ("test", "test", "live", "test", "live")]

    assert ends == [SENT, SENT, SENT, SENT, capped(1)]
    assert (world.email.calls, world.count("notification_email_log")) == (1, 1)


@pytest.mark.parametrize("channel", ["email", "sms", "push"])
def test_eight_workers_with_forty_messages_send_exactly_three(channel: str, world: World) -> None:
    set_clock(world, NOON)
    alice = world.add_user(phone="+14155550100")
    world.add_device(alice)
    prefer(world, alice, channel, frequency_cap=3)
    world.try_accept(*[world.asked(channels=[channel]) for _ in range(40)])
    plan_only(world)
    ids, crew, start = world.due(), Crew(), Barrier(8)

    def work(n: int) -> None:
        conn = world.connect()
        start.wait(30)
        dispatch(conn, ids[n * 5 :] + ids[: n * 5], world.worker_policy(batch_size=3))

    for n in range(8):
        crew.start(lambda n=n: work(n))  # type: ignore[misc]
    crew.join()
    world.dispatch()

    assert sorted(end(route) for route in world.routes()) == sorted([SENT] * 3 + [capped(3)] * 37)
    assert {"email": world.email, "sms": world.sms, "push": world.push}[channel].calls == 3
    assert world.count("outbox") == 0


def test_a_place_is_taken_before_the_message_is_sent(world: World) -> None:
    """Whoever comes while the provider still thinks sees that the place is taken."""
    set_clock(world, NOON)
    prefer(world, world.add_user(), frequency_cap=1)
    rival = world.connect()
    ends: list[tuple[str, str]] = []

    def come_meanwhile(message: object) -> Accepted:
        asked = world.accept()
        dispatch(rival, [asked.notification_id], world.worker_policy())
        ends.append(end(route_of(world, asked.notification_id)))
        return Accepted("m")

    world.email.answers.append(come_meanwhile)
    first = send(world)

    assert (end(first), ends) == (SENT, [capped(1)])


def test_what_failed_for_good_gives_its_place_back(world: World) -> None:
    set_clock(world, NOON)
    prefer(world, world.add_user(), frequency_cap=1)
    world.email.answers.append(PERMANENT)

    ends = [end(send(world)) for _ in range(3)]

    assert ends == [("dead_letter", "permanent"), SENT, capped(1)]


def test_what_used_up_its_tries_gives_its_place_back(world: World) -> None:
    set_clock(world, NOON)
    prefer(world, world.add_user(), frequency_cap=1)
    world.email.answers.append(TRANSIENT)

    ends = [end(send(world, retry={"max_attempts": 1})), end(send(world))]

    assert ends == [("dead_letter", "exhausted"), SENT]


def test_what_expired_before_its_retry_gives_its_place_back(world: World) -> None:
    set_clock(world, NOON)
    prefer(world, world.add_user(), frequency_cap=1)
    world.email.answers.append(TRANSIENT)
    failed = send(world, expires_at="2026-11-15T12:05:00Z")
    world.pass_time(timedelta(minutes=6))
    world.dispatch()

    assert end(route_of(world, failed["notification_id"])) == ("skipped", "expired")
    assert end(send(world)) == SENT


def test_what_was_cancelled_before_its_retry_gives_its_place_back(world: World) -> None:
    set_clock(world, NOON)
    prefer(world, world.add_user(), frequency_cap=1)
    world.email.answers.append(TRANSIENT)
    failed = send(world)

    cancelled = cancel(world.app, TENANT, failed["notification_id"])

    assert cancelled is not None
    assert cancelled.stopped == 1
    assert end(send(world)) == SENT


def test_a_retry_uses_the_place_it_has_and_nobody_takes_it_meanwhile(world: World) -> None:
    set_clock(world, NOON)
    prefer(world, world.add_user(), frequency_cap=1)
    world.email.answers.append(TRANSIENT)

    failed = send(world)
    other = send(world)
    world.pass_time(timedelta(minutes=1))
    world.dispatch()

    assert (end(failed), end(other)) == (("failed", "retry"), capped(1))
    assert end(route_of(world, failed["notification_id"])) == SENT
    assert world.count("notification_email_log") == 1


def test_a_message_whose_answer_was_lost_keeps_its_place(world: World) -> None:
    set_clock(world, NOON)
    prefer(world, world.add_user(), frequency_cap=1)
    world.email.answers.append(AMBIGUOUS)

    lost = send(world)

    assert end(lost) == ("failed", "awaiting_evidence")
    assert end(send(world)) == capped(1)


def test_a_retry_after_midnight_is_a_message_of_the_new_day(world: World) -> None:
    set_clock(world, "2026-11-15T23:58:00+00:00")
    prefer(world, world.add_user(), frequency_cap=1)
    world.email.answers.append(TRANSIENT)
    late = send(world, retry={"base_ms": 600_000})
    set_clock(world, "2026-11-16T00:01:00+00:00")
    assert end(send(world)) == SENT

    set_clock(world, "2026-11-16T00:15:00+00:00")
    world.dispatch()

    assert end(route_of(world, late["notification_id"])) == capped(1)
    assert len(world.email.accepted) == 1


def test_what_cannot_be_rendered_takes_no_place(world: World) -> None:
    set_clock(world, NOON)
    prefer(world, world.add_user(), frequency_cap=1)

    ends = [end(send(world, payload={"title": "Long", "message": "x" * 20_001})), end(send(world))]

    assert ends == [("dead_letter", "unrenderable"), SENT]
