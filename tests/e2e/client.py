"""A client of the running stack, as a producer would write one: HTTP and AWS calls, and bounded waits for what they cause."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import boto3

from devstack.launch import RunningStack


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: Any


@dataclass(frozen=True, slots=True)
class Client:
    stack: RunningStack
    key: str

    @classmethod
    def of(cls, stack: RunningStack) -> "Client":
        return cls(stack, stack.dev["api_key"])

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        sent = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.stack.dev["base_url"] + path, data, sent, method=method)
        try:
            with urllib.request.urlopen(request, timeout=40) as response:
                return _answer(response.status, response.headers, response.read())
        except urllib.error.HTTPError as error:
            return _answer(error.code, error.headers, error.read())

    def send(self, *, key: str | None = None, **intent: Any) -> str:
        answer = self.call("POST", "/v1/intents", intent, Idempotency_Key=key or uuid4().hex)
        assert answer.status == 202, answer
        notification_id: str = answer.body["notification_id"]
        return notification_id

    def notification(self, notification_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", f"/v1/notifications/{notification_id}").body
        return found

    def finished(self, notification_id: str) -> dict[str, Any]:
        return wait_for(lambda: self.notification(notification_id), lambda found: found["status"] == "finished")

    def mails_to(self, address: str) -> list[dict[str, Any]]:
        return [mail for mail in self.call("GET", "/_local/mailbox").body["data"] if address in mail["to"]]

    def post_office(self, method: str, path: str, body: Any = None) -> None:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.stack.dev["post_office_url"] + path, data, method=method)
        urllib.request.urlopen(request, timeout=10).close()

    def aws(self, service: str) -> Any:
        return boto3.client(  # type: ignore[call-overload]
            service,
            endpoint_url=self.stack.dev["aws_endpoint_url"],
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )


def wait_for(look: Callable[[], Any], is_right: Callable[[Any], bool], seconds: float = 40) -> Any:
    deadline = time.monotonic() + seconds
    while not is_right(found := look()):
        assert time.monotonic() < deadline, f"it did not happen; last seen: {found}"
        time.sleep(0.05)
    return found


def _answer(status: int, headers: Any, body: bytes) -> Answer:
    kind = headers.get("content-type", "")
    return Answer(
        status,
        {name.lower(): value for name, value in headers.items()},
        json.loads(body) if "json" in kind and body else body.decode("utf-8", "replace"),
    )
