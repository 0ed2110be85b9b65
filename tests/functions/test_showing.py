"""What a notification shows of its words and of what providers said later."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.content import add_template
from tests.functions.doors import Api, Context, handler_of, intent, sqs_event
from tests.world import World

pytestmark = pytest.mark.filterwarnings("ignore:No application metrics to publish")


def _ses(world: World, kind: str, at: str, **part: Any) -> dict[str, Any]:
    """SES's event about the only email, as the queue brings it."""
    (message,) = world.email.accepted
    return {
        "eventType": kind,
        "mail": {
            "messageId": "m-1",
            "timestamp": "2026-11-15T10:00:00Z",
            "tags": {name: [value] for name, value in message.tags.items()},
        },
        kind.lower(): {"timestamp": at} | part,
    }


def test_every_route_names_the_template_it_was_written_with_and_its_version(world: World, api: Api) -> None:
    world.add_user(phone="+14155550100")
    add_template(world)
    second = add_template(world)
    text = add_template(world, channel="sms")
    notification_id = api.send(intent(channels=["email", "sms", "in_app"], template="shipped")).json["notification_id"]
    world.dispatch()
    add_template(world)  # too late for these

    shown = api.get(f"/v1/notifications/{notification_id}").json

    assert shown["template"] == "shipped"
    assert {route["channel"]: route["template"] for route in shown["routes"]} == {
        "email": {"id": str(second.id), "name": "shipped", "version": 2},
        "sms": {"id": str(text.id), "name": "shipped", "version": 1},
        "in_app": None,
    }


def test_without_a_template_there_is_none_to_name(world: World, api: Api) -> None:
    world.add_user()
    notification_id = api.send().json["notification_id"]
    world.dispatch()

    (route,) = api.get(f"/v1/notifications/{notification_id}").json["routes"]

    assert route["template"] is None


def test_the_timeline_has_what_the_provider_told_later_by_the_providers_own_clock(
    world: World, api: Api, run_as: Callable[[str], None]
) -> None:
    world.add_user()
    notification_id = api.send().json["notification_id"]
    world.dispatch()
    bounce = _ses(world, "Bounce", "2999-01-02T10:00:00Z", bounceType="Permanent", bounceSubType="General")
    delivery = _ses(world, "Delivery", "2999-01-01T10:00:00Z")

    run_as("tocsin_worker")
    assert handler_of("feedback")(sqs_event(bounce, delivery, bounce), Context()) == {"batchItemFailures": []}

    run_as("tocsin_app")
    shown = api.get(f"/v1/notifications/{notification_id}").json
    (route,) = shown["routes"]
    told = [(one["what"], one["reason"], one["at"]) for one in shown["timeline"] if one["what"].startswith("provider_")]
    assert (route["status"], route["feedback"]) == ("published", "hard_bounced")
    assert told == [
        ("provider_delivery", "ses", "2999-01-01T10:00:00Z"),
        ("provider_bounce", "ses: Permanent General", "2999-01-02T10:00:00Z"),
    ]
    assert {one["route_id"] for one in shown["timeline"] if one["what"].startswith("provider_")} == {route["route_id"]}


@pytest.mark.parametrize(
    ("name", "feedback", "what"),
    [
        ("success", "delivered", "provider_delivery"),
        ("bounce", "hard_bounced", "provider_bounce"),
        ("complaint", "complained", "provider_complaint"),
    ],
)
def test_a_test_key_sees_every_ending_played_out(world: World, api: Api, name: str, feedback: str, what: str) -> None:
    api.key = world.add_key("send", "read", mode="test")
    audience = {"kind": "address", "email": f"{name}@sandbox.tocsin.example"}
    notification_id = api.send(intent(audience=audience)).json["notification_id"]
    world.dispatch()

    shown = api.get(f"/v1/notifications/{notification_id}").json

    (route,) = shown["routes"]
    assert (route["status"], route["provider"], route["feedback"]) == ("published", "sandbox", feedback)
    assert what in [one["what"] for one in shown["timeline"]]
    assert world.email.calls == 0


def test_another_tenants_events_are_in_no_timeline(world: World, api: Api, run_as: Callable[[str], None]) -> None:
    world.add_user()
    notification_id = api.send().json["notification_id"]
    world.dispatch()
    run_as("tocsin_worker")
    handler_of("feedback")(sqs_event(_ses(world, "Delivery", "2999-01-01T10:00:00Z")), Context())
    run_as("tocsin_app")

    theirs = Api(world.add_key("read", tenant=world.add_tenant()))

    assert theirs.get(f"/v1/notifications/{notification_id}").status == 404
