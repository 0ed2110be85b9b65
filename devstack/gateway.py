"""The front door: an HTTP API on one local port, whose routes are those of the template."""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from devstack import http_event
from devstack.cors import admit, preflight
from devstack.declared import Cors, Route
from devstack.environment import Outcome
from devstack.http_event import Answer, Request
from devstack.request_body import RefusedBodyError, read_body
from devstack.routes import match

INTEGRATION_SECONDS = 30.0
MOST_REQUESTS = 256  # to one function, at once
UNAVAILABLE = {"message": "Service Unavailable"}
NOT_ANSWERED_BY_THE_FUNCTION = {"TooManyRequestsException", "ServiceException"}
NEVER_PASSED_ON = {"connection", "content-length", "date", "keep-alive", "transfer-encoding"}

logger = logging.getLogger(__name__)

Invoke = Callable[[str, Any], Outcome]
LocalPages = Callable[[Request], Answer]


class Gateway:
    """Takes the port when it is made, answers between `start` and `stop`."""

    def __init__(
        self,
        port: int,
        *,
        routes: Iterable[Route] = (),
        cors: Cors | None = None,
        invoke: Invoke | None = None,
        local_pages: LocalPages | None = None,
        integration_seconds: float = INTEGRATION_SECONDS,
    ) -> None:
        self.routes = tuple(routes)
        self.cors = cors
        self.invoke = invoke
        self.local_pages = local_pages
        self._integration_seconds = integration_seconds
        self._server = _Server(self, port)
        # Each function has threads of its own: one that waits on purpose must not take those of the others.
        self._invocations: dict[str, ThreadPoolExecutor] = {}
        self._in_flight = 0
        self._changed = threading.Condition()
        self._is_stopping = False
        self._is_serving = False

    @property
    def port(self) -> int:
        port: int = self._server.server_address[1]
        return port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._server.server_activate()
        self._is_serving = True
        threading.Thread(target=self._server.serve_forever, args=(0.1,), name="gateway", daemon=True).start()

    def stop(self, patience: float = 5.0) -> None:
        """Take no more requests, let those under way finish if they are quick, and free the port."""
        with self._changed:
            self._is_stopping = True
            self._changed.wait_for(lambda: self._in_flight == 0, timeout=patience)
        if self._is_serving:
            self._server.shutdown()
        self._server.server_close()
        for invocations in list(self._invocations.values()):
            invocations.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """Free the port of a gateway that was never started."""
        self._server.server_close()

    def answer(self, request: Request) -> Answer:
        """What this request gets: a local page, a function's answer, or the gateway's own refusal."""
        with self._changed:
            if self._is_stopping:
                return Answer.json(503, UNAVAILABLE)
            self._in_flight += 1
        try:
            if self.local_pages and _is_local(request):
                return self.local_pages(request)
            # Before any route: not even a catch-all gets to see a preflight.
            permission = preflight(self.cors, request) if self.cors else None
            return permission or self._integrate(request)
        finally:
            with self._changed:
                self._in_flight -= 1
                self._changed.notify_all()

    def _integrate(self, request: Request) -> Answer:
        found = match(self.routes, request.method, request.raw_path)
        if found is None or self.invoke is None:
            return Answer.json(404, {"message": "Not Found"})
        route, parameters = found
        event = http_event.build(request, route, parameters, datetime.now(UTC))
        pending = self._threads_of(route.function).submit(self.invoke, route.function, event)
        try:
            outcome = pending.result(self._integration_seconds)
        except TimeoutError:
            return Answer.json(503, UNAVAILABLE)
        if outcome.error:
            logger.warning("%s failed: %s", route.function, outcome.error.get("errorMessage"))
            is_ours = outcome.error["errorType"] in NOT_ANSWERED_BY_THE_FUNCTION
            answer = Answer.json(503, UNAVAILABLE) if is_ours else Answer.json(500, http_event.SERVER_ERROR)
        else:
            answer = http_event.answer(outcome.result)
            answer = admit(self.cors, request, answer) if self.cors else answer
        answer.headers.append(("apigw-requestid", event["requestContext"]["requestId"]))
        return answer

    def _threads_of(self, function: str) -> ThreadPoolExecutor:
        with self._changed:
            if function not in self._invocations:
                self._invocations[function] = ThreadPoolExecutor(
                    max_workers=MOST_REQUESTS, thread_name_prefix=f"integration-{function}"
                )
            return self._invocations[function]


def _is_local(request: Request) -> bool:
    """Ours, not the API's. Browsers ask for a picture of the site by themselves, and people for the address itself."""
    if request.raw_path == "/":
        return request.method == "GET" and "text/html" in request.headers.get("accept", "")
    return (request.raw_path + "/").startswith("/_local/") or request.raw_path == "/favicon.ico"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = MOST_REQUESTS

    def __init__(self, gateway: Gateway, port: int) -> None:
        self.gateway = gateway
        # Bound at once, so that a busy port is known early, but not listening: a client is refused until all is ready.
        super().__init__(("127.0.0.1", port), _Handler, bind_and_activate=False)
        try:
            self.server_bind()
        except OSError:
            self.server_close()
            raise

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up in mid-sentence is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 75  # of an idle connection
    wbufsize = -1  # head and body leave together
    disable_nagle_algorithm = True

    def _serve(self) -> None:
        target = urlsplit(self.path) if self.path.startswith("http") else None
        raw_path, _, query = self.path.partition("?")
        if target:
            raw_path, query = target.path or "/", target.query
        try:
            body = read_body(self.headers, self.rfile)
        except RefusedBodyError as error:
            self.close_connection = True
            self._send(Answer.json(error.status, {"message": str(error)}))
            return
        request = Request(
            method=self.command,
            raw_path=raw_path.partition("#")[0],
            query=query,
            headers=self.headers,
            body=body,
            source_ip=str(self.client_address[0]),
            protocol=self.request_version,
        )
        self._send(self.server.gateway.answer(request))

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _serve  # noqa: N815 (looked up by name)

    def _send(self, answer: Answer) -> None:
        self.send_response_only(answer.status)
        self.send_header("date", self.date_time_string(time.time()))
        for name, value in answer.headers:
            if name not in NEVER_PASSED_ON:
                self.send_header(name, value)
        has_body = answer.status >= 200 and answer.status not in {204, 304}
        if has_body:
            self.send_header("content-length", str(len(answer.body)))
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()
        if has_body and self.command != "HEAD":
            self.wfile.write(answer.body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """The refusals of the standard library's own parser, in the gateway's voice."""
        self.close_connection = True
        if not hasattr(self, "command"):
            self.command = ""
        self._send(Answer.json(code, {"message": message or "Bad Request"}))
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """The functions log their own requests."""
