"""What somebody asked the post office to deliver, and what it may say in return."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, Protocol, TypedDict

Channel = Literal["email", "sms", "push"]


class Attached(TypedDict):
    """A file of an email: not what is in it, but how it looks from outside."""

    name: str
    content_type: str
    size: int


@dataclass(frozen=True, slots=True)
class Letter:
    """One message, whichever way it came in."""

    channel: Channel
    provider: Literal["ses", "sns", "sendgrid", "twilio", "fcm"]
    to: list[str]
    sender: str | None = None
    subject: str | None = None
    text: str | None = None
    html: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    configuration_set: str | None = None
    attachments: list[Attached] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer."""

    status: int
    body: bytes
    content_type: str
    headers: dict[str, str] = field(default_factory=dict)


class Silence(Enum):
    """No answer at all."""

    DROP = "the connection is closed"
    HANG = "the connection stays open until the client gives up"


class RefusedError(Exception):
    """The request is not one the real service would accept; the client gets the reply."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.body.decode())
        self.reply = reply


class Provider(Protocol):
    """How one service names and answers what it was given: a module for each, and for FCM one of its projects."""

    def new_message_id(self) -> str: ...

    def accepted(self, message_id: str) -> Reply: ...

    def failure(self, mode: str) -> Reply: ...
