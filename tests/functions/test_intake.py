"""POST /v1/intents: what a producer sends and what it is answered."""

import base64
import json
import time
from datetime import UTC, datetime, timedelta

import pytest

from tests.content import add_template
from tests.functions.doors import Api, Context, answer_of, handler_of, intent
from tests.world import World
from tocsin.foundation import aws
from tocsin.foundation.ids import as_uuid
from tocsin.outbox import sweep


def test_an_intent_is_accepted_and_stored_before_the_answer(world: World, api: Api) -> None:
    world.add_user()

    answer = api.send(request_id="req-1", headers={"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})

    assert answer.status == 202
    assert answer.headers["X-Request-Id"] == "req-1"
    assert answer.headers["Content-Type"] == "application/json"
    assert "Idempotency-Replayed" not in answer.headers
    assert set(answer.json) == {"notification_id", "status", "accepted_at"}
    assert answer.json["status"] == "accepted"
    assert datetime.fromisoformat(answer.json["accepted_at"]).utcoffset() == timedelta(0)
    (record,) = world.rows("SELECT * FROM records")
    assert record["notification_id"] == as_uuid(answer.json["notification_id"])
    assert (record["producer"], record["mode"], record["request_id"]) == ("shop", "live", "req-1")
    assert record["trace_id"] == "4bf92f3577b34da6a3ce929d0e0e4736"


def test_every_field_of_the_documented_example_is_taken(world: World, api: Api) -> None:
    world.add_user("alice")
    world.add_user("bob")
    add_template(world, "order-shipped", variables=["order", "eta"])

    answer = api.send(
        {
            "type": "order.shipped",
            "audience": {"kind": "users", "user_ids": ["alice", "bob"]},
            "channels": ["email", "in_app"],
            "template": "order-shipped",
            "payload": {"order": "A-17", "eta": "Tuesday"},
            "thread": {"kind": "order", "id": "A-17"},
            "priority": "normal",
            "occurred_at": "2026-11-15T10:00:00Z",
            "send_at": None,
            "expires_at": None,
            "retry": {"max_attempts": 5, "backoff": "exponential", "base_ms": 1000},
        }
    )

    assert answer.status == 202


@pytest.mark.parametrize(
    "audience",
    [
        {"kind": "address", "email": "someone@example.com"},
        {"kind": "address", "phone": "+14155550100"},
        {"kind": "tenant"},
    ],
)
def test_audiences_without_a_user_list_are_accepted(world: World, api: Api, audience: dict[str, str]) -> None:
    answer = api.send({"type": "news", "audience": audience, "payload": {"title": "News"}})

    assert answer.status == 202


def test_a_repeated_request_gets_the_first_answer_with_a_header_that_says_so(world: World, api: Api) -> None:
    world.add_user()
    first = api.send(idempotency_key="k-1")

    again = api.send(idempotency_key="k-1")

    assert (again.status, again.text) == (202, first.text)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert world.count("records") == 1


def test_key_order_and_white_space_do_not_make_another_request(world: World, api: Api) -> None:
    world.add_user()
    first = api.send(json.dumps(intent()), idempotency_key="k-1")

    again = api.send(json.dumps(dict(reversed(intent().items())), indent=3), idempotency_key="k-1")

    assert (again.status, again.json) == (202, first.json)


def test_a_quoted_key_is_the_same_key(world: World, api: Api) -> None:
    world.add_user()
    api.send(idempotency_key="k-1")

    again = api.send(idempotency_key='"k-1"')

    assert again.headers.get("Idempotency-Replayed") == "true"


def test_another_request_under_the_same_key_is_422_and_changes_nothing(world: World, api: Api) -> None:
    world.add_user()
    api.send(idempotency_key="k-1")

    answer = api.send(intent(type="other"), idempotency_key="k-1")

    assert (answer.status, answer.json["type"]) == (422, "/errors#idempotency-key-reused")
    assert world.one("SELECT notification_type FROM records") == "order.shipped"


def test_the_answer_says_how_much_of_the_allowance_is_left(world: World, api: Api) -> None:
    world.add_user()

    answer = api.send()

    assert answer.headers["RateLimit-Policy"] == '"intents";q=6000;w=60'
    assert answer.headers["RateLimit"].startswith('"intents";r=5999;t=')


def test_a_test_key_makes_a_test_record(world: World, api: Api) -> None:
    world.add_user()

    api.send(key=world.add_key("send", mode="test"))

    assert world.one("SELECT mode FROM records") == "test"


def test_a_live_key_asks_for_the_sandbox_for_one_intent(world: World, api: Api) -> None:
    world.add_user()

    test, live, silent = (api.send(intent(**mode)).json["notification_id"] for mode in ({"mode": "test"}, {"mode": "live"}, {}))
    world.dispatch()

    shown = {one: api.get(f"/v1/notifications/{one}").json for one in (test, live, silent)}
    assert [shown[one]["mode"] for one in (test, live, silent)] == ["test", "live", "live"]
    assert [shown[one]["routes"][0]["provider"] for one in (test, live, silent)] == ["sandbox", "ses", "ses"]
    assert len(world.email.accepted) == 2


def test_a_test_key_cannot_ask_for_more_than_a_test(world: World, api: Api) -> None:
    world.add_user()
    tester = world.add_key("send", mode="test")

    refused = api.send(intent(mode="live"), key=tester)
    taken = api.send(intent(mode="test"), key=tester)

    assert (refused.status, refused.json["errors"][0]["pointer"]) == (422, "/mode")
    assert taken.status == 202
    assert [row["mode"] for row in world.rows("SELECT mode FROM records")] == ["test"]


def test_a_test_and_the_real_thing_are_two_requests_to_a_key(world: World, api: Api) -> None:
    world.add_user()
    api.send(intent(mode="test"), idempotency_key="k-1")

    again = api.send(intent(mode="test"), idempotency_key="k-1")
    real = api.send(intent(), idempotency_key="k-1")

    assert (again.status, again.headers["Idempotency-Replayed"]) == (202, "true")
    assert (real.status, real.json["type"]) == (422, "/errors#idempotency-key-reused")


def test_a_base64_body_is_read_like_any_other(world: World, api: Api) -> None:
    world.add_user()
    event = {
        "routeKey": "POST /v1/intents",
        "headers": {
            "Authorization": f"Bearer {api.key}",
            "Content-Type": "application/json; charset=utf-8",
            "Idempotency-Key": "k",
        },
        "body": base64.b64encode(json.dumps(intent()).encode()).decode(),
        "isBase64Encoded": True,
        "requestContext": {"requestId": "r", "http": {"method": "POST"}},
    }

    assert answer_of(handler_of("intake")(event, Context())).status == 202


def test_while_sqs_is_down_intents_are_accepted_and_the_sweep_nudges_them(
    world: World, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add_user()

    class DeafQueue:
        def send_message(self, **_: object) -> None:
            raise ConnectionError("no route to queue")

    with monkeypatch.context() as patch:
        patch.setattr(aws, "client", lambda service: DeafQueue())
        started = time.monotonic()
        answer = api.send()
        took = time.monotonic() - started

    assert (answer.status, world.nudges()) == (202, [])
    assert took < 1
    world.pass_time(timedelta(seconds=31))
    sweep.sweep(world.worker)
    assert len(world.nudges()) == 1


def test_send_at_is_within_a_year(world: World, api: Api) -> None:
    world.add_user()

    near = api.send(intent(send_at=(datetime.now(UTC) + timedelta(days=364)).isoformat()))
    far = api.send(intent(send_at=(datetime.now(UTC) + timedelta(days=366)).isoformat()))

    assert (near.status, far.status) == (202, 422)
    assert far.json["errors"] == [{"pointer": "/send_at", "message": "must be within 365 days"}]
