"""Fair queues in the local SQS: one tenant's flood delays that tenant alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from devstack.sqs.drafts import Draft
from tests.devstack.local_sqs import LocalSqs

FLOOD = 20_000


@pytest.fixture
def local(tmp_path: Path) -> Iterator[LocalSqs]:
    with LocalSqs(tmp_path) as made:
        yield made


def delete(local: LocalSqs, url: str, messages: list[dict[str, Any]]) -> None:
    entries = [{"Id": str(n), "ReceiptHandle": each["ReceiptHandle"]} for n, each in enumerate(messages)]
    local.sqs.delete_message_batch(QueueUrl=url, Entries=entries)


def groups(messages: list[dict[str, Any]]) -> list[str]:
    return [each["Attributes"].get("MessageGroupId", "") for each in messages]


def flood(local: LocalSqs, url: str, count: int, group: str = "flood") -> None:
    local.send(url, *(f"{group} {n}" for n in range(count)), MessageGroupId=group)


def test_a_message_of_another_tenant_is_received_next_while_workers_hold_some_of_a_flood(local: LocalSqs) -> None:
    url = local.queue()
    local.queues.send("work", [Draft(f"flood {n}", {}, group="flood") for n in range(FLOOD)])
    local.receive(url)
    local.receive(url)
    local.send(url, "small", MessageGroupId="quiet")

    assert local.bodies(url, 1) == ["small"]


def test_a_message_of_another_tenant_is_received_next_though_the_only_worker_holds_nothing(local: LocalSqs) -> None:
    url = local.queue()
    flood(local, url, 100)
    held = local.receive(url)
    local.set_clock.advance(0.05)
    delete(local, url, held)
    local.send(url, "small", MessageGroupId="quiet")

    assert local.bodies(url, 1) == ["small"]


def test_a_message_without_a_group_is_a_quiet_tenant_of_its_own(local: LocalSqs) -> None:
    url = local.queue()
    flood(local, url, 100)
    local.receive(url)
    local.send(url, *(f"nobody's {n}" for n in range(40)))

    assert [groups(local.receive(url)) for _ in range(4)] == [[""] * 10] * 4, "however many of them are in flight"


def test_with_no_group_at_all_the_oldest_comes_first(local: LocalSqs) -> None:
    url = local.queue(VisibilityTimeout=5)
    local.send(url, *"abcde")
    local.receive(url, 2)
    local.set_clock.advance(5)

    assert local.bodies(url) == ["a", "b", "c", "d", "e"]


def test_a_lone_tenant_gets_everything_in_the_order_it_came(local: LocalSqs) -> None:
    url = local.queue()
    flood(local, url, 50)

    assert [body for _ in range(5) for body in local.bodies(url)] == [f"flood {n}" for n in range(50)]


def test_floods_share_a_batch_evenly(local: LocalSqs) -> None:
    url = local.queue()
    flood(local, url, 100, "a")
    flood(local, url, 100, "b")
    local.receive(url)

    batch = groups(local.receive(url))

    assert batch.count("a") == batch.count("b") == 5


def test_the_flood_is_neither_dropped_nor_held_back_when_nobody_else_waits(local: LocalSqs) -> None:
    url = local.queue()
    flood(local, url, 60)
    seen: list[str] = []

    while found := local.bodies(url):
        seen += found

    assert sorted(seen) == sorted(f"flood {n}" for n in range(60))


def test_a_tenant_with_a_crowd_in_flight_stays_noisy_until_nothing_of_it_waits(local: LocalSqs) -> None:
    url = local.queue(VisibilityTimeout=900)
    flood(local, url, 42)
    held = [local.receive(url) for _ in range(4)]
    for batch in held:
        delete(local, url, batch)
    local.send(url, "b 1", "b 2", MessageGroupId="b")
    local.receive(url, 1)

    assert local.bodies(url, 1) == ["b 2"], "b has all that is in flight, but the flood is noisy still"
    assert local.bodies(url) == ["flood 40", "flood 41"]
    flood(local, url, 1)
    local.send(url, "b 3", MessageGroupId="b")
    assert groups(local.receive(url, 1)) == ["flood"], "both have two in flight, and the flood's message is older"


def test_a_noisy_tenant_that_sends_nothing_for_five_minutes_is_quiet_again(local: LocalSqs) -> None:
    url = local.queue(VisibilityTimeout=10)
    flood(local, url, 100)
    held = [local.receive(url) for _ in range(4)]
    for batch in held:
        delete(local, url, batch)
    local.set_clock.advance(299)
    local.send(url, "b 1", "b 2", MessageGroupId="b")

    first = local.receive(url, 1)
    delete(local, url, first)
    assert groups(first) == ["b"]
    local.set_clock.advance(1)

    assert local.bodies(url, 1) == ["flood 40"], "now it is as good as anybody, and its message is the oldest"


def test_a_noisy_tenant_that_goes_on_sending_stays_noisy_until_it_stops(local: LocalSqs) -> None:
    url = local.queue(VisibilityTimeout=10)
    flood(local, url, 100)
    held = [local.receive(url) for _ in range(4)]
    for batch in held:
        delete(local, url, batch)
    for _ in range(4):
        local.set_clock.advance(200)
        flood(local, url, 1)
        local.send(url, "b", MessageGroupId="b")

        first = local.receive(url, 1)

        assert groups(first) == ["b"]
        delete(local, url, first)
    local.set_clock.advance(300)
    local.send(url, "b", MessageGroupId="b")

    assert groups(local.receive(url, 1)) == ["flood"]


def test_a_slow_tenant_is_noisy_though_it_has_little_in_flight(local: LocalSqs) -> None:
    url = local.queue(VisibilityTimeout=900)
    local.send(url, *(f"slow {n}" for n in range(5)), MessageGroupId="slow")
    local.send(url, *(f"quick {n}" for n in range(30)))
    slow = local.receive(url, 1)
    local.set_clock.advance(30)
    for _ in range(2):
        batch = local.receive(url)
        local.set_clock.advance(0.01)
        delete(local, url, batch)
    delete(local, url, slow)
    local.send(url, "other", MessageGroupId="other")

    assert local.bodies(url)[-1] == "quick 29"
    assert local.bodies(url, 1) == ["other"], "slow's messages are older, but it took most of the recent time"


def test_a_worker_that_vanished_is_charged_to_its_tenant_until_the_visibility_timeout_and_no_longer(local: LocalSqs) -> None:
    url = local.queue()
    local.send(url, "nobody's", DelaySeconds=100)
    local.send(url, "a 1", "a 2", MessageGroupId="a")
    local.receive(url, 1, VisibilityTimeout=1)
    local.set_clock.advance(250)
    other = local.receive(url, 1)
    local.set_clock.advance(1)
    delete(local, url, other)
    local.send(url, "b", MessageGroupId="b")

    assert local.bodies(url, 1) == ["a 1"]


def test_nothing_is_remembered_of_a_tenant_of_whom_nothing_is_left(local: LocalSqs) -> None:
    url = local.queue()
    flood(local, url, 10)
    batch = local.receive(url)
    local.set_clock.advance(1)
    delete(local, url, batch)
    flood(local, url, 1)
    local.send(url, "other", MessageGroupId="other")

    assert groups(local.receive(url, 1)) == ["flood"]


def test_many_tenants_with_one_message_each_are_served_in_the_order_they_came(local: LocalSqs) -> None:
    url = local.queue()
    for n in range(300):
        local.sqs.send_message(QueueUrl=url, MessageBody=str(n), MessageGroupId=f"tenant-{n}")

    assert [body for _ in range(30) for body in local.bodies(url)] == [str(n) for n in range(300)]
