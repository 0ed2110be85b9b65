"""The one way out over HTTP, for webhooks, handlers, providers and files: guarded against SSRF and bounded in time and size.

It follows no redirect, asks no proxy and tries nothing twice.
"""

import http.client
import re
import socket
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Literal

from tocsin.foundation import name_resolution
from tocsin.foundation.bounded_stream import AnswerTooLong, BoundedStream, TlsStream, time_left
from tocsin.foundation.destinations import MAX_URL, Destination, check_url, is_denied
from tocsin.foundation.name_resolution import ResolvedAddress, ResolverBusy

CONNECT_SECONDS = 3.0  # of the time allowed, the most that goes by before the first byte of the request
MAX_HANDSHAKE = 128 * 1024  # OpenSSL itself takes certificates of 100 KiB
MAX_HEAD = 32 * 1024
MAX_REPLY = 64 * 1024
MAX_BODY_ON_THE_WIRE = 8 * MAX_REPLY  # with what chunks add, were each a byte
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]+")
_HEADER_VALUE = re.compile(r"[ -~]*")
_OWN_HEADERS = {"host", "connection", "content-length", "transfer-encoding", "accept-encoding"}

Phase = Literal["resolve", "connect", "sent"]
WebFailureCode = Literal[
    "denied_url",
    "denied_address",
    "name_not_resolved",
    "resolver_busy",
    "timeout",
    "connection_refused",
    "unreachable",
    "bad_certificate",
    "tls_failed",
    "connection_closed",
    "bad_answer",
    "too_large",
]
_CODES: tuple[tuple[type[Exception], WebFailureCode], ...] = (  # the first that fits
    (ResolverBusy, "resolver_busy"),
    (TimeoutError, "timeout"),
    (AnswerTooLong, "bad_answer"),
    (ssl.SSLCertVerificationError, "bad_certificate"),
    (ssl.SSLError, "tls_failed"),
    (socket.gaierror, "name_not_resolved"),
    (ConnectionRefusedError, "connection_refused"),
    (ConnectionError, "connection_closed"),
    (OSError, "unreachable"),
    (Exception, "bad_answer"),
)


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer, or its first 64 KiB, as they came: what is compressed stays so. The names of headers are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


class WebFailure(Exception):
    """There is no answer. In the phases `resolve` and `connect` nothing was asked yet; `sent` means that it may have been heard.

    The code is for machines and logs; neither it nor the message tells which addresses a name has.
    """

    def __init__(self, phase: Phase, code: WebFailureCode, message: str) -> None:
        self.phase = phase
        self.code = code
        self.message = message[:200]
        super().__init__(f"{phase}: {code}: {self.message}")

    @classmethod
    def of(cls, phase: Phase, error: Exception) -> "WebFailure":
        return cls(phase, next(code for kind, code in _CODES if isinstance(error, kind)), str(error))


def post(url: str, *, headers: dict[str, str], body: bytes, timeout: float, allow_private: bool) -> Reply:
    """Ask once, on a connection of its own: one kept from before may be closed just as we use it, which leaves doubt.

    `timeout` is for all of it, from the look-up of the name to the last byte of the answer. Raises WebFailure, or ValueError for
    headers that cannot be written.
    """
    _check_headers(headers)
    to = _checked(url, MAX_URL, allow_private)
    with _stream(to, timeout, allow_private) as stream:
        return _ask(stream, to, headers, body)


def get(url: str, *, timeout: float, allow_private: bool, most: int, longest_url: int) -> Reply:
    """Fetch a file, whole, of at most so many bytes, within so many seconds in all. Raises WebFailure, `too_large` if it is."""
    to = _checked(url, longest_url, allow_private)
    with _stream(to, timeout, allow_private) as stream:
        return _fetch(stream, to, most)


def _checked(url: str, longest: int, allow_private: bool) -> Destination:
    try:
        return check_url(url, allow_private=allow_private, longest=longest)
    except ValueError as error:
        raise WebFailure("resolve", "denied_url", f"the address {error}") from error


@contextmanager
def _stream(to: Destination, timeout: float, allow_private: bool) -> Iterator[BoundedStream]:
    """A connection on which to ask; what fails while it is used is a WebFailure."""
    until = time.monotonic() + timeout
    connect_until = min(until, time.monotonic() + CONNECT_SECONDS)
    with _dialled(_resolved(to, connect_until, allow_private), connect_until) as sock:
        stream = _connected(to, sock, connect_until)
        stream.until, stream.most = until, MAX_HEAD
        try:
            yield stream
        except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: a chunk of minus five bytes
            raise WebFailure.of("sent", error) from error


def _check_headers(headers: dict[str, str]) -> None:
    # A header may hold a credential, so the error does not repeat it.
    if not all(_HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value) for name, value in headers.items()):
        raise ValueError("a header holds a character that none may hold")
    if not _OWN_HEADERS.isdisjoint(name.lower() for name in headers):
        raise ValueError("a header is one that the client writes itself")


def _resolved(to: Destination, until: float, allow_private: bool) -> list[ResolvedAddress]:
    """All addresses of the name, if none leads inside. They alone are connected to, for a second look-up may say otherwise."""
    try:
        addresses = name_resolution.resolve(to.host, to.port, until=until)
    except OSError as error:
        raise WebFailure.of("resolve", error) from error
    if not allow_private and any(is_denied(address.ip) for address in addresses):
        raise WebFailure("resolve", "denied_address", "the name leads to an address that is not public")
    return addresses


def _connected(to: Destination, sock: socket.socket, until: float) -> BoundedStream:
    if to.scheme == "http":
        return BoundedStream(sock, until=until, most=0)
    try:
        return TlsStream(sock, _tls(), to.host, until=until, most=MAX_HANDSHAKE)
    except OSError as error:
        raise WebFailure.of("connect", error) from error


def _dialled(addresses: list[ResolvedAddress], until: float) -> socket.socket:
    """The first address that answers; each gets its share of the time, so that one that is dead does not use it up."""
    failure = OSError("the name has no address")
    for tried, address in enumerate(addresses):
        try:
            return _open(address, time_left(until) / (len(addresses) - tried))
        except OSError as error:
            failure = error
    raise WebFailure.of("connect", failure) from failure


def _open(address: ResolvedAddress, seconds: float) -> socket.socket:
    sock = socket.socket(address.family, socket.SOCK_STREAM)
    try:
        sock.settimeout(seconds)
        sock.connect(address.place)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock
    except BaseException:
        sock.close()
        raise


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


def _own_headers(to: Destination) -> dict[str, str]:
    return {"Host": to.authority, "Connection": "close", "Accept-Encoding": "identity", "User-Agent": "Tocsin"}


def _ask(stream: BoundedStream, to: Destination, headers: dict[str, str], body: bytes) -> Reply:
    connection = http.client.HTTPConnection(to.host)
    connection.sock = stream
    connection.request("POST", to.target, body, _own_headers(to) | headers)
    with connection.getresponse() as answer:
        names = {name.lower(): value for name, value in answer.getheaders()}
        # Not without a limit of its own: http.client reads all there is where a chunk claims to have less than nothing.
        stream.most = MAX_BODY_ON_THE_WIRE
        return Reply(answer.status, names, answer.read(MAX_REPLY)[:MAX_REPLY])


def _fetch(stream: BoundedStream, to: Destination, most: int) -> Reply:
    connection = http.client.HTTPConnection(to.host)
    connection.sock = stream
    connection.request("GET", to.target, headers=_own_headers(to))
    with connection.getresponse() as answer:
        names = {name.lower(): value for name, value in answer.getheaders()}
        if answer.status != 200:
            return Reply(answer.status, names, b"")
        if answer.length is not None and answer.length > most:
            raise WebFailure("sent", "too_large", "the file is too large")
        told = answer.length
        stream.most = 2 * most + MAX_BODY_ON_THE_WIRE  # with what chunks add
        body = answer.read(most + 1)
        if len(body) > most:
            raise WebFailure("sent", "too_large", "the file is too large")
        if told is not None and len(body) < told:
            raise http.client.IncompleteRead(body[:0], told - len(body))
        return Reply(answer.status, names, body)
