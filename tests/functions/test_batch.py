"""POST /v1/intents/batch: many intents in one transaction, an answer for each."""

from typing import Any

import pytest

from tests.functions.doors import Api, intent
from tests.functions.test_problems import assert_problem
from tests.world import World


def _item(key: str, **changes: Any) -> dict[str, Any]:
    return intent(**changes) | {"idempotency_key": key}


def test_a_batch_is_answered_item_by_item_in_order_and_one_bad_item_spoils_nothing(world: World, api: Api) -> None:
    world.add_user()
    items = [
        _item("a"),
        _item("b", type=""),
        "not even an object",
        _item("c", audience={"kind": "users", "user_ids": ["stranger"]}),
        _item("d"),
    ]

    answer = api.post("/v1/intents/batch", {"intents": items})

    results = answer.json["results"]
    assert answer.status == 200
    assert [(one["idempotency_key"], one["status"]) for one in results] == [
        ("a", 202), ("b", 422), (None, 422), ("c", 422), ("d", 202),
    ]  # fmt: skip
    assert results[1]["problem"]["errors"][0]["pointer"] == "/type"
    assert results[3]["problem"]["type"] == "/errors#unknown-users"
    assert {one["problem"]["request_id"] for one in results if "problem" in one} == {answer.headers["X-Request-Id"]}
    stored = world.rows("SELECT notification_id, idempotency_key FROM records")
    assert {(row["idempotency_key"], str(row["notification_id"])) for row in stored} == {
        (one["idempotency_key"], one["notification_id"]) for one in results if one["status"] == 202
    }


def test_a_batch_sent_twice_is_replayed(world: World, api: Api) -> None:
    world.add_user()
    first = api.post("/v1/intents/batch", {"intents": [_item("a"), _item("b")]})

    again = api.post("/v1/intents/batch", {"intents": [_item("b"), _item("c"), _item("a", type="changed")]})

    statuses = [(one["status"], one.get("replayed", False)) for one in again.json["results"]]
    assert statuses == [(202, True), (202, False), (422, False)]
    assert again.json["results"][0]["notification_id"] == first.json["results"][1]["notification_id"]
    assert again.json["results"][2]["problem"]["type"] == "/errors#idempotency-key-reused"


def test_an_intent_sent_alone_and_again_in_a_batch_is_one(world: World, api: Api) -> None:
    world.add_user()
    alone = api.send(idempotency_key="a")

    answer = api.post("/v1/intents/batch", {"intents": [_item("a")]})

    assert answer.json["results"] == [
        {"idempotency_key": "a", "status": 202, "notification_id": alone.json["notification_id"], "replayed": True}
    ]


def test_a_batch_counts_each_intent_against_the_limit(world: World, api: Api) -> None:
    world.add_user()

    answer = api.post("/v1/intents/batch", {"intents": [_item(str(n)) for n in range(30)]})

    assert answer.headers["RateLimit"].startswith('"intents";r=5970;')


def test_a_batch_above_the_limit_is_429_and_a_smaller_one_may_still_pass(world: World, api: Api) -> None:
    world.add_user()
    world.admin.execute("UPDATE api_keys SET rate_limit = 5")

    refused = api.post("/v1/intents/batch", {"intents": [_item(str(n)) for n in range(6)]})
    passed = api.send()

    assert_problem(refused, 429, "rate-limited")
    assert (passed.status, world.count("records")) == (202, 1)


@pytest.mark.parametrize(
    "body",
    [{}, {"intents": []}, {"intents": {}}, {"intents": [1] * 501}, [], {"intents": [{}], "more": 1}, None],
)
def test_a_batch_of_another_shape_is_422(world: World, api: Api, body: Any) -> None:
    answer = api.post("/v1/intents/batch", "null" if body is None else body)

    assert_problem(answer, 422, "invalid-request")


@pytest.mark.parametrize("key", [None, 7, "", "x" * 256, "ключ", "a\nb"])
def test_an_item_without_a_usable_key_is_refused_alone(world: World, api: Api, key: Any) -> None:
    world.add_user()

    answer = api.post("/v1/intents/batch", {"intents": [intent() | {"idempotency_key": key}, _item("good")]})

    assert [one["status"] for one in answer.json["results"]] == [422, 202]
    assert answer.json["results"][0]["problem"]["errors"][0]["pointer"] == "/idempotency_key"


def test_a_batch_of_only_bad_items_stores_nothing_and_is_still_answered(world: World, api: Api) -> None:
    answer = api.post("/v1/intents/batch", {"intents": [{}, {}]})

    assert (answer.status, [one["status"] for one in answer.json["results"]]) == (200, [422, 422])
    assert world.count("records") == 0


def test_each_item_of_a_batch_has_its_own_mode(world: World, api: Api) -> None:
    world.add_user()
    items = [_item("a", mode="test"), _item("b"), _item("c", mode="live")]

    live = api.post("/v1/intents/batch", {"intents": items}).json["results"]
    tester = world.add_key("send", mode="test", producer="tests")
    test = api.post("/v1/intents/batch", {"intents": items}, key=tester).json["results"]

    modes = {(row["producer"], row["idempotency_key"]): row["mode"] for row in world.rows("SELECT * FROM records")}
    assert [one["status"] for one in live] == [202, 202, 202]
    assert [one["status"] for one in test] == [202, 202, 422]
    assert test[2]["problem"]["errors"][0]["pointer"] == "/mode"
    assert modes == {
        ("shop", "a"): "test", ("shop", "b"): "live", ("shop", "c"): "live", ("tests", "a"): "test", ("tests", "b"): "test",
    }  # fmt: skip
