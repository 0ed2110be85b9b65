"""Lanes: slowed and stopped as one, told once, and open again when a message went through."""

from datetime import UTC, datetime, timedelta

from tests.world import World
from tocsin.channels.outcomes import Failure, FailureClass

THROTTLED = Failure(FailureClass.THROTTLED, "TooManyRequestsException", "slow down")
QUOTA = Failure(FailureClass.THROTTLED, "LimitExceededException", "daily quota", pause=timedelta(minutes=10))
SUSPENDED = Failure(FailureClass.CONFIGURATION, "AccountSuspendedException", "the account is suspended")


def test_a_throttle_uses_no_attempt_slows_the_lane_and_raises_no_event(world: World) -> None:
    world.add_user()
    world.accept()
    world.email.answers.append(THROTTLED)
    world.dispatch()

    route, (attempt,), (lane,) = world.route(), world.attempts(), world.rows("SELECT * FROM lanes")
    assert (route["status"], route["attempt_count"]) == ("pending", 0)
    assert attempt["outcome"] == "throttled"
    assert (lane["lane"], lane["state"], lane["strikes"]) == ("ses:email", "slowed", 1)
    assert world.system_events() == []


def test_throttled_messages_all_go_out_later_with_one_attempt_each(world: World) -> None:
    world.add_user()
    for _ in range(6):
        world.accept()
    world.email.answers.extend([THROTTLED, THROTTLED])

    for _ in range(8):
        world.dispatch(concurrency=1)
        world.pass_time(timedelta(seconds=70))

    assert {(route["status"], route["attempt_count"]) for route in world.routes()} == {("published", 1)}
    assert world.count("lanes") == 0
    assert world.email.calls == 8


def test_a_lane_throttled_again_and_again_waits_longer_each_time(world: World) -> None:
    world.add_user()
    world.accept()
    waits = []
    for _ in range(9):
        world.email.answers.append(THROTTLED)
        world.dispatch()
        waits.append(world.one("SELECT extract(epoch FROM resume_at - updated_at)::integer FROM lanes"))
        world.pass_time(timedelta(seconds=70))

    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_a_closed_lane_defers_what_comes_next_without_an_attempt(world: World) -> None:
    world.add_user()
    world.accept()
    world.email.answers.append(SUSPENDED)
    world.dispatch()

    late = world.accept(channels=["email", "in_app"])
    world.dispatch()

    (route,) = world.rows("SELECT * FROM routes WHERE notification_id = %(id)s AND channel = 'email'", id=late.notification_id)
    assert (route["status"], route["attempt_count"], route["deferral_count"]) == ("pending", 0, 1)
    assert route["deferred_reason"] == "lane_stopped: AccountSuspendedException"
    assert 290 <= (route["next_attempt_at"] - route["updated_at"]).total_seconds() <= 335
    assert world.email.calls == 1


def test_a_suspended_account_stops_the_lane_after_the_first_and_is_told_once(world: World) -> None:
    world.add_user()
    for _ in range(10):
        world.accept()
    world.email.answers.extend([SUSPENDED] * 10)

    world.dispatch(concurrency=1)

    assert world.email.calls == 1
    assert {(route["status"], route["attempt_count"]) for route in world.routes()} == {("pending", 0)}
    assert sorted(attempt["outcome"] for attempt in world.attempts()) == ["configuration"] + ["not_sent"] * 9
    (event,) = world.system_events()
    assert (event["event_type"], event["severity"], event["subject"]) == ("lane_stopped", "critical", "ses:email")
    assert (event["tenant_id"], event["is_resolved"]) == (None, False)


def test_a_lane_that_stops_again_is_the_same_condition_and_recovery_resolves_it(world: World) -> None:
    world.add_user()
    world.accept()
    for _ in range(3):
        world.email.answers.append(SUSPENDED)
        world.dispatch()
        world.pass_time(timedelta(hours=2))

    assert [event["is_resolved"] for event in world.system_events()] == [False]

    world.dispatch()

    (event,) = world.system_events()
    assert (event["is_resolved"], event["resolved_at"] is not None) == (True, True)
    assert world.count("lanes") == 0
    assert (world.route()["status"], world.route()["attempt_count"]) == ("published", 1)


def test_a_new_stop_after_recovery_is_a_new_event(world: World) -> None:
    world.add_user()
    for answer in (SUSPENDED, None, SUSPENDED):
        world.accept()
        if answer:
            world.email.answers.append(answer)
        world.dispatch(concurrency=1)
        world.pass_time(timedelta(hours=2))

    assert [event["is_resolved"] for event in world.system_events()] == [True, False]


def test_the_daily_quota_pauses_the_lane_for_ten_minutes_and_is_told_once(world: World) -> None:
    world.add_user()
    world.accept()
    world.accept()
    world.email.answers.extend([QUOTA, QUOTA])

    world.dispatch(concurrency=1)

    (lane,), (event,) = world.rows("SELECT * FROM lanes"), world.system_events()
    assert (lane["state"], lane["resume_at"] - lane["updated_at"]) == ("stopped", timedelta(minutes=10))
    assert event["event_type"] == "quota_reached"
    assert world.email.calls == 1


def test_one_stopped_lane_leaves_the_others_open(world: World) -> None:
    world.add_user(phone="+14155550100")
    world.accept(channels=["email", "sms"])
    world.email.answers.append(SUSPENDED)

    world.dispatch()

    assert {route["channel"]: route["status"] for route in world.routes()} == {"email": "pending", "sms": "published"}


def test_a_message_that_expires_while_its_lane_is_stopped_is_skipped_in_time(world: World) -> None:
    world.add_user()
    world.accept(expires_at=(datetime.now(UTC) + timedelta(minutes=30)).isoformat())
    world.email.answers.append(SUSPENDED)
    world.dispatch()
    world.pass_time(timedelta(minutes=31))

    world.dispatch()

    assert (world.route()["status"], world.route()["reason"], world.email.calls) == ("skipped", "expired", 1)


def test_what_operators_of_every_tenant_may_read_names_no_recipient(world: World) -> None:
    world.add_user(email="alice@private.example")
    world.accept()
    world.email.answers.append(
        Failure(
            FailureClass.CONFIGURATION,
            "MessageRejected",
            "Email address is not verified. The following identities failed the check: alice@private.example",
        )
    )

    world.dispatch()

    (event,) = world.system_events()
    assert "alice@private.example" not in f"{event['description']} {event['details']}"
