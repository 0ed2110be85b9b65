"""A trigger whose handler is a webhook: a signed POST, tried by the trigger's own policy, on a lane of the handler's own."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from devstack.post_office.letters import Reply, Silence
from tests.trigger_runs import Triggers, calling, server, telling_alice
from tests.unit.web_servers import Scripted, answering
from tests.world import TENANT, World
from tocsin.access import depth_tokens
from tocsin.access.audit import Actor
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.foundation import aws, secrets
from tocsin.intake import accept_intents
from tocsin.intake.admission import Sender
from tocsin.outbox.dispatch import dispatch
from tocsin.triggers import register
from tocsin.webhooks import signing_secrets

TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
def receiver() -> Iterator[Scripted]:
    with server() as receiver:
        yield receiver


def headers_of(asked: tuple[str, str, bytes, Any]) -> dict[str, str]:
    return {name.lower(): value for name, value in asked[3].items()}


def test_the_event_is_posted_signed_and_with_its_depth(world: World, triggers: Triggers, receiver: Scripted) -> None:
    trigger = triggers.register("kv", calling(f"{receiver.url}/hooks"))

    triggers.put("A-17", {"left": 3})
    triggers.run()

    ((method, path, body, _),) = receiver.asked
    headers = headers_of(receiver.asked[0])
    said = json.loads(body)
    assert (method, path, said["type"]) == ("POST", "/hooks", "trigger.kv")
    assert said["data"] == {
        "event": {"op": "insert", "collection": "stock", "key": "A-17", "value": {"left": 3}, "version": 1},
        "trigger_id": str(trigger.id),
        "handler_id": str(trigger.handler_id),
    }
    assert Webhook(triggers.signs[trigger.handler_id]).verify(body, headers) == said
    assert triggers.depth_in(headers[depth_tokens.HEADER.lower()]) == 1
    assert "traceparent" not in headers
    assert (world.count("outbox"), world.dead_letters()) == (0, [])


def test_a_deletion_has_no_value(world: World, triggers: Triggers, receiver: Scripted) -> None:
    triggers.put("A-17")
    triggers.register("kv", calling(receiver.url), ops=["delete"])

    triggers.delete("A-17")
    triggers.run()

    event = json.loads(receiver.asked[0][2])["data"]["event"]
    assert (event["op"], event["key"], event["value"]) == ("delete", "A-17", None)


def test_a_dead_letter_is_told_with_its_fields_and_goes_on_with_its_trace(
    world: World, triggers: Triggers, receiver: Scripted
) -> None:
    world.add_user()
    triggers.register("dead_letter", calling(receiver.url))
    world.email.answers.append(Failure(FailureClass.PERMANENT, "MessageRejected", "Address blacklisted."))
    asked = world.asked()
    sender = Sender(TENANT, "shop", "live", rate_subject="test", rate_limit=1_000)
    accept_intents.accept(world.app, [asked], sender=sender, request_id="r", trace_id=TRACE, window=timedelta(days=7))

    triggers.run(2)

    said = json.loads(receiver.asked[0][2])
    event = said["data"]["event"]
    (letter,) = world.dead_letters()
    assert said["type"] == "trigger.dead_letter"
    assert (event["id"], event["notification_id"]) == (str(letter["id"]), str(asked.notification_id))
    assert (event["source_kind"], event["channel"], event["recipient"]) == ("deliver", "email", "user:alice")
    assert (event["failure_classification"], event["provider_code"]) == ("permanent", "MessageRejected")
    assert event["created_at"].endswith("Z")
    assert headers_of(receiver.asked[0])["traceparent"].startswith(f"00-{TRACE}-")
    assert letter["resolution"] == "handled_by_script"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Reply(500, b"oops", "text/plain"), "500"),
        (Reply(404, b"", "text/plain"), "404"),
        (Reply(410, b"", "text/plain"), "410"),
        (Reply(302, b"", "text/plain", {"Location": "http://169.254.169.254/"}), "302"),
        (Silence.DROP, "bad_answer"),
    ],
)
def test_whatever_is_not_2xx_is_tried_again_with_the_same_id_and_body(
    answer: Reply | Silence, code: str, world: World, triggers: Triggers
) -> None:
    with answering(answer) as receiver:
        triggers.register("kv", calling(receiver.url), retry={"max_attempts": 3, "backoff": "linear", "base_ms": 1_000})
        triggers.put()
        for seconds in (1, 2, 0):
            triggers.run()
            triggers.later(seconds=seconds)

    headers = [headers_of(one) for one in receiver.asked]
    assert len(receiver.asked) == 3
    assert len({one["webhook-id"] for one in headers}) == 1
    assert len({one[2] for one in receiver.asked}) == 1
    (letter,) = world.dead_letters()
    assert (letter["failure_classification"], letter["final_attempt_count"]) == ("exhausted", 3)
    assert letter["provider_code"] in (code, "connection_closed")
    assert triggers.waiting() == []


def test_a_revoked_key_stops_webhooks_too(world: World, triggers: Triggers, receiver: Scripted) -> None:
    key = triggers.key()
    triggers.register("kv", calling(receiver.url), key=key)
    triggers.put()
    world.admin.execute("UPDATE api_keys SET is_active = false WHERE id = %s", [key.key_id])

    triggers.run()

    assert receiver.asked == []
    assert [one["failure_classification"] for one in world.dead_letters()] == ["principal_revoked"]


def test_an_answer_that_was_lost_with_its_worker_is_asked_for_again_with_the_same_id(
    world: World, triggers: Triggers, receiver: Scripted
) -> None:
    triggers.register("kv", calling(receiver.url))
    triggers.put()

    with patch("tocsin.triggers.call.settle", side_effect=SystemExit), pytest.raises(SystemExit):
        triggers.run()
    triggers.later(minutes=2)
    triggers.run()

    assert len({headers_of(one)["webhook-id"] for one in receiver.asked}) == 1
    assert (len(receiver.asked), world.count("outbox"), world.dead_letters()) == (2, 0, [])


def test_a_late_answer_changes_nothing_once_the_lease_is_anothers(world: World, triggers: Triggers, receiver: Scripted) -> None:
    triggers.register("kv", calling(receiver.url))
    triggers.put()
    worker = world.worker_policy()
    steal = "UPDATE outbox SET lease_token = gen_random_uuid() WHERE source_kind = 'trigger'"

    with patch.object(worker.calls, "settle", side_effect=_after(world, steal, worker.calls.settle)):
        dispatch(world.worker, world.due(), worker)

    assert len(triggers.waiting()) == 1


def _after(world: World, statement: str, settle: Any) -> Any:
    def late(*arguments: Any, **options: Any) -> Any:
        world.admin.execute(statement)  # type: ignore[call-overload]
        return settle(*arguments, **options)

    return late


def test_a_handler_that_keeps_failing_rests_and_what_waits_uses_no_try(world: World, triggers: Triggers) -> None:
    with server(500) as receiver:
        trigger = triggers.register("kv", calling(receiver.url), retry={"max_attempts": 5, "backoff": "constant"})
        for n in range(12):
            triggers.put(f"A-{n}")
        triggers.run()
        triggers.later(seconds=5)
        triggers.run()

    (lane,) = world.rows("SELECT * FROM lanes")
    assert (lane["lane"], lane["state"]) == (f"handler:{trigger.handler_id}", "broken")
    (event,) = world.system_events()
    assert (event["event_type"], event["tenant_id"]) == ("breaker_opened", TENANT)
    assert sum(one["attempt_count"] for one in triggers.waiting()) == len(receiver.asked) < 12

    with server() as receiver:
        world.admin.execute("UPDATE trigger_handlers SET config = config || jsonb_build_object('url', %s::text)", [receiver.url])
        for _ in range(12):
            triggers.later(minutes=1)
            triggers.run()

    assert len(receiver.asked) == 12
    assert (triggers.waiting(), world.dead_letters(), world.rows("SELECT * FROM lanes")) == ([], [], [])


def test_one_handlers_rest_keeps_no_other_waiting(world: World, triggers: Triggers, receiver: Scripted) -> None:
    with server(500) as broken:
        triggers.register("kv", calling(broken.url), collection_glob="broken")
        triggers.register("kv", calling(receiver.url), collection_glob="sound")
        for n in range(10):
            triggers.put(f"A-{n}", collection="broken")
        triggers.run()
        triggers.later(seconds=3)
        triggers.put(collection="sound")
        triggers.run()

    assert len(receiver.asked) == 1


def test_without_kms_or_the_secret_of_depth_a_run_waits_and_uses_no_try(
    world: World, triggers: Triggers, receiver: Scripted
) -> None:
    triggers.register("kv", calling(receiver.url), retry={"max_attempts": 1})
    triggers.put()
    signing_secrets.forget()

    with patch.object(aws.client("kms"), "decrypt", side_effect=TimeoutError):
        triggers.run()
    triggers.later(seconds=31)
    with patch.object(secrets, "known", side_effect=secrets.SecretUnavailable("TimeoutError")):
        triggers.run()
    assert (receiver.asked, [one["attempt_count"] for one in triggers.waiting()]) == ([], [0])
    triggers.later(seconds=31)
    triggers.run()

    assert (len(receiver.asked), triggers.waiting(), world.dead_letters()) == (1, [], [])


def test_the_workers_of_webhooks_run_those_whose_handlers_are_webhooks(
    world: World, triggers: Triggers, receiver: Scripted
) -> None:
    """And the other triggers have workers of their own, which no slow endpoint keeps waiting."""
    world.add_user()
    triggers.register("kv", calling(receiver.url))
    triggers.register("kv", telling_alice())
    triggers.put()
    assert sorted(one["queue"] for one in triggers.waiting()) == ["trigger", "webhook"]

    dispatch(world.worker, [], replace(world.worker_policy(), queue="webhook"))
    assert (len(receiver.asked), [one["queue"] for one in triggers.waiting()]) == (1, ["trigger"])
    dispatch(world.worker, [], replace(world.worker_policy(), queue="trigger"))

    assert (triggers.waiting(), world.count("records")) == ([], 1)


def test_a_secret_that_was_replaced_signs_too_for_a_day(world: World, triggers: Triggers, receiver: Scripted) -> None:
    key = triggers.key()
    trigger = triggers.register("kv", calling(receiver.url), key=key)
    rotated = register.rotate_secret(world.app, Actor(TENANT, "test"), key, trigger.id)
    assert rotated is not None

    triggers.put("A-17")
    triggers.run()
    triggers.later(hours=25)
    triggers.put("A-18")
    triggers.run()

    (both, alone), before = receiver.asked, triggers.signs[trigger.handler_id]
    for secret in (rotated.secret, before):
        Webhook(secret).verify(both[2], headers_of(both))
    assert len(headers_of(both)["webhook-signature"].split()) == 2
    assert len(headers_of(alone)["webhook-signature"].split()) == 1


def test_what_is_replaced_twice_signs_no_more(world: World, triggers: Triggers, receiver: Scripted) -> None:
    key = triggers.key()
    trigger = triggers.register("kv", calling(receiver.url), key=key)
    for _ in range(2):
        register.rotate_secret(world.app, Actor(TENANT, "test"), key, trigger.id)

    triggers.put("A-17")
    triggers.run()

    with pytest.raises(WebhookVerificationError):
        Webhook(triggers.signs[trigger.handler_id]).verify(receiver.asked[0][2], headers_of(receiver.asked[0]))
