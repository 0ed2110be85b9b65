"""The guard against SSRF: which addresses of a name are connected to, which are not, and how long a name may take."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from devstack.post_office.letters import Reply
from tests.unit.certificates import make_certificate
from tests.unit.web_servers import answering, tls_server
from tocsin.foundation import http_client, name_resolution
from tocsin.foundation.http_client import WebFailure, post
from tocsin.foundation.name_resolution import ResolvedAddress

PUBLIC, OTHER_PUBLIC = "198.41.0.4", "2606:4700:4700::1111"  # never called: nothing here leaves the machine
HOOK = "https://hooks.example.com/"


def asked(url: str, *, timeout: float = 5, allow_private: bool = False) -> http_client.Reply:
    return post(url, headers={}, body=b"{}", timeout=timeout, allow_private=allow_private)


def refused(url: str = HOOK, *, timeout: float = 5, allow_private: bool = False) -> tuple[str, str]:
    with pytest.raises(WebFailure) as failed:
        asked(url, timeout=timeout, allow_private=allow_private)
    return failed.value.phase, failed.value.code


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """A resolver with one answer after the other, the last for ever; returns what it is asked."""
    names: list[str] = []

    def getaddrinfo(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        names.append(host)
        ips = answers[min(len(names), len(answers)) - 1]
        return [(socket.AF_INET6 if ":" in ip else socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in ips]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return names


def dialling(monkeypatch: pytest.MonkeyPatch, port: int = 0) -> list[str]:
    """Instead of what is dialled a server of ours answers, or nobody; returns the addresses."""
    dialled: list[str] = []

    def open_(address: ResolvedAddress, seconds: float) -> socket.socket:
        dialled.append(address.ip)
        if not port:
            raise ConnectionRefusedError
        sock = socket.socket()
        sock.settimeout(seconds)
        sock.connect(("127.0.0.1", port))
        return sock

    monkeypatch.setattr(http_client, "_open", open_)
    return dialled


@pytest.fixture
def hooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The certificate of hooks.example.com, trusted."""
    certificate = make_certificate(tmp_path, "hooks.example.com")
    context = http_client._tls.__wrapped__()
    context.load_verify_locations(certificate)
    monkeypatch.setattr(http_client, "_tls", lambda: context)
    return certificate


def test_a_public_server_is_called_by_its_address_and_vouches_for_its_name(hooks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = resolving(monkeypatch, [PUBLIC, OTHER_PUBLIC])

    with tls_server(hooks) as port:
        dialled = dialling(monkeypatch, port)
        assert asked(HOOK).status == 204

    assert (names, dialled) == (["hooks.example.com"], [PUBLIC])


def test_an_answer_that_changes_between_check_and_connect_changes_nothing(hooks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = resolving(monkeypatch, [PUBLIC], ["127.0.0.1"])

    with tls_server(hooks) as port:
        dialled = dialling(monkeypatch, port)
        assert asked(HOOK).status == 204
        assert (names, dialled) == (["hooks.example.com"], [PUBLIC])

    assert refused() == ("resolve", "denied_address")
    assert dialled == [PUBLIC]


def test_what_is_connected_to_is_not_looked_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(Reply(200, b"", "text/plain")) as server:
        port = int(server.url.rpartition(":")[2])
        names = resolving(monkeypatch, ["127.0.0.1"], ["127.0.0.2"])

        assert asked(f"http://hooks.example.com:{port}/", allow_private=True).status == 200

    assert names == ["hooks.example.com"]


@pytest.mark.parametrize(
    "addresses",
    [
        [PUBLIC, "10.0.0.7"],
        ["10.0.0.7", PUBLIC],
        [OTHER_PUBLIC, "fd00:ec2::254"],
        [PUBLIC, "::ffff:169.254.169.254"],
        [PUBLIC, "64:ff9b::a9fe:a9fe"],
        [PUBLIC, "fe80::1%eth0"],
        ["169.254.169.254"],
        ["127.0.0.1"],
        ["0.0.0.0"],  # noqa: S104 - nothing is bound
        ["::1"],
    ],
    ids=str,
)
def test_one_address_that_leads_inside_is_enough_to_call_none(monkeypatch: pytest.MonkeyPatch, addresses: list[str]) -> None:
    resolving(monkeypatch, addresses)
    dialled = dialling(monkeypatch)

    with pytest.raises(WebFailure) as failed:
        asked(HOOK)

    assert (failed.value.phase, failed.value.code) == ("resolve", "denied_address")
    assert dialled == []
    assert not any(address in str(failed.value) for address in addresses)


def test_where_private_destinations_are_allowed_they_are_called(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, ["10.0.0.7"])
    dialled = dialling(monkeypatch)

    assert refused(allow_private=True) == ("connect", "connection_refused")
    assert dialled == ["10.0.0.7"]


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "https://127.0.0.1/", "https://2130706433/", "https://localhost/"])
def test_what_is_refused_by_its_spelling_is_not_even_looked_up(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    names = resolving(monkeypatch, [PUBLIC])

    assert refused(url) == ("resolve", "denied_url")
    assert names == []


def test_every_address_is_tried_and_none_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, [PUBLIC, OTHER_PUBLIC])
    dialled = dialling(monkeypatch)

    assert refused() == ("connect", "connection_refused")
    assert dialled == [PUBLIC, OTHER_PUBLIC]


def failing(error: Exception) -> Callable[..., list[ResolvedAddress]]:
    def look_up(*_: object) -> list[ResolvedAddress]:
        raise error

    return look_up


def test_a_name_that_is_nobodys_was_not_asked_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_resolution, "look_up", failing(socket.gaierror(socket.EAI_NONAME, "Name or service not known")))

    assert refused() == ("resolve", "name_not_resolved")


def test_a_name_without_an_address_is_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, [])

    assert refused() == ("connect", "unreachable")


@pytest.fixture
def silent_resolver(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A resolver that answers nobody until the test is over, with room for two who wait; the names it was asked."""
    answer, names, free = threading.Event(), list[str](), threading.BoundedSemaphore(2)

    def look_up(host: str, port: int) -> list[ResolvedAddress]:
        names.append(host)
        answer.wait(30)
        return []

    monkeypatch.setattr(name_resolution, "_free", free)
    monkeypatch.setattr(name_resolution, "look_up", look_up)
    yield names
    answer.set()
    assert all(free.acquire(timeout=10) for _ in range(2))


def test_a_resolver_that_never_answers_takes_no_longer_than_allowed(silent_resolver: list[str]) -> None:
    began = time.monotonic()

    assert refused(timeout=0.2) == ("resolve", "timeout")
    assert time.monotonic() - began < 2
    assert silent_resolver == ["hooks.example.com"]


def test_no_more_threads_wait_for_a_silent_resolver_than_there_may_be(silent_resolver: list[str]) -> None:
    assert [refused(timeout=0.2) for _ in range(4)] == [("resolve", "timeout")] * 2 + [("resolve", "resolver_busy")] * 2
    assert len(silent_resolver) == 2


def test_the_time_of_the_look_up_is_part_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that the resolver puts forward: what is left for connecting is what it did not use."""
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    left: list[float] = []

    def look_up(*_: object) -> list[ResolvedAddress]:
        clock[0] += 1.5
        return [ResolvedAddress(socket.AF_INET, (PUBLIC, 443))]

    def open_(_: ResolvedAddress, seconds: float) -> socket.socket:
        left.append(seconds)
        raise ConnectionRefusedError

    monkeypatch.setattr(name_resolution, "look_up", look_up)
    monkeypatch.setattr(http_client, "_open", open_)

    assert refused(timeout=2) == ("connect", "connection_refused")
    assert refused(timeout=10) == ("connect", "connection_refused")
    assert left == [0.5, http_client.CONNECT_SECONDS - 1.5]
