"""POST /v1/notifications/{id}/cancel: after a 200, nothing more goes out."""

from datetime import UTC, datetime, timedelta

from tests.functions.doors import Api
from tests.functions.test_problems import assert_problem
from tests.world import World
from tocsin.audience import plan
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.foundation.ids import uuid7


def test_what_is_not_planned_yet_is_cancelled_and_never_goes_out(world: World, api: Api) -> None:
    world.add_user()
    asked = world.accept()

    answer = api.post(f"/v1/notifications/{asked.notification_id}/cancel")
    world.dispatch()

    assert (answer.status, answer.json["status"]) == (200, "cancelled")
    assert answer.json["notification_id"] == str(asked.notification_id)
    assert (world.route()["status"], world.email.calls) == ("cancelled", 0)


def test_what_is_scheduled_for_later_is_cancelled(world: World, api: Api) -> None:
    world.add_user()
    asked = world.accept(send_at=(datetime.now(UTC) + timedelta(hours=1)).isoformat())

    assert api.post(f"/v1/notifications/{asked.notification_id}/cancel").status == 200

    world.pass_time(timedelta(hours=2))
    world.dispatch()
    assert (world.route()["status"], world.email.calls) == ("cancelled", 0)


def test_what_waits_for_a_retry_is_cancelled_and_what_went_out_is_counted(world: World, api: Api) -> None:
    world.add_user()
    asked = world.accept(channels=["email", "in_app"])
    world.email.answers.append(Failure(FailureClass.TRANSIENT, "x", ""))
    world.dispatch()

    answer = api.post(f"/v1/notifications/{asked.notification_id}/cancel")

    assert (answer.status, answer.json["stopped"], answer.json["too_late"]) == (200, 1, 1)
    assert world.count("outbox") == 0


def test_a_cancel_said_twice_is_answered_twice(world: World, api: Api) -> None:
    world.add_user()
    asked = world.accept()
    path = f"/v1/notifications/{asked.notification_id}/cancel"
    api.post(path)
    world.dispatch()

    assert api.post(path).status == 200


def test_what_has_all_gone_out_is_409(world: World, api: Api) -> None:
    world.add_user()
    asked = world.accept()
    world.dispatch()

    answer = api.post(f"/v1/notifications/{asked.notification_id}/cancel")

    assert_problem(answer, 409, "too-late")
    assert world.route()["status"] == "published"


def test_what_does_not_exist_is_404(world: World, api: Api) -> None:
    for unknown in (str(uuid7()), "nonsense", str(uuid7()).replace("-", "")):
        assert_problem(api.post(f"/v1/notifications/{unknown}/cancel"), 404, "not-found")


def test_a_cancel_between_two_pages_of_everyone_stops_the_rest_and_says_so(world: World, api: Api, monkeypatch: object) -> None:
    for n in range(4):
        world.add_user(f"user-{n}")
    monkeypatch.setattr(plan, "PAGE_SIZE", 2)  # type: ignore[attr-defined]
    asked = world.accept(audience={"kind": "tenant"})
    world.dispatch()  # the first page went out; the second is waiting

    answer = api.post(f"/v1/notifications/{asked.notification_id}/cancel")
    for _ in range(3):
        world.dispatch()

    assert sorted(route["status"] for route in world.routes()) == ["cancelled", "cancelled", "published", "published"]
    assert answer.status == 200
