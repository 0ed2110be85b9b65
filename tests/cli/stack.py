"""A stack that the command line talks to: the real doors in this process, behind httpx instead of a network."""

import io
from collections import deque
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import httpx

from tests.functions.doors import Api

URL = "https://tocsin.example"
Answers = deque[httpx.Response | Exception]


@dataclass
class Doors(httpx.BaseTransport):
    """Hands requests to the doors. `calls` is what came; what stands in `instead` is answered first, in its order."""

    calls: list[httpx.Request] = field(default_factory=list)
    instead: Answers = field(default_factory=deque)
    pages: dict[str, Any] = field(default_factory=dict)  # what other parts of a stack serve, by path
    skew: Any = None

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.calls.append(request)
        if self.instead:
            answer = self.instead.popleft()
            if isinstance(answer, Exception):
                raise answer
            return answer
        if request.url.path in self.pages:
            return httpx.Response(200, json=self.pages[request.url.path])
        with redirect_stdout(io.StringIO()):  # where functions write their metrics
            return self._dated(self.answer(request))

    @staticmethod
    def answer(request: httpx.Request) -> httpx.Response:
        path, _, query = request.url.raw_path.decode().partition("?")
        headers = {name.lower(): value for name, value in request.headers.items()}
        body = request.content.decode() if request.content else None
        found = Api().call(request.method, path, body, headers=headers, query=query, key="")
        return httpx.Response(found.status, headers=found.headers, content=found.text.encode())

    def _dated(self, response: httpx.Response) -> httpx.Response:
        response.headers.setdefault(
            "date", format_datetime(datetime.now(UTC) + (self.skew or datetime.now(UTC) - datetime.now(UTC)))
        )
        return response

    def asked(self, *names: str) -> list[tuple[str, str]]:
        """Method and path of every call, or of those with these methods."""
        found = [(call.method, call.url.path) for call in self.calls]
        return [one for one in found if not names or one[0] in names]
