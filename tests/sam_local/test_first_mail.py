"""The message that `make sam-local` sends by itself: what it makes of the answers, and of a mail that does not come."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from devstack.post_office.ledger import Ledger
from devstack.post_office.letters import Letter
from devstack.sam_local import first_mail
from devstack.state import RefusalError

ACCEPTED = (202, b'{"notification_id": "n-1"}')
BUSY = (503, b'{"title": "Temporarily unavailable"}')
MAIL = Letter("email", "ses", [first_mail.TO], "tocsin@example.com", subject="Hello", text="By way of sam local.")

OLD = Letter("email", "ses", ["old@example.com"], "tocsin@example.com", subject="Old")


class StartApi(ThreadingHTTPServer):
    """Gives one answer after the other, the last one for ever; an accepted intent becomes a mail where it is told to."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers = [ACCEPTED]
        self.keys: list[str] = []
        self.ledger = ledger
        self.delivers = True


class _Handler(BaseHTTPRequestHandler):
    server: StartApi

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.server.keys.append(self.headers["idempotency-key"])
        status, body = self.server.answers.pop(0) if len(self.server.answers) > 1 else self.server.answers[0]
        if status == 202 and self.server.delivers:
            self.server.ledger.add(MAIL, "m-1")
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = Ledger(tmp_path / "ledger.sqlite3")
    yield ledger
    ledger.close()


@pytest.fixture
def api(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> Iterator[StartApi]:
    monkeypatch.setattr(first_mail, "RETRY_PAUSE", 0.0)
    with StartApi(ledger) as api:
        thread = threading.Thread(target=api.serve_forever, args=(0.02,))
        thread.start()
        yield api
        api.shutdown()
        thread.join()


def send(api: StartApi, ledger: Ledger, *, is_over: bool = False) -> dict[str, Any] | None:
    return first_mail.send(f"http://127.0.0.1:{api.server_port}", "key", ledger, is_over=lambda: is_over)


def test_the_mail_that_came_of_it_is_given_and_not_one_from_before(api: StartApi, ledger: Ledger) -> None:
    ledger.add(OLD, "m-0")

    mail = send(api, ledger)

    assert mail is not None
    assert (mail["to"], mail["subject"]) == ([first_mail.TO], "Hello")


def test_a_container_that_was_too_slow_is_asked_again_under_the_same_key(api: StartApi, ledger: Ledger) -> None:
    api.answers = [BUSY, BUSY, ACCEPTED]

    assert send(api, ledger) is not None
    assert (len(api.keys), len(set(api.keys))) == (3, 1)


@pytest.mark.parametrize(
    "answer", [BUSY, (401, b'{"title": "Unauthorized"}'), (200, json.dumps({"errorType": "Runtime.ImportModuleError"}).encode())]
)
def test_any_other_answer_is_quoted(answer: tuple[int, bytes], api: StartApi, ledger: Ledger) -> None:
    api.answers = [answer]

    with pytest.raises(RefusalError) as refused:
        send(api, ledger)

    assert f"{answer[0]}: {answer[1].decode()}" in str(refused.value)


def test_a_mail_that_does_not_come_is_not_waited_for_for_ever(
    api: StartApi, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.add(OLD, "m-0")
    api.delivers = False
    monkeypatch.setattr(first_mail, "MAIL_SECONDS", 0.0)

    with pytest.raises(RefusalError, match="n-1 was accepted, but no mail"):
        send(api, ledger)


def test_whoever_wants_the_end_does_not_wait_for_it(api: StartApi, ledger: Ledger) -> None:
    api.delivers = False

    assert send(api, ledger, is_over=True) is None
