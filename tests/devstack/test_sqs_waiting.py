"""Long polling in the local SQS: whoever waits gets what comes at once, without looking again and again."""

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from devstack.sqs.clock import Clock
from tests.devstack.local_sqs import LocalSqs


@pytest.fixture
def local(tmp_path: Path) -> Iterator[LocalSqs]:
    with LocalSqs(tmp_path) as made:
        yield made


def test_a_receiver_waits_as_long_as_it_said_and_no_longer(local: LocalSqs) -> None:
    url = local.queue()

    assert local.bodies(url, WaitTimeSeconds=20) == []

    assert local.set_clock.waits == [20]


def test_a_receiver_that_does_not_say_waits_as_long_as_the_queue_says(local: LocalSqs) -> None:
    url = local.queue(ReceiveMessageWaitTimeSeconds=7)

    local.bodies(url)
    local.bodies(url, WaitTimeSeconds=0)

    assert local.set_clock.waits == [7]


def test_a_receiver_is_given_a_message_in_the_moment_its_delay_ends(local: LocalSqs) -> None:
    url = local.queue()
    local.send(url, "a", DelaySeconds=3)

    assert local.bodies(url, WaitTimeSeconds=20) == ["a"]

    assert local.set_clock.waits == [3]


def test_a_receiver_is_given_a_message_in_the_moment_its_visibility_timeout_ends(local: LocalSqs) -> None:
    url = local.queue(VisibilityTimeout=4)
    local.send(url, "a")
    local.receive(url)

    assert local.bodies(url, WaitTimeSeconds=20) == ["a"]

    assert local.set_clock.waits == [4]


def test_a_timeout_that_was_prolonged_meanwhile_wakes_nobody(local: LocalSqs) -> None:
    url = local.queue(VisibilityTimeout=4)
    local.send(url, "a")
    [message] = local.receive(url)
    local.sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=60)

    assert local.bodies(url, WaitTimeSeconds=20) == []

    assert local.set_clock.waits == [20]


def test_nothing_is_given_to_a_receiver_that_hung_up_while_it_waited(local: LocalSqs) -> None:
    url = local.queue()
    server_side, client_side = socket.socketpair()
    local.connection = server_side

    def leave_a_moment_before_the_message_comes() -> None:
        client_side.close()
        local.set_clock.meanwhile = lambda: None
        local.send(url, "a")

    local.set_clock.meanwhile = leave_a_moment_before_the_message_comes
    assert local.bodies(url, WaitTimeSeconds=20) == []

    assert local.counts(url) == (1, 0, 0)
    server_side.close()


def test_a_receiver_that_is_still_there_after_waiting_is_not_taken_for_gone(local: LocalSqs) -> None:
    url = local.queue()
    local.connection, client_side = socket.socketpair()
    local.send(url, "a", DelaySeconds=3)

    assert local.bodies(url, WaitTimeSeconds=20) == ["a"]

    local.connection.close()
    client_side.close()


class OnlyNews(Clock):
    """No time passes while somebody waits: only news can wake them."""

    def __init__(self) -> None:
        self.somebody_waits = threading.Event()

    def wait(self, news: threading.Condition, seconds: float) -> None:
        self.somebody_waits.set()
        assert news.wait(60), "nobody told"


@pytest.fixture
def news(tmp_path: Path) -> Iterator[LocalSqs]:
    with LocalSqs(tmp_path, OnlyNews()) as made:
        yield made


def wakes(local: LocalSqs, url: str, cause: Callable[[], Any]) -> list[str]:
    """What a receiver gets that waited when the cause came."""
    assert isinstance(local.clock, OnlyNews)
    with ThreadPoolExecutor(max_workers=1) as receivers:
        found = receivers.submit(local.bodies, url, WaitTimeSeconds=20)
        assert local.clock.somebody_waits.wait(60)
        cause()
        return found.result(60)


def test_a_message_wakes_whoever_waits_for_it(news: LocalSqs) -> None:
    url = news.queue()

    assert wakes(news, url, lambda: news.send(url, "a")) == ["a"]


def test_a_message_that_is_given_back_wakes_whoever_waits_for_it(news: LocalSqs) -> None:
    url = news.queue()
    news.send(url, "a")
    handle = news.receive(url)[0]["ReceiptHandle"]

    def give_back() -> None:
        news.sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=handle, VisibilityTimeout=0)

    assert wakes(news, url, give_back) == ["a"]


def test_a_dead_letter_wakes_whoever_waits_for_it(news: LocalSqs) -> None:
    dead = news.queue("dead")
    policy = '{"deadLetterTargetArn": "arn:aws:sqs:us-east-1:123456789012:dead", "maxReceiveCount": 1}'
    url = news.queue(VisibilityTimeout=0, RedrivePolicy=policy)
    news.send(url, "poison")
    news.receive(url)

    assert wakes(news, dead, lambda: news.receive(url)) == ["poison"]


def test_whoever_waits_is_told_when_the_queue_is_deleted(news: LocalSqs) -> None:
    url = news.queue()

    with pytest.raises(news.sqs.exceptions.QueueDoesNotExist):
        wakes(news, url, lambda: news.sqs.delete_queue(QueueUrl=url))
