"""What is tried again, and when. Pure."""

import email.utils
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from tocsin_client.problems import ConnectionFailed, Problem, TocsinError

_IN_FLIGHT = ("idempotency-key-in-flight", "event-in-flight")
_IN_DOUBT = (500, 502, 503, 504)  # it may have been done


@dataclass(frozen=True, slots=True)
class Retries:
    """How often and how long. Between tries is waited a random part of `first` seconds, doubled each time up to `longest`; or
    as long as the service says, if that is more. No try begins later than `within` seconds after the first."""

    tries: int = 5
    within: float = 60.0
    first: float = 0.5
    longest: float = 10.0

    def pause(self, fault: TocsinError, *, is_repeatable: bool, tried: int, elapsed: float, chance: float) -> float | None:
        """How long to wait before the next try; None: there is none. `chance` is a random number from 0 to 1."""
        if tried >= self.tries or not may_pass(fault, is_repeatable=is_repeatable):
            return None
        usual = chance * min(self.longest, self.first * 2.0 ** min(tried - 1, 60))
        wait = max(usual, getattr(fault, "retry_after", None) or 0.0)
        return wait if elapsed + wait <= self.within else None


def may_pass(fault: TocsinError, *, is_repeatable: bool) -> bool:
    """Whether another try could end differently, and does no harm. What was surely not taken may always be said again."""
    if isinstance(fault, ConnectionFailed):
        return fault.may_pass and (is_repeatable or fault.was_surely_not_taken)
    if not isinstance(fault, Problem):
        return False
    if fault.status == 429:
        return True
    if fault.status == 409:
        return is_repeatable and fault.kind in _IN_FLIGHT
    return is_repeatable and fault.status in _IN_DOUBT


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The header in seconds: a number, or a date as seen from the answer's own."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    until, now = _date(text), _date(headers.get("date", ""))
    return max(0.0, (until - now).total_seconds()) if until and now else None


def _date(text: str) -> datetime | None:
    try:
        found = email.utils.parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
