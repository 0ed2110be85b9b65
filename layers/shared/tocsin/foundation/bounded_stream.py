"""A connection that gives up at one moment and after so many bytes, whatever the other side does, with TLS or without."""

import io
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")

_RECORD = 16 * 1024  # of TLS, at most


class AnswerTooLong(OSError):
    """The other side says more than it may. Whoever called it does without an answer."""


def time_left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    return left


class BoundedStream(io.RawIOBase):
    """What http.client takes for a socket. A real one's timeout begins anew with every byte that drips in."""

    def __init__(self, sock: socket.socket, *, until: float, most: int) -> None:
        self._sock = sock
        self.until = until  # on the monotonic clock
        self.most = most  # bytes that are still received

    def sendall(self, data: Any) -> None:
        rest = memoryview(data)
        while rest:
            self._sock.settimeout(time_left(self.until))
            rest = rest[self._sock.send(rest) :]

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._receive(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _receive(self, size: int) -> bytes:
        if self.most <= 0:
            raise AnswerTooLong("the answer is too long")
        self._sock.settimeout(time_left(self.until))
        data = self._sock.recv(size)
        self.most -= len(data)
        return data

    def close(self) -> None:
        """Nothing: whoever opened the socket closes it, after the answer was read."""


class TlsStream(BoundedStream):
    """The same over TLS. OpenSSL is fed by us: a handshake that reads the socket itself never comes back from a server that says
    hello without end, and no timeout is heard there."""

    def __init__(self, sock: socket.socket, context: ssl.SSLContext, host: str, *, until: float, most: int) -> None:
        super().__init__(sock, until=until, most=most)
        self._heard, self._said = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._heard, self._said, server_hostname=host)
        self._fed(self._tls.do_handshake)

    def sendall(self, data: Any) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._fed(partial(self._tls.write, rest[:_RECORD])) :]

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._fed(partial(self._tls.read, len(buffer)))
        except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
            return 0
        buffer[: len(data)] = data
        return len(data)

    def _fed(self, work: Callable[[], T]) -> T:
        """The work's result, as soon as it has heard enough for one."""
        while True:
            try:
                result = work()
            except ssl.SSLWantReadError:
                self._flush()
                self._hear()
            except ssl.SSLError:
                with suppress(OSError):  # the other side is told why, if it listens
                    self._flush()
                raise
            else:
                self._flush()
                return result

    def _hear(self) -> None:
        if data := self._receive(_RECORD):
            self._heard.write(data)
        else:
            self._heard.write_eof()

    def _flush(self) -> None:
        super().sendall(self._said.read())
