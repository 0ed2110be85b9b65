"""How long to wait before the next try. Pure."""

from datetime import timedelta

CAP = timedelta(hours=1)
JITTER = 0.2


def delay(kind: str, base: timedelta, attempts: int, *, jitter: float, retry_after: timedelta | None = None) -> timedelta:
    """The wait after `attempts` tries; `jitter` in [-1, 1] is the caller's random draw.

    A provider's own Retry-After is honoured within one to two times our delay: never sooner, never for ever."""
    steps: int = {"exponential": 2 ** min(attempts - 1, 30), "linear": attempts, "constant": 1}[kind]
    wait = min(CAP, base * steps) * (1 + JITTER * jitter)
    return wait if retry_after is None else min(max(wait, retry_after), 2 * wait)
