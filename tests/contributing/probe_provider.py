"""What must be so once somebody has followed the chapter on providers; copied into their tree as a test."""

import json

import pytest

from tests.providers import add_provider, deliver_by, make_data_key, ways_of
from tests.unit.web_servers import answering, json_reply
from tests.world import World


def test_pigeon_is_asked_over_http_and_the_delivery_is_settled_as_published(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_data_key(monkeypatch)
    world.add_user(phone="+14155550100")
    add_provider(world, "pigeon", api_key="hush", config_json={"from": "Shop"})
    world.accept(channels=["sms"])

    with answering(json_reply(202, {"id": "p-1"})) as pigeon:
        deliver_by(world, ways_of(world, pigeon.url))

    ((_, path, body, headers),) = pigeon.asked
    (attempt,) = world.attempts()
    assert (path, headers["Authorization"]) == ("/letters", "Bearer hush")
    assert json.loads(body)["to"] == "+14155550100"
    assert (world.route()["status"], attempt["outcome"], attempt["provider_message_id"]) == ("published", "accepted", "p-1")
