"""The ways out: one small Protocol, one module per provider. Pure."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol
from uuid import UUID

from tocsin.channels.outcomes import Outcome
from tocsin.content.attachments import AttachedFile
from tocsin.content.plain import Content
from tocsin.store.rows import Brand, Delivery

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
    headers: dict[str, str] = field(default_factory=dict)
    from_name: str = ""  # of an email, and where answers to it go: what the provider's own configuration does not say
    reply_to: str = ""
    asked_reply_to: str = ""  # where answers to this very email go, whatever is usual
    cc: tuple[str, ...] = ()  # who gets a copy
    attachments: tuple[AttachedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a provider knows us by, decrypted. Never part of what is logged."""

    api_key: str = field(repr=False)
    api_secret: str = field(default="", repr=False)


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
class Way:
    """A way out with what dispatch must know to choose it: the bucket it draws from, if its rate is limited."""

    channel: Channel
    config_id: UUID | None = None
    rate_limit: int | None = None
    platforms: tuple[str, ...] = ()  # the device platforms it serves; none named means all

    def serves(self, platform: str | None) -> bool:
        return not self.platforms or platform in self.platforms


class Ways:
    """Which ways out serve which channel, the preferred first. Test keys only ever reach the sandbox."""

    def __init__(self, by_channel: dict[str, Channel], sandbox: Channel) -> None:
        self.default = {name: [Way(channel)] for name, channel in by_channel.items()}
        self.sandbox = Way(sandbox)

    def prepare(self, conn: Any, tenant_ids: set[UUID]) -> None:
        """Learn what these tenants have configured. Called before their messages are sent, with no transaction open."""

    def of(self, tenant_id: UUID, channel: str) -> list[Way]:
        return self.default.get(channel, [])

    def brand_of(self, tenant_id: UUID) -> Brand:
        return Brand()

    def serving(self, one: Delivery) -> list[Way]:
        """The ways that can take this message."""
        if one.record.mode == "test":
            return [self.sandbox]
        platform = one.device.platform if one.device else None
        return [way for way in self.of(one.work.tenant_id, one.route.channel) if way.serves(platform)]
