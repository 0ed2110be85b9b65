"""The intent as producers send it: a closed shape, so that a misspelt field is an error and not a silence. Pure."""

import re
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    StrictInt,
    model_validator,
    with_config,
)
from typing_extensions import TypedDict  # typing's own is not enough for pydantic before Python 3.12

from tocsin.foundation.fields import Closed, ExternalId, Moment, Name, unique
from tocsin.people import addresses

MAX_RECIPIENTS = 1_000
MAX_BATCH = 500
KEY = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?")  # an idempotency key, wherever it comes from


def _link(url: str | None) -> str | None:
    return addresses.web(url) if url else url


Email = Annotated[str, AfterValidator(addresses.email)]
Phone = Annotated[str, AfterValidator(addresses.phone)]
Link = Annotated[Annotated[str, Field(max_length=2_000)] | None, AfterValidator(_link)]  # empty is as good as absent
ChannelName = Literal["email", "sms", "push", "in_app"]


class UsersAudience(Closed):
    kind: Literal["users"]
    user_ids: Annotated[list[ExternalId], Field(min_length=1, max_length=MAX_RECIPIENTS)]


class AddressAudience(Closed):
    """Someone without a user record."""

    kind: Literal["address"]
    email: Email | None = None
    phone: Phone | None = None

    @model_validator(mode="after")
    def _reachable(self) -> "AddressAudience":
        if self.email is None and self.phone is None:
            raise ValueError("needs an email or a phone")
        return self


class TenantAudience(Closed):
    """Everyone."""

    kind: Literal["tenant"]


class Thread(Closed):
    kind: Annotated[str, Field(min_length=1, max_length=64)]
    id: ExternalId


class ThreadAudience(Closed):
    """Those who are subscribed to a thread."""

    kind: Literal["thread"]
    thread: Thread


class ScopeAudience(Closed):
    """Those who watch a scope."""

    kind: Literal["scope"]
    scope: Annotated[str, Field(min_length=1, max_length=255)]


class Retry(Closed):
    max_attempts: Annotated[StrictInt, Field(ge=1, le=20)] = 5
    backoff: Literal["exponential", "linear", "constant"] = "exponential"
    base_ms: Annotated[StrictInt, Field(ge=100, le=3_600_000)] = 5_000


@with_config(ConfigDict(extra="allow"))
class Payload(TypedDict, total=False):
    """A template's variables, or the words themselves: `title`, `message` and where they lead."""

    url: Link


class Intent(Closed):
    type: Name
    audience: Annotated[
        UsersAudience | AddressAudience | TenantAudience | ThreadAudience | ScopeAudience, Field(discriminator="kind")
    ]
    payload: Payload
    channels: Annotated[list[ChannelName], Field(min_length=1), AfterValidator(unique)] | None = None
    template: Name | None = None
    thread: Thread | None = None
    priority: Literal["low", "normal", "high", "critical"] | None = None
    occurred_at: Moment | None = None
    send_at: Moment | None = None
    expires_at: Moment | None = None
    retry: Retry = Retry()
    mode: Literal["live", "test"] | None = None  # test: this one goes to the sandbox, whoever sends it

    @model_validator(mode="after")
    def _expires_after_sending(self) -> "Intent":
        if self.send_at and self.expires_at and self.expires_at <= self.send_at:
            raise ValueError("expires_at must be later than send_at")
        return self

    @model_validator(mode="after")
    def _one_thread(self) -> "Intent":
        if isinstance(self.audience, ThreadAudience) and self.thread not in (None, self.audience.thread):
            raise ValueError("thread must be the audience's thread, or be left out")
        return self

    @property
    def about(self) -> Thread | None:
        """The thread it belongs to: its own, or the one whose subscribers it goes to."""
        return self.audience.thread if isinstance(self.audience, ThreadAudience) else self.thread
