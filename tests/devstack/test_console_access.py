"""The console's key on this machine: for its own pages, and nobody whom a browser was led to."""

import json
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

from devstack.console_access import ConsoleAccess
from devstack.http_event import Answer, Request
from devstack.post_office.office import PostOffice

NOWHERE = "http://127.0.0.1:9"


def _request(method: str = "GET", body: bytes = b"", **headers: str) -> Request:
    told: Message[str, str] = Message()
    for name, value in headers.items():
        told[name.replace("_", "-")] = value
    return Request(method, "/_local/session", "", told, body, "127.0.0.1", "HTTP/1.1")


def _said(answer: Answer) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer.body)
    return found


@pytest.mark.parametrize("host", ["localhost:8080", "localhost", "127.0.0.1:1", "127.0.0.1", "[::1]:8080", "[::1]"])
def test_the_console_of_this_machine_gets_the_key(host: str) -> None:
    answer = ConsoleAccess("the-key", NOWHERE).session(_request(host=host, tocsin_local="1"))

    assert (answer.status, _said(answer)["key"]) == (200, "the-key")


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "localhost:8080"},
        {"host": "localhost:8080", "tocsin_local": ""},
        {"host": "rebound.example.com:8080", "tocsin_local": "1"},
        {"host": "localhost.example.com", "tocsin_local": "1"},
        {"host": "127.0.0.1:80.example.com", "tocsin_local": "1"},
        {"host": "[::1", "tocsin_local": "1"},
        {"tocsin_local": "1"},
    ],
)
def test_nobody_else_gets_it_nor_makes_anything_fail(headers: dict[str, str]) -> None:
    access = ConsoleAccess("the-key", NOWHERE)

    for answer in (access.session(_request(**headers)), access.faults(_request("DELETE", **headers))):
        assert answer.status == 403
        assert b"the-key" not in answer.body


def test_faults_are_the_post_offices(tmp_path: Path) -> None:
    with PostOffice(tmp_path / "ledger.jsonl") as office:
        answer = ConsoleAccess("the-key", office.url).faults(_request(host="localhost:8080", tocsin_local="1"))

    assert (answer.status, _said(answer)) == (200, {"data": []})


def test_a_post_office_that_is_gone_is_said_and_not_fallen_over() -> None:
    answer = ConsoleAccess("the-key", NOWHERE).faults(_request(host="localhost:8080", tocsin_local="1"))

    assert answer.status == 503
