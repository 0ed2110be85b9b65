"""The gate at delivery time, and work that takes its workers down."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tests.cancelling import cancel
from tests.world import LEASE, TENANT, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.outbox.dispatch import dispatch

TRANSIENT = Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "")


def _crash_a_worker(world: World) -> None:
    """As a worker leaves things that was killed right after its claim; its lease has lapsed since."""
    world.admin.execute(
        "UPDATE outbox SET claim_count = claim_count + 1, lease_token = gen_random_uuid(), leased_until = tocsin_now() + %s",
        [LEASE],
    )
    world.pass_time(LEASE + timedelta(seconds=1))


def test_a_delivery_cancelled_while_it_waited_for_a_retry_is_not_sent(world: World) -> None:
    world.add_user()
    asked = world.accept()
    world.email.answers.append(TRANSIENT)
    world.dispatch()

    cancelled = cancel(world.app, TENANT, asked.notification_id)
    world.pass_time(timedelta(minutes=1))
    world.dispatch()

    assert cancelled is not None
    assert (cancelled.stopped, cancelled.too_late) == (1, 0)
    assert (world.route()["status"], world.route()["reason"], world.email.calls) == ("cancelled", "cancelled", 1)
    assert world.count("outbox") == 0


def test_a_cancel_that_finds_the_work_already_claimed_still_stops_it(world: World) -> None:
    world.add_user()
    asked = world.accept()
    world.email.answers.append(TRANSIENT)
    world.dispatch()
    world.pass_time(timedelta(minutes=1))
    world.admin.execute("UPDATE records SET cancelled_at = tocsin_now()")

    world.dispatch()

    assert world.route()["status"] == "cancelled"
    assert (world.email.calls, world.count("outbox")) == (1, 0)
    assert asked.notification_id == world.route()["notification_id"]


def test_a_delivery_that_expired_while_it_waited_is_skipped(world: World) -> None:
    world.add_user()
    world.accept(expires_at=(datetime.now(UTC) + timedelta(seconds=30)).isoformat())
    world.email.answers.append(TRANSIENT)
    world.dispatch()
    world.pass_time(timedelta(minutes=1))

    world.dispatch()

    assert (world.route()["status"], world.route()["reason"], world.email.calls) == ("skipped", "expired", 1)


def test_a_delivery_that_took_three_workers_down_is_buried_and_its_neighbour_goes_out(world: World) -> None:
    world.add_user()
    for _ in range(2):
        world.accept()
    world.email.answers.extend([TRANSIENT, TRANSIENT])
    world.dispatch()
    poison, healthy = world.due()
    world.pass_time(timedelta(minutes=1))
    world.admin.execute("UPDATE outbox SET claim_count = 3 WHERE id = %s", [poison])

    dispatch(world.worker, [poison, healthy], world.worker_policy())

    assert sorted(route["status"] for route in world.routes()) == ["dead_letter", "published"]
    (letter,) = world.dead_letters()
    assert (letter["outbox_id"], letter["failure_classification"]) == (poison, "poison")
    assert letter["recovery_hint"]


def test_a_delivery_that_took_two_workers_down_is_tried_once_more(world: World) -> None:
    world.add_user()
    world.accept()
    world.email.answers.append(TRANSIENT)
    world.dispatch()
    world.pass_time(timedelta(minutes=1))
    _crash_a_worker(world)
    _crash_a_worker(world)

    world.dispatch()

    assert world.route()["status"] == "published"


def test_a_recorded_outcome_clears_the_suspicion(world: World) -> None:
    world.add_user()
    world.accept()
    world.email.answers.extend([TRANSIENT, TRANSIENT])
    world.dispatch()
    world.pass_time(timedelta(minutes=1))
    _crash_a_worker(world)

    world.dispatch()

    assert world.one("SELECT claim_count FROM outbox") == 0


def test_suspects_are_claimed_one_at_a_time_so_that_a_crash_takes_nobody_along(world: World) -> None:
    world.add_user()
    for _ in range(3):
        world.accept()
    world.email.answers.extend([TRANSIENT] * 3)
    world.dispatch()
    world.pass_time(timedelta(minutes=1))
    _crash_a_worker(world)
    leased_at_once: list[int] = []

    def look(message: object) -> None:
        leased_at_once.append(world.one("SELECT count(*) FROM outbox WHERE leased_until > tocsin_now()"))

    world.email.answers.extend([look, look, look])  # type: ignore[list-item]
    world.dispatch()

    assert leased_at_once == [1, 1, 1]
    assert {route["status"] for route in world.routes()} == {"published"}


def test_a_plan_that_took_three_workers_down_is_buried_and_its_neighbour_is_planned(world: World) -> None:
    world.add_user()
    poison, healthy = world.accept(), world.accept()
    world.admin.execute("UPDATE outbox SET claim_count = 3 WHERE id = %s", [poison.notification_id])

    world.dispatch()

    (letter,) = world.dead_letters()
    assert (letter["notification_id"], letter["source_kind"], letter["route_id"]) == (poison.notification_id, "plan", None)
    assert letter["failure_classification"] == "poison"
    assert world.route()["notification_id"] == healthy.notification_id
    assert world.count("outbox") == 0


def test_an_invocation_without_time_left_hands_its_work_back(world: World) -> None:
    world.add_user()
    asked = world.accept()
    assert world.work_queue is not None
    world.work_queue.clear()

    claimed = dispatch(
        world.worker, [asked.notification_id], replace(world.worker_policy(), remaining=lambda: timedelta(seconds=10))
    )

    assert (claimed, world.email.calls) == (0, 0)
    assert [nudge.ids for nudge in world.nudges()] == [[asked.notification_id]]


def test_a_lease_about_to_end_sends_nothing_and_costs_nothing(world: World) -> None:
    world.add_user()
    asked = world.accept()

    dispatch(world.worker, [asked.notification_id], replace(world.worker_policy(), lease=timedelta(seconds=12)))

    assert (world.email.calls, world.route()["status"], world.route()["attempt_count"]) == (0, "pending", 0)
    assert world.route()["deferred_reason"] == "time_running_out"
