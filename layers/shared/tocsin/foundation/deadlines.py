"""Deadlines: every wait for the database ends while there is still time to say so.

A frozen server still acknowledges what TCP brings it, so neither its own limits nor the kernel's ever fire: only its client can
give up."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

import psycopg
from psycopg import Connection, errors
from psycopg.abc import RV, PQGen

SPARE = 1.0  # seconds of an invocation kept free for its answer
LONGEST_WAIT = 65.0  # seconds for one answer: above every statement_timeout of ours, so that a server that can gives up first

Answer = TypeVar("Answer")

_ends_at: ContextVar[float] = ContextVar("ends_at", default=math.inf)  # on the monotonic clock


class Unanswered(psycopg.OperationalError):
    """The server said nothing in time and the connection was closed. Whoever opened it acts: whether the last statement took
    effect is unknown."""


class BoundedConnection(Connection[Any]):
    """A connection on which nothing waits past the deadline: no statement, no commit, no rollback."""

    longest_wait: float = LONGEST_WAIT

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, max(0.0, min(self.longest_wait, time_left())))
        except errors._WaitTimeout:
            self.close()  # sends its goodbye without waiting
            with suppress(Exception):  # what it would still do on its way out cannot be done any more
                gen.close()
            raise Unanswered("no answer: timeout expired") from None


def time_left() -> float:
    """Seconds until the deadline; none is infinitely far."""
    return _ends_at.get() - time.monotonic()


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Nothing in here waits for the database longer than this, or than what surrounds it may."""
    token = _ends_at.set(min(_ends_at.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _ends_at.reset(token)


def keeping_time(handler: Callable[[Any, Any], Answer]) -> Callable[[Any, Any], Answer]:
    """The handler, with a deadline just before its function's own."""

    @wraps(handler)
    def timed(event: Any, context: Any) -> Answer:
        seconds = context.get_remaining_time_in_millis() / 1000 if context else math.inf
        with within(seconds - SPARE):
            return handler(event, context)

    return timed
