"""A gateway under test: requests as a client writes them, and functions that remember what they were asked."""

from collections.abc import Callable
from http.client import HTTPConnection, HTTPResponse
from typing import Any

from devstack.declared import Route
from devstack.environment import Outcome
from devstack.gateway import Gateway

ROUTES = (
    Route("GET", "/things/{id}", "Things"),
    Route("GET", "/things/special", "Special"),
    Route("ANY", "/things/{id}", "AnyThing"),
    Route("PUT", "/users/{id}/devices/{token}", "Devices"),
    Route("POST", "/files/{path+}", "Files"),
    Route("ANY", "$default", "Otherwise"),
)


class Functions:
    """Stands for all functions: remembers what it was asked, answers what it was told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.outcome = Outcome({"statusCode": 200, "body": "fine"})
        self.wait: Callable[[], Any] = lambda: None

    def __call__(self, function: str, event: dict[str, Any]) -> Outcome:
        self.asked.append((function, event))
        self.wait()
        return self.outcome

    @property
    def event(self) -> dict[str, Any]:
        return self.asked[-1][1]


def ask(gateway: Gateway, method: str, target: str, body: Any = None, **headers: str) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection("127.0.0.1", gateway.port, timeout=10)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, target, body=body, headers=named, encode_chunked=True)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response, content
