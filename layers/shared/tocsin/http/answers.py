"""What answers have in common, and how their schemas are said: shapes that cost next to nothing to import. Pure.

A shape that shows what has a type of its own already is called Shown…; in the OpenAPI document it has the name without that."""

from typing import Annotated, Generic, NotRequired, TypeVar

from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict

Item = TypeVar("Item")


def one_of(*words: str) -> WithJsonSchema:
    """For text that has one of these values, as in `Annotated[str, one_of("live", "test")]`."""
    return WithJsonSchema({"type": "string", "enum": list(words)})


class PageOf(TypedDict, Generic[Item]):
    """A page of a list."""

    data: list[Item]
    next_cursor: Annotated[str | None, Field(description="The `cursor` of the next page; null on the last one")]


class ProblemError(TypedDict):
    """One thing that is wrong: where, and what."""

    pointer: Annotated[str, Field(description="A JSON pointer into the body, `?name` of a parameter, or the name of a header")]
    message: str


class ShownProblem(TypedDict):
    """What went wrong (RFC 9457)."""

    type: Annotated[str, WithJsonSchema({"type": "string", "format": "uri-reference"})]
    title: str
    status: int
    detail: str
    request_id: str
    errors: NotRequired[list[ProblemError]]


class Throttled(TypedDict):
    """What API Gateway says when it lets no more calls through."""

    message: str
