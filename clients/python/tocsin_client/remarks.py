"""What is said of one field: an error that kept a request out, or a warning about one that was taken. Pure."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Remark:
    """`pointer` leads into the body (`/audience/user_ids/0`), or names a query parameter (`?limit`) or a header."""

    pointer: str
    message: str

    def __str__(self) -> str:
        return f"{self.pointer}: {self.message}" if self.pointer else self.message


def remarks(found: Any) -> tuple[Remark, ...]:
    """Those of an answer; what has another shape is passed over."""
    items = found if isinstance(found, list) else []
    return tuple(Remark(str(one.get("pointer", "")), str(one.get("message", ""))) for one in items if isinstance(one, dict))
