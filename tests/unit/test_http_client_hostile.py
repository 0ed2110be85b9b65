"""Servers that mean harm: they redirect inside, drip, flood, bomb, say nothing or talk nonsense. None costs more than it may."""

import gzip
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable
from typing import TypeVar

import pytest

from devstack.post_office.letters import Reply
from tests.unit.web_servers import answering, speaking
from tocsin.foundation import http_client
from tocsin.foundation.http_client import MAX_HEAD, MAX_REPLY, WebFailure, post
from tocsin.foundation.name_resolution import ResolvedAddress

OK = b"HTTP/1.1 200 OK\r\n"
MIB = 1024 * 1024
T = TypeVar("T")


def asked(url: str, *, timeout: float = 5, body: bytes = b"{}") -> http_client.Reply:
    return post(url, headers={}, body=body, timeout=timeout, allow_private=True)


def failed(url: str, *, timeout: float = 5, body: bytes = b"{}") -> tuple[str, str]:
    with pytest.raises(WebFailure) as failure:
        asked(url, timeout=timeout, body=body)
    return failure.value.phase, failure.value.code


def saying(*words: bytes, then_for_ever: bytes = b"") -> Callable[[socket.socket], None]:
    """Hears the request to its end, says this, and the last of it until nobody listens."""

    def talk(connection: socket.socket) -> None:
        while (heard := connection.recv(65_536)) and not heard.endswith(b"{}"):
            pass
        for each in words:
            connection.sendall(each)
        while then_for_ever:
            connection.sendall(then_for_ever)

    return talk


def silent_until(enough: threading.Event) -> Callable[[socket.socket], None]:
    def talk(_: socket.socket) -> None:
        enough.wait(10)

    return talk


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("place", ["http://169.254.169.254/latest/meta-data/", "//127.0.0.1/", "file:///etc/passwd"])
def test_a_redirect_inside_is_an_answer_like_any_other(monkeypatch: pytest.MonkeyPatch, status: int, place: str) -> None:
    dialled: list[str] = []
    open_ = http_client._open

    def remembered(address: ResolvedAddress, seconds: float) -> socket.socket:
        dialled.append(address.ip)
        return open_(address, seconds)

    monkeypatch.setattr(http_client, "_open", remembered)

    with answering(Reply(status, b"", "text/plain", {"Location": place})) as server:
        reply = asked(server.url)

    assert (reply.status, reply.headers["location"]) == (status, place)
    assert (len(server.asked), dialled) == (1, ["127.0.0.1"])


@pytest.mark.parametrize(
    "head",
    [b"", OK + b"X: ", OK + b"Content-Length: 9999\r\n\r\n", OK + b"Transfer-Encoding: chunked\r\n\r\n"],
    ids=["status", "header", "body", "chunk"],
)
def test_what_drips_in_is_cut_off_at_the_time_allowed(head: bytes) -> None:
    enough = threading.Event()

    def talk(connection: socket.socket) -> None:
        connection.sendall(head)
        while not enough.wait(0.02):
            connection.sendall(b"1")

    with speaking(talk) as url:
        began = time.monotonic()
        assert failed(url, timeout=0.6) == ("sent", "timeout")
        assert time.monotonic() - began < 3
        enough.set()


def test_a_header_at_a_time_without_end_is_cut_off_at_their_number() -> None:
    with speaking(saying(OK, then_for_ever=b"X: y\r\n")) as url:
        assert failed(url, timeout=30) == ("sent", "bad_answer")


@pytest.mark.parametrize(
    "words",
    [
        OK + b"X: " + b"x" * MAX_HEAD,
        OK + b"".join(b"X-%d: %s\r\n" % (number, b"x" * 1000) for number in range(40)) + b"\r\n",
        b"HTTP/1.1 200 " + b"x" * MAX_HEAD,
    ],
    ids=["one header", "many headers", "status"],
)
def test_a_huge_head_is_refused(words: bytes) -> None:
    with speaking(saying(words, then_for_ever=b"x")) as url:
        assert failed(url, timeout=30) == ("sent", "bad_answer")


def test_a_large_head_that_is_not_huge_is_read() -> None:
    head = OK + b"".join(b"X-%d: %s\r\n" % (number, b"x" * 600) for number in range(50)) + b"\r\n"

    with speaking(saying(head, b"body")) as url:
        reply = asked(url)

    assert (len(reply.headers), reply.body) == (50, b"body")


def test_answers_that_promise_another_answer_come_to_an_end() -> None:
    with speaking(saying(then_for_ever=b"HTTP/1.1 100 Continue\r\n\r\n")) as url:
        assert failed(url, timeout=30) == ("sent", "bad_answer")


@pytest.mark.parametrize(
    "head", [b"", b"Content-Length: 1073741824\r\n", b"Content-Length: x\r\n"], ids=["no end", "1 GiB", "nonsense"]
)
def test_of_a_gigabyte_no_more_than_64_kib_are_read(head: bytes) -> None:
    with speaking(saying(OK + head + b"\r\n", then_for_ever=b"x" * 65_536)) as url:
        reply, peak = traced(lambda: asked(url))

    assert reply.body == b"x" * MAX_REPLY
    assert peak < MIB


@pytest.mark.parametrize("size", [b"-1", b"-5", b"-ffffffff"])
def test_a_chunk_of_less_than_nothing_is_not_read_to_its_end(size: bytes) -> None:
    head = OK + b"Transfer-Encoding: chunked\r\n\r\n" + size + b"\r\n"

    with speaking(saying(head, then_for_ever=b"x" * 65_536)) as url:
        outcome, peak = traced(lambda: failed(url, timeout=30))

    assert outcome == ("sent", "bad_answer")
    assert peak < 2 * MIB


def test_chunks_that_hold_next_to_nothing_come_to_an_end() -> None:
    chunk = b"1;" + b"x" * 10_000 + b"\r\ny\r\n"

    with speaking(saying(OK + b"Transfer-Encoding: chunked\r\n\r\n", then_for_ever=chunk)) as url:
        assert failed(url, timeout=30) == ("sent", "bad_answer")


def test_a_body_of_chunks_without_end_is_cut_off() -> None:
    chunk = b"400\r\n" + b"x" * 1024 + b"\r\n"

    with speaking(saying(OK + b"Transfer-Encoding: chunked\r\n\r\n", then_for_ever=chunk)) as url:
        assert asked(url).body == b"x" * MAX_REPLY


def test_a_body_in_chunks_of_a_byte_is_read_all_the_same() -> None:
    head = OK + b"Transfer-Encoding: chunked\r\n\r\n"

    with speaking(saying(head, b"1\r\nx\r\n" * MAX_REPLY, b"0\r\n\r\n")) as url:
        assert asked(url).body == b"x" * MAX_REPLY


def test_a_gzip_bomb_is_kept_as_it_came() -> None:
    bomb = gzip.compress(b"\x00" * 64 * MIB)
    assert len(bomb) < MAX_REPLY
    head = OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)

    with speaking(saying(head, bomb)) as url:
        reply, peak = traced(lambda: asked(url))

    assert (reply.body, reply.headers["content-encoding"]) == (bomb, "gzip")
    assert peak < MIB


def test_a_larger_one_is_cut_off() -> None:
    bomb = b"\x1f\x8b" + b"\x00" * 10 * MAX_REPLY

    with speaking(saying(OK + b"Content-Encoding: gzip\r\n\r\n", bomb)) as url:
        assert asked(url).body == bomb[:MAX_REPLY]


def test_a_server_that_never_answers_is_waited_for_as_long_as_allowed() -> None:
    enough = threading.Event()

    with speaking(silent_until(enough)) as url:
        began = time.monotonic()
        assert failed(url, timeout=0.6) == ("sent", "timeout")
        assert time.monotonic() - began < 2
        enough.set()


def test_nor_does_one_that_never_reads_hold_us_up() -> None:
    enough = threading.Event()

    with speaking(silent_until(enough)) as url:
        began = time.monotonic()
        assert failed(url, timeout=0.6, body=b"x" * 32 * MIB) == ("sent", "timeout")
        assert time.monotonic() - began < 3
        enough.set()


def test_a_handshake_without_end_is_given_up() -> None:
    def talk(connection: socket.socket) -> None:
        while True:
            connection.sendall(b"\x16\x03\x03\x00\x04\x00\x00\x00\x00")  # the server would like to begin, again and again

    with speaking(talk) as url:
        assert failed(url.replace("http:", "https:"))[0] == "connect"


def test_a_server_that_does_not_shake_hands_was_sent_nothing() -> None:
    enough = threading.Event()

    with speaking(silent_until(enough)) as url:
        assert failed(url.replace("http:", "https:"), timeout=0.6) == ("connect", "timeout")
        enough.set()


@pytest.mark.parametrize(
    "words",
    [
        *(b"<html>hello</html>\n", b"\x00\xff\xfe\r\n\r\n", b"ICY 200 OK\r\n\r\n", b"HTTP/2.0 200\r\n\r\n", b"\r\n"),
        *(b"HTTP/1.1 two\r\n\r\n", b"HTTP/1.1 99\r\n\r\n", b"SSH-2.0-OpenSSH\r\n", b"+PONG\r\n"),
    ],
)
def test_what_does_not_speak_http_has_not_answered(words: bytes) -> None:
    with speaking(saying(words)) as url:
        phase, code = failed(url)

    assert phase == "sent"
    assert code in ("bad_answer", "connection_closed")


def traced(work: Callable[[], T]) -> tuple[T, int]:
    """What it returns, and the most memory it took."""
    tracemalloc.start()
    try:
        return work(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
