"""Status webhooks on the wire: what a receiver gets, and what becomes of each answer it may give."""

import json
from typing import Any
from uuid import UUID

import pytest

from devstack.post_office.letters import Reply, Silence
from tests.unit.web_servers import nobody
from tests.webhooks import Receiver, add_hook, call_hooks, deliveries, delivery, status, tell
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access.audit import Actor
from tocsin.foundation import settings
from tocsin.store.webhook_deliveries import WebhookDelivery
from tocsin.webhooks import redeliver, register
from tocsin.webhooks.register import WebhookChange

ACTOR = Actor(TENANT, "key:test")


def test_a_hook_is_told_and_its_receiver_can_verify_it(world: World, receiver: Receiver) -> None:
    hook = add_hook(world, receiver.url)

    tell(world)
    call_hooks(world)

    (event,) = receiver.events(hook.secret)
    assert event["type"] == "notification.published"
    assert event["data"]["notification_id"] == str(world.one("SELECT notification_id FROM records"))
    assert (event["data"]["mode"], event["data"]["status"], event["data"]["channel"]) == ("live", "published", "email")
    (asked,) = receiver.heard
    assert (asked["method"], asked["path"]) == ("POST", "/hook")
    assert asked["body"] == json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode()
    assert list(event) == ["type", "timestamp", "data"]
    assert (asked["headers"]["content-type"], asked["headers"]["user-agent"]) == ("application/json", "Tocsin-Webhooks")
    assert "traceparent" not in asked["headers"]
    row = delivery(world)
    assert (row["status"], row["attempt_count"], row["response_status"], row["error"]) == ("delivered", 1, 204, "")
    assert row["duration_ms"] >= 0
    assert row["delivered_at"] is not None
    assert row["next_retry_at"] is None
    assert receiver.ids == [f"msg_{row['message_id'].hex}"]
    assert world.count("outbox") == 0
    assert world.one("SELECT last_success_at FROM webhooks") is not None


def test_a_trace_goes_on_with_a_span_of_its_own_for_each_call(world: World, receiver: Receiver) -> None:
    add_hook(world, receiver.url)
    add_hook(world, receiver.url)
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    tell(world)
    world.admin.execute("UPDATE webhook_deliveries SET trace_id = %s", [trace])

    call_hooks(world)

    parents = {one["headers"]["traceparent"] for one in receiver.heard}
    assert len(parents) == 2
    assert all(parent.startswith(f"00-{trace}-") and parent.endswith("-01") and len(parent) == 55 for parent in parents)


@pytest.mark.parametrize("code", [200, 201, 202, 204, 299])
def test_every_2xx_is_a_success(code: int, world: World, receiver: Receiver) -> None:
    add_hook(world, receiver.url)
    receiver.answers.append(status(code))

    tell(world)
    call_hooks(world)

    assert (delivery(world)["status"], delivery(world)["response_status"]) == ("delivered", code)


@pytest.mark.parametrize("code", [301, 302, 307, 400, 401, 404, 409, 422, 429, 500, 502, 503])
def test_every_other_answer_is_a_failure_that_is_tried_again(code: int, world: World, receiver: Receiver) -> None:
    add_hook(world, receiver.url)
    receiver.answers.append(status(code, "not now", Location=receiver.url))

    tell(world)
    call_hooks(world)

    row = delivery(world)
    assert (row["status"], row["attempt_count"], row["response_status"]) == ("pending", 1, code)
    assert (row["error"], row["response_body"]) == ("status", "not now")
    assert row["next_retry_at"] == world.one("SELECT due_at FROM outbox")
    assert len(receiver.heard) == 1, "a redirect was followed"


@pytest.mark.parametrize(("silence", "error"), [(Silence.DROP, "connection_closed"), (Silence.HANG, "timeout")])
def test_no_answer_is_a_failure_that_says_why(silence: Silence, error: str, world: World, receiver: Receiver) -> None:
    add_hook(world, receiver.url, timeout_seconds=1)
    receiver.answers.append(silence)

    tell(world)
    call_hooks(world)

    row = delivery(world)
    assert (row["status"], row["attempt_count"], row["response_status"], row["error"]) == ("pending", 1, None, error)


def test_nobody_at_the_address_is_a_failure_too(world: World, receiver: Receiver) -> None:
    add_hook(world, nobody())

    tell(world)
    call_hooks(world)

    assert (delivery(world)["status"], delivery(world)["error"]) == ("pending", "connection_refused")


def test_an_address_that_leads_inside_is_not_called(world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hook was made where that was allowed, or its name leads elsewhere now."""
    add_hook(world, receiver.url)
    monkeypatch.setenv("ALLOW_PRIVATE_DESTINATIONS", "false")
    settings.settings.cache_clear()

    tell(world)
    call_hooks(world)

    assert (delivery(world)["status"], delivery(world)["error"], receiver.heard) == ("pending", "denied_url", [])


@pytest.mark.parametrize(
    ("body", "headers", "kept"),
    [
        (b"x" * 5_000, {}, "x" * 2_000),
        ("\u00e9".encode() * 3_000, {}, "\u00e9" * 2_000),
        (b"a\x00b\x1b[31mred\x07", {}, "ab[31mred"),
        (b"line 1\nline 2\tend", {}, "line 1\nline 2\tend"),
        (b"\xff\xfe broken", {}, "\ufffd\ufffd broken"),
        (b"\x1f\x8b compressed", {"Content-Encoding": "gzip"}, ""),
    ],
)
def test_the_answer_is_kept_as_text_that_a_log_can_show(
    body: bytes, headers: dict[str, str], kept: str, world: World, receiver: Receiver
) -> None:
    add_hook(world, receiver.url)
    receiver.answers.append(Reply(500, body, "text/plain", headers))

    tell(world)
    call_hooks(world)

    assert delivery(world)["response_body"] == kept


def test_what_was_answered_last_is_what_the_log_shows(world: World, receiver: Receiver) -> None:
    add_hook(world, receiver.url)
    receiver.answers.extend([status(500, "broken"), status(200, "thanks")])
    tell(world)
    call_hooks(world)
    world.pass_time(world.one("SELECT due_at - tocsin_now() FROM outbox"))

    call_hooks(world)

    row = delivery(world)
    assert (row["status"], row["attempt_count"], row["response_status"]) == ("delivered", 2, 200)
    assert (row["response_body"], row["error"]) == ("thanks", "")
    assert len(set(receiver.ids)) == 1


def test_a_test_event_reaches_a_hook_that_wants_other_events_and_is_tried_once(world: World, receiver: Receiver) -> None:
    hook = add_hook(world, receiver.url, events=["notification.complained"])
    receiver.answers.append(status(500))

    sent = redeliver.send_test(world.app, ACTOR, hook.id)
    call_hooks(world)

    (event,) = receiver.events(hook.secret)
    assert (event["type"], event["data"]) == ("webhook.test", {"webhook_id": str(hook.id)})
    assert isinstance(sent, WebhookDelivery)
    assert (sent.id, delivery(world)["status"], delivery(world)["response_status"]) == (delivery(world)["id"], "failed", 500)
    assert (world.dead_letters(), world.count("outbox")) == ([], 0)


def test_a_redelivery_is_the_same_message_once_more(world: World, receiver: Receiver) -> None:
    hook = add_hook(world, receiver.url)
    tell(world)
    call_hooks(world)
    world.pass_time(world.one("SELECT interval '3 hours'"))

    clone = redeliver.redeliver(world.app, ACTOR, delivery(world)["id"])
    call_hooks(world)

    first, second = deliveries(world)
    assert isinstance(clone, WebhookDelivery)
    assert (clone.id, second["redelivery_of"], second["status"]) == (second["id"], first["id"], "delivered")
    assert receiver.ids[0] == receiver.ids[1]
    assert receiver.heard[0]["body"] == receiver.heard[1]["body"]
    assert len(receiver.events(hook.secret)) == 2
    assert (second["notification_id"], second["event_type"]) == (first["notification_id"], first["event_type"])


def test_a_receiver_that_takes_each_message_once_hears_a_lost_answer_and_a_redelivery_only_once(
    world: World, receiver: Receiver
) -> None:
    """It takes the message, and its answer is lost; then it is told again, by the schedule and by hand."""
    add_hook(world, receiver.url)
    receiver.answers.append(Silence.DROP)
    tell(world)
    call_hooks(world)
    world.pass_time(world.one("SELECT due_at - tocsin_now() FROM outbox"))
    call_hooks(world)
    redeliver.redeliver(world.app, ACTOR, delivery(world)["id"])
    call_hooks(world)

    taken: dict[str, Any] = {}
    for message in receiver.heard:
        taken.setdefault(message["headers"]["webhook-id"], message["body"])

    assert (len(receiver.heard), len(taken)) == (3, 1)


def test_a_disabled_hooks_deliveries_end_and_are_no_dead_letters(world: World, receiver: Receiver) -> None:
    hook = add_hook(world, receiver.url)
    tell(world)
    register.change(world.app, ACTOR, hook.id, WebhookChange(is_active=False))

    call_hooks(world)

    row = delivery(world)
    assert (row["status"], row["error"], row["attempt_count"]) == ("failed", "disabled", 0)
    assert (receiver.heard, world.count("outbox"), world.dead_letters()) == ([], 0, [])


def test_the_work_of_a_hook_that_was_deleted_ends_without_a_trace(world: World, receiver: Receiver) -> None:
    hook = add_hook(world, receiver.url)
    tell(world)
    register.remove(world.app, ACTOR, hook.id)

    call_hooks(world)

    assert (world.count("webhook_deliveries"), world.count("outbox"), world.dead_letters()) == (0, 0, [])
    assert receiver.heard == []


def test_each_tenants_hooks_hear_of_its_own_notifications_only(world: World, receiver: Receiver) -> None:
    world.add_tenant()
    world.add_user("alice", tenant=OTHER_TENANT, email="other@example.com")
    ours = add_hook(world, f"{receiver.url}/ours")
    theirs = add_hook(world, f"{receiver.url}/theirs", tenant=OTHER_TENANT)

    tell(world)
    tell(world, tenant=OTHER_TENANT)
    call_hooks(world)

    whose = {row["notification_id"]: row["tenant_id"] for row in world.rows("SELECT notification_id, tenant_id FROM records")}
    told = {one["path"]: json.loads(one["body"])["data"]["notification_id"] for one in receiver.heard}
    assert {path: whose[UUID(one)] for path, one in told.items()} == {"/hook/ours": TENANT, "/hook/theirs": OTHER_TENANT}
    assert ours.secret != theirs.secret
