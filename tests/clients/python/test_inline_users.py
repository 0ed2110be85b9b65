"""Users that a send brings along, warnings, and what an event says of its routing, at the doors themselves."""

from typing import Any

import pytest

from tests.cli.stack import Doors
from tests.clients.python.wire import Asker
from tests.world import World
from tocsin_client import Address, Conflict, Forbidden, InvalidRequest, User

SEND: dict[str, Any] = {"type": "order.shipped", "title": "Shipped", "channels": ["email"]}


def test_a_send_brings_its_user_along(world: World, tocsin: Asker) -> None:
    sent = tocsin("send", **SEND, to=User("zoe", email="zoe@example.com", attributes={"plan": "pro"}))
    world.dispatch()
    world.dispatch()

    assert tocsin("explain", sent.notification_id).routes[0].why == "published: accepted by ses"
    assert (tocsin("users.get", "zoe").email, tocsin("users.get", "zoe").attributes) == ("zoe@example.com", {"plan": "pro"})


def test_a_user_clears_nothing_and_none_in_a_dict_does(world: World, tocsin: Asker) -> None:
    tocsin("users.put", "zoe", email="zoe@example.com", phone="+14155550100", locale="de")

    tocsin("send", **SEND, to=User("zoe", email="new@example.com"))
    kept = tocsin("users.get", "zoe")
    tocsin("send", **SEND, to=["zoe", {"id": "zoe2", "email": "zoe2@example.com"}])
    tocsin("send", **SEND, to={"id": "zoe", "phone": None})

    assert (kept.email, kept.phone, kept.locale) == ("new@example.com", "+14155550100", "de")
    assert (tocsin("users.get", "zoe").phone, tocsin("users.get", "zoe2").email) == (None, "zoe2@example.com")


def test_to_bring_users_along_is_to_manage_them(world: World, tocsin: Asker) -> None:
    tocsin.options["key"] = world.add_key("send")

    with pytest.raises(Forbidden, match="manage"):
        tocsin("send", **SEND, to=User("zoe", email="zoe@example.com"))


def test_an_email_of_somebody_else_is_a_conflict(world: World, tocsin: Asker) -> None:
    world.add_user("alice", email="same@example.com")

    with pytest.raises(Conflict) as raised:
        tocsin("send", **SEND, to=User("zoe", email="same@example.com"))
    (result,) = tocsin("send_batch", [SEND | {"to": User("zoe", email="same@example.com")}])

    assert raised.value.kind == result.problem.kind == "already-taken"


def test_who_cannot_be_reached_is_told_at_once(world: World, tocsin: Asker) -> None:
    world.add_user("alice")

    receipt = tocsin("send", **SEND | {"channels": ["email", "sms"]}, to="alice")
    (result,) = tocsin("send_batch", [SEND | {"channels": ["sms"], "to": "alice"}])

    (warning,) = receipt.warnings
    assert warning.pointer == "/audience/user_ids/0"
    assert "sms cannot reach them" in warning.message
    assert result.warnings == (warning,)
    assert tocsin("send", **SEND, to="alice").warnings == ()
    with pytest.raises(InvalidRequest):
        tocsin("send", **SEND | {"channels": ["sms"]}, to=Address(email="a@example.com"))


def test_an_event_says_whether_anything_routes_it(world: World, tocsin: Asker) -> None:
    lost = tocsin("event", type="comment.created", source="/shop")
    tocsin("request", "PUT", "/v1/event-routing/comment.*", json={"rules": {"mention": ["in_app"]}})

    assert (lost.routed, tocsin("event", type="comment.created", source="/shop").routed) == (False, True)


def test_the_kind_is_a_word_of_the_page_of_errors(world: World, tocsin: Asker, doors: Doors) -> None:
    answers = []
    kept = tocsin.handler
    tocsin.handler = lambda request: answers.append(kept(request)) or answers[-1]

    with pytest.raises(InvalidRequest) as raised:
        tocsin("send", **SEND, to="nobody")

    assert (answers[0].json()["type"], raised.value.kind) == ("/errors#unknown-users", "unknown-users")
