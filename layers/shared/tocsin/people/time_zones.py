"""The names of time zones that are known. Pure."""

from functools import cache
from zoneinfo import ZoneInfo, available_timezones


def known_zone(name: str) -> str:
    if name not in _names() or not ZoneInfo(name):
        raise ValueError("must be an IANA time zone, such as Europe/Lisbon")
    return name


@cache
def _names() -> set[str]:
    return available_timezones()
