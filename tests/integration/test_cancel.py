"""Cancelling: whose routes are stopped, whose are too late, and what is left of the work."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from tests.cancelling import cancel
from tests.claiming import claim
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.channels.outcomes import Accepted, Failure, FailureClass
from tocsin.foundation.ids import uuid7
from tocsin.intake.cancel import Cancelled
from tocsin.store.flow.open import open_attempts
from tocsin.store.rows import Opening

TRANSIENT = Failure(FailureClass.TRANSIENT, "x", "")


def test_a_notification_nobody_knows_cannot_be_cancelled(world: World) -> None:
    assert cancel(world.app, TENANT, uuid7()) is None


def test_another_tenants_notification_cannot_be_cancelled(world: World) -> None:
    world.add_tenant()
    world.add_user()
    asked = world.accept()

    assert cancel(world.app, OTHER_TENANT, asked.notification_id) is None
    assert world.one("SELECT cancelled_at IS NULL FROM records")


def test_a_scheduled_notification_is_planned_as_cancelled_at_once(world: World) -> None:
    world.add_user()
    asked = world.accept(send_at=(datetime.now(UTC) + timedelta(days=30)).isoformat())

    cancel(world.app, TENANT, asked.notification_id)

    assert [nudge.ids for nudge in world.nudges()] == [[asked.notification_id]]
    world.dispatch()
    assert (world.route()["status"], world.count("outbox")) == ("cancelled", 0)


def test_routes_that_wait_are_stopped_and_routes_that_ended_are_too_late(world: World) -> None:
    world.add_user("alice", phone="+14155550100")
    world.email.answers.append(TRANSIENT)
    asked = world.accept(channels=["email", "sms", "in_app"])
    world.dispatch()

    assert cancel(world.app, TENANT, asked.notification_id) == Cancelled(stopped=1, too_late=2)
    assert {route["channel"]: route["status"] for route in world.routes()} == {
        "email": "cancelled",
        "sms": "published",
        "in_app": "published",
    }
    assert world.one("SELECT next_attempt_at IS NULL AND cancelled_at IS NOT NULL FROM routes WHERE channel = 'email'")


def test_a_second_cancel_finds_nothing_more_to_stop(world: World) -> None:
    world.add_user()
    world.email.answers.append(TRANSIENT)
    asked = world.accept()
    world.dispatch()
    cancel(world.app, TENANT, asked.notification_id)
    first = world.one("SELECT cancelled_at FROM records")

    assert cancel(world.app, TENANT, asked.notification_id) == Cancelled(stopped=0, too_late=0)
    assert world.one("SELECT cancelled_at FROM records") == first


def test_a_message_in_the_providers_hands_is_too_late(world: World) -> None:
    world.add_user()
    asked = world.accept()
    said: list[Cancelled | None] = []

    def cancel_meanwhile(message: object) -> Accepted:
        said.append(cancel(world.app, TENANT, asked.notification_id))
        return Accepted("m-1")

    world.email.answers.append(cancel_meanwhile)
    world.dispatch()

    assert said == [Cancelled(stopped=0, too_late=1)]
    assert world.route()["status"] == "published"


def test_a_cancel_while_a_worker_holds_the_claim_but_has_not_opened_stops_the_send(world: World) -> None:
    world.add_user()
    world.email.answers.append(TRANSIENT)
    asked = world.accept()
    world.dispatch()
    world.pass_time(timedelta(minutes=1))
    token = uuid4()
    (claimed,) = claim(world.worker, world.due(), token=token)

    assert cancel(world.app, TENANT, asked.notification_id) == Cancelled(stopped=1, too_late=0)
    opening = Opening(claimed.id, "ses", None)
    assert open_attempts(world.worker, [opening], lease_token=token).fetchall() == []
