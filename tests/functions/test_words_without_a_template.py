"""Words without a template: something must be said, an address leads to the web or nowhere, and nothing is said twice."""

import json
from typing import Any

import pytest

from tests.content import add_template, add_type
from tests.events import fan_out_all, happen, route
from tests.functions.doors import Api, Context, handler_of, intent, sqs_event
from tests.functions.test_problems import assert_problem
from tests.world import World
from tocsin.content.plain import Content

URL = "https://shop.example/orders/A-17"
EMPTY: list[dict[str, Any]] = [{}, {"title": ""}, {"title": None, "message": ""}, {"message": " \n", "note": [], "more": {}}]
NOT_OF_THE_WEB = [
    "javascript:alert(1)", "data:text/html,x", "ftp://example.com", "//example.com", "/orders/7", "https://", "https:///x",
    "https://a b", 'https://a"onclick=x', "https://example.com/<b>", "https://a\x01b", "https://[::1", "x" * 2_001, 7, ["https://a.example"],
]  # fmt: skip


@pytest.mark.parametrize("payload", EMPTY)
def test_nothing_to_say_is_422(world: World, api: Api, payload: dict[str, Any]) -> None:
    world.add_user()

    problem = assert_problem(api.send(intent(payload=payload)), 422, "nothing-to-say")

    assert problem["errors"] == [{"pointer": "/payload", "message": "has no words"}]
    assert (world.count("records"), world.count("outbox")) == (0, 0)


def test_nothing_to_say_takes_no_key_and_the_key_may_be_used_for_something(world: World, api: Api) -> None:
    world.add_user()

    answers = [api.send(intent(payload=payload), idempotency_key="k-1") for payload in ({}, {}, {"title": "Shipped"})]

    assert [answer.status for answer in answers] == [422, 422, 202]


def test_in_a_batch_it_spoils_nobody_elses_words(world: World, api: Api) -> None:
    world.add_user()
    intents = [intent(payload={}, idempotency_key="a"), intent(idempotency_key="b")]

    results = api.post("/v1/intents/batch", {"intents": intents}).json["results"]

    assert [result["status"] for result in results] == [422, 202]
    assert results[0]["problem"]["type"] == "/errors#nothing-to-say"


def test_by_queue_it_is_kept_for_a_person_to_see(world: World) -> None:
    world.add_user()

    handler_of("intake_queue")(sqs_event(intent(payload={})), Context())

    assert [row["failure_code"] for row in world.rows("SELECT failure_code FROM malformed_intents")] == ["nothing_to_say"]


@pytest.mark.parametrize("named_by", ["the intent", "its type"])
def test_a_template_has_words_of_its_own(world: World, api: Api, named_by: str) -> None:
    world.add_user()
    add_template(world, "shipped")
    if named_by == "its type":
        add_type(world, "order.shipped", template="shipped")

    answer = api.send(intent(payload={}, **({"template": "shipped"} if named_by == "the intent" else {})))

    assert answer.status == 202


@pytest.mark.parametrize("url", NOT_OF_THE_WEB)
@pytest.mark.parametrize("wording", [None, "shipped"])
def test_an_address_that_is_not_of_the_web_is_422(world: World, api: Api, url: Any, wording: str | None) -> None:
    world.add_user()
    add_template(world, "shipped")

    problem = assert_problem(api.send(intent(payload={"title": "T", "url": url}, template=wording)), 422, "invalid-request")

    assert {error["pointer"] for error in problem["errors"]} == {"/payload/url"}


@pytest.mark.parametrize("url", NOT_OF_THE_WEB)
def test_an_event_follows_the_same_rule(world: World, api: Api, url: Any) -> None:
    event = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t", "data": {"url": url}}

    answer = api.post("/v1/events", event, headers={"content-type": "application/cloudevents+json"})

    assert {error["pointer"] for error in assert_problem(answer, 422, "invalid-request")["errors"]} == {"/data/url"}


@pytest.mark.parametrize("url", [None, ""])
def test_an_empty_address_is_none(world: World, api: Api, url: str | None) -> None:
    world.add_user()
    route(world)

    sent = api.send(intent(channels=["in_app"], payload={"title": "T", "url": url, "colour": "red"}))
    happen(world, mentions=["alice"], title="T", url=url)
    world.dispatch()
    fan_out_all(world)

    assert [row["summary"] for row in world.inbox()] == [{}, {}]
    kept = api.get(f"/v1/notifications/{sent.json['notification_id']}").json["payload"]
    assert kept == {"title": "T", "url": url, "colour": "red"}


def test_what_comes_out_has_one_line_for_a_title_and_a_place_for_a_link(world: World, api: Api) -> None:
    world.add_device(world.add_user(phone="+14155550100"))

    api.send(intent(channels=["email", "sms", "push", "in_app"], payload={"title": "Shipped", "message": None, "url": URL}))
    world.dispatch()

    (email,), (sms,), (push,) = world.email.accepted, world.sms.accepted, world.push.accepted
    assert (email.content.title, email.content.text) == ("Shipped", f"Shipped\n\nOpen shop.example:\n{URL}")
    assert email.content.html.count("Shipped") == 2  # the title of the document, and of the page
    assert f'href="{URL}"' in email.content.html
    assert sms.content == push.content == Content("Shipped", "Shipped", url=URL)
    (row,) = world.inbox()
    assert (row["title"], row["message"], row["summary"]) == ("Shipped", "", {"url": URL})


def test_a_template_places_the_link_itself_but_a_push_carries_it_beside_its_words(world: World, api: Api) -> None:
    world.add_device(world.add_user(phone="+14155550100"))
    for channel in ("email", "sms", "push"):
        add_template(world, "shipped", channel=channel)

    api.send(intent(channels=["email", "sms", "push"], template="shipped", payload={"url": URL}))
    world.dispatch()

    sent = {name: getattr(world, name).accepted[0].content for name in ("email", "sms", "push")}
    assert {name: content.url for name, content in sent.items()} == {"email": "", "sms": "", "push": URL}


def test_an_event_with_a_title_alone_is_one_line_in_the_inbox_and_its_link_is_in_the_mail(world: World, api: Api) -> None:
    world.add_user()
    route(world, rules={"mention": ["in_app", "email"]})
    happen(world, mentions=["alice"], title="A comment", url=URL)
    fan_out_all(world)
    world.dispatch()

    assert [(row["title"], row["message"]) for row in world.inbox()] == [("A comment", "")]
    (email,) = world.email.accepted
    assert email.content.text.startswith(
        f"A comment\n\nOpen shop.example:\n{URL}\n\n-- \nYou get this email because you were mentioned.\nUnsubscribe: https://"
    )


def test_an_sms_that_was_cut_says_so_in_the_timeline_and_on_its_attempt(world: World, api: Api) -> None:
    world.add_user(phone="+14155550100")
    payload: dict[str, Any] = {"title": "Long", "message": "word " * 400, "url": "https://shop.example/orders/A-17"}
    world.accept(channels=["sms"], payload=payload)

    world.dispatch()

    note = "the text was cut from 2006 characters to the 1600 that an SMS may have"
    (route,) = world.routes()
    shown = api.get(f"/v1/notifications/{route['notification_id']}").json
    assert [attempt["note"] for one in shown["routes"] for attempt in one["attempts"]] == [note]
    told = {step["what"]: step["reason"] for step in shown["timeline"]}
    assert told["attempt_accepted"] == f"attempt 1 by sns; {note}"


def test_the_document_says_what_a_link_may_be(api: Api) -> None:
    schemas = api.get("/v1/openapi.json").json["components"]["schemas"]

    assert json.dumps(schemas["Payload"]["properties"]["url"]).count('"string"') == 1
    assert schemas["Payload"].get("additionalProperties", True) is True
