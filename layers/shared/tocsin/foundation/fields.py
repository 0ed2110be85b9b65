"""What the fields of any body have in common, and how what is wrong with them is said. Pure."""

import re
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from tocsin.foundation.ids import as_uuid
from tocsin.foundation.text import is_storable

MAX_BODY = 256 * 1024
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


def _moment(value: object) -> datetime:
    wrong = "must be a time in RFC 3339, such as 2026-11-15T10:00:00Z"
    if not isinstance(value, str) or not _RFC3339.fullmatch(value):
        raise ValueError(wrong)
    try:
        return datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", value).upper().replace(" ", "T")).astimezone(UTC)
    except (ValueError, OverflowError):  # the 31st of February, or a moment outside the calendar
        raise ValueError(wrong) from None


def _id(value: object) -> UUID:
    found = as_uuid(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError("must be a UUID, such as 01890a5d-ac96-774b-bcce-b302099a8057")
    return found


def _words(text: str) -> str:
    if not is_storable(text) or not text.strip():
        raise ValueError("must be text")
    return text


def unique(values: list[Any]) -> list[Any]:
    if len(set(values)) != len(values):
        raise ValueError("must not name one twice")
    return values


RowId = Annotated[UUID, BeforeValidator(_id)]
Moment = Annotated[datetime, BeforeValidator(_moment)]
Name = Annotated[str, Field(min_length=1, max_length=100)]
Word = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_words)]
Reason = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_words)]  # why somebody did it, in their words
ExternalId = Annotated[str, Field(min_length=1, max_length=255)]


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def errors_of(error: ValidationError) -> list[dict[str, str]]:
    """What is wrong and where, as JSON pointers, without echoing the values."""
    return [{"pointer": _pointer(item["loc"]), "message": _message(item)} for item in error.errors(include_url=False)[:20]]


def _pointer(location: tuple[int | str, ...]) -> str:
    parts = list(location)
    if len(parts) > 1 and parts[0] == "audience" and parts[1] in ("users", "address", "tenant", "thread", "scope"):
        del parts[1]  # pydantic names the chosen shape there; the sender did not write it
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def _message(item: Any) -> str:
    if item["type"] == "extra_forbidden":
        return "is not a known field"
    if item["type"] == "missing":
        return "is required"
    if item["type"] == "union_tag_invalid":
        return f"kind must be one of {item['ctx']['expected_tags']}"
    return str(item["msg"]).removeprefix("Value error, ")
