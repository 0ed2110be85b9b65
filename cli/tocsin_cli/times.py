"""Moments as people write and read them: local on the screen, RFC 3339 in UTC on the wire. Pure."""

import re
from datetime import UTC, datetime, timedelta

_SPAN = re.compile(r"(\d{1,6})\s*(s|m|h|d|w)")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def span(text: str) -> timedelta:
    """`90s`, `10m`, `2h`, `1d`, `1w`, or several of them: `1h30m`."""
    found = _SPAN.findall(text.strip())
    if not found or re.sub(r"\s", "", text) != "".join(number + unit for number, unit in found):
        raise ValueError("must be a time span such as 90s, 10m, 2h or 1d")
    return sum((timedelta(**{_UNITS[unit]: int(number)}) for number, unit in found), timedelta())


def moment(text: str, now: datetime, *, ahead: bool = False) -> datetime:
    """A time: RFC 3339, a local date or date and time, or a span from now, backwards unless `ahead`."""
    try:
        return now + span(text) if ahead else now - span(text)
    except ValueError:
        pass
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError("must be a time such as 2026-11-17T10:00:00Z, or a span such as 10m, 2h or 1d") from None
    return found.astimezone(UTC)  # without an offset it is the reader's own time


def wire(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def parsed(text: object) -> datetime | None:
    """A moment that the server told; none if it is none."""
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def local(text: object, pattern: str = "%Y-%m-%d %H:%M:%S") -> str:
    """As the reader's clock shows it; what is no moment stays as it is."""
    found = parsed(text) if text else None
    return found.astimezone().strftime(pattern) if found else str(text or "")


def lasted(length: timedelta) -> str:
    """`45 s`, `3 min`, `2 h`, `5 d`."""
    seconds = max(0, int(length.total_seconds()))
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size or (seconds >= size and name != "min"):
            return f"{seconds // size} {name}"
    return f"{seconds} s"


def ago(text: object, now: datetime) -> str:
    found = parsed(text) if text else None
    return f"{lasted(now - found)} ago" if found else ""
