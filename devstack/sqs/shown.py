"""A message as it is answered to whoever sent it or receives it."""

from devstack.sqs.call import Answer
from devstack.sqs.message import Message, attributes_md5

SENDER = "AIDALOCALSTACK"


def sent(message: Message) -> Answer:
    answer = {"MessageId": message.id, "MD5OfMessageBody": message.body_md5}
    if message.attributes:
        answer["MD5OfMessageAttributes"] = attributes_md5(message.attributes)
    if message.trace_header:
        trace = {"AWSTraceHeader": {"DataType": "String", "StringValue": message.trace_header}}
        answer["MD5OfMessageSystemAttributes"] = attributes_md5(trace)
    return answer


def received(message: Message, queue: str, system: set[str], wanted: list[str]) -> Answer:
    shown: Answer = {
        "MessageId": message.id,
        "ReceiptHandle": message.receipt_handle(queue),
        "MD5OfBody": message.body_md5,
        "Body": message.body,
    }
    every = {
        "SenderId": SENDER,
        "SentTimestamp": _milliseconds(message.sent_at),
        "ApproximateReceiveCount": str(message.receives),
        "ApproximateFirstReceiveTimestamp": _milliseconds(message.first_received_at),
        "MessageGroupId": message.group,
        "AWSTraceHeader": message.trace_header,
        "DeadLetterQueueSourceArn": message.source_arn,
    }
    if told := {name: value for name, value in every.items() if value and ("All" in system or name in system)}:
        shown["Attributes"] = told
    if attributes := {name: value for name, value in message.attributes.items() if _is_wanted(name, wanted)}:
        shown["MessageAttributes"] = attributes
        shown["MD5OfMessageAttributes"] = attributes_md5(attributes)
    return shown


def _is_wanted(name: str, wanted: list[str]) -> bool:
    """`All`, the name itself, or the beginning of it followed by `.*`."""
    return any(each in ("All", name) or (each.endswith(".*") and name.startswith(each[:-2])) for each in wanted)


def _milliseconds(at: float | None) -> str | None:
    return None if at is None else str(int(at * 1000))
