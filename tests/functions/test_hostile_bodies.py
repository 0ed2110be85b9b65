"""Hostile bodies and parameters: each is refused politely and quickly, and nothing of the inside is told."""

import json
import secrets
import time
from typing import Any

import pytest

from tests.content import add_template
from tests.functions.doors import Api, intent
from tests.functions.test_problems import INSIDES
from tests.world import World

INJECTIONS = [
    "' OR 1=1 --", "'; DROP TABLE records; --", '" OR ""="', "%s %(tenant_id)s", "{{7*7}}", "${jndi:ldap://x}", "<script>",
    "../../etc/passwd", "a\r\nBcc: victim@example.com", "\u202e\u2028", "\ufffe\uffff", "😀" * 50, "NULL", "\\u0000",
]  # fmt: skip

BODIES: dict[str, str] = {
    "nothing": "",
    "null": "null",
    "a number": "7",
    "a string": '"intent"',
    "a list": "[]",
    "a list of intents": json.dumps([intent()]),
    "an empty object": "{}",
    "a hundred thousand open brackets": "[" * 100_000,
    "a hundred thousand open objects": '{"a":' * 50_000,
    "depth 21": '{"type":"t","audience":{"kind":"tenant"},"payload":' + '{"a":' * 21 + "1" + "}" * 21 + "}",
    "duplicate keys": '{"type":"a","type":"b","audience":{"kind":"tenant"},"payload":{}}',
    "deep duplicate keys": '{"type":"a","audience":{"kind":"tenant"},"payload":{"x":{"y":1,"y":2}}}',
    "nan": '{"type":"a","audience":{"kind":"tenant"},"payload":{"x":NaN}}',
    "infinity": '{"type":"a","audience":{"kind":"tenant"},"payload":{"x":-Infinity}}',
    "a float beyond a double": '{"type":"a","audience":{"kind":"tenant"},"payload":{"x":1e999}}',
    "an integer beyond 2^53": '{"type":"a","audience":{"kind":"tenant"},"payload":{"x":9007199254740993}}',
    "a very long integer": '{"type":"a","audience":{"kind":"tenant"},"payload":{"x":' + "9" * 100_000 + "}}",
    "a lone surrogate": '{"type":"a","audience":{"kind":"tenant"},"payload":{"x":"\\ud800"}}',
    "a lone surrogate as a key": '{"type":"a","audience":{"kind":"tenant"},"payload":{"\\udfff":1}}',
    "a nul character": '{"type":"a","audience":{"kind":"tenant"},"payload":{"x":"a\\u0000b"}}',
    "a nul character as a key": '{"type":"a","audience":{"kind":"tenant"},"payload":{"\\u0000":1}}',
    "a raw control character": '{"type":"a\x01"}',
    "a trailing comma": '{"type":"a",}',
    "a comment": '{"type":"a"} // hello',
    "two documents": '{"type":"a"}{"type":"b"}',
    "single quotes": "{'type': 'a'}",
    "a byte order mark": "\ufeff{}",
    "xml": "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY y SYSTEM 'file:///etc/passwd'>]><x>&y;</x>",
    "a form": "type=a&payload=b",
    "a type that is an object": json.dumps(intent(type={"$gt": ""})),
    "a type of a megabyte": json.dumps(intent(type="x" * 250_000)),
    "a payload that is a string": json.dumps(intent(payload="x")),
    "an audience that is a string": json.dumps(intent(audience="everyone")),
    "an audience of another kind": json.dumps(intent(audience={"kind": ["users"], "user_ids": ["a"]})),
    "an audience with two shapes": json.dumps(intent(audience={"kind": "tenant", "user_ids": ["alice"]})),
    "user ids that are numbers": json.dumps(intent(audience={"kind": "users", "user_ids": [1, 2]})),
    "a user id of 256 characters": json.dumps(intent(audience={"kind": "users", "user_ids": ["x" * 256]})),
    "ten thousand user ids": json.dumps(intent(audience={"kind": "users", "user_ids": [str(n) for n in range(10_000)]})),
    "an address with two at signs": json.dumps(intent(audience={"kind": "address", "email": "a@b@example.com"})),
    "an address with a line break": json.dumps(intent(audience={"kind": "address", "email": "a@example.com\nBcc: b@c.example"})),
    "an address with a display name": json.dumps(intent(audience={"kind": "address", "email": "A <a@example.com>"})),
    "an address of worst cases": json.dumps(intent(audience={"kind": "address", "email": "a." * 50_000 + "@"})),
    "a phone of letters": json.dumps(intent(audience={"kind": "address", "phone": "+1CALLME"})),
    "an address of nothing": json.dumps(intent(audience={"kind": "address"})),
    "the year nought": json.dumps(intent(occurred_at="0000-01-01T00:00:00Z")),
    "before the first moment": json.dumps(intent(occurred_at="0001-01-01T00:00:00+01:00")),
    "after the last moment": json.dumps(intent(expires_at="9999-12-31T23:59:59-01:00")),
    "the thirtieth of february": json.dumps(intent(send_at="2026-02-30T00:00:00Z")),
    "an offset of a hundred hours": json.dumps(intent(send_at="2026-02-20T00:00:00+99:99")),
    "a time that is a number": json.dumps(intent(send_at=1_800_000_000)),
    "an expiry before sending": json.dumps(intent(send_at="2026-12-02T00:00:00Z", expires_at="2026-12-01T00:00:00Z")),
    "a retry of a billion": json.dumps(intent(retry={"max_attempts": 1_000_000_000})),
    "a retry that is negative": json.dumps(intent(retry={"base_ms": -1})),
    "a prototype": json.dumps(intent(__proto__={"admin": True})),
    "a tenant of its own choice": json.dumps(intent(tenant_id="00000000-0000-7000-8000-000000000002")),
    "an id of its own choice": json.dumps(intent(notification_id="00000000-0000-7000-8000-000000000002")),
    "a trigger depth": json.dumps(intent(trigger_depth=-5)),
    "a thread of a megabyte": json.dumps(intent(thread={"kind": "k", "id": "x" * 250_000})),
    "channels that are no list": json.dumps(intent(channels={"email": True})),
    "a thousand channels": json.dumps(intent(channels=["email"] * 1000)),
    "a template that is a path": json.dumps(intent(template=["../x"])),
}  # fmt: skip


def test_a_hostile_intent_is_refused_without_a_word_of_the_inside(world: World, api: Api) -> None:
    for name, body in BODIES.items():
        started = time.monotonic()
        answer = api.send(body)
        took = time.monotonic() - started

        assert 400 <= answer.status < 500, (name, answer.text)
        assert answer.headers["Content-Type"] == "application/problem+json", name
        assert not INSIDES.search(answer.text), name
        assert len(answer.text) < 10_000, name
        assert took < 1, name
        assert world.count("records") == 0, name


@pytest.mark.parametrize(
    "path",
    [
        "/v1/intents/batch",
        "/v1/users/alice",
        "/v1/api-keys",
        "/v1/templates",
        "/v1/templates/shipped/preview",
        "/v1/templates/preview",
        "/v1/notification-types/alice",
        "/v1/providers",
        "/v1/suppressions",
        "/v1/triggers",
        "/v1/kv/orders/alice",
    ],
)
def test_the_other_writes_refuse_hostile_bodies_too(world: World, api: Api, path: str) -> None:
    for name, body in BODIES.items():
        answer = api.call("PUT" if "alice" in path else "POST", path, body)

        assert answer.status < 500, (name, answer.text)
        assert not INSIDES.search(answer.text), name


@pytest.mark.parametrize("text", INJECTIONS)
def test_words_that_look_like_code_are_words(world: World, api: Api, text: str) -> None:
    words = text.replace("\r\n", " ")
    body = {
        "type": words[:100],
        "audience": {"kind": "tenant"},
        "payload": {"title": text, text: text},
        "thread": {"kind": words[:64], "id": text},
        "template": words[:100],
    }
    add_template(world, words[:100])

    answer = api.send(body)

    assert answer.status == 202
    assert world.one("SELECT payload_json ->> 'title' FROM records") == text
    detail = api.get(f"/v1/notifications/{answer.json['notification_id']}")
    assert detail.json["payload"] == {"title": text, text: text}


QUERIES: dict[str, str] = {
    "nul": "type=%00",
    "nul in a user": "user_id=%00",
    "nul in a producer": "producer=a%00b",
    "broken utf-8": "type=%ff%fe",
    "a lone surrogate": "type=%ed%a0%80",
    "an injection": "type=' OR 1=1 --&status=published",
    "a status that is none": "status=whatever",
    "a channel that is none": "channel=pigeon",
    "a time that is none": "since=yesterday",
    "a time without a zone": "since=2026-11-15T10:00:00",
    "the first moment": "since=0001-01-01T00:00:00%2B14:00",
    "the last moment": "until=9999-12-31T23:59:59-14:00",
    "a limit of nought": "limit=0",
    "a negative limit": "limit=-1",
    "a limit above the most": "limit=201",
    "a limit in arabic digits": "limit=%D9%A3",
    "a limit with zeros before it": "limit=0000109999",
    "a limit of a thousand digits": "limit=" + "9" * 1000,
    "an empty limit": "limit=",
    "a cursor of nonsense": "cursor=nonsense",
    "a cursor of bytes": "cursor=%00%ff",
    "a cursor that is half one": "cursor=MjAyNi0xMS0xNVQxMDowMDowMFp8",
    "a cursor without a zone": "cursor=MjAyNi0xMS0xNVQxMDowMDowMHwwMDAwMDAwMC0wMDAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDE",
    "a cursor from before time": "cursor=MDAwMS0wMS0wMVQwMDowMDowMCsxNDowMHwwMDAwMDAwMC0wMDAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDE",
    "a hundred thousand ampersands": "&" * 100_000,
    "a name without a value": "type",
    "percent signs": "type=%&status=%zz",
}


@pytest.mark.parametrize(
    "path",
    [
        "/v1/notifications",
        "/v1/inbox",
        "/v1/users",
        "/v1/api-keys",
        "/v1/templates",
        "/v1/suppressions",
        "/v1/triggers",
        "/v1/kv/orders",
    ],
)
def test_hostile_parameters_never_reach_the_inside(world: World, api: Api, path: str) -> None:
    for name, query in QUERIES.items():
        answer = api.get(path, query=query)

        assert answer.status < 500, (name, answer.text)
        assert not INSIDES.search(answer.text), name
        if name.startswith(("a limit", "a negative limit", "an empty limit")):
            assert answer.status == 422, name


SEGMENTS = ["%00", "%ff", "..", "%27%20OR%201=1", "x" * 5000, "%F0%9F%98%80", "%2F%2F"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/notifications/{}", None),
        ("POST", "/v1/notifications/{}/cancel", None),
        ("GET", "/v1/users/{}", None),
        ("PUT", "/v1/users/{}", {}),
        ("PUT", "/v1/users/alice/devices/{}", {"platform": "fcm"}),
        ("DELETE", "/v1/users/alice/devices/{}", None),
        ("POST", "/v1/api-keys/{}/revoke", None),
        ("GET", "/v1/templates/{}", None),
        ("DELETE", "/v1/templates/{}", None),
        ("POST", "/v1/templates/{}/preview", {"channel": "email"}),
        ("GET", "/v1/notification-types/{}", None),
        ("PUT", "/v1/notification-types/{}", {}),
        ("DELETE", "/v1/notification-types/{}", None),
        ("PATCH", "/v1/providers/{}", {"priority": 1}),
        ("DELETE", "/v1/providers/{}", None),
        ("DELETE", "/v1/suppressions/{}", None),
        ("PUT", "/v1/kv/orders/{}", {}),
        ("PUT", "/v1/kv/{}/1", {}),
        ("GET", "/v1/kv/{}", None),
        ("DELETE", "/v1/kv/{}/1", None),
        ("GET", "/v1/triggers/{}", None),
        ("PATCH", "/v1/triggers/{}", {"enabled": False}),
        ("DELETE", "/v1/triggers/{}", None),
    ],
)
def test_hostile_paths_never_reach_the_inside(world: World, api: Api, method: str, path: str, body: Any) -> None:
    world.add_user()

    for segment in SEGMENTS:
        answer = api.call(method, path.format(segment), body)

        assert answer.status < 500, (segment[:20], answer.text)
        assert not INSIDES.search(answer.text), segment[:20]


def test_a_device_token_as_long_as_promised_is_kept_or_refused_but_no_outage(world: World, api: Api) -> None:
    world.add_user()

    answer = api.put(f"/v1/users/alice/devices/{secrets.token_hex(2048)}", {"platform": "apns"})

    assert answer.status in (200, 201, 422), answer.text
