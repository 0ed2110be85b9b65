"""What became of one send: accepted, or one of the ways it can fail. Pure."""

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum


class FailureClass(StrEnum):
    TRANSIENT = "transient"  # surely not accepted: try again
    THROTTLED = "throttled"  # surely not accepted: slow the lane, the attempt does not count
    PERMANENT = "permanent"  # will never be accepted: dead letter
    CONFIGURATION = "configuration"  # our set-up is wrong: stop the lane, keep the route
    AMBIGUOUS = "ambiguous"  # may have been accepted: wait for evidence


@dataclass(frozen=True, slots=True)
class Accepted:
    provider_message_id: str
    endpoint_arn: str | None = None  # a push endpoint made on the way, to be kept
    response: str = field(default="", compare=False)  # what else the provider said: its status, the id of the request


@dataclass(frozen=True, slots=True)
class Failure:
    kind: FailureClass
    code: str
    message: str
    retry_after: timedelta | None = None
    pause: timedelta | None = None  # how long the whole lane should rest
    device_gone: bool = False
    opted_out: bool = False
    timed_out: bool = False  # nobody answered for as long as we wait: it cost a sender's time


@dataclass(frozen=True, slots=True)
class NotSent:
    """Opened but never handed to the provider: the lane closed or the lease was running out. Costs no attempt."""

    reason: str


Outcome = Accepted | Failure | NotSent
