"""What is asked and answered: a request, how its answer is read, and the two as one call. Pure."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

T = TypeVar("T")

REPEATABLE = ("GET", "HEAD", "PUT", "DELETE", "PATCH")  # a PATCH is a merge patch: twice is as good as once


@dataclass(frozen=True, slots=True)
class Request:
    """One request, the same for every try. `is_repeatable`: to make it twice does no more than to make it once."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = field(default=None, repr=False)
    is_repeatable: bool = False
    seconds: float | None = None  # to wait for the answer, if not as usual
    waits: float = 0.0  # seconds that the service was asked to wait, beside the usual
    idempotency_keys: tuple[str, ...] = ()
    event_id: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """A success. `headers` are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes = field(repr=False)

    @property
    def json(self) -> Any:
        """The body; None where there is none."""
        return json.loads(self.content) if self.content else None


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    request: Request
    read: Callable[[Answer], T]
