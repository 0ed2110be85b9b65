"""The one HTTP client: what it sends, how long it waits, how much it reads, and what it is sure of afterwards."""

import socket
import ssl
import time
from pathlib import Path

import pytest

from devstack.post_office.letters import Reply, Silence
from tests.unit.certificates import make_certificate
from tests.unit.web_servers import answering, nobody, silent_port, speaking, tls_server
from tocsin.foundation import http_client
from tocsin.foundation.http_client import WebFailure, post


def asked(url: str, *, timeout: float = 5, headers: dict[str, str] | None = None, body: bytes = b"{}") -> http_client.Reply:
    return post(url, headers=headers or {}, body=body, timeout=timeout, allow_private=True)


def test_a_post_carries_its_headers_and_its_body_and_brings_the_answer_back() -> None:
    with answering(Reply(201, b"made", "text/plain", {"X-Message-Id": "m-1"})) as server:
        reply = asked(f"{server.url}/a/b?c=d", headers={"Authorization": "Bearer x"}, body=b"\x00\xff")

    [(method, path, body, headers)] = server.asked
    assert (method, path, body) == ("POST", "/a/b?c=d", b"\x00\xff")
    assert (headers["Authorization"], headers["Content-Length"], headers["Connection"]) == ("Bearer x", "2", "close")
    assert headers.get_all("Accept-Encoding") == ["identity"]
    assert headers["Host"] == server.url.removeprefix("http://")
    assert (reply.status, reply.body, reply.headers["x-message-id"]) == (201, b"made", "m-1")


def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    with answering(Reply(307, b"", "text/plain", {"Location": "/elsewhere"})) as server:
        assert asked(server.url).status == 307

    assert [path for _, path, _, _ in server.asked] == ["/"]


def test_the_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, nobody())

    with answering(Reply(200, b"", "text/plain")) as server:
        assert asked(server.url).status == 200


@pytest.mark.parametrize("length", [http_client.MAX_REPLY, http_client.MAX_REPLY + 1, 10 * http_client.MAX_REPLY])
def test_no_more_than_64_kib_of_an_answer_are_read(length: int) -> None:
    with answering(Reply(200, b"x" * length, "text/plain")) as server:
        assert len(asked(server.url).body) == 65_536


def test_where_nobody_listens_nothing_was_sent() -> None:
    with pytest.raises(WebFailure) as failed:
        asked(nobody())

    assert (failed.value.phase, failed.value.code) == ("connect", "connection_refused")


def test_a_connection_that_is_not_answered_in_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "CONNECT_SECONDS", 0.5)
    with silent_port() as url:
        began = time.monotonic()
        with pytest.raises(WebFailure) as failed:
            asked(url)

    assert (failed.value.phase, failed.value.code) == ("connect", "timeout")
    assert time.monotonic() - began < 2


def test_the_next_address_of_a_name_is_tried_when_one_is_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(Reply(200, b"", "text/plain")) as server, silent_port() as dead:
        ports = [int(url.rpartition(":")[2]) for url in (dead, server.url)]
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port)) for port in ports]
        monkeypatch.setattr(http_client, "CONNECT_SECONDS", 1.0)
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)

        assert asked("http://provider.example/").status == 200


@pytest.mark.parametrize(
    ("silence", "code"), [(Silence.DROP, "connection_closed"), (Silence.HANG, "timeout")], ids=["closed", "silent"]
)
def test_what_was_sent_and_not_answered_may_have_been_heard(silence: Silence, code: str) -> None:
    with answering(silence) as server, pytest.raises(WebFailure) as failed:
        asked(server.url, timeout=0.6)

    assert (failed.value.phase, failed.value.code) == ("sent", code)
    assert len(server.asked) == 1


@pytest.mark.parametrize("words", [b"this is not HTTP\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000, b"HTTP/1.1 2"])
def test_an_answer_that_cannot_be_read_leaves_the_doubt(words: bytes) -> None:
    def talk(connection: socket.socket) -> None:
        while (heard := connection.recv(65_536)) and not heard.endswith(b"{}"):
            pass
        connection.sendall(words)

    with speaking(talk) as url, pytest.raises(WebFailure) as failed:
        asked(url)

    assert failed.value.phase == "sent"


@pytest.mark.parametrize(
    "url", ["ftp://example.com/", "http:///path", "http://user@example.com/", "http://a/\r\nX: y", "http://a/ b", ""]
)
def test_what_is_no_address_is_refused_before_anything_happens(url: str) -> None:
    with pytest.raises(WebFailure, match="the address must") as failed:
        asked(url)

    assert (failed.value.phase, failed.value.code) == ("resolve", "denied_url")


@pytest.mark.parametrize("value", ["Bearer a\r\nX-Evil: b", "Bearer ключ", "Bearer a\x00"])
def test_a_credential_that_cannot_be_a_header_is_refused_and_not_repeated(value: str) -> None:
    with pytest.raises(ValueError, match="a header holds") as refused:
        asked("http://127.0.0.1:1/", headers={"Authorization": value})

    assert "Bearer" not in str(refused.value)


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding", "CONNECTION", "Accept-Encoding"])
def test_a_header_of_the_clients_own_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="a header is one"):
        asked("http://127.0.0.1:1/", headers={name: "x"})


def test_a_server_whose_certificate_we_trust_is_asked_over_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = make_certificate(tmp_path, "localhost")
    trust(monkeypatch, certificate)

    with tls_server(certificate) as port:
        assert asked(f"https://localhost:{port}/").status == 204


def test_a_long_request_and_a_long_answer_go_over_tls_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate, heard = make_certificate(tmp_path, "localhost"), list[int]()
    trust(monkeypatch, certificate)

    with tls_server(certificate, b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1_000_000, heard) as port:
        reply = asked(f"https://localhost:{port}/", body=b"y" * 1_000_000 + b"{}")

    assert reply.body == b"x" * 65_536
    assert heard[0] > 1_000_000


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"], ids=["nothing", "half"])
def test_an_answer_over_tls_may_end_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: bytes) -> None:
    certificate = make_certificate(tmp_path, "localhost")
    trust(monkeypatch, certificate)

    with tls_server(certificate, answer) as port:
        if answer:
            assert asked(f"https://localhost:{port}/").body == b"short"
        else:
            with pytest.raises(WebFailure, match="sent: connection_closed"):
                asked(f"https://localhost:{port}/")


@pytest.mark.parametrize(
    ("name", "is_trusted"), [("localhost", False), ("elsewhere.example", True)], ids=["unknown", "of another"]
)
def test_a_certificate_that_does_not_vouch_for_the_server_ends_it_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, is_trusted: bool
) -> None:
    certificate = make_certificate(tmp_path, name)
    if is_trusted:
        trust(monkeypatch, certificate)

    with tls_server(certificate) as port, pytest.raises(WebFailure) as failed:
        asked(f"https://localhost:{port}/")

    assert (failed.value.phase, failed.value.code) == ("connect", "bad_certificate")


def trust(monkeypatch: pytest.MonkeyPatch, certificate: Path) -> None:
    context = ssl.create_default_context(cafile=str(certificate))
    monkeypatch.setattr(http_client, "_tls", lambda: context)


def fetched(url: str, *, most: int = 10) -> http_client.Reply:
    return http_client.get(url, timeout=5, allow_private=True, most=most, longest_url=2_000)


def test_a_file_is_fetched_whole_with_its_type() -> None:
    with answering(Reply(200, b"x" * 10, "application/pdf")) as server:
        reply = fetched(f"{server.url}/a?b={'c' * 1_000}")

    [(method, path, body, headers)] = server.asked
    assert (method, body, headers["Accept-Encoding"]) == ("GET", b"", "identity")
    assert path.startswith("/a?b=ccc")
    assert (reply.status, reply.headers["content-type"], reply.body) == (200, "application/pdf", b"x" * 10)


def test_a_file_above_its_limit_is_not_read() -> None:
    with answering(Reply(200, b"x" * 11, "text/plain")) as server, pytest.raises(WebFailure) as failed:
        fetched(server.url)

    assert failed.value.code == "too_large"


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", "bad_answer"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n9\r\nabcdefghi\r\n0\r\n\r\n", "too_large"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "bad_answer"),
    ],
)
def test_half_a_file_is_none(said: bytes, code: str) -> None:
    def talk(connection: socket.socket) -> None:
        connection.recv(4_096)
        connection.sendall(said)

    with speaking(talk) as url, pytest.raises(WebFailure) as failed:
        fetched(url)

    assert failed.value.code == code


def test_a_file_on_our_own_network_is_not_fetched() -> None:
    with pytest.raises(WebFailure) as failed:
        http_client.get("https://localhost/x", timeout=1, allow_private=False, most=10, longest_url=2_000)

    assert failed.value.code == "denied_url"
