"""CloudEvents 1.0 as producers send them: one or many in JSON, or one in headers with its data as the body. Pure."""

import json
import re
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from tocsin.foundation.fields import ExternalId, Moment, Name
from tocsin.foundation.text import percent_decoded
from tocsin.intake.display_fields import Actions, Icon, Link, Severity, title_fits
from tocsin.intake.intents import Thread

STRUCTURED = "application/cloudevents+json"
BATCHED = "application/cloudevents-batch+json"
MAX_DATA = 64 * 1024
MAX_NAMED = 1_000
MAX_BATCH = 500
REQUIRED = ("specversion", "id", "source", "type")

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # what the specification keeps out of every attribute
_JSON = re.compile(r"application/([a-z0-9.+-]+\+)?json\s*(;.*)?", re.I)


def _plain(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("must not hold control characters")
    return text


def _is_json(media_type: str) -> str:
    if not _JSON.fullmatch(media_type):
        raise ValueError("must be JSON: the data is read, not only passed on")
    return media_type


def _no_bytes(data: object) -> None:
    if data is not None:
        raise ValueError("is not taken: send the data as JSON in `data`")


EventAttribute = Annotated[ExternalId, AfterValidator(_plain)]
People = Annotated[list[ExternalId], Field(max_length=MAX_NAMED)]


class Data(BaseModel):
    """What we read of an event's data. The rest is the producer's own, kept and given to templates."""

    model_config = ConfigDict(extra="allow", frozen=True)

    scope: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    thread: Thread | None = None
    actor: ExternalId | None = None
    author: ExternalId | None = None
    mentions: People = []
    reviewers: People = []
    assignees: People = []
    title: Annotated[str | None, AfterValidator(title_fits)] = None
    message: str | None = None
    url: Link = None
    actions: Actions | None = None
    severity: Severity | None = None
    icon: Icon = None


class CloudEvent(BaseModel):
    """An event. Extension attributes are let through, as the specification asks."""

    model_config = ConfigDict(extra="allow", frozen=True)

    specversion: Literal["1.0"]
    id: EventAttribute
    source: EventAttribute
    type: Annotated[Name, AfterValidator(_plain)]
    time: Moment | None = None
    datacontenttype: Annotated[str, AfterValidator(_is_json)] | None = None
    data: Annotated[Data, BeforeValidator(lambda data: {} if data is None else data)] = Data()
    data_base64: Annotated[None, BeforeValidator(_no_bytes)] = None

    @property
    def occurred_at(self) -> datetime | None:
        return self.time


def is_binary(headers: dict[str, str]) -> bool:
    """Whether it is meant so, even if some of its attributes are missing: then that is what is wrong."""
    return any(f"ce-{name}" in headers for name in REQUIRED)


def at_its_header(pointer: str) -> str:
    """Where an event in binary mode has what the structured form has here."""
    if pointer == "/data" or pointer.startswith("/data/"):
        return pointer.removeprefix("/data")
    return "Content-Type" if pointer == "/datacontenttype" else f"ce-{pointer.removeprefix('/')}"


def from_headers(headers: dict[str, str], data: Any) -> dict[str, Any]:
    """The structured form of an event in binary mode. Header values are percent-encoded; a ValueError names one that is not."""
    attributes = {name.removeprefix("ce-"): _decoded(name, value) for name, value in headers.items() if name.startswith("ce-")}
    event: dict[str, Any] = attributes | {"datacontenttype": headers.get("content-type") or "application/json"}
    return event if data is None else event | {"data": data}


def _decoded(name: str, value: str) -> str:
    try:
        return percent_decoded(value)
    except ValueError:
        raise ValueError(f"The header {name[:100]} is not text in UTF-8 without U+0000.") from None


def data_is_too_large(value: Any) -> bool:
    data = value.get("data") if isinstance(value, dict) else None
    return len(json.dumps(data, ensure_ascii=False).encode("utf-8", "surrogatepass")) > MAX_DATA
