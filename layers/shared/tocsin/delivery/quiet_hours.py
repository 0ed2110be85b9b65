"""Quiet hours: local wall times in a time zone, read so that a clock change never shortens them. Pure."""

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def ends_at(now: datetime, start: time, end: time, timezone: str) -> datetime | None:
    """When the quiet hours end that `now` lies in; None outside them. Windows that touch are one."""
    until: datetime | None = None
    for opens, closes in _windows(now, start, end, timezone):
        if opens <= (until or now) < closes:
            until = closes
    return until


def next_start(now: datetime, start: time, end: time, timezone: str) -> datetime:
    """When quiet hours begin next, for a `now` outside them."""
    return min(opens for opens, _ in _windows(now, start, end, timezone) if opens > now)


def local_day(now: datetime, timezone: str) -> tuple[datetime, datetime]:
    """The beginning and the end of the day that it is there. Days follow each other without a gap, also where the clock jumps
    over midnight, or back to before it."""
    zone = _zone(timezone)
    today = now.astimezone(zone).date()
    midnights = [datetime.combine(today + timedelta(days=offset), time(), zone).astimezone(UTC) for offset in range(-1, 3)]
    return max(one for one in midnights if one <= now), min(one for one in midnights if one > now)


def _windows(now: datetime, start: time, end: time, timezone: str) -> list[tuple[datetime, datetime]]:
    """The windows of the days around, in order. A wall time that comes twice, or not at all, is read both ways: a window opens
    at the earlier reading and closes at the later one."""
    zone = _zone(timezone)
    today = now.astimezone(zone).date()
    days = [today + timedelta(days=offset) for offset in range(-2, 4)]  # two before: a day may be missing from a calendar
    nights = timedelta(days=1) if end <= start else timedelta(0)
    return [(_earlier(day, start, zone), _later(day + nights, end, zone)) for day in days]


def _earlier(day: date, wall: time, zone: ZoneInfo) -> datetime:
    return min(_readings(day, wall, zone))


def _later(day: date, wall: time, zone: ZoneInfo) -> datetime:
    return max(_readings(day, wall, zone))


def _readings(day: date, wall: time, zone: ZoneInfo) -> tuple[datetime, datetime]:
    first, second = (datetime.combine(day, wall, zone).replace(fold=fold).astimezone(UTC) for fold in (0, 1))
    return first, second


@lru_cache(maxsize=512)
def _zone(timezone: str) -> ZoneInfo:
    """A zone that was known when it was chosen and is not any more is read as UTC rather than keeping the message for ever."""
    try:
        return ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")
