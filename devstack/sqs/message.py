"""A message in a queue, and the proof of what it holds: the checksums and the receipt handle."""

import base64
import binascii
import hashlib
import struct
from dataclasses import dataclass
from enum import Enum, auto

from devstack.sqs.errors import SqsError

Attributes = dict[str, dict[str, str]]  # as on the wire: binary values are base64


class Place(Enum):
    """Where a message is. Delayed → waiting → in flight → gone, or waiting again when its visibility timeout ends."""

    DELAYED = auto()
    WAITING = auto()
    IN_FLIGHT = auto()
    GONE = auto()


@dataclass(slots=True, eq=False)
class Message:
    """`number` is its age among all messages of all queues; `wakes_at` ends its delay or its visibility timeout."""

    number: int
    id: str
    body: str
    attributes: Attributes
    trace_header: str | None
    group: str | None
    sent_at: float
    wakes_at: float
    receives: int = 0
    receives_here: int = 0  # in this queue: a dead-letter queue counts anew
    first_received_at: float | None = None
    source_arn: str | None = None  # the queue that gave up on it
    received_at: float = 0.0
    place: Place = Place.GONE

    @property
    def body_md5(self) -> str:
        return _md5(self.body.encode())

    def receipt_handle(self, queue: str) -> str:
        """Names this receive of this message. It says everything itself, so it holds after a restart too."""
        return base64.b64encode(f"{queue} {self.id} {self.receives}".encode()).decode()


@dataclass(frozen=True, slots=True)
class Receipt:
    message_id: str
    receive: int

    @classmethod
    def read(cls, handle: str, queue: str) -> "Receipt":
        try:
            named, message_id, receive = base64.b64decode(handle, validate=True).decode().split(" ")
            receipt = cls(message_id, int(receive))
        except (binascii.Error, ValueError):
            named = None
        if named != queue:
            raise SqsError("ReceiptHandleIsInvalid", f'The input receipt handle "{handle}" is not a valid receipt handle.')
        return receipt


def attributes_md5(attributes: Attributes) -> str:
    """Of names, types and values in the order of the names, each with its length, as the SDKs compute it."""
    told = b""
    for name, value in sorted(attributes.items()):
        kind = b"\2" if "BinaryValue" in value else b"\1"
        told += _sized(name.encode()) + _sized(value["DataType"].encode()) + kind + _sized(content_of(value))
    return _md5(told)


def content_of(value: dict[str, str]) -> bytes:
    return base64.b64decode(value["BinaryValue"]) if "BinaryValue" in value else value["StringValue"].encode()


def _sized(part: bytes) -> bytes:
    return struct.pack("!I", len(part)) + part


def _md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()
