"""Rate limits: how much a key or a person may send and call in a minute, how much that was, and who is known to be above it.

What is sent is counted exactly, in the statement that accepts it. Calls are counted here, in memory, and told to the database by
hundredths of the limit: most cost nothing there, and no environment lets through more than a hundredth above it."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access.authenticate import Principal
from tocsin.foundation.database import tenant_round_trip
from tocsin.foundation.settings import settings
from tocsin.store import rate_limits

SHARES = 100  # an environment tells of its calls each time they are such a part of the limit

_exhausted: dict[tuple[str, str], float] = {}  # subjects above a limit in this minute, so that a flood costs no query
_calls: dict[str, "_Calls"] = {}  # by subject, of this minute
_minute = 0.0


@dataclass(frozen=True, slots=True)
class Allowance:
    used: int
    limit: int


@dataclass(slots=True)
class _Calls:
    told: int = 0  # of all environments, when this one last told of its own
    untold: int = 0


def subject_of(principal: Principal) -> str:
    return f"key:{principal.key_id}"


def subject_of_user(user_id: UUID) -> str:
    return f"user:{user_id}"


def is_exhausted(subject: str, what: str) -> bool:
    return _exhausted.get((subject, what), 0) > time.time()


def note_exhausted(subject: str, what: str) -> None:
    _exhausted.clear()
    _exhausted[subject, what] = (time.time() // 60 + 1) * 60


def seconds_left() -> int:
    """Until the next minute, in which everybody may send again."""
    return 60 - datetime.now(UTC).second


def calls_of_key(principal: Principal) -> int:
    """How many calls the key may make in a minute: twice what it may send, so that it can ask after each, and the usual number at
    least; but no more than its tenant may."""
    wanted = max(settings().api_calls_per_minute, 2 * (principal.rate_limit or 0))
    return wanted if principal.calls_cap is None else min(wanted, principal.calls_cap)


def calls_of_user() -> int:
    return settings().user_calls_per_minute


def admits_call(conn: Connection[Any], tenant_id: UUID, subject: str, limit: int) -> bool:
    """Count one more call; False if it is above the limit. Without the database, unless it is time to tell it."""
    calls = _of_this_minute(subject)
    if calls.told + calls.untold >= limit:
        return False
    calls.untold += 1
    if calls.untold * SHARES < limit:
        return True
    with tenant_round_trip(conn, tenant_id):
        counted = rate_limits.add(conn, tenant_id, subject, "api", count=calls.untold, limit=limit)
    row = counted.fetchone()
    calls.told, calls.untold = row[0] if row else 0, 0
    return calls.told <= limit


def _of_this_minute(subject: str) -> _Calls:
    global _minute  # noqa: PLW0603 - the counters of an execution environment
    minute = time.time() // 60
    if minute != _minute:
        _calls.clear()
        _minute = minute
    return _calls.setdefault(subject, _Calls())
