"""The Prefer header (RFC 7240): of what it can ask for, we know `wait`. Pure."""

import re

from tocsin.http.problems import Problem

LONGEST_WAIT = 20  # seconds
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_PREFERENCE = re.compile(
    rf"""[\s,]*([^\s=,;"]+)\s*(?:=\s*({_QUOTED}|[^\s",;]*)\s*)?  # its name and value
         (?:;(?:{_QUOTED}|[^",])*)?(?:,|$)                     # parameters, which none of ours has
    """,
    re.VERBOSE,
)
_SECONDS = re.compile(r"0*[1-9][0-9]*", re.ASCII)


def wait_of(headers: dict[str, str]) -> int | None:
    """How many seconds the caller would wait for the outcome, at most the longest that we do; None where they do not say.

    The first `wait` counts, as the RFC has it, and whatever else is preferred is passed over."""
    said = _preferences(headers.get("prefer", "")).get("wait")
    if said is None:
        return None
    if not _SECONDS.fullmatch(said):
        raise Problem(
            400,
            "prefer-invalid",
            "The Prefer header is not valid",
            f"`wait` must be a whole number of seconds, from 1 to {LONGEST_WAIT}.",
            [{"pointer": "Prefer", "message": f"wait must be from 1 to {LONGEST_WAIT}"}],
        )
    return min(int(said.lstrip("0")[:9]), LONGEST_WAIT)


def required_wait_of(headers: dict[str, str]) -> int:
    seconds = wait_of(headers)
    if seconds is None:
        raise Problem(
            400,
            "prefer-wait-required",
            "The Prefer header does not say how long to wait",
            f"Send `Prefer: wait=5` (1 to {LONGEST_WAIT} seconds), or use POST /v1/intents, which does not wait.",
            [{"pointer": "Prefer", "message": "wait is required"}],
        )
    return seconds


def _preferences(header: str) -> dict[str, str]:
    """The value of each preference, by its name; what cannot be read is a preference of that name without a good value."""
    found: dict[str, str] = {}
    place = 0
    while place < len(header):
        match = _PREFERENCE.match(header, place)
        name, value = (match[1], match[2] or "") if match else (header[place:].partition("=")[0].strip(), "")
        found.setdefault(name.lower(), value.strip('"'))
        place = match.end() if match else len(header)
    return found
