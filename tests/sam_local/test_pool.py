"""Invocations by the API of `sam local start-lambda`: what came of them, one at a time."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from devstack.declared import Function
from devstack.environment import Outcome
from devstack.runtime import STOPPED, THROTTLED
from devstack.sam_local.pool import SamPool

FUNCTION = Function("SweepFunction", "arn", Path(), "app.handler", 5, 512, {"LOG_LEVEL": "INFO"}, (), 8)


class StartLambda(ThreadingHTTPServer):
    """Answers as told, and notices how many ask at once."""

    answer: tuple[dict[str, str], bytes] = ({}, b"null")

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[tuple[str, Any]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.arrived = threading.Event()


class _Handler(BaseHTTPRequestHandler):
    server: StartLambda

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.asked.append((self.path, json.loads(body)))
        self.server.arrived.set()
        self.server.gate.wait(30)
        headers, content = self.server.answer
        self.send_response(200)
        for name, value in ({"content-length": str(len(content))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@pytest.fixture
def server() -> Iterator[StartLambda]:
    with StartLambda() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.gate.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def pool(server: StartLambda, tmp_path: Path) -> SamPool:
    sam: Any = SimpleNamespace(lambda_url=f"http://127.0.0.1:{server.server_port}", stop=lambda: None, is_stopping=False)
    return SamPool(FUNCTION, {"AWS_ENDPOINT_URL": "http://172.30.0.1:4566"}, tmp_path, sam=sam)


def test_an_event_goes_in_and_the_result_comes_out(pool: SamPool, server: StartLambda) -> None:
    server.answer = ({}, b'{"batchItemFailures": []}')

    outcome = pool.invoke({"Records": [1]})

    assert outcome == Outcome({"batchItemFailures": []})
    assert server.asked == [("/2015-03-31/functions/SweepFunction/invocations", {"Records": [1]})]
    assert pool.variables == {"AWS_ENDPOINT_URL": "http://172.30.0.1:4566", "LOG_LEVEL": "INFO"}


@pytest.mark.parametrize(
    ("headers", "body", "kind"),
    [
        ({"x-amz-function-error": "Unhandled"}, b'{"errorType": "KeyError", "errorMessage": "id"}', "KeyError"),
        ({}, b'{"errorType": "Runtime.ImportModuleError", "errorMessage": "no app"}', "Runtime.ImportModuleError"),
        ({}, b"2026-11-17 Task timed out after 5.00 seconds", "Sandbox.Timedout"),
        ({}, b"", "Runtime.ExitError"),
        ({"x-amz-function-error": "Unhandled"}, b'"what"', "Unhandled"),
    ],
)
def test_a_failure_is_one_however_the_emulator_says_it(
    headers: dict[str, str], body: bytes, kind: str, pool: SamPool, server: StartLambda
) -> None:
    server.answer = (headers, body)

    outcome = pool.invoke({})

    assert outcome.error is not None
    assert outcome.error["errorType"] == kind
    assert "errorMessage" in outcome.error


def test_a_result_of_nothing_is_a_result(pool: SamPool) -> None:
    assert pool.invoke({}) == Outcome(None)


def test_a_second_invocation_waits_here_and_not_in_sam_where_its_time_would_run(pool: SamPool, server: StartLambda) -> None:
    server.gate.clear()
    first = threading.Thread(target=pool.invoke, args=({},))
    first.start()
    server.arrived.wait(30)

    refused = pool.invoke({}, patience=0.05)

    assert (refused, len(server.asked)) == (Outcome(error=THROTTLED), 1)
    server.gate.set()
    first.join()
    assert pool.invoke({}, patience=30) == Outcome(None)


def test_after_its_end_nothing_is_invoked(pool: SamPool, server: StartLambda) -> None:
    pool.close()

    assert (pool.invoke({}), server.asked) == (Outcome(error=STOPPED), [])


def test_a_sam_that_is_gone_is_an_error_in_lambdas_words(tmp_path: Path) -> None:
    sam: Any = SimpleNamespace(lambda_url="http://127.0.0.1:1", stop=lambda: None, is_stopping=False)
    pool = SamPool(FUNCTION, {}, tmp_path, sam=sam)

    outcome = pool.invoke({})

    assert outcome.error is not None
    assert outcome.error["errorType"] == "ServiceException"
    sam.is_stopping = True
    assert pool.invoke({}) == Outcome(error=STOPPED)
