"""Domain events by queue and event bus: EventBridge's own envelopes, CloudEvents in them, and CloudEvents as messages."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from cloudevents.core.bindings.http import to_structured_event
from cloudevents.core.v1.event import CloudEvent

from tests.events import fan_out_all, outcomes, route
from tests.functions.doors import Api, Context, handler_of, intent, sqs_event
from tests.functions.readers import Reader
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.foundation import settings
from tocsin.intake import accept_messages
from tocsin.intake.admission import KeyInFlight
from tocsin.intake.cloud_events import MAX_DATA

pytestmark = pytest.mark.filterwarnings("ignore:No application metrics to publish")

DATA: dict[str, Any] = {"thread": {"kind": "issue", "id": "7"}, "actor": "bob", "mentions": ["alice"], "title": "Bob commented"}


def _deliver(*bodies: Any, first_id: int = 1) -> list[str]:
    """The ids that the queue shall deliver again."""
    answer = handler_of("intake_queue")(sqs_event(*bodies, first_id=first_id), Context())
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


def _cloud_event(**changes: Any) -> dict[str, Any]:
    """As the SDK writes it."""
    theirs = CloudEvent({"id": "e-1", "source": "/repos/7", "type": "issue.commented", "partitionkey": "7"}, dict(DATA))
    event: dict[str, Any] = json.loads(to_structured_event(theirs).body)
    return {name: value for name, value in (event | changes).items() if value is not ...}


def _bus_event(detail: Any = DATA, **changes: Any) -> dict[str, Any]:
    """What EventBridge puts on the queue."""
    event = {
        "version": "0",
        "id": "6a7e8feb-b491-4cf7-a9f1-bf3703467718",
        "detail-type": "issue.commented",
        "source": "com.example.tracker",
        "account": "123456789012",
        "time": "2026-11-15T10:00:00Z",
        "region": "eu-west-1",
        "resources": ["arn:aws:example"],
        "detail": detail,
    } | changes
    return {name: value for name, value in event.items() if value is not ...}


def _events(world: World) -> list[dict[str, Any]]:
    return world.rows("SELECT * FROM domain_events ORDER BY id")


def test_an_event_on_the_bus_is_a_domain_event_in_cloud_events_words(world: World) -> None:
    bob = world.add_user("bob")

    assert _deliver(_bus_event()) == []

    (event,) = _events(world)
    assert (event["source"], event["event_id"], event["type"]) == (
        "com.example.tracker",
        "6a7e8feb-b491-4cf7-a9f1-bf3703467718",
        "issue.commented",
    )
    assert (event["tenant_id"], event["mode"], event["actor_user_id"], event["data"]) == (TENANT, "live", bob, DATA)
    assert (event["occurred_at"], event["request_id"]) == (datetime(2026, 11, 15, 10, 0, tzinfo=UTC), "message-1")
    assert (event["thread_kind"], event["thread_id"]) == ("issue", "7")
    assert (world.count("records"), world.count("malformed_intents")) == (0, 0)


@pytest.mark.parametrize("body", [_bus_event(_cloud_event()), _cloud_event()], ids=["in a detail", "as a message"])
def test_a_cloud_event_keeps_its_own_words(world: World, body: dict[str, Any]) -> None:
    assert _deliver(body) == []

    (event,) = _events(world)
    assert (event["source"], event["event_id"], event["type"], event["data"]) == ("/repos/7", "e-1", "issue.commented", DATA)


def test_an_event_is_known_by_source_and_id_whatever_brings_it(world: World, api: Api) -> None:
    _deliver(_bus_event(), first_id=1)
    _deliver(_bus_event(), first_id=2)
    _deliver(_cloud_event(), first_id=3)
    _deliver(_bus_event(_cloud_event()), first_id=4)

    by_http = api.post("/v1/events", _cloud_event(), headers={"content-type": "application/cloudevents+json"})

    assert len(_events(world)) == 2
    assert by_http.json["status"] == "duplicate"
    assert world.count("malformed_intents") == 0


def test_only_a_new_event_wakes_the_fan_out(world: World) -> None:
    assert world.work_queue is not None

    _deliver(_bus_event())
    _deliver(_bus_event())

    assert [json.loads(body) for body in world.work_queue.bodies()] == [{"v": 1, "ids": [], "fanout": True}]


def test_an_event_from_the_bus_reaches_who_cares(world: World, api: Api) -> None:
    world.add_user("alice")
    world.add_user("bob")
    route(world, "issue.*", {"mention": ["in_app"]})

    _deliver(_bus_event())
    fan_out_all(world)

    assert outcomes(world) == [("notified", 1)]
    assert (Reader(api, "alice").titles(), Reader(api, "bob").titles()) == (["Bob commented"], [])


def test_an_intent_on_the_bus_is_still_an_intent(world: World) -> None:
    world.add_user()

    assert _deliver(_bus_event(intent(), **{"detail-type": "tocsin.intent"})) == []

    assert (world.count("records"), world.count("domain_events")) == (1, 0)


@pytest.mark.parametrize(
    "body",
    [
        _bus_event(DATA | {"tenant_id": str(OTHER_TENANT)}),
        _bus_event(_cloud_event(tenant_id=str(OTHER_TENANT))),
        _cloud_event(tenant_id=str(OTHER_TENANT)),
    ],
    ids=["detail", "cloud event in a detail", "cloud event"],
)
def test_an_event_may_name_another_tenant_that_exists(world: World, body: dict[str, Any]) -> None:
    world.add_tenant()

    assert _deliver(body) == []

    (event,) = _events(world)
    assert (event["tenant_id"], event["data"]) == (OTHER_TENANT, DATA)


MALFORMED: list[tuple[str, Any, str]] = [
    ("no id", _bus_event(id=...), "schema"),
    ("no source", _bus_event(source=...), "schema"),
    ("a type of many letters", _bus_event(**{"detail-type": "x" * 101}), "schema"),
    ("a type of no letters", _bus_event(**{"detail-type": ""}), "schema"),
    ("a detail that is a list", _bus_event([]), "schema"),
    ("a detail that is a word", _bus_event("word"), "schema"),
    ("mentions of another shape", _bus_event(DATA | {"mentions": "alice"}), "schema"),
    ("a link to nowhere", _bus_event(DATA | {"url": "javascript:alert(1)"}), "schema"),
    ("too much data", _bus_event({"text": "x" * MAX_DATA}), "too_large"),
    ("a tenant nobody knows", _bus_event(DATA | {"tenant_id": "00000000-0000-7000-8000-00000000000f"}), "unknown_tenant"),
    ("a tenant of another shape", _bus_event(DATA | {"tenant_id": 7}), "unknown_tenant"),
    ("an old version in a detail", _bus_event(_cloud_event(specversion="0.3")), "schema"),
    ("an old version", _cloud_event(specversion="0.3"), "schema"),
    ("no type", _cloud_event(type=...), "schema"),
    ("bytes", _cloud_event(data_base64="e30=", data=...), "schema"),
    ("text", _cloud_event(datacontenttype="text/plain"), "schema"),
    ("a time of no sense", _cloud_event(time="soon"), "schema"),
]


@pytest.mark.parametrize(("body", "code"), [one[1:] for one in MALFORMED], ids=[one[0] for one in MALFORMED])
def test_a_malformed_event_is_kept_with_its_reason_and_its_neighbours_go_on(world: World, body: Any, code: str) -> None:
    assert _deliver(_bus_event(id="first"), body, _cloud_event(id="third")) == []

    (kept,) = world.rows("SELECT * FROM malformed_intents")
    assert (kept["stream_entry_id"], kept["tenant_id"], kept["failure_code"]) == ("message-2", TENANT, code)
    assert kept["failure_message"]
    assert [event["event_id"] for event in _events(world)] == ["first", "third"]


def test_a_malformed_event_is_kept_as_it_came_and_once(world: World) -> None:
    for _ in range(3):
        assert _deliver(_bus_event(DATA | {"mentions": "alice"})) == []

    (kept,) = world.rows("SELECT * FROM malformed_intents")
    assert (kept["notification_type"], kept["raw_fields"]["data"]["mentions"]) == ("issue.commented", "alice")
    assert "/data/mentions" in kept["failure_message"]


def test_while_the_database_is_down_every_event_stays_on_the_queue(world: World, database_down: None) -> None:
    assert _deliver(_bus_event(), _cloud_event()) == ["message-1", "message-2"]

    assert (world.count("domain_events"), world.count("malformed_intents")) == (0, 0)


def test_an_event_in_flight_elsewhere_leaves_only_its_own_message_on_the_queue(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    record_events = accept_messages.record_events

    def second_is_in_flight(conn: Any, told: Any, **options: Any) -> Any:
        if told[0].event.id == "2":
            raise KeyInFlight
        return record_events(conn, told, **options)

    monkeypatch.setattr(accept_messages, "record_events", second_is_in_flight)

    assert _deliver(*(_cloud_event(id=str(n)) for n in (1, 2, 3))) == ["message-2"]
    assert (world.count("domain_events"), world.count("malformed_intents")) == (2, 0)


def test_without_a_default_tenant_an_event_that_names_none_ends_in_the_dead_letter_queue(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DEFAULT_TENANT_ID")
    settings.settings.cache_clear()

    assert _deliver(_bus_event(), _bus_event(DATA | {"tenant_id": str(TENANT)}, id="2")) == ["message-1"]
    assert [event["event_id"] for event in _events(world)] == ["2"]
