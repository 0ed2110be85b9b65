"""The ways out: one small Protocol, one module per provider."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from tocsin.outcomes import Outcome
from tocsin.rendering import Content

PROVIDER_TIMEOUT = timedelta(seconds=13)  # connect 3 s + read 10 s, as in aws.py


@dataclass(frozen=True, slots=True)
class Message:
    """One message to one recipient. The tags name the route and the attempt, so that the provider's own events find back."""

    email: str
    phone: str
    device_platform: str
    device_token: str
    device_endpoint_arn: str
    content: Content
    tags: dict[str, str]


class Channel(Protocol):
    """A way out. Failures of the provider are return values; `send` is called from several threads at once."""

    @property
    def provider(self) -> str: ...

    @property
    def lane(self) -> str:
        """What is slowed or stopped as one when the provider says so."""
        ...

    def send(self, message: Message) -> Outcome: ...


@dataclass(frozen=True, slots=True)
class Ways:
    """Which way out serves which channel. Test keys only ever reach the sandbox."""

    by_channel: dict[str, Channel]
    sandbox: Channel

    def of(self, channel: str, mode: str) -> Channel:
        return self.sandbox if mode == "test" else self.by_channel[channel]
