"""What a payload, or an event's data, may say for people to see: checked as it comes in. Pure."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, with_config
from typing_extensions import TypedDict  # typing's own is not enough for pydantic before Python 3.12

from tocsin.content import display, plain
from tocsin.content.display import MAX_ACTIONS
from tocsin.people import addresses


def _link(url: str | None) -> str | None:
    return addresses.web(url) if url else url


def title_fits(value: Any) -> Any:
    if len(plain.title_of(value)) > plain.MAX_TITLE:
        raise ValueError(f"must have at most {plain.MAX_TITLE} characters")
    return value


def _icon(text: str | None) -> str | None:
    return display.icon(text) if text else text


_Url = Annotated[str, Field(max_length=2_000)]
Link = Annotated[_Url | None, AfterValidator(_link)]  # empty is as good as absent
Title = Annotated[Any, AfterValidator(title_fits)]
Severity = Literal["info", "warning", "critical"]
Icon = Annotated[_Url | None, AfterValidator(_icon)]


@with_config(ConfigDict(extra="forbid"))
class ActionFields(TypedDict):
    """A button: what it says, and where it leads."""

    label: Annotated[str, AfterValidator(display.label)]
    url: Annotated[_Url, AfterValidator(addresses.web)]


Actions = Annotated[list[ActionFields], Field(max_length=MAX_ACTIONS)]
