"""What is sent for what is asked: bodies, paths, headers and time-outs."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.clients.python.wire import KEY, Asker, Wire, accepted
from tocsin_client import Address, Everyone, Intent, Scope, Thread, Tocsin, User, __version__
from tocsin_client.audience import To, audience_of

SEND: dict[str, Any] = {"type": "t", "to": "ada", "title": "T"}
NOON = datetime(2026, 11, 17, 13, 0, tzinfo=timezone(timedelta(hours=1)))


@pytest.mark.parametrize(
    ("to", "audience"),
    [
        ("ada", {"kind": "users", "user_ids": ["ada"]}),
        (["ada", "bob"], {"kind": "users", "user_ids": ["ada", "bob"]}),
        ((name for name in ("ada", "bob")), {"kind": "users", "user_ids": ["ada", "bob"]}),
        (User("ada", email="a@x.example"), {"kind": "users", "user_ids": [{"id": "ada", "email": "a@x.example"}]}),
        ({"id": "ada", "phone": None}, {"kind": "users", "user_ids": [{"id": "ada", "phone": None}]}),
        (["ada", {"id": "bob"}, User("cy")], {"kind": "users", "user_ids": ["ada", {"id": "bob"}, {"id": "cy"}]}),
        (Address(email="a@x.example"), {"kind": "address", "email": "a@x.example"}),
        (Address(phone="+1"), {"kind": "address", "phone": "+1"}),
        (Thread("order", "A-17"), {"kind": "thread", "thread": {"kind": "order", "id": "A-17"}}),
        (Scope("repo:7"), {"kind": "scope", "scope": "repo:7"}),
        (Everyone(), {"kind": "tenant"}),
        ({"kind": "scope", "scope": "s"}, {"kind": "scope", "scope": "s"}),
    ],
)
def test_whom_it_is_for(to: To, audience: dict[str, Any]) -> None:
    assert audience_of(to) == audience


@pytest.mark.parametrize("to", [7, None, Everyone, {"email": "a@x.example"}, [7], [{"email": "a@x.example"}], [Everyone()]])
def test_who_cannot_be_meant_is_a_type_error(to: Any) -> None:
    with pytest.raises(TypeError):
        audience_of(to)


def test_a_send_has_what_was_given_and_nothing_else(ask: Asker, wire: Wire) -> None:
    wire.then(accepted())

    ask("send", **SEND)
    ask(
        "send",
        type="order.shipped",
        to="ada",
        title="T",
        message="M",
        url="https://x.example",
        payload={"order": UUID(int=7), "at": NOON, "day": NOON.date()},
        channels=("email", "sms"),
        template="shipped",
        thread=Thread("order", "A-17"),
        priority="high",
        occurred_at=NOON,
        send_at=NOON,
        expires_at=NOON + timedelta(hours=1),
        retry={"max_attempts": 2},
        mode="test",
    )

    small, large = (json.loads(call.content) for call in wire.calls)
    assert small == {"type": "t", "audience": {"kind": "users", "user_ids": ["ada"]}, "payload": {"title": "T"}}
    assert large == {
        "type": "order.shipped",
        "audience": {"kind": "users", "user_ids": ["ada"]},
        "payload": {
            "order": "00000000-0000-0000-0000-000000000007",
            "at": "2026-11-17T12:00:00Z",
            "day": "2026-11-17",
            "title": "T",
            "message": "M",
            "url": "https://x.example",
        },
        "channels": ["email", "sms"],
        "template": "shipped",
        "thread": {"kind": "order", "id": "A-17"},
        "priority": "high",
        "occurred_at": "2026-11-17T12:00:00Z",
        "send_at": "2026-11-17T12:00:00Z",
        "expires_at": "2026-11-17T13:00:00Z",
        "retry": {"max_attempts": 2},
        "mode": "test",
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"send_at": datetime(2026, 11, 17)},  # noqa: DTZ001 - that is what is wrong with it
        {"payload": {"title": "twice"}},
        {"payload": {"x": float("nan")}},
        {"payload": {"x": {"a set"}}},
        {"channels": "email"},
        {"wait": 0},
        {"idempotency_key": ""},
        {"idempotency_key": " k"},
        {"idempotency_key": "ключ"},
        {"idempotency_key": "k" * 256},
    ],
    ids=str,
)
def test_what_makes_no_sense_is_not_sent(ask: Asker, wire: Wire, wrong: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        ask("send", **SEND | wrong)

    assert wire.calls == []


def test_every_request_says_who_asks_and_carries_the_key(ask: Asker, wire: Wire) -> None:
    wire.then(httpx.Response(200, json={"id": "ada"}))

    ask("users.get", "ada")

    (call,) = wire.calls
    assert call.headers["user-agent"] == f"tocsin-python/{__version__}"
    assert call.headers["authorization"] == f"Bearer {KEY}"


def test_a_key_with_a_comma_is_quoted(ask: Asker, wire: Wire) -> None:
    wire.then(accepted())

    receipt = ask("send", **SEND, idempotency_key='a,"b"\\')

    assert wire.calls[0].headers["idempotency-key"] == r'"a,\"b\"\\"'
    assert receipt.idempotency_key == 'a,"b"\\'


def test_who_waits_asks_at_once_where_one_waits_and_has_more_time(ask: Asker, wire: Wire) -> None:
    wire.then(accepted())

    ask("send", **SEND)
    ask("send", **SEND, wait=10)
    ask("send", **SEND, wait=300)

    assert [call.url.path for call in wire.calls] == ["/v1/intents", "/v1/intents/wait", "/v1/intents/wait"]
    assert [call.headers.get("prefer") for call in wire.calls] == [None, "wait=10", "wait=300"]
    assert [call.extensions["timeout"]["read"] for call in wire.calls] == [15.0, 25.0, 35.0]
    assert {call.extensions["timeout"]["connect"] for call in wire.calls} == {5.0}


def test_words_in_a_path_are_one_segment(ask: Asker, wire: Wire) -> None:
    wire.then(httpx.Response(200, json={"id": "ada"}))

    ask("users.get", "a/b?c#d é%")

    assert wire.calls[0].url.raw_path == b"/v1/users/a%2Fb%3Fc%23d%20%C3%A9%25"


@pytest.mark.parametrize("user_id", ["", ".", "..", None])
def test_an_id_that_would_be_another_path_is_refused(ask: Asker, wire: Wire, user_id: Any) -> None:
    with pytest.raises(ValueError, match="no id that can stand in a path"):
        ask("users.erase", user_id)

    assert wire.calls == []


@pytest.mark.parametrize("path", ["https://elsewhere.example/v1/me", "//elsewhere.example/v1/me", "v1/me", "", "/v1/é", "/a b"])
def test_the_key_goes_to_no_other_address(ask: Asker, wire: Wire, path: str) -> None:
    with pytest.raises(ValueError, match="one slash"):
        ask("request", "GET", path)

    assert wire.calls == []


def test_the_way_to_any_other_call(ask: Asker, wire: Wire) -> None:
    wire.then(httpx.Response(200, json={"a": 1}, headers={"ETag": '"7"'}))

    answer = ask("request", "put", "/v1/kv/a/b?x=1", json=[1], headers={"If-Match": '"6"'}, timeout=3)
    ask("request", "GET", "/v1/users", params={"query": "é&", "limit": 2, "cursor": None, "since": NOON, "odd": True})

    put, get = wire.calls
    assert (answer.status, answer.json, answer.headers["etag"]) == (200, {"a": 1}, '"7"')
    assert (put.method, put.url.raw_path, put.content, put.headers["if-match"]) == ("PUT", b"/v1/kv/a/b?x=1", b"[1]", '"6"')
    assert (put.headers["content-type"], put.extensions["timeout"]["read"]) == ("application/json", 3)
    assert dict(get.url.params) == {"query": "é&", "limit": "2", "since": "2026-11-17T12:00:00Z", "odd": "true"}


def test_the_stack_may_stand_below_a_path(ask: Asker, wire: Wire) -> None:
    ask.options["url"] = "https://tocsin.example/prod/"
    wire.then(accepted())

    ask("send", **SEND)

    assert str(wire.calls[0].url) == "https://tocsin.example/prod/v1/intents"


def test_a_list_is_read_page_by_page_as_far_as_it_is_wanted(ask: Asker, wire: Wire) -> None:
    def pages(*sizes: int) -> None:
        wire.answers.clear()
        for number, size in enumerate(sizes, 1):
            cursor = f"c{number}" if number < len(sizes) else None
            rows = [{"id": f"u{number}-{row}"} for row in range(size)]
            wire.answers.append(httpx.Response(200, json={"data": rows, "next_cursor": cursor}))

    pages(200, 200, 3)
    everybody = ask("users.list", query="u")
    asked = [dict(call.url.params) for call in wire.calls]
    wire.calls.clear()
    pages(200, 50, 1)
    some = ask("users.list", limit=250)

    assert len({user.id for user in everybody}) == 403
    assert asked == [{"query": "u", "limit": "200"} | more for more in ({}, {"cursor": "c1"}, {"cursor": "c2"})]
    assert (len(some), [call.url.params["limit"] for call in wire.calls]) == (250, ["200", "50"])
    with pytest.raises(ValueError, match="from 1"):
        ask("users.list", limit=0)


def test_a_page_is_asked_for_when_it_is_needed(wire: Wire, clock: Any) -> None:
    wire.then(httpx.Response(200, json={"data": [{"id": "ada"}], "next_cursor": "c"}))

    with Asker(wire, clock, is_async=False).client() as client:
        rows = client.users.list()
        assert wire.calls == []
        next(rows)

    assert len(wire.calls) == 1


def test_a_batch_keeps_the_order_and_makes_the_keys_that_are_missing(ask: Asker, wire: Wire) -> None:
    refused = {
        "type": "/errors#unknown-users",
        "title": "Some users are not known",
        "status": 422,
        "detail": "",
        "request_id": "r",
    }
    results = [
        {"idempotency_key": "a", "status": 202, "notification_id": "n-1", "replayed": True},
        {"idempotency_key": "b", "status": 422, "problem": refused},
        {"idempotency_key": "c", "status": 202, "notification_id": "n-2", "warnings": [{"pointer": "/x", "message": "odd"}]},
    ]
    wire.then(httpx.Response(200, json={"results": results}))

    first, second, third = ask("send_batch", [SEND | {"idempotency_key": "a"}, Intent(**SEND), Intent(**SEND)])

    sent = json.loads(wire.calls[0].content)["intents"]
    assert [one["idempotency_key"] == "a" for one in sent] == [True, False, False]
    assert len({one["idempotency_key"] for one in sent}) == 3
    assert (first.is_accepted, first.is_replay, first.notification_id) == (True, True, "n-1")
    assert second.problem is not None
    assert (second.is_accepted, second.problem.kind, second.problem.idempotency_key) == (False, "unknown-users", "b")
    assert [str(one) for one in third.warnings] == ["/x: odd"]


def test_a_receipt_has_what_the_service_says(ask: Asker, wire: Wire) -> None:
    warning = {"pointer": "/audience/user_ids/0", "message": "ada has no phone: sms cannot reach them"}
    wire.then(accepted(warnings=[warning]))

    receipt = ask("send", **SEND)

    assert (receipt.notification_id, receipt.status, receipt.is_replay, receipt.routes) == ("n-1", "accepted", False, ())
    assert receipt.accepted_at == datetime(2026, 11, 17, 10, 0, tzinfo=UTC)
    assert [one.message for one in receipt.warnings] == ["ada has no phone: sms cannot reach them"]


@pytest.mark.parametrize("routed", [True, False, None])
def test_an_event_says_whether_anybody_could_be_told(ask: Asker, wire: Wire, routed: bool | None) -> None:
    told = {"source": "s", "event_id": "e", "recorded_at": "2026-11-17T10:00:00Z", "status": "duplicate"}
    wire.then(accepted(**told, **({} if routed is None else {"routed": routed})))

    receipt = ask("event", type="t", source="s", id="e", data={"actor": "ada"}, time=NOON)

    attributes = {"specversion": "1.0", "id": "e", "source": "s", "type": "t", "time": "2026-11-17T12:00:00Z"}
    assert json.loads(wire.calls[0].content) == attributes | {"data": {"actor": "ada"}}
    assert wire.calls[0].headers["content-type"] == "application/cloudevents+json"
    assert (receipt.routed, receipt.is_duplicate) == (routed, True)


def test_connections_are_kept_and_given_back() -> None:
    with Tocsin("https://t.example", "k", transport=httpx.MockTransport(lambda _: accepted())) as client:
        client.send(**SEND)
        client.send(**SEND)

    with pytest.raises(RuntimeError, match="closed"):
        client.send(**SEND)
