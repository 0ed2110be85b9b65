"""The one way out over HTTP: a POST without redirects, proxies or retries, bounded in time and size."""

import http.client
import io
import re
import socket
import ssl
import time
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal
from urllib.parse import SplitResult, urlsplit

CONNECT_SECONDS = 3.0
MAX_REPLY = 64 * 1024
_URL = re.compile(r"https?://[!-~]+")
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]+")
_HEADER_VALUE = re.compile(r"[ -~]*")

Phase = Literal["connect", "sent"]


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer, or its first 64 KiB. The names of headers are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


class WebFailure(Exception):
    """There is no answer. In the phase `connect` nothing was asked yet; `sent` means that it may have been heard."""

    def __init__(self, phase: Phase, error: Exception) -> None:
        self.phase = phase
        self.code = type(error).__name__
        self.message = str(error)[:200]
        super().__init__(f"{phase}: {self.code}: {self.message}")


def post(url: str, *, headers: dict[str, str], body: bytes, timeout: float) -> Reply:
    """Ask once, on a connection of its own: one kept from before may be closed just as we use it, which leaves doubt.

    Connecting takes at most three seconds and, once connected, all the rest at most `timeout` more; only the look-up of the
    name is bounded by the resolver's own limits. Raises WebFailure, or ValueError for a request that cannot be written.
    """
    parts = _checked(url, headers)
    with _connected(parts) as sock:
        try:
            return _ask(_Limited(sock, time.monotonic() + timeout), parts, headers, body)
        except (OSError, http.client.HTTPException) as error:
            raise WebFailure("sent", error) from error


def _checked(url: str, headers: dict[str, str]) -> SplitResult:
    parts = urlsplit(url)
    if not _URL.fullmatch(url) or not parts.hostname or "@" in parts.netloc:
        raise ValueError("not the address of a web server")
    # A header may hold a credential, so the error does not repeat it.
    if not all(_HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value) for name, value in headers.items()):
        raise ValueError("a header holds a character that none may hold")
    return parts


def _ask(limited: "_Limited", parts: SplitResult, headers: dict[str, str], body: bytes) -> Reply:
    connection = http.client.HTTPConnection(parts.hostname or "")
    connection.sock = limited
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    ours = {"Host": parts.netloc, "Connection": "close", "User-Agent": "Tocsin"}
    connection.request("POST", target, body, ours | headers)
    with connection.getresponse() as answer:
        names = {name.lower(): value for name, value in answer.getheaders()}
        return Reply(answer.status, names, answer.read(MAX_REPLY))


def _connected(parts: SplitResult) -> socket.socket:
    host, until = parts.hostname or "", time.monotonic() + CONNECT_SECONDS
    try:
        sock = _dialled(host, parts.port or (443 if parts.scheme == "https" else 80), until)
        if parts.scheme == "http":
            return sock
        try:
            sock.settimeout(_left(until))
            return _tls().wrap_socket(sock, server_hostname=host)
        except BaseException:
            sock.close()
            raise
    except OSError as error:
        raise WebFailure("connect", error) from error


def _dialled(host: str, port: int, until: float) -> socket.socket:
    """The first address that answers; each gets its share of the time, so that one that is dead does not use it up."""
    failure = OSError("the name has no address")
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    for tried, (family, kind, protocol, _, address) in enumerate(addresses):
        sock = socket.socket(family, kind, protocol)
        try:
            sock.settimeout(_left(until) / (len(addresses) - tried))
            sock.connect(address)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return sock
        except OSError as error:
            sock.close()
            failure = error
    raise failure


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _left(until: float) -> float:
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    return left


class _Limited(io.RawIOBase):
    """A socket that gives up at one moment. A socket's own timeout begins anew with every byte that drips in."""

    def __init__(self, sock: socket.socket, until: float) -> None:
        self._sock = sock
        self._until = until

    def sendall(self, data: bytes) -> None:
        self._sock.settimeout(_left(self._until))
        self._sock.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._sock.settimeout(_left(self._until))
        return self._sock.recv_into(buffer)

    def close(self) -> None:
        """Nothing: whoever opened the socket closes it, after the answer was read."""
