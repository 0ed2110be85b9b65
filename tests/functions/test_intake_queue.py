"""The intake queue: the same intents by message or event. Nothing is lost, nothing loops."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.functions.doors import Context, handler_of, intent, sqs_event
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.foundation import settings
from tocsin.intake import accept_messages
from tocsin.intake.admission import KeyInFlight

pytestmark = pytest.mark.filterwarnings("ignore:No application metrics to publish")


def _deliver(*bodies: Any, first_id: int = 1) -> list[str]:
    """The ids that the queue shall deliver again."""
    answer = handler_of("intake_queue")(sqs_event(*bodies, first_id=first_id), Context())
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


def _event(detail: Any, **changes: Any) -> dict[str, Any]:
    """What EventBridge puts on the queue."""
    return {
        "version": "0",
        "id": "6a7e8feb-b491-4cf7-a9f1-bf3703467718",
        "detail-type": "tocsin.intent",
        "source": "com.example.shop",
        "account": "123456789012",
        "time": "2026-11-15T10:00:00Z",
        "region": "eu-west-1",
        "resources": [],
        "detail": detail,
    } | changes


def _malformed(world: World) -> list[dict[str, Any]]:
    return world.rows("SELECT * FROM malformed_intents ORDER BY stream_entry_id")


def test_a_message_is_an_intent_of_the_default_tenant(world: World) -> None:
    world.add_user()

    assert _deliver(intent() | {"idempotency_key": "k-1", "producer": "billing"}) == []

    (record,) = world.rows("SELECT * FROM records")
    assert (record["tenant_id"], record["producer"], record["idempotency_key"]) == (TENANT, "billing", "k-1")
    assert (record["mode"], record["request_id"]) == ("live", "message-1")
    assert len(world.nudges()) == 1


def test_a_message_can_ask_for_the_sandbox(world: World) -> None:
    world.add_user()

    assert _deliver(intent(mode="test"), _event(intent(mode="test")), intent(mode="dry")) == []

    assert [row["mode"] for row in world.rows("SELECT mode FROM records")] == ["test", "test"]
    (row,) = _malformed(world)
    assert (row["failure_code"], "/mode" in row["failure_message"]) == ("schema", True)


def test_a_message_without_a_key_is_known_by_its_message_id(world: World) -> None:
    world.add_user()

    _deliver(intent())
    _deliver(intent())  # the queue delivers it again

    (record,) = world.rows("SELECT * FROM records")
    assert (record["idempotency_key"], record["producer"]) == ("message-1", "queue")
    assert _malformed(world) == []


def test_an_event_is_known_by_its_own_id_whatever_message_brings_it(world: World) -> None:
    world.add_user()

    _deliver(_event(intent()), first_id=1)
    _deliver(_event(intent()), first_id=2)

    (record,) = world.rows("SELECT * FROM records")
    assert (record["idempotency_key"], record["producer"]) == ("6a7e8feb-b491-4cf7-a9f1-bf3703467718", "com.example.shop")


def test_an_event_may_name_its_key_and_producer_itself(world: World) -> None:
    world.add_user()

    _deliver(_event(intent() | {"idempotency_key": "k-1", "producer": "billing"}))

    assert world.one("SELECT idempotency_key || ' ' || producer FROM records") == "k-1 billing"


def test_a_message_may_name_another_tenant_that_exists(world: World) -> None:
    world.add_tenant()
    world.add_user(tenant=OTHER_TENANT)

    _deliver(intent() | {"tenant_id": str(OTHER_TENANT)})

    assert world.one("SELECT tenant_id FROM records") == OTHER_TENANT


def test_the_same_intent_by_http_and_by_queue_is_one(world: World) -> None:
    world.add_user()
    world.accept(key="k-1")

    _deliver(intent() | {"idempotency_key": "k-1", "producer": "shop"})

    assert (world.count("records"), _malformed(world)) == (1, [])


def test_a_conflict_is_kept_for_a_person_to_see_and_the_first_stays(world: World) -> None:
    world.add_user()
    world.accept(key="k-1")

    assert _deliver(intent(type="other") | {"idempotency_key": "k-1", "producer": "shop"}) == []

    (kept,) = _malformed(world)
    assert (kept["failure_code"], kept["notification_type"], kept["producer"], kept["idempotency_key"]) == (
        "idempotency_conflict",
        "other",
        "shop",
        "k-1",
    )
    assert world.one("SELECT notification_type FROM records") == "order.shipped"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("", "invalid_json"),
        ("{", "invalid_json"),
        ("hello \x00 world", "invalid_json"),
        ('{"a": 1, "a": 2}', "invalid_json"),
        ('{"a": "\\u0000"}', "invalid_json"),
        ("[" * 100_000, "invalid_json"),
        ("[]", "schema"),
        ("7", "schema"),
        ({}, "schema"),
        (intent(type=""), "schema"),
        (intent(nonsense=1), "schema"),
        (intent(send_at="2999-01-01T00:00:00Z"), "schema"),
        (intent(occurred_at="0001-01-01T00:00:00+01:00"), "schema"),
        (intent(occurred_at="9999-12-31T23:59:59-01:00"), "schema"),
        (intent() | {"idempotency_key": 7}, "schema"),
        (intent() | {"idempotency_key": ""}, "schema"),
        (intent() | {"idempotency_key": "x" * 256}, "schema"),
        (intent() | {"producer": "x" * 101}, "schema"),
        (intent() | {"producer": 7}, "schema"),
        (intent(audience={"kind": "users", "user_ids": ["stranger"]}), "recipient_not_found"),
        (intent() | {"tenant_id": "00000000-0000-7000-8000-00000000000f"}, "unknown_tenant"),
        (intent() | {"tenant_id": "nonsense"}, "unknown_tenant"),
        (intent() | {"tenant_id": 7}, "unknown_tenant"),
        ({"detail-type": "tocsin.intent", "detail": "a string"}, "schema"),
        (_event(intent(type="")), "schema"),
        (intent(payload={"text": "x" * 262_144}), "too_large"),
    ],
    ids=lambda value: None if isinstance(value, str) and len(value) < 40 else "body",
)
def test_what_cannot_be_accepted_is_kept_with_its_reason_and_its_neighbours_go_on(world: World, body: Any, code: str) -> None:
    world.add_user()

    assert _deliver(intent(), body, intent()) == []

    (kept,) = _malformed(world)
    assert (kept["stream_entry_id"], kept["failure_code"], kept["tenant_id"]) == ("message-2", code, TENANT)
    assert kept["failure_message"]
    assert len(json.dumps(kept["raw_fields"])) < 60_000
    assert world.count("records") == 2


def test_a_malformed_message_delivered_again_is_kept_once(world: World) -> None:
    for _ in range(3):
        assert _deliver("{") == []

    assert len(_malformed(world)) == 1


def test_what_came_in_is_kept_whole_when_it_is_small_and_by_its_beginning_when_not(world: World) -> None:
    _deliver({"type": "x", "unknown": True}, {"type": "y", "payload": "z" * 10_000})

    small, large = (kept["raw_fields"] for kept in _malformed(world))
    assert small == {"type": "x", "unknown": True}
    assert large["length"] > 10_000
    assert len(large["beginning"]) <= 8192


def test_while_the_database_is_down_every_message_stays_on_the_queue_and_nothing_is_recorded(
    world: World, database_down: None, outages: Callable[[], list[str]]
) -> None:
    assert _deliver(intent(), "{", intent()) == ["message-1", "message-2", "message-3"]
    assert outages() == ["refused"] * 3

    assert (world.count("records"), world.count("malformed_intents")) == (0, 0)


def test_a_key_in_flight_elsewhere_leaves_only_its_own_message_on_the_queue(world: World, monkeypatch: Any) -> None:
    world.add_user()
    accept = accept_messages.accept

    def second_is_in_flight(conn: Any, asked: Any, **options: Any) -> Any:
        if asked[0].idempotency_key == "message-2":
            raise KeyInFlight
        return accept(conn, asked, **options)

    monkeypatch.setattr(accept_messages, "accept", second_is_in_flight)

    assert _deliver(intent(), intent(), intent()) == ["message-2"]
    assert (world.count("records"), world.count("malformed_intents")) == (2, 0)


def test_without_a_default_tenant_a_message_that_names_none_ends_in_the_dead_letter_queue(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DEFAULT_TENANT_ID")
    settings.settings.cache_clear()

    assert _deliver(intent()) == ["message-1"]
    assert world.count("records") == 0
