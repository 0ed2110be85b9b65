"""The time zones of the world as a browser lists them. Pure."""

from functools import cache
from html import escape
from zoneinfo import available_timezones

_CONTINENTS = ("Africa/", "America/", "Antarctica/", "Asia/", "Atlantic/", "Australia/", "Europe/", "Indian/", "Pacific/")


def zone_options(chosen: str) -> str:
    """Every zone with a place in its name, and the chosen one whatever it is called."""
    listed = _options()
    mark = f"<option>{escape(chosen)}"
    if mark + "\n" in listed:
        return listed.replace(mark + "\n", f"<option selected>{escape(chosen)}\n")
    return f"<option selected>{escape(chosen)}\n{listed}"


@cache
def _options() -> str:
    names = sorted(name for name in available_timezones() if name.startswith(_CONTINENTS) or name == "UTC")
    return "".join(f"<option>{name}\n" for name in names)
