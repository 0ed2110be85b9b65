"""How many a key may send in a minute, and what it is told when that is too many."""

import time
from datetime import UTC, datetime

from tocsin.foundation.settings import settings
from tocsin.http.door import Call
from tocsin.http.problems import Problem
from tocsin.intake.accept_intents import Allowance, Sender

_exhausted: dict[tuple[str, str], float] = {}  # subjects above a limit in this minute, so that a flood costs no query


def sender_of(call: Call) -> Sender:
    principal = call.principal
    return Sender(
        principal.tenant_id,
        principal.producer,
        principal.mode,
        rate_subject=f"key:{principal.key_id}",
        rate_limit=principal.rate_limit or settings().rate_limit_per_minute,
    )


def refuse_if_exhausted(sender: Sender, what: str) -> None:
    if _exhausted.get((sender.rate_subject, what), 0) > time.time():
        raise too_many(sender, what)


def note_exhausted(sender: Sender, what: str) -> None:
    _exhausted.clear()
    _exhausted[sender.rate_subject, what] = (time.time() // 60 + 1) * 60


def headers_of(allowance: Allowance, what: str) -> dict[str, str]:
    left = max(0, allowance.limit - allowance.used)
    return {"RateLimit-Policy": f'"{what}";q={allowance.limit};w=60', "RateLimit": f'"{what}";r={left};t={_resets()}'}


def too_many(sender: Sender, what: str) -> Problem:
    return Problem(
        429,
        "rate-limited",
        f"Too many {what}",
        f"This key may send {sender.rate_limit} {what} a minute. Nothing was stored; try again later.",
        headers={
            "Retry-After": str(_resets()),
            "RateLimit-Policy": f'"{what}";q={sender.rate_limit};w=60',
            "RateLimit": f'"{what}";r=0;t={_resets()}',
        },
    )


def _resets() -> int:
    return 60 - datetime.now(UTC).second
