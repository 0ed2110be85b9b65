"""The local SQS refuses what the real one refuses, in its words, and survives what nobody should send."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from devstack.sqs.wire import ACTIONS, LARGEST_REQUEST
from tests.devstack.local_sqs import LocalSqs

URL = "http://sqs.test/123456789012/work"
MEBIBYTE = 1_048_576


@pytest.fixture
def local(tmp_path: Path) -> Iterator[LocalSqs]:
    with LocalSqs(tmp_path) as made:
        made.queue()
        yield made


def entries(count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"Id": str(n), "MessageBody": "x"} | more for n in range(count)]


def attribute(kind: str, **value: Any) -> dict[str, Any]:
    return {"MessageBody": "x", "MessageAttributes": {"name": {"DataType": kind} | value}}


@pytest.mark.parametrize(
    ("action", "asked", "code"),
    [
        ("send_message", {"QueueUrl": URL + "s", "MessageBody": "x"}, "AWS.SimpleQueueService.NonExistentQueue"),
        ("get_queue_url", {"QueueName": "unheard-of"}, "AWS.SimpleQueueService.NonExistentQueue"),
        ("send_message", {"MessageBody": ""}, "MissingParameter"),
        ("send_message", {"MessageBody": "\x00"}, "InvalidMessageContents"),
        ("send_message", {"MessageBody": "\ufffe"}, "InvalidMessageContents"),
        ("send_message", {"MessageBody": "é" * (MEBIBYTE // 2) + "x"}, "InvalidParameterValue"),
        ("send_message", {"MessageBody": "x", "DelaySeconds": 901}, "InvalidParameterValue"),
        ("send_message", {"MessageBody": "x", "DelaySeconds": -1}, "InvalidParameterValue"),
        ("send_message", {"MessageBody": "x", "MessageGroupId": "with space"}, "InvalidParameterValue"),
        ("send_message", {"MessageBody": "x", "MessageGroupId": "g" * 129}, "InvalidParameterValue"),
        ("send_message", {"MessageBody": "x", "MessageDeduplicationId": "d"}, "InvalidParameterValue"),
        ("send_message", attribute("String", StringValue=""), "InvalidParameterValue"),
        ("send_message", attribute("String", BinaryValue=b"x"), "InvalidParameterValue"),
        ("send_message", attribute("String", StringValue="\x01"), "InvalidMessageContents"),
        ("send_message", attribute("Number", StringValue="many"), "InvalidParameterValue"),
        ("send_message", attribute("Map", StringValue="x"), "InvalidParameterValue"),
        ("send_message", attribute("String.\x00", StringValue="x"), "InvalidMessageContents"),
        (
            "send_message",
            {"MessageBody": "x", "MessageAttributes": {"AWS.name": {"DataType": "String", "StringValue": "x"}}},
            "InvalidParameterValue",
        ),
        (
            "send_message",
            {"MessageBody": "x", "MessageAttributes": {str(n): {"DataType": "String", "StringValue": "x"} for n in range(11)}},
            "InvalidParameterValue",
        ),
        ("send_message_batch", {"Entries": []}, "AWS.SimpleQueueService.EmptyBatchRequest"),
        ("send_message_batch", {"Entries": entries(11)}, "AWS.SimpleQueueService.TooManyEntriesInBatchRequest"),
        ("send_message_batch", {"Entries": entries(2, Id="same")}, "AWS.SimpleQueueService.BatchEntryIdsNotDistinct"),
        ("send_message_batch", {"Entries": entries(1, Id="a b")}, "AWS.SimpleQueueService.InvalidBatchEntryId"),
        (
            "send_message_batch",
            {"Entries": entries(10, MessageBody="x" * 104_858)},
            "AWS.SimpleQueueService.BatchRequestTooLong",
        ),
        (
            "send_message_batch",
            {"Entries": [*entries(1), {"Id": "large", "MessageBody": "x" * (MEBIBYTE + 1)}]},
            "AWS.SimpleQueueService.BatchRequestTooLong",
        ),
        ("delete_message_batch", {"Entries": []}, "AWS.SimpleQueueService.EmptyBatchRequest"),
        ("change_message_visibility_batch", {"Entries": []}, "AWS.SimpleQueueService.EmptyBatchRequest"),
        ("receive_message", {"MaxNumberOfMessages": 0}, "InvalidParameterValue"),
        ("receive_message", {"MaxNumberOfMessages": 11}, "InvalidParameterValue"),
        ("receive_message", {"WaitTimeSeconds": 21}, "InvalidParameterValue"),
        ("receive_message", {"VisibilityTimeout": 43_201}, "InvalidParameterValue"),
        ("delete_message", {"ReceiptHandle": "nonsense"}, "ReceiptHandleIsInvalid"),
        ("change_message_visibility", {"ReceiptHandle": "nonsense", "VisibilityTimeout": 1}, "ReceiptHandleIsInvalid"),
        ("get_queue_attributes", {"AttributeNames": ["Colour"]}, "InvalidAttributeName"),
        ("set_queue_attributes", {"Attributes": {"Colour": "red"}}, "InvalidAttributeName"),
        ("set_queue_attributes", {"Attributes": {"QueueArn": "arn"}}, "InvalidAttributeName"),
        ("set_queue_attributes", {"Attributes": {"VisibilityTimeout": "43201"}}, "InvalidAttributeValue"),
        ("set_queue_attributes", {"Attributes": {"VisibilityTimeout": "1.5"}}, "InvalidAttributeValue"),
        ("set_queue_attributes", {"Attributes": {"VisibilityTimeout": "9" * 5000}}, "InvalidAttributeValue"),
        ("set_queue_attributes", {"Attributes": {"RedrivePolicy": "{"}}, "InvalidParameterValue"),
        ("set_queue_attributes", {"Attributes": {"RedrivePolicy": "[" * 100_000}}, "InvalidParameterValue"),
        ("set_queue_attributes", {"Attributes": {"RedrivePolicy": '{"maxReceiveCount": 1}'}}, "InvalidParameterValue"),
        (
            "set_queue_attributes",
            {"Attributes": {"RedrivePolicy": '{"maxReceiveCount": 1, "deadLetterTargetArn": "arn:aws:sqs:us-east-1:1:work"}'}},
            "InvalidParameterValue",
        ),
        ("create_queue", {"QueueName": "a.b"}, "InvalidParameterValue"),
        ("create_queue", {"QueueName": "x" * 81}, "InvalidParameterValue"),
        ("list_queues", {"NextToken": "?"}, "InvalidParameterValue"),
        ("list_queues", {"MaxResults": 1001}, "InvalidParameterValue"),
        ("add_permission", {"Label": "x", "AWSAccountIds": [], "Actions": []}, "AWS.SimpleQueueService.UnsupportedOperation"),
    ],
)
def test_what_aws_refuses_is_refused_with_its_code(local: LocalSqs, action: str, asked: dict[str, Any], code: str) -> None:
    has_no_queue = action in {"create_queue", "get_queue_url", "list_queues"}

    with pytest.raises(ClientError) as refused:
        getattr(local.sqs, action)(**({} if has_no_queue else {"QueueUrl": URL}) | asked)

    assert refused.value.response["Error"]["Code"] == code
    assert refused.value.response["Error"]["Message"]
    assert local.counts(URL) == (0, 0, 0)


def test_the_sdk_knows_a_refusal_by_its_class(local: LocalSqs) -> None:
    with pytest.raises(local.sqs.exceptions.QueueDoesNotExist):
        local.sqs.send_message(QueueUrl=URL + "s", MessageBody="x")
    with pytest.raises(local.sqs.exceptions.ReceiptHandleIsInvalid):
        local.sqs.delete_message(QueueUrl=URL, ReceiptHandle="nonsense")
    with pytest.raises(local.sqs.exceptions.TooManyEntriesInBatchRequest):
        local.sqs.send_message_batch(QueueUrl=URL, Entries=entries(11))


def test_a_message_of_exactly_one_mebibyte_is_taken_alone_or_as_a_batch(local: LocalSqs) -> None:
    local.sqs.send_message(QueueUrl=URL, MessageBody="x" * MEBIBYTE)
    local.sqs.send_message_batch(QueueUrl=URL, Entries=entries(8, MessageBody="x" * (MEBIBYTE // 8)))

    assert local.counts(URL) == (9, 0, 0)


def test_attributes_count_towards_the_size_of_a_message(local: LocalSqs) -> None:
    url = local.queue("small", MaximumMessageSize=1024)
    fits = {"n": {"DataType": "String", "StringValue": "x" * (1024 - 1 - 1 - 6)}}

    local.sqs.send_message(QueueUrl=url, MessageBody="x", MessageAttributes=fits)
    with pytest.raises(ClientError, match="must be shorter than 1024 bytes"):
        local.sqs.send_message(QueueUrl=url, MessageBody="xx", MessageAttributes=fits)


def test_one_bad_entry_of_a_batch_leaves_the_others_sent(local: LocalSqs) -> None:
    good, bad = entries(2)

    answer = local.sqs.send_message_batch(QueueUrl=URL, Entries=[good, bad | {"DelaySeconds": 901}])

    assert [each["Id"] for each in answer["Successful"]] == ["0"]
    assert [(each["Id"], each["Code"], each["SenderFault"]) for each in answer["Failed"]] == [
        ("1", "InvalidParameterValue", True)
    ]
    assert local.counts(URL) == (1, 0, 0)


def test_visibility_cannot_be_changed_once_it_ended_or_the_message_is_gone(local: LocalSqs) -> None:
    local.send(URL, "a")
    [message] = local.receive(URL, VisibilityTimeout=5)
    change = {"QueueUrl": URL, "ReceiptHandle": message["ReceiptHandle"], "VisibilityTimeout": 10}
    local.set_clock.advance(5)

    with pytest.raises(local.sqs.exceptions.MessageNotInflight):
        local.sqs.change_message_visibility(**change)
    local.sqs.delete_message(QueueUrl=URL, ReceiptHandle=message["ReceiptHandle"])
    with pytest.raises(ClientError, match="does not exist or is not available for visibility timeout change"):
        local.sqs.change_message_visibility(**change)


def test_a_message_stays_in_flight_for_twelve_hours_at_most(local: LocalSqs) -> None:
    local.send(URL, "a")
    [message] = local.receive(URL, VisibilityTimeout=43_200)
    local.set_clock.advance(1)

    with pytest.raises(ClientError, match="beyond the limit"):
        local.sqs.change_message_visibility(QueueUrl=URL, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=43_200)


@pytest.mark.parametrize("asked", [{"QueueName": "work.fifo"}, {"QueueName": "w", "Attributes": {"FifoQueue": "true"}}])
def test_fifo_queues_are_refused_in_plain_words(local: LocalSqs, asked: dict[str, Any]) -> None:
    with pytest.raises(ClientError, match="The local stack has standard queues only"):
        local.sqs.create_queue(**asked)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "not a JSON object"),
        (b"[]", "not a JSON object"),
        (b"{", "not a JSON object"),
        (b"\xff", "not a JSON object"),
        (b"[" * 200_000, "not a JSON object"),
        (b'{"QueueUrl": 7}', "Invalid type for parameter QueueUrl"),
        (b"{}", "Missing required parameter"),
        (json.dumps({"QueueUrl": URL, "MessageBody": {"a": 1}}).encode(), "Invalid type for parameter MessageBody"),
        (json.dumps({"QueueUrl": URL, "MessageBody": "x", "DelaySeconds": "1"}).encode(), "Invalid type"),
        (json.dumps({"QueueUrl": URL, "MessageBody": "x", "MessageAttributes": {"a": 1}}).encode(), "Invalid type"),
    ],
)
def test_a_call_that_makes_no_sense_is_answered_and_does_no_harm(local: LocalSqs, body: bytes, told: str) -> None:
    status, _, content = local.call({"HTTP_X_AMZ_TARGET": "AmazonSQS.SendMessage"}, body)

    assert status == 400
    assert told in json.loads(content)["message"]


@pytest.mark.parametrize("length", ["", "-1", "many", "9" * 30, str(LARGEST_REQUEST + 1)])
def test_a_body_without_a_sensible_length_is_not_read(local: LocalSqs, length: str) -> None:
    environ = {"HTTP_X_AMZ_TARGET": "AmazonSQS.SendMessage", "CONTENT_LENGTH": length, "wsgi.input": None}

    status, _, content = local.call(environ, b"")

    assert (status, json.loads(content)["__type"]) == (400, "com.amazonaws.sqs#SerializationException")


def test_the_query_protocol_is_refused_in_plain_words(local: LocalSqs) -> None:
    signed = "AWS4-HMAC-SHA256 Credential=test/20261117/us-east-1/sqs/aws4_request, SignedHeaders=host, Signature=0"

    status, _, content = local.call({"HTTP_AUTHORIZATION": signed}, b"Action=ListQueues&Version=2012-11-05")

    assert status == 400
    assert "AWS JSON 1.0" in json.loads(content)["message"]


def test_what_is_not_for_sqs_is_handed_on(local: LocalSqs) -> None:
    assert local.call({"HTTP_X_AMZ_TARGET": "TrentService.CreateKey"}, b"{}")[2] == b"handed on"


def test_every_action_is_one_of_the_api(local: LocalSqs) -> None:
    known = set(local.sqs.meta.service_model.operation_names)

    assert set(ACTIONS) < known
    assert known - set(ACTIONS) == {
        "AddPermission",
        "RemovePermission",
        "StartMessageMoveTask",
        "ListMessageMoveTasks",
        "CancelMessageMoveTask",
    }


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda each: st.lists(each, max_size=3))
WORDS = st.sampled_from(["QueueUrl", "MessageBody", "Entries", "ReceiptHandle", "Attributes", "MaxNumberOfMessages", "Id"])
VALUES = st.sampled_from([URL, "work", "", "\ud800", "AAAA", -1, 2**70]) | JSON


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(ACTIONS)), st.dictionaries(WORDS, VALUES | st.lists(st.dictionaries(WORDS, VALUES), max_size=2)))
def test_whatever_is_sent_the_server_has_an_answer_that_is_not_its_own_fault(local: LocalSqs, action: str, asked: Any) -> None:
    status, _, content = local.call({"HTTP_X_AMZ_TARGET": f"AmazonSQS.{action}"}, json.dumps(asked).encode())

    assert status < 500, content
