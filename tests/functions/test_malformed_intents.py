"""Malformed intents by HTTP: what came by queue and could not be accepted, repaired and accepted, or put aside."""

import threading
from datetime import timedelta
from typing import Any

import pytest

from tests.functions.doors import Api, Context, handler_of, intent, sqs_event
from tests.operators import keep_malformed
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.access.audit import Actor
from tocsin.foundation.ids import uuid7
from tocsin.intake import accept_malformed
from tocsin.intake.admission import Sender

PATH = "/v1/malformed-intents"


@pytest.fixture
def other(world: World) -> Api:
    world.add_tenant()
    return Api(world.add_key("operate", tenant=OTHER_TENANT))


def _deliver(*bodies: Any) -> None:
    """As the intake queue does."""
    assert handler_of("intake_queue")(sqs_event(*bodies), Context()) == {"batchItemFailures": []}


def _only(api: Api) -> dict[str, Any]:
    (row,) = api.get(PATH).json["data"]
    return dict(row)


def test_what_could_not_be_accepted_is_listed_and_shown_with_all_that_came_in(world: World, api: Api) -> None:
    _deliver(intent(channels=["pigeon"]) | {"producer": "billing", "idempotency_key": "k-1"})

    row = _only(api)

    known = {
        "id": "message-1",
        "type": "order.shipped",
        "producer": "billing",
        "idempotency_key": "k-1",
        "failure_code": "schema",
    }
    assert row | known | {"resolution": None, "resolved_at": None, "notification_id": None} == row
    assert "/channels" in row["failure_message"]
    assert api.get(f"{PATH}/message-1").json["raw_fields"]["channels"] == ["pigeon"]


def test_what_is_repaired_keeps_its_copies_its_files_and_where_answers_go(world: World, api: Api) -> None:
    world.add_user()
    said = {
        "reply_to": "help@example.com",
        "cc": ["bob@example.com"],
        "attachments": [{"url": "https://files.example.com/a.pdf"}],
    }
    _deliver(intent() | said | {"cc": ["bob"]})

    refused = _only(api)["failure_message"]
    accepted = api.post(f"{PATH}/message-1/accept", intent() | said)

    assert "/cc/0" in refused
    assert accepted.status == 200
    kept = said | {"attachments": [{"url": "https://files.example.com/a.pdf", "filename": "a.pdf"}]}
    assert world.one("SELECT email_options FROM records") == kept


def test_what_lacked_a_user_is_accepted_as_it_came_once_there_is_one(world: World, api: Api) -> None:
    _deliver(intent() | {"producer": "billing", "idempotency_key": "k-1"})
    assert _only(api)["failure_code"] == "recipient_not_found"
    assert api.post(f"{PATH}/message-1/accept").json["errors"][0]["pointer"] == "/audience/user_ids/0"
    assert _only(api)["resolution"] is None
    world.add_user()

    accepted = api.post(f"{PATH}/message-1/accept")

    assert (accepted.status, accepted.json["resolution"]) == (200, "accepted")
    record = world.rows("SELECT * FROM records")[0]
    assert (record["producer"], record["idempotency_key"], record["mode"]) == ("billing", "k-1", "live")
    assert accepted.json["notification_id"] == str(record["notification_id"])
    assert [nudge.ids for nudge in world.nudges()][-1] == [record["notification_id"]]
    world.dispatch()
    assert len(world.email.accepted) == 1


def test_a_repaired_intent_is_accepted_under_the_messages_own_key(world: World, api: Api) -> None:
    world.add_user()
    _deliver(intent(channels=["pigeon"]))

    accepted = api.post(f"{PATH}/message-1/accept", intent())

    assert accepted.status == 200
    assert world.one("SELECT idempotency_key || ' ' || producer FROM records") == "message-1 queue"
    (row,) = world.rows("SELECT * FROM audit_logs WHERE resource_type = 'malformed_intent'")
    assert (row["action"], row["changes"]["new"]["is_repaired"]) == ("accept", True)
    assert accepted.json["resolved_by"] == row["actor"].removeprefix("key:")


def test_twice_is_once_whatever_the_second_one_says(world: World, api: Api) -> None:
    world.add_user()
    entry = keep_malformed(world, intent(channels=["pigeon"]))

    first = api.post(f"{PATH}/{entry}/accept", intent())
    second = api.post(f"{PATH}/{entry}/accept", intent(type="other") | {"idempotency_key": "another"})

    assert (first.status, second.status) == (200, 200)
    assert first.json == second.json
    assert world.count("records") == 1


def test_two_at_once_with_keys_of_their_own_send_once(world: World, api: Api) -> None:
    world.add_user()
    entry = keep_malformed(world, intent())
    holder = world.connect("postgres")
    ours: list[bool] = []

    def click(key: str) -> None:
        done = accept_malformed.accept_again(
            world.connect("tocsin_app"),
            world.asked(key=key),
            sender=Sender(TENANT, "billing", "live", "test", 1_000),
            request_id="r",
            trace_id="",
            window=timedelta(days=7),
            actor=Actor(TENANT, "key:test"),
            entry_id=entry,
            resolved_by=uuid7(),
            is_repaired=True,
        )
        assert isinstance(done, accept_malformed.Resolved)
        ours.append(done.is_ours)

    with holder.transaction():  # so that both are waiting before either goes on
        holder.execute("SELECT FROM malformed_intents FOR UPDATE")
        clicks = [threading.Thread(target=click, args=(key,)) for key in ("one", "two")]
        for one in clicks:
            one.start()
        while world.one("SELECT count(*) FROM pg_locks WHERE NOT granted") < 2:
            pass
    for one in clicks:
        one.join()

    assert sorted(ours) == [False, True]
    assert world.count("records") == 1


def test_what_is_still_wrong_stays_with_pointers_to_it(world: World, api: Api) -> None:
    entry = keep_malformed(world, intent(channels=["pigeon"]))

    for body in (None, intent(channels=["dove"]), intent() | {"nonsense": 1}, intent() | {"idempotency_key": ""}, []):
        assert api.post(f"{PATH}/{entry}/accept", body).status == 422
    assert api.post(f"{PATH}/{entry}/accept").json["errors"][0]["pointer"] == "/channels/0"
    assert _only(api)["resolution"] is None
    assert world.count("records") == 0


def test_a_message_of_which_only_the_beginning_was_kept_must_be_sent_anew(world: World, api: Api) -> None:
    world.add_user()
    _deliver("{" * 9_000)

    assert api.post(f"{PATH}/message-1/accept").status == 422
    assert api.post(f"{PATH}/message-1/accept", intent()).status == 200


def test_a_key_that_belongs_to_another_request_needs_a_new_one(world: World, api: Api) -> None:
    world.add_user()
    _deliver(
        intent() | {"idempotency_key": "k-1", "producer": "shop"},
        intent(type="b") | {"idempotency_key": "k-1", "producer": "shop"},
    )
    assert _only(api)["failure_code"] == "idempotency_conflict"

    assert api.post(f"{PATH}/message-2/accept").json["type"] == "/errors#idempotency-key-reused"
    assert api.post(f"{PATH}/message-2/accept", intent(type="b") | {"idempotency_key": "k-2"}).status == 200
    assert world.count("records") == 2


def test_an_event_from_the_bus_that_came_twice_is_repaired_twice_and_sent_once(world: World, api: Api) -> None:
    """EventBridge delivers at least once: two messages, one event, and so one key."""
    world.add_user()
    envelope = {
        "id": "bus-1",
        "source": "com.example.shop",
        "detail-type": "tocsin.intent",
        "detail": intent(channels=["pigeon"]),
    }
    _deliver(envelope, envelope)

    for entry in ("message-1", "message-2"):
        assert api.post(f"{PATH}/{entry}/accept", intent()).status == 200

    assert world.one("SELECT string_agg(idempotency_key || ' ' || producer, ', ') FROM records") == "bus-1 com.example.shop"


def test_what_names_another_tenant_does_not_become_ours_by_a_click(world: World, api: Api) -> None:
    world.add_user()
    _deliver(intent() | {"tenant_id": str(OTHER_TENANT)})
    assert _only(api)["failure_code"] == "unknown_tenant"

    refused = api.post(f"{PATH}/message-1/accept")

    assert (refused.status, refused.json["errors"][0]["pointer"]) == (422, "/tenant_id")
    assert world.count("records") == 0


def test_a_domain_event_is_repaired_as_one(world: World, api: Api) -> None:
    event = {"specversion": "1.0", "id": "e-1", "source": "/shop", "type": "order.paid", "data": {"title": "Paid"}}
    _deliver(event | {"data": {"thread": "A-17"}})

    accepted = api.post(f"{PATH}/message-1/accept", event)

    assert accepted.status == 200
    assert world.one("SELECT notification_id::text FROM domain_events") == accepted.json["notification_id"]


def test_what_is_put_aside_stays_so(world: World, api: Api) -> None:
    world.add_user()
    entry = keep_malformed(world, intent())

    done = api.post(f"{PATH}/{entry}/resolve", {"reason": "A test of ours."})

    assert (done.json["resolution"], done.json["resolution_reason"]) == ("ignored", "A test of ours.")
    assert api.post(f"{PATH}/{entry}/resolve", {"reason": "again"}).json == done.json
    assert api.post(f"{PATH}/{entry}/accept").status == 409
    assert world.count("records") == 0
    assert api.get("/v1/status").json["malformed_intents"]["count"] == 0


def test_a_test_key_does_not_swallow_what_came_live(world: World, api: Api) -> None:
    world.add_user()
    entry = keep_malformed(world, intent())

    refused = api.post(f"{PATH}/{entry}/accept", key=world.add_key("operate", mode="test"))

    assert (refused.status, refused.json["type"]) == (403, "/errors#live-key-required")


def test_nothing_of_it_is_another_tenants(world: World, api: Api, other: Api) -> None:
    world.add_user()
    entry = keep_malformed(world, intent())

    assert other.get(PATH).json["data"] == []
    assert other.get(f"{PATH}/{entry}").status == 404
    assert other.post(f"{PATH}/{entry}/accept").status == 404
    assert other.post(f"{PATH}/{entry}/resolve", {"reason": "x"}).status == 404
    assert _only(api)["resolution"] is None


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("failure_code=schema", ["a"]),
        ("producer=shop", ["b"]),
        ("type=b", ["b"]),
        ("idempotency_key=a", ["a"]),
        ("is_resolved=true", ["b"]),
        ("is_resolved=false", ["a"]),
        ("since=2020-01-01T00:00:00Z", ["b", "a"]),
        ("until=2020-01-01T00:00:00Z", []),
    ],
)
def test_filters_say_which(world: World, api: Api, query: str, found: list[str]) -> None:
    keep_malformed(world, {}, stream_entry_id="a")
    keep_malformed(world, {}, stream_entry_id="b", failure_code="too_large", producer="shop", notification_type="b")
    api.post(f"{PATH}/b/resolve", {"reason": "x"})

    assert [row["id"] for row in api.get(PATH, query=query).json["data"]] == found


def test_pages_follow_each_other(world: World, api: Api) -> None:
    for name in "abc":
        keep_malformed(world, {}, stream_entry_id=name)

    first = api.get(PATH, query="limit=2").json
    second = api.get(PATH, query=f"limit=2&cursor={first['next_cursor']}").json

    assert [row["id"] for row in first["data"] + second["data"]] == ["c", "b", "a"]
    assert second["next_cursor"] is None
