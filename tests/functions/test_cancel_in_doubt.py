"""What a cancel was answered and what became of the route agree, also where the provider's answer was lost."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.functions.doors import Api
from tests.integration.test_doubt_ends import DOWN, LOST, go_on, lost_email
from tests.world import World
from tocsin.channels import Message
from tocsin.outcomes import Accepted, Outcome


def test_after_409_a_route_that_surely_was_not_taken_is_cancelled_without_another_try(world: World, api: Api) -> None:
    world.add_user()
    asked = world.accept()
    said = []

    def cancel_meanwhile(message: Message) -> Outcome:
        said.append(api.post(f"/v1/notifications/{asked.notification_id}/cancel").status)
        return DOWN

    world.email.answers.append(cancel_meanwhile)
    world.dispatch(concurrency=1)
    go_on(world)

    assert (said, world.route()["status"], world.email.calls) == ([409], "cancelled", 1)
    assert not world.route()["may_have_arrived"]


@pytest.mark.parametrize("answer", [LOST, Accepted("m-1")], ids=["lost", "accepted"])
def test_after_409_a_route_that_may_have_been_taken_is_never_called_cancelled(answer: Outcome, world: World, api: Api) -> None:
    world.add_user()
    asked = world.accept()
    path = f"/v1/notifications/{asked.notification_id}"

    def cancel_meanwhile(message: Message) -> Outcome:
        assert api.post(f"{path}/cancel").status == 409
        return answer

    world.email.answers.append(cancel_meanwhile)
    world.dispatch(concurrency=1)
    go_on(world)

    assert api.post(f"{path}/cancel").status == 409
    shown = api.get(path).json["routes"][0]
    assert shown["status"] == ("dead_letter" if answer is LOST else "published")
    assert shown["may_have_arrived"] is (answer is LOST)
    assert world.email.calls == 1


def test_the_timeline_tells_what_is_in_doubt_and_why_it_was_not_sent_again(world: World, api: Api) -> None:
    lost_email(world, expires_at=(datetime.now(UTC) + timedelta(minutes=5)).isoformat())
    go_on(world)

    timeline = api.get(f"/v1/notifications/{world.one('SELECT notification_id FROM records')}").json["timeline"]

    assert [(entry["what"], entry["reason"]) for entry in timeline[-2:]] == [
        ("attempt_unknown", "attempt 1 by ses: ReadTimeoutError: no answer"),
        (
            "dead_letter",
            "ambiguous: the provider's answer was lost and no evidence of delivery came; not sent again: expired",
        ),
    ]
