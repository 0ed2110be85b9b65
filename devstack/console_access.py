"""What the console gets on this machine without asking: a key, and a way to make providers fail."""

import getpass
import json
import re
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

from devstack.http_event import Answer, Request

HEADER = "tocsin-local"  # a page of another site cannot send it without asking first, and nobody answers it
HOSTS = {"127.0.0.1", "localhost", "[::1]"}
SECONDS = 10.0
_PORT = re.compile(r":\d+\Z", re.ASCII)


class ConsoleAccess:
    def __init__(self, key: str, post_office_url: str) -> None:
        self._key = key
        self._post_office = urlsplit(post_office_url).netloc

    def session(self, request: Request) -> Answer:
        """Who may sign in as whom. A name that leads to this machine by somebody's DNS is not one of ours."""
        if not is_ours(request):
            return Answer.json(403, {"message": "Only the console of this machine may ask."})
        return Answer.json(200, {"key": self._key, "person": _login()})

    def faults(self, request: Request) -> Answer:
        """What the post office does wrong, as docs/local-stack.md lists it: GET, PUT one more, DELETE all."""
        if not is_ours(request):
            return Answer.json(403, {"message": "Only the console and the command line of this machine may ask."})
        connection = HTTPConnection(self._post_office, timeout=SECONDS)
        try:
            connection.request(request.method, "/_faults", request.body or None, {"Content-Type": "application/json"})
            response = connection.getresponse()
            said = response.read()
        except OSError:
            return Answer.json(503, {"message": "The post office does not answer."})
        finally:
            connection.close()
        answer: Any = json.loads(said) if said else {}
        return Answer.json(response.status, answer)


def is_ours(request: Request) -> bool:
    """Whether a program or a page of this machine asks, and no page of another site through somebody's browser."""
    host = _PORT.sub("", request.headers.get("host", ""))
    return host in HOSTS and bool(request.headers.get(HEADER))


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # somebody without a name on this machine
        return "local developer"
