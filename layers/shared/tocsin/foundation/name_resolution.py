"""The addresses of a name, in time: a resolver knows no deadline but its own, so a thread waits for it and may be left behind."""

import socket
import time
from concurrent.futures import Future
from dataclasses import dataclass
from threading import BoundedSemaphore, Thread
from typing import Any

MOST_AT_ONCE = 64  # a name server that answers nobody must not fill the process with threads

_free = BoundedSemaphore(MOST_AT_ONCE)


class ResolverBusy(OSError):
    """As many names are being looked up as may be, all in vain so far. Whoever asked tries later: it says nothing of the name."""


@dataclass(frozen=True, slots=True)
class ResolvedAddress:
    family: int
    place: tuple[Any, ...]  # as `connect` takes it: the address and the port come first

    @property
    def ip(self) -> str:
        return str(self.place[0])


def look_up(host: str, port: int) -> list[ResolvedAddress]:
    """Every address that the system's resolver knows; tests put another resolver in its place."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [ResolvedAddress(family, place) for family, _, _, _, place in found]


def resolve(host: str, port: int, *, until: float) -> list[ResolvedAddress]:
    """The same before this moment of the monotonic clock, or TimeoutError, or ResolverBusy."""
    if not _free.acquire(timeout=max(0.0, until - time.monotonic())):
        raise ResolverBusy("too many names are being looked up")
    found: Future[list[ResolvedAddress]] = Future()
    try:
        Thread(target=_offer, args=(found, host, port), daemon=True).start()
    except BaseException:
        _free.release()
        raise
    try:
        return found.result(max(0.0, until - time.monotonic()))
    except TimeoutError:
        raise TimeoutError("the name was not resolved in time") from None


def _offer(found: Future[list[ResolvedAddress]], host: str, port: int) -> None:
    try:
        found.set_result(look_up(host, port))
    except Exception as error:
        found.set_exception(error)
    finally:
        _free.release()
