"""API Gateway events (payload format 2.0) and the answers of a door to them."""

import json
from collections.abc import Callable
from typing import Any

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]


def an_event(
    route: str, *, path: str | None = None, body: str | None = None, headers: dict[str, str] | None = None, **special: Any
) -> dict[str, Any]:
    """The event of a request to this route, such as `POST /v1/intents`."""
    method, _, pattern = route.partition(" ")
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": route,
        "rawPath": path or pattern,
        "rawQueryString": "",
        "headers": headers or {},
        "requestContext": {"requestId": "req-1", "http": {"method": method, "sourceIp": "192.0.2.1"}},
        "isBase64Encoded": False,
    }
    return event | ({} if body is None else {"body": body}) | special


class Answer:
    """What a door answered, with its body read."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw
        self.status: int = raw["statusCode"]
        self.headers: dict[str, str] = raw["headers"]
        self.body: Any = json.loads(raw["body"]) if "body" in raw else None

    @property
    def is_problem(self) -> bool:
        return (
            self.headers["Content-Type"] == "application/problem+json"
            and self.body["status"] == self.status
            and self.body["request_id"] == self.headers["X-Request-Id"] == "req-1"
            and {"type", "title", "detail"} <= self.body.keys()
        )


def ask(handler: Handler, event: dict[str, Any]) -> Answer:
    return Answer(handler(event, None))
