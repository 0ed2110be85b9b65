"""SQS loses, repeats, reorders and garbles: Postgres is the truth, so nothing changes but the time it takes."""

import json
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from tests.crash import invariants
from tests.crash.site import Site, barrier
from tests.crash.traffic import ENDS, MESSAGES, post_intent


def test_when_every_nudge_is_lost_the_sweep_finishes_everything(site: Site) -> None:
    accept(site, 3)
    assert site.messages()
    site.world.pass_time(timedelta(seconds=31))
    assert site.invoke("sweep", {}).answer == {"nudged": 3, "depth": 3}
    assert site.messages(), "the first nudge of the sweep, lost as well"

    site.recover()

    assert_healthy(site, 3)


def test_when_every_message_comes_three_times_each_route_is_sent_once(site: Site) -> None:
    accept(site, 2)

    site.recover(copies=3)

    assert_healthy(site, 2)


def test_when_three_workers_get_the_same_message_at_once_each_route_is_sent_once(site: Site) -> None:
    accept(site, 2)
    event, start = {"Records": site.messages()}, barrier(3)

    endings = [site.start("dispatch", event, before=partial(start.wait, 30)) for _ in range(3)]

    assert [ending().answer for ending in endings] == [{"batchItemFailures": []}] * 3
    site.recover()
    assert_healthy(site, 2)


def test_when_messages_come_late_and_in_reverse_the_ends_are_the_same(site: Site) -> None:
    accept(site, 4)
    late = list(reversed(site.messages()))
    site.world.pass_time(timedelta(minutes=10))

    for message in late:
        assert site.invoke("dispatch", {"Records": [message]}).answer == {"batchItemFailures": []}

    assert site.world.due() == []
    assert_healthy(site, 4)


def test_a_nudge_for_work_that_is_done_is_acknowledged_and_does_nothing(site: Site) -> None:
    accept(site, 1)
    messages = site.messages()
    site.recover()

    assert site.invoke("dispatch", {"Records": messages}).answer == {"batchItemFailures": []}

    assert_healthy(site, 1)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "not json",
        "null",
        "[]",
        "{}",
        '{"v": 2, "ids": []}',
        '{"v": 1}',
        '{"v": 1, "ids": null}',
        '{"v": 1, "ids": "x"}',
        '{"v": 1, "ids": [1]}',
        '{"v": 1, "ids": ["not-an-id"]}',
        '{"v": 1, "ids": [{"id": 1}]}',
        '{"v": 1, "ids": []}',
        json.dumps({"v": 1, "ids": [str(uuid4()) for _ in range(500)]}),
    ],
)
def test_a_message_that_says_nothing_is_acknowledged_and_its_neighbour_is_handled(body: str, site: Site) -> None:
    accept(site, 1)
    event = {"Records": [{"messageId": "garbled", "body": body}, *site.messages()]}

    assert site.invoke("dispatch", event).answer == {"batchItemFailures": []}

    assert_healthy(site, 1)


def test_while_the_database_is_down_every_message_stays_on_the_queue(site: Site) -> None:
    accept(site, 1)
    messages = site.messages()
    site.settings["TOCSIN_DATABASE_URL"] = "postgresql://tocsin_worker@127.0.0.1:1/nowhere"

    answer = site.invoke("dispatch", {"Records": messages}).answer

    assert answer == {"batchItemFailures": [{"itemIdentifier": one["messageId"]} for one in messages]}
    site.settings.clear()
    assert site.invoke("dispatch", {"Records": messages}).answer == {"batchItemFailures": []}
    assert_healthy(site, 1)


def accept(site: Site, count: int) -> None:
    for n in range(count):
        answer: dict[str, Any] = site.invoke("intake", post_intent(site.ground.api_key, f"order-{n}")).answer or {}
        assert answer["statusCode"] == 202


def assert_healthy(site: Site, count: int) -> None:
    """Every route of every intent ended as if nothing had happened, and was sent exactly once."""
    ledger = site.office.ledger()
    # With several intents one number has several texts: there the ledger's count decides.
    found = invariants.gather(site.world, [entry for entry in ledger if entry["channel"] == "email"])
    wrong = [
        sentence
        for oracle in (invariants.every_intent_ends, invariants.nothing_is_stuck, invariants.sent_once)
        for sentence in oracle(found)
    ]
    assert not wrong, wrong
    ends = [((row["channel"], row["recipient_ref"].removeprefix("user:")), row["status"]) for row in found.routes.values()]
    assert sorted(ends) == sorted([*ENDS.items()] * count)
    assert len(ledger) == MESSAGES * count
    assert not any(row["duplicate_suspected"] for row in found.routes.values())
