"""Queues against the local AWS: what succeeds is deleted, what fails comes back, what never works is set aside."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from devstack.aws import LocalAws
from devstack.declared import QueueSource
from devstack.environment import Outcome
from devstack.pollers import Poller, succeeded
from devstack.state import State

ARN = "arn:aws:sqs:us-east-1:123456789012:{}"


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAws]:
    state = State(tmp_path_factory.mktemp("state"))
    state.open()
    made = LocalAws(state)
    made.start()
    yield made
    made.stop()
    state.close()


class Queue:
    """A queue with a dead-letter queue behind it; a message that failed is visible again after a second."""

    def __init__(self, aws: LocalAws, name: str, max_receives: int = 2) -> None:
        self.sqs = aws.client("sqs")
        self.name = name
        self.dead_url = self.sqs.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
        redrive = {"deadLetterTargetArn": ARN.format(f"{name}-dead"), "maxReceiveCount": max_receives}
        attributes = {"VisibilityTimeout": "1", "RedrivePolicy": json.dumps(redrive)}
        self.url = self.sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]

    def send(self, *bodies: str) -> None:
        for body in bodies:
            attributes = {"kind": {"DataType": "String", "StringValue": "test"}}
            self.sqs.send_message(QueueUrl=self.url, MessageBody=body, MessageAttributes=attributes)

    def left(self) -> int:
        """How many messages the queue holds, seen or not."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        answer = self.sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=names)["Attributes"]
        return sum(int(answer[name]) for name in names)

    def dead(self) -> list[str]:
        messages = self.sqs.receive_message(QueueUrl=self.dead_url, MaxNumberOfMessages=10, VisibilityTimeout=0)
        return [message["Body"] for message in messages.get("Messages", [])]


class Worker:
    """A function in this process; `fails` says which bodies it reports as failed."""

    def __init__(self, fails: Callable[[str, int], bool] = lambda body, receives: False) -> None:
        self.batches: list[list[dict[str, Any]]] = []
        self._fails = fails

    def __call__(self, event: Any) -> Outcome:
        records = event["Records"]
        self.batches.append(records)
        failed = [each for each in records if self._fails(each["body"], receives(each))]
        return Outcome({"batchItemFailures": [{"itemIdentifier": each["messageId"]} for each in failed]})

    def seen(self) -> list[str]:
        return [record["body"] for batch in self.batches for record in batch]


def receives(record: dict[str, Any]) -> int:
    return int(record["attributes"]["ApproximateReceiveCount"])


@pytest.fixture
def poll(aws: LocalAws) -> Iterator[Callable[..., Poller]]:
    started: list[Poller] = []

    def start(queue: Queue, invoke: Callable[[Any], Outcome], *, concurrency: int = 1, **declared: Any) -> Poller:
        values = {"batch_size": 10, "window": 0, "reports_item_failures": True, "max_concurrency": None} | declared
        source = QueueSource(function="Door", queue=ARN.format(queue.name), **values)
        poller = Poller(source, sqs=queue.sqs, queue_url=queue.url, invoke=invoke, concurrency=concurrency)
        poller.start()
        started.append(poller)
        return poller

    yield start
    for poller in started:
        poller.stop()


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def test_a_message_arrives_as_lambda_would_give_it_and_is_deleted(aws: LocalAws, poll: Callable[..., Poller]) -> None:
    queue, worker = Queue(aws, "plain"), Worker()
    queue.send("one")

    poll(queue, worker)

    wait_until(lambda: worker.batches != [] and queue.left() == 0)
    record = worker.batches[0][0]
    assert (record["body"], record["eventSource"], record["awsRegion"]) == ("one", "aws:sqs", "us-east-1")
    assert record["eventSourceARN"] == ARN.format("plain")
    assert record["messageAttributes"]["kind"] == {"stringValue": "test", "dataType": "String"}
    assert {"SentTimestamp", "ApproximateReceiveCount", "SenderId"} <= set(record["attributes"])
    assert {"messageId", "receiptHandle", "md5OfBody"} <= set(record)


def test_only_what_failed_is_delivered_again(aws: LocalAws, poll: Callable[..., Poller]) -> None:
    queue = Queue(aws, "partial")
    worker = Worker(fails=lambda body, receives: body == "bad" and receives == 1)
    queue.send("good", "bad", "fine")

    poll(queue, worker)

    wait_until(lambda: worker.seen().count("bad") == 2 and queue.left() == 0)
    assert sorted(worker.seen()) == ["bad", "bad", "fine", "good"]
    assert queue.dead() == []


def test_poison_goes_to_the_dead_letter_queue_after_its_last_chance(aws: LocalAws, poll: Callable[..., Poller]) -> None:
    queue = Queue(aws, "poison", max_receives=2)
    worker = Worker(fails=lambda body, receives: body == "poison")
    queue.send("poison", "food")

    poll(queue, worker)

    wait_until(lambda: queue.dead() == ["poison"])
    assert worker.seen().count("poison") == 2
    assert worker.seen().count("food") == 1


def test_a_function_that_raises_gets_the_whole_batch_again(aws: LocalAws, poll: Callable[..., Poller]) -> None:
    queue = Queue(aws, "raises")
    batches: list[int] = []

    def invoke(event: Any) -> Outcome:
        batches.append(len(event["Records"]))
        return Outcome(error={"errorType": "X", "errorMessage": "no"}) if len(batches) == 1 else Outcome(None)

    queue.send("a", "b")
    poll(queue, invoke)

    wait_until(lambda: len(batches) >= 2 and queue.left() == 0)
    assert sum(batches) == 4 or batches[0] < 2


def test_a_poller_survives_whatever_goes_wrong_in_it(aws: LocalAws, poll: Callable[..., Poller]) -> None:
    queue, seen = Queue(aws, "survives"), []

    def invoke(event: Any) -> Outcome:
        seen.append(event)
        if len(seen) == 1:
            raise RuntimeError("the stack's own mistake")
        return Outcome(None)

    queue.send("a")
    poll(queue, invoke)

    wait_until(lambda: len(seen) == 2 and queue.left() == 0)


def test_a_batch_holds_no_more_than_declared(aws: LocalAws, poll: Callable[..., Poller]) -> None:
    queue, worker = Queue(aws, "sizes"), Worker()
    queue.send(*"abcde")

    poll(queue, worker, batch_size=2)

    wait_until(lambda: len(worker.seen()) == 5)
    assert max(len(batch) for batch in worker.batches) == 2


def test_the_window_collects_what_arrives_meanwhile(aws: LocalAws, poll: Callable[..., Poller]) -> None:
    queue, worker = Queue(aws, "window", max_receives=5), Worker()
    queue.sqs.set_queue_attributes(QueueUrl=queue.url, Attributes={"VisibilityTimeout": "30"})
    queue.send("a", "b")

    poll(queue, worker, batch_size=3, window=20)
    queue.send("c")

    wait_until(lambda: worker.batches != [])
    assert sorted(worker.seen()) == ["a", "b", "c"]


def test_no_more_batches_run_at_once_than_declared(aws: LocalAws, poll: Callable[..., Poller]) -> None:
    queue = Queue(aws, "concurrency", max_receives=5)
    queue.sqs.set_queue_attributes(QueueUrl=queue.url, Attributes={"VisibilityTimeout": "30"})
    lock, running, most, together = threading.Lock(), 0, 0, threading.Event()

    def invoke(event: Any) -> Outcome:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
            if running == 2:
                together.set()
        together.wait(10)
        time.sleep(0.1)  # long enough for a third to come in, if it could
        with lock:
            running -= 1
        return Outcome(None)

    queue.send(*"abcd")
    poll(queue, invoke, batch_size=1, concurrency=2)

    wait_until(lambda: queue.left() == 0)
    assert most == 2


@pytest.mark.parametrize(
    ("result", "done"),
    [
        (None, ["1", "2"]),
        ({}, ["1", "2"]),
        ({"batchItemFailures": []}, ["1", "2"]),
        ({"batchItemFailures": [{"itemIdentifier": "1"}]}, ["2"]),
        ({"batchItemFailures": [{"itemIdentifier": "unheard of"}]}, []),
        ({"batchItemFailures": [{"itemIdentifier": None}]}, []),
        ({"batchItemFailures": [{"other": "1"}]}, []),
    ],
)
def test_the_answer_decides_what_is_done_with(result: Any, done: list[str]) -> None:
    messages = [{"MessageId": "1"}, {"MessageId": "2"}]
    source = QueueSource("Door", "arn", 10, 0, reports_item_failures=True, max_concurrency=None)

    found = succeeded(messages, Outcome(result), source)

    assert [message["MessageId"] for message in found] == done


def test_messages_outlive_the_server_even_when_it_is_killed(tmp_path: Path) -> None:
    state = State(tmp_path)
    state.open()
    aws = LocalAws(state)
    aws.start()
    queue = Queue(aws, "durable")
    queue.send("kept", "done")
    done = next(each for each in receive_all(queue) if each["Body"] == "done")
    queue.sqs.delete_message(QueueUrl=queue.url, ReceiptHandle=done["ReceiptHandle"])
    key = aws.client("kms").create_key(Description="DataKey")["KeyMetadata"]["KeyId"]
    cipher = aws.client("kms").encrypt(KeyId=key, Plaintext=b"secret")["CiphertextBlob"]

    assert aws._child is not None
    os.kill(aws._child.pid, 9)
    wait_until(lambda: not aws.is_alive)
    aws.start()

    again = Queue(aws, "durable")
    assert [message["Body"] for message in receive_all(again)] == ["kept"]
    assert aws.client("kms").create_key(Description="DataKey")["KeyMetadata"]["KeyId"] == key
    assert aws.client("kms").decrypt(CiphertextBlob=cipher)["Plaintext"] == b"secret"
    aws.stop()
    state.close()


def receive_all(queue: Queue) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = queue.sqs.receive_message(QueueUrl=queue.url, MaxNumberOfMessages=10, VisibilityTimeout=60).get(
        "Messages", []
    )
    return found


def test_what_a_filter_does_not_take_is_deleted_and_nobody_sees_it(aws: LocalAws, poll: Callable[..., Poller]) -> None:
    queue, worker = Queue(aws, "filtered"), Worker()
    queue.send('{"kind": "other"}', "no JSON", '{"kind": "mine"}', '{"kind": "other"}')

    poll(queue, worker, filters=({"body": {"kind": ["mine"]}},))

    wait_until(lambda: queue.left() == 0)
    assert worker.seen() == ['{"kind": "mine"}']
    assert queue.dead() == []
