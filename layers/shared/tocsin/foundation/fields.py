"""What the fields of any body have in common. Pure."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
)
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_after_validator_function

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


@dataclass(frozen=True)
class Matching:
    """The text must match all of the pattern; who sends another is told what is wanted, not the pattern."""

    pattern: str
    wanted: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_after_validator_function(self._checked, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return handler(schema) | {"pattern": f"^{self.pattern}$"}

    def _checked(self, text: str) -> str:
        if not re.fullmatch(self.pattern, text):
            raise ValueError(f"must be {self.wanted}")
        return text


RowId = Annotated[UUID, BeforeValidator(_id)]
Moment = Annotated[datetime, BeforeValidator(_moment)]
Name = Annotated[str, Field(min_length=1, max_length=100)]
Word = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_words)]
Reason = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_words)]  # why somebody did it, in their words
ExternalId = Annotated[str, Field(min_length=1, max_length=255)]
LANGUAGE = r"[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*"


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
