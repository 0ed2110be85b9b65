"""The attributes of a queue: what may be set, what they mean, and what they are unless told otherwise."""

import json
from dataclasses import dataclass
from typing import Any

from devstack.iam import policies
from devstack.intrinsics import TemplateError
from devstack.sqs.errors import SqsError, invalid

LONGEST_DELAY = 900
LONGEST_VISIBILITY = 43_200
LONGEST_WAIT = 20
LARGEST_MESSAGE = 1_048_576

_NUMBERS = {  # least, most, and what it is unless told otherwise
    "DelaySeconds": (0, LONGEST_DELAY, 0),
    "MaximumMessageSize": (1024, LARGEST_MESSAGE, LARGEST_MESSAGE),
    "MessageRetentionPeriod": (60, 1_209_600, 345_600),
    "ReceiveMessageWaitTimeSeconds": (0, LONGEST_WAIT, 0),
    "VisibilityTimeout": (0, LONGEST_VISIBILITY, 30),
}
_TEXTS = {"Policy", "RedrivePolicy", "RedriveAllowPolicy", "KmsMasterKeyId", "KmsDataKeyReusePeriodSeconds"}
_FIFO = {"FifoQueue", "ContentBasedDeduplication", "DeduplicationScope", "FifoThroughputLimit"}
_DEFAULTS = {name: str(default) for name, (_, _, default) in _NUMBERS.items()} | {"SqsManagedSseEnabled": "true"}
_SETTABLE = _DEFAULTS.keys() | _TEXTS
READABLE = _SETTABLE | _FIFO | {
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesDelayed",
    "ApproximateNumberOfMessagesNotVisible",
    "CreatedTimestamp",
    "LastModifiedTimestamp",
    "QueueArn",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Redrive:
    """Where messages go that were received so often in vain."""

    target_arn: str
    max_receives: int


@dataclass(frozen=True, slots=True)
class Settings:
    declared: dict[str, str]
    delay: int
    largest_message: int
    retention: int
    wait: int
    visibility: int
    redrive: Redrive | None

    @classmethod
    def of(cls, given: dict[str, str], before: "Settings | None" = None) -> "Settings":
        """What holds once `given` is set. An empty policy takes the policy away."""
        for name, value in given.items():
            _check(name, value)
        declared = (before.declared if before else _DEFAULTS) | given
        declared = {name: value for name, value in declared.items() if value != ""}
        delay, largest, retention, wait, visibility = (int(declared[name]) for name in _NUMBERS)
        return cls(declared, delay, largest, retention, wait, visibility, _redrive(declared.get("RedrivePolicy")))

    def admits(self, source_arn: str) -> bool:
        """May that queue send its dead letters here?"""
        if not (policy := self.declared.get("RedriveAllowPolicy")):
            return True
        allowed = _policy("RedriveAllowPolicy", policy)
        permission = allowed.get("redrivePermission", "allowAll")
        return permission == "allowAll" or (permission == "byQueue" and source_arn in allowed.get("sourceQueueArns", []))


def _check(name: str, value: str) -> None:
    if name in _FIFO:
        raise SqsError("InvalidAttributeValue", f"The local stack has standard queues only, so {name} cannot be set.")
    if name not in _SETTABLE:
        raise SqsError("InvalidAttributeName", f"Unknown Attribute {name}.")
    if name == "Policy" and value:
        try:
            policies.read(_policy(name, value))
        except (TemplateError, KeyError) as error:
            raise SqsError("InvalidAttributeValue", f"Invalid value for the parameter Policy. Reason: {error}") from error
    if name in _NUMBERS:
        least, most, _ = _NUMBERS[name]
        # Longer texts are no number in range either, and int() refuses to read very long ones.
        if not (value.isascii() and value.isdigit() and len(value) < 10 and least <= int(value) <= most):
            raise SqsError("InvalidAttributeValue", f"Invalid value for the parameter {name}.")


def _redrive(policy: str | None) -> Redrive | None:
    if not policy or not (found := _policy("RedrivePolicy", policy)):
        return None
    try:
        return Redrive(_text(found["deadLetterTargetArn"]), _from_1_to_1000(found["maxReceiveCount"]))
    except (KeyError, ValueError):
        reason = "deadLetterTargetArn and maxReceiveCount, from 1 to 1000, are needed."
        raise invalid("RedrivePolicy", policy, reason) from None


def _policy(name: str, policy: str) -> dict[str, Any]:
    try:
        found = json.loads(policy)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise invalid(name, policy, "Policy is not a JSON object.")
    return found


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


def _from_1_to_1000(value: Any) -> int:
    """AWS takes the number as a text too."""
    if not isinstance(value, int | str) or isinstance(value, bool) or len(str(value)) > 4 or not 1 <= int(value) <= 1000:
        raise ValueError
    return int(value)
