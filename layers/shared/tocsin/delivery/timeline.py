"""The timeline of a notification: every decision in order, each with its reason. Pure."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

TimelineEntry = dict[str, Any]

# What happened in one instant is told in this order; attempts stand in between, by their numbers.
_PLANNED, _DEFERRED, _WAITING, _ENDED, _HEARD, _RESOLVED = 1, 100_000, 100_001, 100_002, 100_003, 100_004

_ENDS = {
    "published": "published_at",
    "dead_letter": "dead_lettered_at",
    "skipped": "skipped_at",
    "cancelled": "cancelled_at",
}


def timeline(
    record: dict[str, Any],
    routes: list[dict[str, Any]],
    attempts: list[dict[str, Any]],
    events: Sequence[dict[str, Any]] = (),
    letters: Sequence[dict[str, Any]] = (),
) -> list[TimelineEntry]:
    entries = [
        _entry(record["accepted_at"], "accepted", f"by {record['producer']}"),
        *([_entry(record["cancelled_at"], "cancel_asked", "")] if record["cancelled_at"] else []),
        *([_entry(record["accepted_at"], "scheduled", f"for {record['send_at'].isoformat()}")] if record["send_at"] else []),
    ]
    for route in routes:
        entries += _of_route(route)
    for attempt in attempts:
        entries += _of_attempt(attempt)
    entries += [_of_event(event) for event in events]
    ends = {(route["route_id"], route["generation"]) for route in routes if route["status"] == "dead_letter"}
    for letter in letters:
        entries += _of_letter(letter, is_told=(letter["route_id"], letter["generation"]) in ends)
    return sorted(entries, key=lambda entry: (entry["at"], entry["order"]))


def _of_route(route: dict[str, Any]) -> list[TimelineEntry]:
    route_id = route["route_id"]
    because = f" ({route['audience_reason']})" if route["audience_reason"] else ""
    planned = f"{route['channel']} to {route['recipient_ref']}{because}"
    entries = [_entry(route["created_at"], "planned", planned, route_id, order=_PLANNED)]
    if route["deferral_count"]:
        times = f" ({route['deferral_count']} times, the last one shown)" if route["deferral_count"] > 1 else ""
        entries.append(_entry(route["deferred_at"], "deferred", route["deferred_reason"] + times, route_id, order=_DEFERRED))
    if ended := _ENDS.get(route["status"]):
        entries.append(_entry(route[ended], route["status"], _why(route), route_id, order=_ENDED))
    elif route["next_attempt_at"]:
        at = route["next_attempt_at"].isoformat()
        entries.append(_entry(route["updated_at"], "waiting", f"{route['reason']}; next at {at}", route_id, order=_WAITING))
    return entries


def _why(route: dict[str, Any]) -> str:
    """The reason of an end, and what is in doubt about it."""
    if route["status"] == "published":
        doubt = "; an earlier attempt may have arrived too" if route["duplicate_suspected"] else ""
        return (f"accepted by {route['provider']}" if route["provider"] != "inbox" else "in the inbox") + doubt
    if route["may_have_arrived"] and route["status"] == "dead_letter":
        return f"{route['reason']}: {route['last_error_message']}"
    return f"{route['reason']}; an earlier attempt may have arrived" if route["may_have_arrived"] else str(route["reason"])


def _of_attempt(attempt: dict[str, Any]) -> list[TimelineEntry]:
    again = f" (generation {attempt['generation']})" if attempt["generation"] > 1 else ""
    name = f"attempt {attempt['attempt_no']} by {attempt['provider']}{again}"
    entries = [_entry(attempt["started_at"], "attempt_opened", name, attempt["route_id"], order=2 * attempt["attempt_no"])]
    if attempt["outcome"]:
        why = f": {attempt['error_message']}" if attempt["error_message"] else ""
        if why and attempt["outcome"] == "accepted":
            why = f", as was learned later{why}"
        why += f"; {attempt['note']}" if attempt["note"] else ""
        at = attempt["finished_at"] or attempt["started_at"]
        entries.append(
            _entry(at, f"attempt_{attempt['outcome']}", name + why, attempt["route_id"], order=2 * attempt["attempt_no"] + 1)
        )
    return entries


def _of_letter(letter: dict[str, Any], *, is_told: bool) -> list[TimelineEntry]:
    """What died, unless it is told as the end of its route, and what was done about it."""
    route_id = letter["route_id"]
    what = "" if route_id else f"{letter['source_kind']}: "
    why = f"{what}{letter['failure_classification']}: {letter['failure_message']}"
    entries = [] if is_told else [_entry(letter["created_at"], "dead_letter", why, route_id, order=_ENDED)]
    if letter["resolution"]:
        by = f"by key:{letter['resolved_by']}" if letter["resolved_by"] else ""
        reason = f"{by}, as generation {letter['generation'] + 1}" if letter["resolution"] == "replayed" else by
        entries.append(_entry(letter["resolved_at"], letter["resolution"], reason, route_id, order=_RESOLVED))
    return entries


def _of_event(event: dict[str, Any]) -> TimelineEntry:
    """When it happened by the provider's own clock, in whatever order we heard of it."""
    detail = f": {event['detail']}" if event["detail"] else ""
    what, reason = f"provider_{event['kind']}", event["provider"] + detail
    return _entry(event["occurred_at"], what, reason, event["route_id"], order=_HEARD, learned_at=event["received_at"])


def _entry(
    at: datetime, what: str, reason: str, route_id: str | None = None, *, order: int = 0, learned_at: datetime | None = None
) -> TimelineEntry:
    return {"at": at, "what": what, "reason": reason, "route_id": route_id, "order": order, "learned_at": learned_at or at}
