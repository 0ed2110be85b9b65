"""The service through its own front door: HTTP in, the post office's ledger out."""

import json
from uuid import uuid4

import psycopg
import pytest

from devstack.launch import RunningStack
from tests.e2e.client import Client, wait_for
from tests.frozen import frozen


@pytest.fixture
def client(running_stack: RunningStack) -> Client:
    return Client.of(running_stack)


def test_an_intent_to_a_user_reaches_every_channel_and_explains_itself(client: Client) -> None:
    name = f"u{uuid4().hex[:8]}"
    client.call("PUT", f"/v1/users/{name}", {"email": f"{name}@example.com", "phone": "+14155550123"})
    client.call("PUT", f"/v1/users/{name}/devices/token-{name}", {"platform": "fcm"})

    sent = client.send(
        type="order.shipped",
        audience={"kind": "users", "user_ids": [name]},
        channels=["email", "sms", "push", "in_app"],
        payload={"title": "Shipped", "message": "On its way."},
    )
    found = client.finished(sent)

    assert {route["channel"]: route["status"] for route in found["routes"]} == dict.fromkeys(
        ("email", "sms", "push", "in_app"), "published"
    )
    (mail,) = client.mails_to(f"{name}@example.com")
    words = mail["text"].partition("\n\n-- \n")[0]  # what follows is of the brand, which others of this stack set
    assert (mail["subject"], words) == ("Shipped", "On its way.")
    assert mail["tags"]["tocsin_attempt"] == "1-1"
    assert client.call("GET", f"/v1/inbox/unread-count?user_id={name}").body == {"unread": 1, "unseen": 1, "capped": False}
    assert found["timeline"][0]["what"] == "accepted"


def test_the_stack_finds_aws_in_order_by_what_its_role_may_ask(client: Client) -> None:
    found = client.call("GET", "/v1/diagnostics").body
    states = {check["name"]: check["state"] for check in found["checks"]}

    assert len(states) == 10
    assert "unknown" not in states.values(), found
    assert {states[name] for name in ("database", "migrations", "clock", "ses_account", "ses_identity")} == {"ok"}, found


def test_a_repeated_request_is_answered_alike_and_sent_once(client: Client) -> None:
    address, key = f"{uuid4().hex}@example.com", uuid4().hex
    intent = {"type": "note", "audience": {"kind": "address", "email": address}, "payload": {"title": "Once"}}

    first = client.call("POST", "/v1/intents", intent, Idempotency_Key=key)
    again = client.call("POST", "/v1/intents", intent, Idempotency_Key=key)
    other = client.call("POST", "/v1/intents", intent | {"type": "else"}, Idempotency_Key=key)

    assert (first.status, again.status, other.status) == (202, 202, 422)
    assert again.body == first.body
    assert again.headers["idempotency-replayed"] == "true"
    assert other.body["type"] == "/errors#idempotency-key-reused"
    client.finished(first.body["notification_id"])
    assert len(client.mails_to(address)) == 1


def test_a_frozen_database_is_503_in_time_and_the_same_request_is_accepted_once_afterwards(client: Client) -> None:
    address, key = f"{uuid4().hex}@example.com", uuid4().hex
    intent = {"type": "note", "audience": {"kind": "address", "email": address}, "payload": {"title": "Once"}}
    postgres = [process.pid for process in client.stack.processes() if process.name() == "postgres"]
    assert postgres

    with frozen(*postgres):
        refused = client.call("POST", "/v1/intents", intent, Idempotency_Key=key)
    accepted, again = (client.call("POST", "/v1/intents", intent, Idempotency_Key=key) for _ in range(2))

    assert (refused.status, refused.body["type"]) == (503, "/errors#unavailable")
    assert int(refused.headers["retry-after"]) >= 1
    assert (accepted.status, again.status) == (202, 202)
    assert again.body["notification_id"] == accepted.body["notification_id"]


def test_a_provider_that_is_down_is_tried_again_and_then_becomes_a_dead_letter_that_says_what_to_do(client: Client) -> None:
    address = f"down-{uuid4().hex[:8]}@example.com"
    client.post_office("PUT", "/_faults", {"channel": "email", "mode": "unavailable", "times": None, "match": address})
    try:
        sent = client.send(
            type="note",
            audience={"kind": "address", "email": address},
            payload={"title": "Hello"},
            retry={"max_attempts": 2, "backoff": "constant", "base_ms": 200},
        )
        (route,) = client.finished(sent)["routes"]
    finally:
        client.post_office("DELETE", "/_faults")

    assert (route["status"], route["reason"], route["attempt_count"]) == ("dead_letter", "exhausted", 2)
    assert [attempt["outcome"] for attempt in route["attempts"]] == ["transient", "transient"]
    assert "replay" in route["dead_letter"]["recovery_hint"]
    assert client.mails_to(address) == []


def test_intents_by_queue_and_by_event_are_accepted_and_bad_ones_are_kept(client: Client) -> None:
    mark = uuid4().hex[:8]
    sqs, events = client.aws("sqs"), client.aws("events")
    queue = next(url for url in sqs.list_queues()["QueueUrls"] if url.endswith("-intake"))
    bus = next(bus["Name"] for bus in events.list_event_buses()["EventBuses"] if bus["Name"] != "default")

    def intent(way: str) -> dict[str, object]:
        return {"type": "note", "audience": {"kind": "address", "email": f"{way}-{mark}@example.com"}, "payload": {"title": way}}

    sqs.send_message(QueueUrl=queue, MessageBody=json.dumps(intent("queue") | {"idempotency_key": f"q-{mark}"}))
    sqs.send_message(QueueUrl=queue, MessageBody=json.dumps({"type": f"bad-{mark}"}))
    events.put_events(
        Entries=[{"EventBusName": bus, "Source": "shop", "DetailType": "tocsin.intent", "Detail": json.dumps(intent("event"))}]
    )

    for way in ("queue", "event"):
        address = f"{way}-{mark}@example.com"
        wait_for(lambda address=address: client.mails_to(address), lambda mails: len(mails) == 1)  # type: ignore[misc]
    with psycopg.connect(client.stack.dev["database_url"], autocommit=True) as conn:
        query = "SELECT failure_code, failure_message FROM malformed_intents WHERE notification_type = %s"
        kept = wait_for(lambda: conn.execute(query, [f"bad-{mark}"]).fetchone(), bool)
    assert kept[0] == "schema"
    assert "/audience is required" in kept[1]


def test_what_is_cancelled_before_its_time_never_goes_out(client: Client) -> None:
    address = f"{uuid4().hex}@example.com"
    sent = client.send(
        type="later",
        audience={"kind": "address", "email": address},
        payload={"title": "Later"},
        send_at="2027-06-01T09:00:00Z",
    )

    cancelled = client.call("POST", f"/v1/notifications/{sent}/cancel")

    assert cancelled.status == 200
    (route,) = client.finished(sent)["routes"]
    assert (route["status"], route["reason"]) == ("cancelled", "cancelled")
    assert client.mails_to(address) == []


@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status", "kind"),
    [
        ("POST", "/v1/intents", b"{", {"Idempotency_Key": "k"}, 400, "invalid-json"),
        ("POST", "/v1/intents", b"{}", {"Idempotency_Key": "k", "Content_Type": "text/plain"}, 415, "unsupported-media-type"),
        ("POST", "/v1/intents", b"[" + b" " * 300_000 + b"]", {"Idempotency_Key": "k"}, 413, "too-large"),
        ("POST", "/v1/intents", {}, {}, 400, "idempotency-key-required"),
        ("POST", "/v1/intents", {"type": "x"}, {"Idempotency_Key": "k"}, 422, "invalid-request"),
        ("POST", "/v1/intents", {}, {"Authorization": "Bearer nonsense"}, 401, "unauthorized"),
        ("GET", "/v1/api-keys", None, {}, 403, "forbidden"),
        ("GET", "/v1/nowhere", None, {}, 404, "not-found"),
        ("DELETE", "/v1/intents", None, {}, 405, "method-not-allowed"),
        ("GET", "/v1/notifications/00000000-0000-7000-8000-0000000000ff", None, {}, 404, "not-found"),
    ],
)
def test_every_mistake_gets_a_problem_that_names_it(
    client: Client, method: str, path: str, body: object, headers: dict[str, str], status: int, kind: str
) -> None:
    answer = client.call(method, path, body, **headers)

    assert (answer.status, answer.body["type"]) == (status, f"/errors#{kind}")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.body["request_id"] == answer.headers["x-request-id"]
