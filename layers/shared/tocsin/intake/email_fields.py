"""What an intent may say of its emails alone: who gets a copy, where answers go, which files come along. Pure."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from tocsin.content import attachments
from tocsin.foundation.destinations import check_url
from tocsin.foundation.field_errors import FieldError
from tocsin.foundation.fields import Closed
from tocsin.people.user_fields import Email

MAX_URL = 2_000  # a signed one is long
MAX_COPIES = 10


def _name(text: str) -> str:
    if not attachments.is_name(text):
        raise ValueError("must be the name of a file, without a path")
    if ending := attachments.refused_ending(text):
        raise ValueError(f"ends with .{ending}, which no provider sends")
    return text


def _type(text: str) -> str:
    if not attachments.is_type(text):
        raise ValueError("must be a media type, such as application/pdf")
    return text


class Attachment(Closed):
    """A file by its address: it is fetched when the email is sent."""

    url: Annotated[str, Field(max_length=MAX_URL)]
    filename: Annotated[str, Field(max_length=attachments.MAX_NAME), AfterValidator(_name)] | None = None
    content_type: Annotated[str, Field(max_length=130), AfterValidator(_type)] | None = None

    @field_validator("url")
    @classmethod
    def _reachable(cls, url: str, info: ValidationInfo) -> str:
        """With `allow_private` in the context, as in the local stack, http and one's own network are fine too."""
        check_url(url, allow_private=bool((info.context or {}).get("allow_private")), longest=MAX_URL)
        return url

    @model_validator(mode="after")
    def _sendable(self) -> "Attachment":
        if self.filename is None and (ending := attachments.refused_ending(attachments.name_of(self.url))):
            raise FieldError("url", f"leads to a file that ends with .{ending}, which no provider sends")
        return self

    @property
    def kept(self) -> dict[str, Any]:
        return {
            "url": self.url,
            "filename": self.filename or attachments.name_of(self.url),
            **({"content_type": self.content_type} if self.content_type else {}),
        }


def _each_once(copies: list[str]) -> list[str]:
    if len({one.lower() for one in copies}) != len(copies):
        raise ValueError("must not name one twice")
    return copies


Copies = Annotated[list[Email], Field(max_length=MAX_COPIES), AfterValidator(_each_once)]
Attachments = Annotated[list[Attachment], Field(max_length=attachments.MAX_FILES)]
