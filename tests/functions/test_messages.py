"""GET /v1/notifications/{id}/routes/{route_id}/message: the words as they were sent, whatever has changed since."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.content import add_template, add_type
from tests.functions.doors import Api
from tests.world import OTHER_TENANT, World
from tocsin.channels.outcomes import Failure, FailureClass

PAYLOAD = {"title": "Shipped", "message": "It is on its way.", "url": "https://shop.example/17", "name": "Ann"}


def _path(world: World, channel: str = "email") -> str:
    (route,) = world.rows("SELECT notification_id, route_id FROM routes WHERE channel = %(channel)s", channel=channel)
    return f"/v1/notifications/{route['notification_id']}/routes/{route['route_id']}/message"


def _message(world: World, api: Api, channel: str = "email") -> dict[str, Any]:
    answer = api.get(_path(world, channel))
    assert answer.status == 200, answer.text
    shown: dict[str, Any] = answer.json
    return shown


def _why_not(world: World, api: Api, channel: str = "email") -> str:
    answer = api.get(_path(world, channel))
    assert (answer.status, answer.json["type"]) == (409, "/errors#not-renderable"), answer.text
    return str(answer.json["detail"])


def test_an_email_is_shown_word_for_word_as_it_was_sent(world: World, api: Api) -> None:
    world.add_user()
    template = add_template(world, name="shipped", subject="Hi {{ name }}", body="<p>{{ message }}</p>", text="{{ message }}!")
    world.accept(template="shipped", payload=PAYLOAD)
    world.dispatch()
    add_template(world, name="shipped", subject="Other", body="<p>Other</p>", text="Other")

    shown = _message(world, api)

    (sent,) = world.email.accepted
    assert (shown["subject"], shown["html"], shown["text"]) == (sent.content.title, sent.content.html, sent.content.text)
    assert (shown["subject"], shown["html"], shown["text"]) == ("Hi Ann", "<p>It is on its way.</p>", "It is on its way.!")
    assert shown["template"] == {"id": str(template.id), "name": "shipped", "version": 1, "locale": "default"}
    assert (shown["channel"], shown["recipient"], shown["headers"]) == ("email", "user:alice", {})
    assert shown["as_sent"] is True
    assert shown["sent_at"] == world.route()["published_at"].isoformat().replace("+00:00", "Z")
    assert shown["rendered_at"] >= shown["sent_at"]
    assert (
        shown["note"] == "Rendered again from template `shipped`, version 1, and the recorded payload: the words that were sent."
    )


def test_without_a_template_the_plain_part_has_its_link_as_the_mail_had(world: World, api: Api) -> None:
    world.add_user()
    world.accept(payload=PAYLOAD)
    world.dispatch()

    shown = _message(world, api)

    assert shown["subject"] == "Shipped"
    assert shown["text"] == "It is on its way.\n\nOpen shop.example:\nhttps://shop.example/17"
    assert 'href="https://shop.example/17"' in shown["html"]
    assert shown["note"].endswith("the words that were sent, in the brand as it is today.")
    assert (shown["template"], shown["as_sent"]) == (None, True)


def test_the_page_of_a_mail_is_in_the_tenants_brand_and_its_ways_out_have_no_tokens(world: World, api: Api) -> None:
    world.add_user()
    world.admin.execute("UPDATE users SET locale = 'de-AT'")
    add_type(world, "order.shipped", transactional=False)
    api.put("/v1/brand", {"name": "Example Shop", "color": "#0f766e", "postal_address": "1 High Street"})
    world.accept(payload=PAYLOAD)
    world.dispatch()

    shown = _message(world, api)

    assert 'bgcolor="#0f766e"' in shown["html"]
    assert "weil Sie ein Konto bei Example Shop haben." in shown["html"]
    assert 'href="…/u/…"' in shown["html"]
    assert shown["text"].endswith("Abmelden: …/u/…\nBenachrichtigungen einstellen: …/p/…\n1 High Street")


def test_an_sms_is_one_text_and_a_push_has_its_link_beside_it(world: World, api: Api) -> None:
    world.add_device(world.add_user(phone="+14155550100"))
    world.accept(channels=["sms", "push"], payload=PAYLOAD)
    world.dispatch()

    sms, push = _message(world, api, "sms"), _message(world, api, "push")

    assert (sms["subject"], sms["html"]) == (None, None)
    assert sms["text"] == "Shipped: It is on its way.\nhttps://shop.example/17"
    assert sms["sms"]["parts"] == 1
    assert (push["subject"], push["html"], push["text"]) == ("Shipped", None, "It is on its way.")
    assert push["url"] == "https://shop.example/17"


def test_what_is_in_the_inbox_is_shown_as_it_stands_there(world: World, api: Api) -> None:
    world.add_user()
    world.accept(channels=["in_app"])
    world.dispatch()
    world.admin.execute("UPDATE notifications SET title = 'as it stands there'")

    shown = _message(world, api, "in_app")

    assert (shown["subject"], shown["text"], shown["html"]) == ("as it stands there", "It is on its way.", None)
    assert (shown["as_sent"], shown["note"]) == (True, "These are the words of the inbox row.")


def test_an_inbox_row_that_says_something_newer_by_now_is_rendered_again(world: World, api: Api) -> None:
    world.add_user()
    first = world.accept(channels=["in_app"], thread={"kind": "order", "id": "7"})
    world.dispatch()
    world.accept(channels=["in_app"], thread={"kind": "order", "id": "7"}, payload={"title": "Arrived"})
    world.dispatch()
    (row,) = world.inbox()
    assert row["title"] == "Arrived"

    shown = api.get(f"/v1/notifications/{first.notification_id}/routes/in_app-{row['user_id']}/message").json

    assert (shown["subject"], shown["text"], shown["as_sent"]) == ("Shipped", "It is on its way.", True)


def test_a_row_for_everyone_is_found_too(world: World, api: Api) -> None:
    world.add_user()
    world.accept(channels=["in_app"], audience={"kind": "tenant"}, payload={"title": "Alone"})
    world.dispatch()

    shown = _message(world, api, "in_app")

    assert (shown["subject"], shown["text"], shown["recipient"]) == ("Alone", "", "tenant")
    assert shown["note"] == "These are the words of the inbox row."


def test_what_was_not_sent_is_what_would_be(world: World, api: Api) -> None:
    world.add_user(email=None)
    world.accept()
    world.dispatch()

    shown = _message(world, api)

    assert (shown["subject"], shown["as_sent"], shown["sent_at"]) == ("Shipped", False, None)
    assert shown["note"] == "It was not sent (skipped: no_address). From the payload, this would be."


def test_what_may_have_arrived_says_so(world: World, api: Api) -> None:
    world.add_user()
    add_type(world, ambiguous_policy="hold")
    world.email.answers.append(Failure(FailureClass.AMBIGUOUS, "ReadTimeout", "no answer"))
    world.accept()
    world.dispatch()
    world.pass_time(timedelta(hours=1))
    world.dispatch()
    assert world.route()["status"] == "dead_letter"

    shown = _message(world, api)

    assert shown["as_sent"] is False
    assert shown["note"].endswith("An earlier attempt may have arrived.")


def test_a_mail_that_can_be_unsubscribed_from_shows_the_header_without_its_link(world: World, api: Api) -> None:
    world.add_user()
    add_type(world, transactional=False)
    world.accept()
    world.dispatch()

    shown = _message(world, api)

    (sent,) = world.email.accepted
    assert shown["headers"].keys() == sent.headers.keys() == {"List-Unsubscribe", "List-Unsubscribe-Post"}
    assert shown["headers"]["List-Unsubscribe"] == "<…/u/…>"


def test_a_payload_that_the_template_cannot_render_is_409_with_the_cause(world: World, api: Api) -> None:
    world.add_user()
    add_template(world, name="shipped", subject="{{ nothing }}", body="<p>x</p>")
    world.accept(template="shipped")
    world.dispatch()

    assert _why_not(world, api) == "It cannot be rendered: the subject is empty with this payload."


def test_a_version_that_was_forgotten_is_409(world: World, api: Api) -> None:
    world.add_user()
    add_template(world, name="shipped")
    world.accept(template="shipped")
    world.dispatch()
    world.admin.execute("DELETE FROM templates")

    assert "forgotten" in _why_not(world, api)


def test_a_template_without_words_for_the_channel_is_409(world: World, api: Api) -> None:
    world.add_user(phone="+14155550100")
    add_template(world, name="shipped")
    world.accept(template="shipped", channels=["email", "sms"])
    world.dispatch()

    assert _why_not(world, api, "sms") == "The template `shipped` had no words for sms when it was planned."


def test_of_a_person_who_was_erased_nothing_is_shown(world: World, api: Api) -> None:
    world.add_user()
    world.accept()
    world.accept(audience={"kind": "address", "email": "alice@example.com"})
    world.dispatch()
    assert api.post("/v1/users/alice/erase").status == 200

    for route in world.routes():
        answer = api.get(f"/v1/notifications/{route['notification_id']}/routes/{route['route_id']}/message")
        assert (answer.status, answer.json["type"]) == (409, "/errors#not-renderable")
        assert "erased" in answer.json["detail"]


def test_words_in_which_somebody_was_masked_are_not_called_as_sent(world: World, api: Api) -> None:
    world.add_user("alice")
    world.add_user("bob")
    world.accept(audience={"kind": "users", "user_ids": ["bob"]}, payload={"title": "Hi", "message": "Ask alice@example.com"})
    world.accept(audience={"kind": "users", "user_ids": ["alice", "bob"]}, payload={"message": "Ask alice@example.com"})
    world.dispatch()
    (both,) = world.rows("SELECT notification_id FROM records WHERE jsonb_array_length(recipient_user_ids) = 2")
    assert api.post("/v1/users/alice/erase").status == 200
    (route,) = [
        one for one in world.routes() if one["recipient_ref"] == "user:bob" and one["notification_id"] == both["notification_id"]
    ]

    shown = api.get(f"/v1/notifications/{both['notification_id']}/routes/{route['route_id']}/message").json

    assert "Ask erased_" in shown["text"]
    assert (shown["as_sent"], "is masked" in shown["note"]) == (False, True)


@pytest.mark.parametrize(
    "path", ["{id}/routes/nothing", "{other}/routes/{route}", "nonsense/routes/{route}", "{id}/routes/%27%20OR%201=1"]
)
def test_what_there_is_not_is_404(world: World, api: Api, path: str) -> None:
    world.add_user()
    world.accept()
    world.dispatch()
    route = world.route()
    place = path.format(id=route["notification_id"], route=route["route_id"], other=uuid4())

    assert api.get(f"/v1/notifications/{place}/message").status == 404


def test_another_tenants_message_is_404_and_a_key_without_read_403(world: World, api: Api) -> None:
    world.add_user()
    world.accept()
    world.dispatch()
    world.add_tenant()

    assert api.get(_path(world), key=world.add_key("read", tenant=OTHER_TENANT)).status == 404
    assert api.get(_path(world), key=world.add_key("send", "manage", "operate")).status == 403
    assert api.get(_path(world), key=world.add_key("read")).status == 200


def test_an_email_shows_where_answers_go_who_gets_a_copy_and_what_is_attached(world: World, api: Api) -> None:
    world.add_user(email=None)
    files = [{"url": "https://files.example.com/r-7.pdf?signature=secret"}]
    world.accept(payload=PAYLOAD, reply_to="billing@example.com", cc=["books@example.com"], attachments=files)
    world.dispatch()

    shown = _message(world, api)

    assert (shown["reply_to"], shown["cc"]) == ("billing@example.com", ["b•••@example.com"])
    assert shown["attachments"] == ["r-7.pdf"]


def test_an_email_that_asked_for_nothing_says_so_and_other_channels_have_no_such_fields(world: World, api: Api) -> None:
    world.add_user(phone="+4915112345678")
    world.accept(payload=PAYLOAD, channels=["email", "sms"])
    world.dispatch()

    email, sms = _message(world, api), _message(world, api, "sms")

    assert (email["reply_to"], email["cc"], email["attachments"]) == (None, [], [])
    assert not {"reply_to", "cc", "attachments"} & sms.keys()
