"""Values as they travel: JSON, times, and words of the caller's in a path. Pure."""

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import quote
from uuid import UUID


def encoded(value: Any) -> bytes:
    """JSON. Times and UUIDs may stand in it; a number that JSON does not have is a ValueError."""
    return json.dumps(value, default=_written, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


def _written(value: Any) -> Any:
    if isinstance(value, datetime):
        return written_moment(value)
    if isinstance(value, (date, UUID)):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"A value of the type {type(value).__name__} cannot be written as JSON")


def written_moment(moment: datetime) -> str:
    """RFC 3339 in UTC. A time without a zone could mean anything, and is a ValueError."""
    if moment.utcoffset() is None:
        raise ValueError("A time needs a time zone: datetime.now(UTC), or one with a tzinfo")
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def read_moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def read_moment_or_none(text: str | None) -> datetime | None:
    return None if text is None else read_moment(text)


def path(pattern: str, *words: str) -> str:
    """A path with words of the caller's in it, each of them one segment: `path("/v1/users/{}", "a/b")`."""
    return pattern.format(*(_segment(word) for word in words))


def _segment(word: str) -> str:
    if not isinstance(word, str) or word in ("", ".", ".."):  # dots are steps in a path, however they are written
        raise ValueError(f"{word!r} is no id that can stand in a path")
    return quote(word, safe="")


def query_of(values: Mapping[str, Any]) -> dict[str, str]:
    """What was given of it."""
    return {name: _word(value) for name, value in values.items() if value is not None}


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return written_moment(value) if isinstance(value, datetime) else str(value)
