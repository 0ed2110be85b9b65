"""Whom a channel cannot reach is said when the intent is accepted: at once refused for an address, a warning for a user."""

from typing import Any

import pytest

from tests.content import add_template
from tests.functions.doors import Api, intent
from tests.functions.test_problems import assert_problem
from tests.world import World

EVERYWHERE = ["email", "sms", "push", "in_app"]


def _warned(answer: Any) -> list[tuple[str, str]]:
    return [(one["pointer"], one["message"]) for one in answer.json.get("warnings", [])]


def test_a_user_without_an_address_is_accepted_with_a_warning(world: World, api: Api) -> None:
    world.add_user(email=None)
    to_alice = intent(channels=EVERYWHERE, audience={"kind": "users", "user_ids": ["alice", "alice"]})

    answer = api.send(to_alice, idempotency_key="k-1")
    again = api.send(to_alice, idempotency_key="k-1")

    assert answer.status == 202
    assert sorted(_warned(answer)) == [
        ("/audience/user_ids/0", "alice has no device: push cannot reach them"),
        ("/audience/user_ids/0", "alice has no email address: email cannot reach them"),
        ("/audience/user_ids/0", "alice has no phone number: sms cannot reach them"),
    ]
    assert again.json == answer.json


def test_who_can_be_reached_is_not_warned_of(world: World, api: Api) -> None:
    alice = world.add_user(phone="+14155550100")
    world.add_device(alice)

    assert "warnings" not in api.send(intent(channels=EVERYWHERE)).json


def test_a_device_that_is_switched_off_is_none(world: World, api: Api) -> None:
    world.add_device(world.add_user())
    world.admin.execute("UPDATE devices SET enabled = false")

    assert _warned(api.send(intent(channels=["push"]))) == [
        ("/audience/user_ids/0", "alice has no device: push cannot reach them")
    ]


def test_the_channels_of_the_type_are_warned_of_too(world: World, api: Api) -> None:
    world.add_user()
    api.put("/v1/notification-types/order.shipped", {"channels": ["sms"]})
    without = {name: part for name, part in intent().items() if name != "channels"}

    assert len(_warned(api.send(without))) == 1


def test_the_channels_of_the_template_are_warned_of_too(world: World, api: Api) -> None:
    world.add_user()
    add_template(world, name="shipped", channel="sms", body="It is on its way.")
    without = {name: part for name, part in intent(template="shipped").items() if name != "channels"}

    assert len(_warned(api.send(without))) == 1


def test_each_of_many_is_named_by_its_place_and_twenty_at_most(world: World, api: Api) -> None:
    names = [f"person-{n}" for n in range(25)]
    for name in names:
        world.add_user(name, email=None)

    warned = _warned(api.send(intent(audience={"kind": "users", "user_ids": names})))

    assert len(warned) == 20
    assert all(message.startswith(f"person-{pointer.rsplit('/')[-1]} ") for pointer, message in warned)


def test_a_batch_warns_by_item(world: World, api: Api) -> None:
    world.add_user(email=None)
    items = [intent(idempotency_key="k-1"), intent(idempotency_key="k-2", channels=["in_app"])]

    first, second = api.post("/v1/intents/batch", {"intents": items}).json["results"]

    assert [one["pointer"] for one in first["warnings"]] == ["/audience/user_ids/0"]
    assert "warnings" not in second


@pytest.mark.parametrize(
    ("address", "channels", "pointer", "needs"),
    [
        ({"email": "a@example.com"}, ["email", "sms"], "/channels/1", "cannot be sms: the audience has no `phone`"),
        ({"phone": "+14155550100"}, ["email"], "/channels/0", "cannot be email: the audience has no `email`"),
        ({"email": "a@example.com"}, ["in_app"], "/channels/0", "cannot be in_app: an address has no inbox"),
        ({"email": "a@example.com"}, ["push"], "/channels/0", "cannot be push: an address has no device"),
    ],
)
def test_an_address_that_cannot_have_the_channel_is_refused_at_once(
    world: World, api: Api, address: dict[str, str], channels: list[str], pointer: str, needs: str
) -> None:
    answer = api.send(intent(audience={"kind": "address"} | address, channels=channels))

    assert assert_problem(answer, 422, "invalid-request")["errors"] == [{"pointer": pointer, "message": needs}]
    assert world.count("records") == 0


def test_the_usual_channels_are_warned_of_too(world: World, api: Api) -> None:
    world.add_user(email=None)
    without = {name: part for name, part in intent().items() if name != "channels"}

    assert _warned(api.send(without)) == [("/audience/user_ids/0", "alice has no email address: email cannot reach them")]


def test_a_channel_that_only_the_type_asks_of_an_address_is_a_warning(world: World, api: Api) -> None:
    api.put("/v1/notification-types/order.shipped", {"channels": ["email", "sms"]})
    sent = intent(audience={"kind": "address", "email": "a@example.com"})
    del sent["channels"]

    assert _warned(api.send(sent)) == [("/audience", "the address has no phone number: sms cannot reach them")]
