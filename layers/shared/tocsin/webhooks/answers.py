"""What an endpoint said, or why it said nothing, as it is kept in the log. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

MAX_KEPT = 2_000  # characters of a body
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_TELLS_WHEN = (429, 503)


@dataclass(frozen=True, slots=True)
class EndpointAnswer:
    """`error` says in one word why this is no success; it is empty where it is one."""

    status: int | None
    body: str
    error: str
    duration_ms: int
    retry_after: timedelta | None = None

    @property
    def is_success(self) -> bool:
        return not self.error

    @property
    def timed_out(self) -> bool:
        return self.error == "timeout"


@dataclass(frozen=True, slots=True)
class NotAsked:
    """The endpoint was not asked, for a reason of our own: it is no attempt."""

    reason: str


def answer_of(status: int, headers: Mapping[str, str], body: bytes, *, duration_ms: int, now: datetime) -> EndpointAnswer:
    """2xx is a success. A redirect is none: nobody follows it."""
    error = "" if 200 <= status < 300 else "gone" if status == 410 else "status"
    after = retry_after(headers.get("retry-after", ""), now) if status in _TELLS_WHEN else None
    return EndpointAnswer(status, text_of(body, headers), error, duration_ms, after)


def text_of(body: bytes, headers: Mapping[str, str]) -> str:
    """The beginning of a body as text that any log can show. What is compressed was not asked for, and is not shown."""
    if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        return ""
    return _UNPRINTABLE.sub("", body[: 4 * MAX_KEPT].decode("utf-8", "replace"))[:MAX_KEPT]


def retry_after(text: str, now: datetime) -> timedelta | None:
    """Seconds or a date (RFC 9110); None where it is neither, or past."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return timedelta(seconds=min(int(text[:9]), 10**9))
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    wait = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now
    return wait if wait > timedelta(0) else None
