"""The doors as Lambda sees them: handlers loaded from their folders, and the events API Gateway and SQS would send."""

import importlib.util
import json
import os
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode
from uuid import uuid4

from tests.functions import schemas
from tests.work_queue import arn_of
from tocsin.api import (
    abandoned_executions,
    about,
    api_keys,
    audit_log,
    books,
    brand,
    dead_letters,
    decisions,
    devices,
    diagnostics,
    email_log,
    erasures,
    event_routing,
    events,
    inbox,
    intents,
    jobs,
    kv,
    lanes,
    layouts,
    malformed_intents,
    me,
    messages,
    metrics,
    notification_types,
    notifications,
    preferences,
    preferences_link,
    providers,
    retention,
    search,
    status,
    stuck_notifications,
    suppressions,
    system_events,
    templates,
    tenants,
    threads,
    triggers,
    unsubscribe,
    user_tokens,
    users,
    wait,
    watches,
    webhook_deliveries,
    webhooks,
)
from tocsin.http import assets

FUNCTIONS = Path(__file__).parent.parent.parent / "functions"
ENDPOINTS = {
    "intake": [*intents.ENDPOINTS, *events.ENDPOINTS, *about.ENDPOINTS],
    "live": inbox.LIVE_ENDPOINTS,
    "wait": wait.ENDPOINTS,
    "inbox_api": [
        *notifications.ENDPOINTS,
        *messages.ENDPOINTS,
        *search.ENDPOINTS,
        *decisions.ENDPOINTS,
        *inbox.ENDPOINTS,
        *threads.ENDPOINTS,
        *preferences.ENDPOINTS,
        *assets.serve(FUNCTIONS),
        *unsubscribe.ENDPOINTS,
        *preferences_link.ENDPOINTS,
    ],
    "manage": [
        *users.ENDPOINTS,
        *devices.ENDPOINTS,
        *event_routing.ENDPOINTS,
        *watches.ENDPOINTS,
        *user_tokens.ENDPOINTS,
        *templates.ENDPOINTS,
        *layouts.ENDPOINTS,
        *notification_types.ENDPOINTS,
        *suppressions.ENDPOINTS,
        *erasures.ENDPOINTS,
        *brand.ENDPOINTS,
    ],
    "admin": [*api_keys.ENDPOINTS, *providers.ENDPOINTS, *tenants.ENDPOINTS, *audit_log.ENDPOINTS],
    "operate": [
        *status.ENDPOINTS,
        *diagnostics.ENDPOINTS,
        *lanes.ENDPOINTS,
        *system_events.ENDPOINTS,
        *malformed_intents.ENDPOINTS,
        *abandoned_executions.ENDPOINTS,
        *dead_letters.ENDPOINTS,
        *jobs.ENDPOINTS,
        *email_log.ENDPOINTS,
        *metrics.ENDPOINTS,
        *stuck_notifications.ENDPOINTS,
        *books.ENDPOINTS,
        *retention.ENDPOINTS,
        *me.ENDPOINTS,
        *assets.serve_console(FUNCTIONS),
    ],
    "data": [*kv.ENDPOINTS, *triggers.ENDPOINTS, *webhooks.ENDPOINTS, *webhook_deliveries.ENDPOINTS],
}


@cache
def module_of(door: str) -> Any:
    """The door's module under a name of its own: all of them are called app.py."""
    os.environ.setdefault("POWERTOOLS_METRICS_NAMESPACE", "Tocsin")
    os.environ.setdefault("POWERTOOLS_SERVICE_NAME", "tests")
    spec = importlib.util.spec_from_file_location(f"door_{door}", FUNCTIONS / door / "app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def handler_of(door: str) -> Any:
    return module_of(door).handler


@dataclass(slots=True)
class Context:
    """What Lambda tells a function about its invocation."""

    remaining: int = 30_000
    log_group_name: str = "group"
    log_stream_name: str = "stream"
    aws_request_id: str = "invocation"

    def get_remaining_time_in_millis(self) -> int:
        return self.remaining


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass
class Api:
    """The HTTP API: routes as API Gateway does, each door by its own handler."""

    key: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: dict[str, str] | None = None,
        query: dict[str, str] | str = "",
        key: str | None = None,
        request_id: str | None = None,
        source_ip: str = "192.0.2.1",
    ) -> Answer:
        presented = self.key if key is None else key
        sent = {"content-type": "application/json"} if body is not None else {}
        sent |= ({"authorization": f"Bearer {presented}"} if presented else {}) | self.headers | (headers or {})
        door, route_key, parameters = _routed(method, path)
        event = {
            "version": "2.0",
            "routeKey": route_key,
            "rawPath": path,
            "rawQueryString": query if isinstance(query, str) else urlencode(query),
            "headers": sent,
            "pathParameters": parameters,
            "requestContext": {
                "requestId": request_id or str(uuid4()),
                "http": {"method": method, "path": path, "sourceIp": source_ip},
            },
            "isBase64Encoded": False,
        }
        if body is not None:
            event["body"] = body if isinstance(body, str) else json.dumps(body)
        answer = answer_of(handler_of(door)(event, Context()))
        schemas.check(route_key, answer.status, answer.headers, answer.text)
        return answer

    def get(self, path: str, **options: Any) -> Answer:
        return self.call("GET", path, **options)

    def put(self, path: str, body: Any, **options: Any) -> Answer:
        return self.call("PUT", path, body, **options)

    def post(self, path: str, body: Any = None, **options: Any) -> Answer:
        return self.call("POST", path, body, **options)

    def patch(self, path: str, body: Any, **options: Any) -> Answer:
        return self.call("PATCH", path, body, **options)

    def delete(self, path: str, **options: Any) -> Answer:
        return self.call("DELETE", path, **options)

    def send(self, body: Any = None, *, idempotency_key: str | None = None, **options: Any) -> Answer:
        """POST /v1/intents, with a key of its own unless told."""
        headers = {"idempotency-key": idempotency_key or str(uuid4())} | options.pop("headers", {})
        return self.call("POST", "/v1/intents", intent() if body is None else body, headers=headers, **options)


def intent(**changes: Any) -> dict[str, Any]:
    """A plain intent to alice."""
    return {
        "type": "order.shipped",
        "audience": {"kind": "users", "user_ids": ["alice"]},
        "channels": ["email"],
        "payload": {"title": "Shipped", "message": "It is on its way."},
    } | changes


def answer_of(event: dict[str, Any]) -> Answer:
    return Answer(event["statusCode"], event["headers"], event.get("body", ""))


def sqs_event(*bodies: Any, first_id: int = 1, queue: str = "") -> dict[str, Any]:
    """A batch as the event source mapping (of a work queue) delivers it; bodies that are no strings are written as JSON."""
    source = {"eventSourceARN": arn_of(queue)} if queue else {}
    return {
        "Records": [
            {"messageId": f"message-{n}", "body": body if isinstance(body, str) else json.dumps(body)} | source
            for n, body in enumerate(bodies, first_id)
        ]
    }


def _routed(method: str, path: str) -> tuple[str, str, dict[str, str]]:
    for door, endpoints in ENDPOINTS.items():
        for endpoint in endpoints:
            verb, pattern = endpoint.route.split(" ", 1)
            match = re.fullmatch(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", pattern), path)
            if match and verb == method:
                return door, endpoint.route, {name: unquote(value) for name, value in match.groupdict().items()}
    return "intake", "$default", {}
