"""Rate limits: how many a key may send in a minute, how many it sent, and which keys are known to have sent too many."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime

from tocsin.access.authenticate import Principal

_exhausted: dict[tuple[str, str], float] = {}  # subjects above a limit in this minute, so that a flood costs no query


@dataclass(frozen=True, slots=True)
class Allowance:
    used: int
    limit: int


def subject_of(principal: Principal) -> str:
    return f"key:{principal.key_id}"


def is_exhausted(subject: str, what: str) -> bool:
    return _exhausted.get((subject, what), 0) > time.time()


def note_exhausted(subject: str, what: str) -> None:
    _exhausted.clear()
    _exhausted[subject, what] = (time.time() // 60 + 1) * 60


def seconds_left() -> int:
    """Until the next minute, in which everybody may send again."""
    return 60 - datetime.now(UTC).second
