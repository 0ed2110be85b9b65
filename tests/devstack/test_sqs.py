"""The local SQS keeps the promises of the real one, seen through the SDK; the test owns the clock."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from devstack.sqs.queue_file import QueueFile
from tests.devstack.local_sqs import LocalSqs

ARN = "arn:aws:sqs:us-east-1:123456789012:{}"


@pytest.fixture
def local(tmp_path: Path) -> Iterator[LocalSqs]:
    with LocalSqs(tmp_path) as made:
        yield made


def redrive(target: str, max_receives: object) -> dict[str, str]:
    return {"RedrivePolicy": json.dumps({"deadLetterTargetArn": ARN.format(target), "maxReceiveCount": max_receives})}


def delete(local: LocalSqs, url: str, *messages: dict[str, Any]) -> dict[str, Any]:
    entries = [{"Id": str(n), "ReceiptHandle": each["ReceiptHandle"]} for n, each in enumerate(messages)]
    answer: dict[str, Any] = local.sqs.delete_message_batch(QueueUrl=url, Entries=entries)
    return answer


def test_a_message_arrives_with_everything_that_was_sent(local: LocalSqs) -> None:
    url = local.queue()
    attributes = {
        "kind": {"DataType": "String", "StringValue": "test"},
        "size": {"DataType": "Number.int", "StringValue": "-4.5e3"},
        "blob": {"DataType": "Binary", "BinaryValue": b"\x00\xff"},
    }
    trace = {"AWSTraceHeader": {"DataType": "String", "StringValue": "Root=1-2"}}

    sent = local.sqs.send_message(
        QueueUrl=url, MessageBody="grüße", MessageAttributes=attributes, MessageGroupId="acme", MessageSystemAttributes=trace
    )
    local.set_clock.advance(2)
    [message] = local.receive(url)

    assert message["MessageId"] == sent["MessageId"]
    assert message["Body"] == "grüße"
    assert message["MessageAttributes"] == attributes
    assert message["Attributes"] == {
        "SenderId": "AIDALOCALSTACK",
        "SentTimestamp": "1800000000000",
        "ApproximateReceiveCount": "1",
        "ApproximateFirstReceiveTimestamp": "1800000002000",
        "MessageGroupId": "acme",
        "AWSTraceHeader": "Root=1-2",
    }
    assert message["MD5OfBody"] == sent["MD5OfMessageBody"] == hashlib.md5("grüße".encode()).hexdigest()  # noqa: S324
    assert message["MD5OfMessageAttributes"] == sent["MD5OfMessageAttributes"]
    assert len(sent["MD5OfMessageSystemAttributes"]) == 32


def test_the_checksum_of_attributes_is_the_one_that_sdks_compute(local: LocalSqs) -> None:
    url = local.queue()

    # The known answer is AWS's, for one attribute of the type String.
    sent = local.sqs.send_message(
        QueueUrl=url, MessageBody="x", MessageAttributes={"timestamp": {"DataType": "Number", "StringValue": "1493147359900"}}
    )

    assert sent["MD5OfMessageAttributes"] == "235c5c510d26fb653d073faed50ae77c"


def test_a_receiver_gets_only_the_attributes_it_asked_for(local: LocalSqs) -> None:
    url = local.queue()
    given = {name: {"DataType": "String", "StringValue": "x"} for name in ("a.one", "a.two", "b")}
    local.sqs.send_message(QueueUrl=url, MessageBody="x", MessageAttributes=given)

    [nothing] = local.receive(url, VisibilityTimeout=0, MessageAttributeNames=[], MessageSystemAttributeNames=[])
    [some] = local.receive(url, VisibilityTimeout=0, MessageAttributeNames=["a.*"], MessageSystemAttributeNames=["SenderId"])
    [older] = local.receive(url, AttributeNames=["SentTimestamp"], MessageAttributeNames=["b"], MessageSystemAttributeNames=[])

    assert "Attributes" not in nothing
    assert "MessageAttributes" not in nothing
    assert set(some["MessageAttributes"]) == {"a.one", "a.two"}
    assert set(some["Attributes"]) == {"SenderId"}
    assert set(older["MessageAttributes"]) == {"b"}
    assert set(older["Attributes"]) == {"SentTimestamp"}


def test_a_received_message_is_invisible_until_its_timeout_ends(local: LocalSqs) -> None:
    url = local.queue(VisibilityTimeout=30)
    local.send(url, "a", "b")

    assert local.bodies(url, 1) == ["a"]
    assert local.bodies(url, VisibilityTimeout=5) == ["b"]
    assert local.counts(url) == (0, 2, 0)
    local.set_clock.advance(5)
    assert local.bodies(url) == ["b"]
    local.set_clock.advance(24)
    assert local.bodies(url) == []
    local.set_clock.advance(1)
    [again] = local.receive(url)

    assert again["Body"] == "a"
    assert again["Attributes"]["ApproximateReceiveCount"] == "2"
    assert again["Attributes"]["ApproximateFirstReceiveTimestamp"] == "1800000000000"


def test_a_receive_never_holds_the_same_message_twice(local: LocalSqs) -> None:
    url = local.queue(VisibilityTimeout=0)
    local.send(url, "a", "b")

    assert sorted(local.bodies(url)) == ["a", "b"]
    assert sorted(local.bodies(url)) == ["a", "b"]


def test_visibility_can_be_ended_or_prolonged_while_a_message_is_in_flight(local: LocalSqs) -> None:
    url = local.queue(VisibilityTimeout=10)
    local.send(url, "a", "b")
    a, b = local.receive(url)

    local.sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=a["ReceiptHandle"], VisibilityTimeout=60)
    local.sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=b["ReceiptHandle"], VisibilityTimeout=0)

    assert local.bodies(url) == ["b"]
    local.set_clock.advance(59)
    assert local.bodies(url) == ["b"]
    local.set_clock.advance(1)
    assert local.bodies(url) == ["a"]


def test_visibility_is_changed_in_batches_and_each_entry_has_its_own_end(local: LocalSqs) -> None:
    url = local.queue(VisibilityTimeout=10)
    local.send(url, "a")
    [message] = local.receive(url)

    answer = local.sqs.change_message_visibility_batch(
        QueueUrl=url,
        Entries=[
            {"Id": "good", "ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 0},
            {"Id": "bad", "ReceiptHandle": "nonsense", "VisibilityTimeout": 0},
            {"Id": "long", "ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 43_201},
            {"Id": "none", "ReceiptHandle": message["ReceiptHandle"]},
        ],
    )

    assert [each["Id"] for each in answer["Successful"]] == ["good"]
    assert {each["Id"]: each["Code"] for each in answer["Failed"]} == {
        "bad": "ReceiptHandleIsInvalid",
        "long": "InvalidParameterValue",
        "none": "MissingParameter",
    }
    assert local.bodies(url) == ["a"]


def test_a_delay_is_the_message_s_own_or_else_the_queue_s(local: LocalSqs) -> None:
    url = local.queue(DelaySeconds=20)
    local.send(url, "queue's")
    local.send(url, "own", DelaySeconds=5)
    local.send(url, "none", DelaySeconds=0)

    assert local.counts(url) == (1, 0, 2)
    assert local.bodies(url) == ["none"]
    local.set_clock.advance(5)
    assert local.bodies(url) == ["own"]
    local.set_clock.advance(15)
    assert local.bodies(url) == ["queue's"]


def test_a_deleted_message_never_comes_back(local: LocalSqs) -> None:
    url = local.queue(VisibilityTimeout=1)
    local.send(url, "a")
    [message] = local.receive(url)

    local.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    local.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])  # again, which is fine
    local.set_clock.advance(2)

    assert local.bodies(url) == []
    assert local.counts(url) == (0, 0, 0)


def test_a_message_can_be_deleted_after_its_timeout_ended(local: LocalSqs) -> None:
    url = local.queue(VisibilityTimeout=1)
    local.send(url, "a", "b")
    a, b = local.receive(url)
    local.set_clock.advance(2)

    delete(local, url, a)
    assert local.counts(url) == (1, 0, 0)
    assert local.bodies(url, VisibilityTimeout=0) == ["b"]
    delete(local, url, b)

    assert local.counts(url) == (1, 0, 0), "b was received again, so the old handle deletes nothing"


def test_a_handle_from_before_the_last_receive_deletes_nothing_and_is_no_error(local: LocalSqs) -> None:
    url = local.queue(VisibilityTimeout=1)
    local.send(url, "a")
    [old] = local.receive(url)
    local.set_clock.advance(2)
    [new] = local.receive(url)

    assert len(delete(local, url, old)["Successful"]) == 1
    assert local.counts(url) == (0, 1, 0)
    delete(local, url, new)

    assert local.counts(url) == (0, 0, 0)


def test_a_receiver_s_handle_stays_its_own_when_somebody_else_receives_the_message(local: LocalSqs) -> None:
    url = local.queue()
    local.send(url, "a")

    [mine] = local.queues.receive("work", 1, visibility=0, wait=0)
    [theirs] = local.queues.receive("work", 1, visibility=0, wait=0)

    assert mine.receipt_handle("work") != theirs.receipt_handle("work")


def test_a_batch_of_deletes_tells_what_is_wrong_with_each(local: LocalSqs) -> None:
    url, other = local.queue(), local.queue("other")
    local.send(url, "a")
    local.send(other, "b")
    [mine], [theirs] = local.receive(url), local.receive(other)

    answer = delete(local, url, mine, theirs, {"ReceiptHandle": "nonsense"})

    assert [each["Id"] for each in answer["Successful"]] == ["0"]
    assert [each["Code"] for each in answer["Failed"]] == ["ReceiptHandleIsInvalid"] * 2
    assert local.counts(other) == (0, 1, 0)


def test_what_was_received_in_vain_too_often_goes_to_the_dead_letter_queue_at_the_next_receive(local: LocalSqs) -> None:
    dead = local.queue("dead")
    url = local.queue(VisibilityTimeout=1, **redrive("dead", "2"))
    local.sqs.send_message(QueueUrl=url, MessageBody="poison", MessageGroupId="acme")
    for _ in range(2):
        [message] = local.receive(url)
        local.set_clock.advance(2)

    assert local.counts(url) == (1, 0, 0), "AWS moves it only when somebody receives"
    assert local.counts(dead) == (0, 0, 0)
    assert local.bodies(url) == []
    [letter] = local.receive(dead)

    assert local.counts(url) == (0, 0, 0)
    assert letter["MessageId"] == message["MessageId"]
    assert letter["Attributes"] | {"SenderId": ""} == {
        "SenderId": "",
        "SentTimestamp": "1800000000000",
        "ApproximateReceiveCount": "3",
        "ApproximateFirstReceiveTimestamp": "1800000000000",
        "MessageGroupId": "acme",
        "DeadLetterQueueSourceArn": ARN.format("work"),
    }


def test_poison_does_not_wait_for_its_turn_behind_what_is_fresh(local: LocalSqs) -> None:
    dead = local.queue("dead")
    url = local.queue(VisibilityTimeout=1, **redrive("dead", 1))
    local.send(url, *(f"poison {n}" for n in range(12)), MessageGroupId="acme")
    local.receive(url)
    local.receive(url)
    local.set_clock.advance(2)
    local.send(url, "fresh", "more")

    assert local.bodies(url, 1) == ["fresh"]

    assert local.counts(dead) == (12, 0, 0)


def test_a_dead_letter_queue_counts_receives_anew_so_that_it_can_have_one_of_its_own(local: LocalSqs) -> None:
    grave = local.queue("grave")
    dead = local.queue("dead", VisibilityTimeout=1, **redrive("grave", 1))
    url = local.queue(VisibilityTimeout=1, **redrive("dead", 3))
    local.send(url, "poison")
    for _ in range(4):
        local.receive(url)
        local.set_clock.advance(2)

    assert local.bodies(dead) == ["poison"]
    assert local.bodies(grave) == []
    local.set_clock.advance(2)
    assert local.bodies(dead) == []

    assert local.bodies(grave) == ["poison"]


def test_a_stricter_redrive_policy_holds_for_what_already_waits(local: LocalSqs) -> None:
    dead, url = local.queue("dead"), local.queue(VisibilityTimeout=1)
    local.send(url, "a", "b")
    local.receive(url, VisibilityTimeout=0)
    local.receive(url, 1, VisibilityTimeout=60)

    local.sqs.set_queue_attributes(QueueUrl=url, Attributes=redrive("dead", 1))

    assert local.bodies(url) == []
    assert local.bodies(dead) == ["b"]


def test_without_its_dead_letter_queue_a_message_goes_on_being_delivered(local: LocalSqs) -> None:
    dead = local.queue("dead")
    url = local.queue(VisibilityTimeout=0, **redrive("dead", 1))
    local.send(url, "a")

    local.sqs.delete_queue(QueueUrl=dead)

    assert [local.bodies(url) for _ in range(3)] == [["a"]] * 3


def test_messages_expire_by_their_age_wherever_they_are(local: LocalSqs, tmp_path: Path) -> None:
    url = local.queue(MessageRetentionPeriod=60)
    local.send(url, "in flight", "waiting")
    local.send(url, "delayed", DelaySeconds=900)
    local.receive(url, 1, VisibilityTimeout=900)
    local.set_clock.advance(30)
    local.send(url, "young")

    local.set_clock.advance(30)

    assert local.counts(url) == (1, 0, 0)
    with closing(QueueFile(tmp_path / "sqs.sqlite3")) as file:
        assert [each.body for each in file.load("work")] == ["young"]


def test_purging_forgets_every_message_and_may_not_be_repeated_within_a_minute(local: LocalSqs) -> None:
    url = local.queue()
    local.send(url, "a", "b", "c")
    local.send(url, "later", DelaySeconds=10)
    [a] = local.receive(url, 1)

    local.sqs.purge_queue(QueueUrl=url)
    delete(local, url, a)
    with pytest.raises(local.sqs.exceptions.PurgeQueueInProgress):
        local.sqs.purge_queue(QueueUrl=url)
    local.set_clock.advance(60)
    local.sqs.purge_queue(QueueUrl=url)

    assert local.counts(url) == (0, 0, 0)
    local.start()
    assert local.bodies(local.queue()) == []


def test_creating_a_queue_again_is_fine_unless_it_is_to_be_different(local: LocalSqs) -> None:
    url = local.queue(VisibilityTimeout=7, DelaySeconds=1)

    assert local.queue() == local.queue(VisibilityTimeout=7) == url == "http://sqs.test/123456789012/work"
    with pytest.raises(local.sqs.exceptions.QueueNameExists) as refused:
        local.queue(VisibilityTimeout=8)

    assert refused.value.response["Error"]["Code"] == "QueueAlreadyExists"
    assert local.sqs.get_queue_url(QueueName="work")["QueueUrl"] == url


def test_attributes_are_shown_as_asked_and_hold_from_when_they_are_set(local: LocalSqs) -> None:
    local.queue("dead")
    url = local.queue(VisibilityTimeout=7)
    local.set_clock.advance(5)
    local.sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "9"} | redrive("dead", 3))
    shown = local.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]

    assert shown["VisibilityTimeout"] == "9"
    assert shown["QueueArn"] == ARN.format("work")
    assert (shown["CreatedTimestamp"], shown["LastModifiedTimestamp"]) == ("1800000000", "1800000005")
    assert json.loads(shown["RedrivePolicy"])["maxReceiveCount"] == 3
    local.sqs.set_queue_attributes(QueueUrl=url, Attributes={"RedrivePolicy": ""})
    assert "Attributes" not in local.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["RedrivePolicy"])
    assert local.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["DelaySeconds"])["Attributes"] == {"DelaySeconds": "0"}


def test_queues_are_listed_by_prefix_and_in_pages(local: LocalSqs) -> None:
    urls = [local.queue(name) for name in ("a-1", "a-2", "a-3", "b")]

    pages = list(local.sqs.get_paginator("list_queues").paginate(QueueNamePrefix="a-", PaginationConfig={"PageSize": 2}))

    assert [page["QueueUrls"] for page in pages] == [urls[:2], urls[2:3]]
    assert local.sqs.list_queues()["QueueUrls"] == urls


def test_a_dead_letter_queue_knows_its_sources_and_may_refuse_some(local: LocalSqs) -> None:
    allowed = {"redrivePermission": "byQueue", "sourceQueueArns": [ARN.format("work")]}
    dead = local.queue("dead", RedriveAllowPolicy=json.dumps(allowed))
    url = local.queue(**redrive("dead", 3))

    assert local.sqs.list_dead_letter_source_queues(QueueUrl=dead)["queueUrls"] == [url]
    with pytest.raises(local.sqs.exceptions.ClientError, match="does not admit the dead letters of other"):
        local.queue("other", **redrive("dead", 3))


def test_tags_can_be_put_on_a_queue_and_taken_off(local: LocalSqs) -> None:
    url = local.sqs.create_queue(QueueName="work", tags={"team": "a"})["QueueUrl"]
    local.sqs.tag_queue(QueueUrl=url, Tags={"stage": "dev"})
    local.sqs.untag_queue(QueueUrl=url, TagKeys=["team"])

    assert local.sqs.list_queue_tags(QueueUrl=url)["Tags"] == {"stage": "dev"}


def test_a_deleted_queue_takes_its_messages_with_it(local: LocalSqs) -> None:
    url = local.queue()
    local.send(url, "a")

    local.sqs.delete_queue(QueueUrl=url)

    with pytest.raises(local.sqs.exceptions.QueueDoesNotExist):
        local.receive(url)
    assert local.bodies(local.queue()) == []


def test_a_new_server_has_what_the_old_one_took_but_not_what_was_deleted(local: LocalSqs) -> None:
    dead = local.queue("dead")
    url = local.queue(**redrive("dead", 2))
    blob = {"blob": {"DataType": "Binary", "BinaryValue": b"\x00"}}
    local.sqs.send_message(QueueUrl=url, MessageBody="held", MessageGroupId="acme", MessageAttributes=blob)
    local.send(url, "done", "fresh")
    local.send(url, "later", DelaySeconds=60)
    held, done = local.receive(url, 2)
    delete(local, url, done)

    local.start()
    local.queue("dead")
    url = local.queue(**redrive("dead", 2))

    assert local.counts(url) == (2, 0, 1), "what was in flight waits again; what was delayed is"
    found = {each["Body"]: each for each in local.receive(url)}
    assert set(found) == {"held", "fresh"}
    assert found["held"]["MessageAttributes"] == blob
    assert found["held"]["MessageId"] == held["MessageId"]
    assert found["held"]["Attributes"]["MessageGroupId"] == "acme"
    assert found["held"]["Attributes"]["ApproximateReceiveCount"] == "2", "so that poison does not live on through restarts"
    local.set_clock.advance(60)
    assert local.bodies(url) == ["fresh", "later"]
    assert local.bodies(dead) == ["held"]
    local.start()
    assert local.bodies(local.queue("dead")) == ["held"]


def test_a_receipt_handle_holds_after_a_restart(local: LocalSqs) -> None:
    url = local.queue()
    local.send(url, "a")
    [message] = local.receive(url)

    local.start()
    url = local.queue()
    delete(local, url, message)

    assert local.counts(url) == (0, 0, 0)


def test_what_is_sent_after_a_restart_does_not_take_the_place_of_what_was_there(local: LocalSqs) -> None:
    local.send(local.queue(), "old")
    local.start()
    local.send(local.queue(), "new")
    local.start()

    assert local.bodies(local.queue()) == ["old", "new"]


def test_poison_does_not_outlive_a_restart_in_the_queue_it_spoils(local: LocalSqs) -> None:
    local.queue("dead")
    url = local.queue(**redrive("dead", 2))
    local.send(url, "first", "poison")
    local.receive(url, 1)
    for _ in range(2):
        assert local.bodies(url, VisibilityTimeout=0) == ["poison"]
    local.start()
    dead = local.queue("dead")
    url = local.queue(**redrive("dead", 2))

    assert local.bodies(url, 1) == ["first"]

    assert local.bodies(dead) == ["poison"]
