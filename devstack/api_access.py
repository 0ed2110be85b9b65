"""The start page's calls of the API: carried out here with the developer's key, so that no browser ever holds it."""

import re
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

from devstack.console_access import is_ours
from devstack.http_event import Answer, Request

PREFIX = "/_local/api"
PASSED_ON = ("Content-Type", "Idempotency-Key")
SECONDS = 35.0  # the gateway gives up after thirty
# What a newcomer's first steps take, and nothing else.
CALLS = re.compile(r"POST /v1/intents|GET /v1/notifications/[\w-]+", re.ASCII)


class ApiAccess:
    def __init__(self, url: str, key: str) -> None:
        self._address = urlsplit(url).netloc
        self._key = key

    def carry_out(self, request: Request) -> Answer:
        """The API's own answer. Only for pages of this machine, which alone can send the header."""
        if not is_ours(request):
            return Answer.json(403, {"message": "Only the start page of this machine may ask."})
        path = request.raw_path.removeprefix(PREFIX)
        if not CALLS.fullmatch(f"{request.method} {path}"):
            return Answer.json(404, {"message": "The start page makes no such call."})
        headers = {name: request.headers[name] for name in PASSED_ON if name in request.headers}
        connection = HTTPConnection(self._address, timeout=SECONDS)
        try:
            connection.request(request.method, path, request.body or None, headers | {"Authorization": f"Bearer {self._key}"})
            response = connection.getresponse()
            content = response.read()
        except (OSError, HTTPException):
            return Answer.json(503, {"message": "The API does not answer."})
        finally:
            connection.close()
        kind = response.headers.get("content-type", "application/json")
        return Answer(response.status, [("content-type", kind), ("cache-control", "no-store")], content)
