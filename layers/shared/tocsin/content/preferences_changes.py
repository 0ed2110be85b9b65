"""What the answers on the preferences page mean: which rules change how, or which of the answers cannot be meant. Pure."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import time
from typing import Any

from tocsin.content.preferences_form import DISTURBING, HOURS, Choices, Filled
from tocsin.people.time_zones import known_zone

MOST_A_DAY = 10_000
_WALL_TIME = re.compile(r"\d\d:\d\d(:00)?", re.ASCII)  # some browsers add the seconds


@dataclass(frozen=True, slots=True)
class Changes:
    """By channel and type (none: of all that has no rule of its own) what changes in the rule; and the types whose emails were
    switched on, from which nobody is unsubscribed any more."""

    rules: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    subscribed_again: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not self.rules and not self.subscribed_again


def mistakes(filled: Filled) -> dict[str, str]:
    """By field, the name of the word for what is wrong with it. What the reader left as it was is not looked at."""
    found = {f"cap.{one}": "bad_cap" for one, cap in filled.caps.items() if cap.is_changed and _fails(_cap, cap.now)}
    if not _has_new_hours(filled):
        return found
    start, end, zone = (filled.hours[name].now for name in HOURS)
    unread = {name: "bad_time" for name, text in (("start", start), ("end", end)) if _fails(_time, text)}
    unknown = {"zone": "bad_zone"} if _fails(known_zone, zone) else {}
    return found | (unread or _half_a_window(start, end)) | unknown


def changes(filled: Filled, choices: Choices) -> Changes:
    """A kind that is switched on where its channel is on follows the channel from then on; one that is switched off stays so
    whatever becomes of the channel."""
    found = Changes({(channel, ""): {"enabled": is_on} for channel, is_on in filled.channels.changed.items()})
    channels_on = {one.channel: one.is_on for one in choices.channels} | filled.channels.changed
    for kind in choices.kinds:
        ticks = filled.kinds.get(kind.name)
        for channel, is_on in ticks.changed.items() if ticks else ():
            if channel in kind.ways and (is_on or not kind.is_locked):
                found.rules[channel, kind.name] = {"enabled": None if is_on and channels_on[channel] else is_on}
                found.subscribed_again.extend([kind.name] if is_on and channel == "email" else [])
    for channel, cap in filled.caps.items():
        if cap.is_changed:
            found.rules.setdefault((channel, ""), {})["frequency_cap"] = _cap(cap.now)
    if _has_new_hours(filled):
        start, end = _time(filled.hours["start"].now), _time(filled.hours["end"].now)
        for channel in DISTURBING:
            new = {"quiet_hours_start": start, "quiet_hours_end": end, "timezone": filled.hours["zone"].now}
            found.rules.setdefault((channel, ""), {}).update(new)
    return found


def _has_new_hours(filled: Filled) -> bool:
    return any(filled.hours[name].is_changed for name in HOURS)


def _half_a_window(start: str, end: str) -> dict[str, str]:
    if bool(start) != bool(end):
        return {"start": "no_start"} if end else {"end": "no_end"}
    return {"end": "same"} if start and _time(start) == _time(end) else {}


def _cap(text: str) -> int | None:
    if text and not (text.isascii() and text.isdigit() and len(text) < 8 and int(text) <= MOST_A_DAY):
        raise ValueError(text)
    return int(text) if text else None


def _time(text: str) -> time | None:
    if text and not _WALL_TIME.fullmatch(text):
        raise ValueError(text)
    return time.fromisoformat(text) if text else None


def _fails(parse: Callable[[str], object], text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return True
    return False
