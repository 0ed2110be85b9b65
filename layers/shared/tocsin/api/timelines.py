"""Timelines: what was decided about a notification, step by step, as notifications and decisions show it. Pure."""

from datetime import datetime
from typing import Any

from typing_extensions import TypedDict


class ShownTimelineEntry(TypedDict):
    """A step: when, what, and why; of a route, or of the whole notification."""

    at: datetime
    what: str
    reason: str
    route_id: str | None


def shown(entry: dict[str, Any]) -> ShownTimelineEntry:
    return {"at": entry["at"], "what": entry["what"], "reason": entry["reason"], "route_id": entry["route_id"]}
