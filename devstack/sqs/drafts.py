"""What somebody wants to send, checked as SQS checks it before it takes a message."""

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Any

from devstack.sqs.errors import SqsError, invalid, missing
from devstack.sqs.message import Attributes, content_of
from devstack.sqs.settings import LONGEST_DELAY

MOST_ATTRIBUTES = 10
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ATTRIBUTE_NAME = re.compile(r"(?!(?i:aws|amazon)\.)[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
_TYPE = re.compile(r"(String|Number|Binary)(\.[^\s]+)?")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_GROUP = re.compile(r"[!-~]{1,128}")


@dataclass(frozen=True, slots=True)
class Draft:
    """A message to be; without a delay of its own it has the queue's."""

    body: str
    attributes: Attributes
    trace_header: str | None = None
    group: str | None = None
    delay: int | None = None

    @classmethod
    def of(cls, entry: dict[str, Any]) -> "Draft":
        body, attributes = entry["MessageBody"], entry.get("MessageAttributes", {})
        if not body:
            raise missing("MessageBody")
        _check_text(body)
        _check_delay(entry.get("DelaySeconds"))
        group = entry.get("MessageGroupId")
        if group is not None and not _GROUP.fullmatch(group):
            raise invalid("MessageGroupId", group, "It can have 1 to 128 alphanumeric and punctuation characters.")
        if "MessageDeduplicationId" in entry:
            reason = "The request includes a parameter that is not valid for this queue type."
            raise invalid("MessageDeduplicationId", entry["MessageDeduplicationId"], reason)
        if len(attributes) > MOST_ATTRIBUTES:
            reason = f"Number of message attributes [{len(attributes)}] exceeds the allowed maximum [{MOST_ATTRIBUTES}]."
            raise SqsError("InvalidParameterValueException", reason)
        kept = {name: _attribute(name, value) for name, value in attributes.items()}
        trace = _trace_header(entry.get("MessageSystemAttributes", {}))
        return cls(body, kept, trace, group, entry.get("DelaySeconds"))

    @property
    def size(self) -> int:
        """In bytes, as it counts towards the limits: the body, and the attributes with their names and types."""
        return len(self.body.encode()) + sum(
            len(name.encode()) + len(value["DataType"].encode()) + len(content_of(value))
            for name, value in self.attributes.items()
        )


def check_size(draft: Draft, largest: int) -> None:
    if draft.size > largest:
        message = f"One or more parameters are invalid. Reason: Message must be shorter than {largest} bytes."
        raise SqsError("InvalidParameterValueException", message)


def _check_text(text: str) -> None:
    if found := _FORBIDDEN.search(text):
        message = (
            f"Invalid binary character '#x{ord(found[0]):X}' was found in the message body, the set of allowed characters is "
        )
        raise SqsError(
            "InvalidMessageContents", message + "#x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF"
        )


def _check_delay(delay: int | None) -> None:
    if delay is not None and not 0 <= delay <= LONGEST_DELAY:
        raise invalid("DelaySeconds", delay, f"DelaySeconds must be >= 0 and <= {LONGEST_DELAY}.")


def _attribute(name: str, value: dict[str, Any]) -> dict[str, str]:
    """The attribute with nothing but what its type asks for."""
    if not _ATTRIBUTE_NAME.fullmatch(name) or len(name) > 256:
        raise _bad_attribute(name, "has an invalid name")
    kind = value["DataType"]
    if not _TYPE.fullmatch(kind) or len(kind) > 256:
        raise _bad_attribute(
            name, "has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String"
        )
    _check_text(kind)
    is_binary = kind.startswith("Binary")
    field = "BinaryValue" if is_binary else "StringValue"
    given = value.get(field)
    if not given:
        raise _bad_attribute(name, f"with type '{kind}' must use field '{'Binary' if is_binary else 'String'}'")
    kept = {"DataType": kind, field: given}
    if not is_binary:
        _check_text(given)
    elif not _is_base64(given):
        raise _bad_attribute(name, "is not base64")
    if kind.startswith("Number") and not _NUMBER.fullmatch(given):
        raise _bad_attribute(name, "can only have a number as its value")
    return kept


def _trace_header(attributes: dict[str, Any]) -> str | None:
    if unknown := attributes.keys() - {"AWSTraceHeader"}:
        raise SqsError("InvalidParameterValueException", f"Message system attribute name '{min(unknown)}' is invalid.")
    if not (found := attributes.get("AWSTraceHeader")):
        return None
    return _attribute("AWSTraceHeader", found).get("StringValue")


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _bad_attribute(name: str, what: str) -> SqsError:
    return SqsError("InvalidParameterValueException", f"The message attribute '{name}' {what}.")
