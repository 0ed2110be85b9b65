"""The local SQS as a server beside moto: it is there for topics, and for clients that are killed or kill it."""

import http.client
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import BotoCoreError

from devstack.aws import LocalAws
from devstack.state import State
from tests.devstack.sdk import wait_until

ARN = "arn:aws:sqs:us-east-1:123456789012:{}"


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAws]:
    yield from running(tmp_path_factory.mktemp("state"))


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[LocalAws]:
    yield from running(tmp_path)


def running(folder: Path) -> Iterator[LocalAws]:
    state = State(folder)
    state.open()
    made = LocalAws(state)
    made.start()
    yield made
    made.stop()
    state.close()


def receive(aws: LocalAws, url: str) -> list[dict[str, Any]]:
    asked: dict[str, Any] = {"MaxNumberOfMessages": 10, "MessageAttributeNames": ["All"], "MessageSystemAttributeNames": ["All"]}
    found: list[dict[str, Any]] = aws.client("sqs").receive_message(QueueUrl=url, **asked).get("Messages", [])
    return found


def subscribe(aws: LocalAws, name: str, **attributes: str) -> tuple[str, str]:
    """A topic and the queue that its messages go to, and that says so."""
    admits = {"Effect": "Allow", "Principal": {"Service": "sns.amazonaws.com"}, "Action": "sqs:SendMessage", "Resource": "*"}
    policy = json.dumps({"Statement": [admits]})
    url = aws.client("sqs").create_queue(QueueName=name, Attributes={"Policy": policy})["QueueUrl"]
    topic = aws.client("sns").create_topic(Name=name)["TopicArn"]
    aws.client("sns").subscribe(TopicArn=topic, Protocol="sqs", Endpoint=ARN.format(name), Attributes=attributes)
    return topic, url


def test_what_is_published_to_a_topic_lands_in_the_queue_that_subscribed(aws: LocalAws) -> None:
    topic, url = subscribe(aws, "letters")

    aws.client("sns").publish(TopicArn=topic, Message="bounced", Subject="Event")

    [message] = receive(aws, url)
    told = json.loads(message["Body"])
    assert (told["Type"], told["Message"], told["Subject"], told["TopicArn"]) == ("Notification", "bounced", "Event", topic)
    assert "MessageGroupId" not in message["Attributes"]


def test_raw_delivery_brings_the_attributes_of_the_message_along(aws: LocalAws) -> None:
    topic, url = subscribe(aws, "raw", RawMessageDelivery="true")
    attributes = {
        "kind": {"DataType": "String", "StringValue": "test"},
        "blob": {"DataType": "Binary", "BinaryValue": b"\x00\xff"},
    }

    aws.client("sns").publish(TopicArn=topic, Message="bounced", MessageAttributes=attributes)

    [message] = receive(aws, url)
    assert message["Body"] == "bounced"
    assert message["MessageAttributes"] == attributes


def test_a_topic_whose_queue_is_gone_says_so(aws: LocalAws) -> None:
    topic, url = subscribe(aws, "gone")
    aws.client("sqs").delete_queue(QueueUrl=url)

    with pytest.raises(aws.client("sns").exceptions.ClientError, match="The specified queue does not exist"):
        aws.client("sns").publish(TopicArn=topic, Message="bounced")


def test_a_message_is_not_given_to_a_receiver_that_was_killed(aws: LocalAws) -> None:
    url = aws.client("sqs").create_queue(QueueName="killed", Attributes={"VisibilityTimeout": "900"})["QueueUrl"]
    for _ in range(5):
        connection = http.client.HTTPConnection(aws.url.removeprefix("http://"))
        body = json.dumps({"QueueUrl": url, "WaitTimeSeconds": 20})
        connection.request("POST", "/", body, {"X-Amz-Target": "AmazonSQS.ReceiveMessage"})
        connection.close()

    aws.client("sqs").send_message(QueueUrl=url, MessageBody="a")

    assert [each["Body"] for each in receive(aws, url)] == ["a"]


def test_many_may_wait_at_once_and_each_message_goes_to_one_of_them(aws: LocalAws) -> None:
    sqs = aws.client("sqs")
    url = sqs.create_queue(QueueName="crowded")["QueueUrl"]

    def wait_for_one(_: int) -> str:
        while not (found := sqs.receive_message(QueueUrl=url, WaitTimeSeconds=20).get("Messages")):
            pass
        sqs.delete_message(QueueUrl=url, ReceiptHandle=found[0]["ReceiptHandle"])
        return str(found[0]["Body"])

    with ThreadPoolExecutor(max_workers=16) as receivers:
        waiting = [receivers.submit(wait_for_one, n) for n in range(16)]
        for n in range(16):
            sqs.send_message(QueueUrl=url, MessageBody=str(n))

        assert sorted(int(each.result(60)) for each in waiting) == list(range(16))


def test_every_message_that_was_acknowledged_is_there_after_the_server_was_killed(mortal: LocalAws) -> None:
    url = mortal.client("sqs").create_queue(QueueName="durable")["QueueUrl"]
    acknowledged: set[str] = set()

    def send_until_it_dies(sender: int) -> None:
        for n in range(100_000):
            entries = [{"Id": str(i), "MessageBody": f"{sender}-{n}-{i}", "MessageGroupId": "acme"} for i in range(10)]
            try:
                mortal.client("sqs").send_message_batch(QueueUrl=url, Entries=entries)
            except BotoCoreError:
                return
            acknowledged.update(each["MessageBody"] for each in entries)

    with ThreadPoolExecutor(max_workers=4) as senders:
        for sender in range(4):
            senders.submit(send_until_it_dies, sender)
        wait_until(lambda: len(acknowledged) > 500, seconds=60)
        assert mortal._child is not None
        os.kill(mortal._child.pid, 9)
    wait_until(lambda: not mortal.is_alive, seconds=60)
    mortal.start()
    url = mortal.client("sqs").create_queue(QueueName="durable")["QueueUrl"]
    found: set[str] = set()
    while messages := receive(mortal, url):
        found |= {each["Body"] for each in messages}

    assert acknowledged <= found
