"""The intent as producers send it: a closed shape, so that a misspelt field is an error and not a silence. Pure."""

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictInt,
    Tag,
    model_validator,
    with_config,
)
from typing_extensions import TypedDict  # typing's own is not enough for pydantic before Python 3.12

from tocsin.foundation.field_errors import ONE_OF, FieldError
from tocsin.foundation.fields import Closed, ExternalId, Moment, Name, unique
from tocsin.intake.display_fields import Actions, Icon, Link, Severity, Title
from tocsin.intake.email_fields import Attachments, Copies
from tocsin.people.user_fields import Email, Phone, UserPatch

MAX_RECIPIENTS = 1_000
MAX_BATCH = 500
KEY = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?")  # an idempotency key, wherever it comes from


ChannelName = Literal["email", "sms", "push", "in_app"]
_NEEDS = {
    "email": "cannot be email: the audience has no `email`",
    "sms": "cannot be sms: the audience has no `phone`",
    "push": "cannot be push: an address has no device",
    "in_app": "cannot be in_app: an address has no inbox",
}


class GivenUser(UserPatch):
    """A user with the id and what else is known: made, or merged into what was known, when the intent is accepted."""

    OFTEN_MEANT: ClassVar[dict[str, str]] = {**UserPatch.OFTEN_MEANT, "user_id": "id"}

    id: ExternalId

    @property
    def patch(self) -> dict[str, Any]:
        """What was said of them, as a JSON Merge Patch."""
        return self.model_dump(exclude_unset=True, exclude={"id"})


def _shape_of(recipient: Any) -> str | None:
    return ONE_OF[0] if isinstance(recipient, str) else ONE_OF[1] if isinstance(recipient, dict | GivenUser) else None


Recipient = Annotated[
    Annotated[ExternalId, Tag(ONE_OF[0])] | Annotated[GivenUser, Tag(ONE_OF[1])],
    Discriminator(_shape_of, custom_error_type="recipient", custom_error_message="must be a user's id, or a user"),
]


class UsersAudience(Closed):
    """Users by their ids; in place of an id a whole user, who need not be known yet."""

    kind: Literal["users"]
    user_ids: Annotated[list[Recipient], Field(min_length=1, max_length=MAX_RECIPIENTS)]

    @model_validator(mode="after")
    def _each_given_once(self) -> "UsersAudience":
        seen: set[str] = set()
        for n, user in enumerate(self.user_ids):
            if isinstance(user, GivenUser):
                if user.id in seen:
                    raise FieldError(f"user_ids/{n}", "is given twice; give each user once")
                seen.add(user.id)
        return self

    @property
    def ids(self) -> list[str]:
        """Each once, in their order."""
        return list(dict.fromkeys(user.id if isinstance(user, GivenUser) else user for user in self.user_ids))

    @property
    def given(self) -> list[GivenUser]:
        return [user for user in self.user_ids if isinstance(user, GivenUser)]


class AddressAudience(Closed):
    """Someone without a user record."""

    kind: Literal["address"]
    email: Email | None = None
    phone: Phone | None = None

    @model_validator(mode="after")
    def _reachable(self) -> "AddressAudience":
        if self.email is None and self.phone is None:
            raise FieldError("email", "is required, or a phone")
        return self

    def has(self, channel: str) -> bool:
        return (channel == "email" and self.email is not None) or (channel == "sms" and self.phone is not None)


class TenantAudience(Closed):
    """Everyone."""

    kind: Literal["tenant"]


class Thread(Closed):
    OFTEN_MEANT: ClassVar[dict[str, str]] = {"type": "kind"}

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
    """A template's variables, or the words themselves: `title`, `message`, where they lead, and what stands beside them."""

    title: Title
    url: Link
    actions: Actions | None
    severity: Severity | None
    icon: Icon


class Intent(Closed):
    OFTEN_MEANT: ClassVar[dict[str, str]] = {
        **dict.fromkeys(("to", "recipient", "recipients", "user", "users", "user_id", "user_ids"), "audience"),
        **{"title": "payload/title", "subject": "payload/title", "message": "payload/message", "url": "payload/url"},
        **{"actions": "payload/actions", "severity": "payload/severity", "icon": "payload/icon"},
        **dict.fromkeys(("body", "text"), "payload/message"),
        **dict.fromkeys(("data", "variables", "params", "content"), "payload"),
        **{"event": "type", "kind": "type", "name": "type", "workflow": "type", "workflowId": "type"},
        **{"replyTo": "reply_to", "reply-to": "reply_to", "files": "attachments"},
        **{"channel": "channels", "template_id": "template", "test": "mode", "at": "send_at", "scheduled_at": "send_at"},
    }

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
    reply_to: Email | None = None  # this and the next two: of its emails
    cc: Copies | None = None
    attachments: Attachments | None = None

    @model_validator(mode="after")
    def _expires_after_sending(self) -> "Intent":
        if self.send_at and self.expires_at and self.expires_at <= self.send_at:
            raise FieldError("expires_at", "must be later than send_at")
        return self

    @model_validator(mode="after")
    def _one_thread(self) -> "Intent":
        if isinstance(self.audience, ThreadAudience) and self.thread not in (None, self.audience.thread):
            raise FieldError("thread", "must be the audience's thread, or be left out")
        return self

    @model_validator(mode="after")
    def _reachable_address(self) -> "Intent":
        """What an address can never get is refused at once; users may get theirs later."""
        if isinstance(self.audience, AddressAudience):
            for n, channel in enumerate(self.channels or ()):
                if not self.audience.has(channel):
                    raise FieldError(f"channels/{n}", _NEEDS[channel])
        return self

    @model_validator(mode="after")
    def _by_email(self) -> "Intent":
        """What only emails have is refused where there can be none."""
        for name in ("reply_to", "cc", "attachments"):
            if not getattr(self, name):
                continue
            if self.channels is not None and "email" not in self.channels:
                raise FieldError(name, "is for the channel email, which `channels` leaves out")
            if isinstance(self.audience, AddressAudience) and self.audience.email is None:
                raise FieldError(name, "is for the channel email: the audience has no `email`")
        is_one = self.audience.kind == "address" or (isinstance(self.audience, UsersAudience) and len(self.audience.ids) == 1)
        if self.cc and not is_one:
            raise FieldError("cc", "needs an audience of one: a user or an address")
        return self

    @property
    def email_options(self) -> dict[str, Any] | None:
        """What is kept of it; None where nothing was said."""
        options = {
            "reply_to": self.reply_to,
            "cc": self.cc,
            "attachments": [one.kept for one in self.attachments or ()],
        }
        return {name: value for name, value in options.items() if value} or None

    @property
    def given_users(self) -> list[GivenUser]:
        return self.audience.given if isinstance(self.audience, UsersAudience) else []

    @property
    def about(self) -> Thread | None:
        """The thread it belongs to: its own, or the one whose subscribers it goes to."""
        return self.audience.thread if isinstance(self.audience, ThreadAudience) else self.thread
