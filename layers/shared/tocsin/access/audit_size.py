"""How much of a change the audit log keeps: long texts are cut, and the row says so. Pure."""

import json
from typing import Any

MOST_BYTES = 16_384
_TEXT_LIMITS = (4_000, 400, 40)  # characters, tried in turn


def bounded(changes: dict[str, Any]) -> dict[str, Any]:
    """The changes, or as much of them as there is room for; `cut` then says how many bytes they were."""
    size = _size(changes)
    if size <= MOST_BYTES and not _has_long(changes):
        return changes
    for most in _TEXT_LIMITS:
        kept: dict[str, Any] = {**_cut(changes, most), "cut": {"bytes": size}}
        if _size(kept) <= MOST_BYTES:
            return kept
    return {"cut": {"bytes": size, "fields": sorted(_fields(changes))[:100]}}


def _has_long(value: Any) -> bool:
    match value:
        case str():
            return len(value) > _TEXT_LIMITS[0]
        case dict():
            return any(map(_has_long, value.values()))
        case list() | tuple():
            return any(map(_has_long, value))
        case _:
            return False


def _cut(value: Any, most: int) -> Any:
    match value:
        case str() if len(value) > most:
            return f"{value[:most]}… ({len(value)} characters)"
        case dict():
            return {name: _cut(one, most) for name, one in value.items()}
        case list() | tuple():
            return [_cut(one, most) for one in value]
        case _:
            return value


def _fields(changes: dict[str, Any]) -> set[str]:
    sides = [side for side in changes.values() if isinstance(side, dict)]
    return {str(name)[:100] for side in sides for name in side}


def _size(changes: dict[str, Any]) -> int:
    return len(json.dumps(changes, ensure_ascii=False, default=str).encode("utf-8", "replace"))
