"""API Gateway's HTTP API, payload format 2.0: a request as an event, and a function's result as an answer."""

import base64
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from typing import Any
from urllib.parse import parse_qsl, unquote
from uuid import uuid4

from devstack.declared import Route
from devstack.intrinsics import ACCOUNT

# These alone arrive as text in AWS. Forms, and bodies that do not say what they are, come in Base64.
TEXT_TYPES = {"application/json", "application/javascript", "application/xml"}
NOT_HANDED_ON = {"connection", "keep-alive", "transfer-encoding"}
SERVER_ERROR = {"message": "Internal Server Error"}


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    raw_path: str
    query: str
    headers: "Message[str, str]"
    body: bytes
    source_ip: str
    protocol: str


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @classmethod
    def json(cls, status: int, value: Any) -> "Answer":
        return cls(status, [("content-type", "application/json")], json.dumps(value).encode())


def build(request: Request, route: Route, parameters: dict[str, str], now: datetime) -> dict[str, Any]:
    """The event that the function behind the route is given."""
    # HTTP APIs hand on the path decoded, and the query as it came.
    path = unquote(request.raw_path)
    headers = _joined((name.lower(), value) for name, value in request.headers.items() if name.lower() not in NOT_HANDED_ON)
    headers |= _added(request)
    cookies = [part.strip() for part in headers.pop("cookie", "").split(";") if part.strip()]
    query = _joined(parse_qsl(request.query, keep_blank_values=True))
    optional = {"cookies": cookies, "queryStringParameters": query, "pathParameters": parameters}
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": route.key,
        "rawPath": path,
        "rawQueryString": request.query,
        "headers": headers,
        "requestContext": _context(request, route, path, headers, now),
        "isBase64Encoded": False,
        **{name: value for name, value in optional.items() if value},
    }
    if request.body:
        event["body"], event["isBase64Encoded"] = _body(request.body, headers.get("content-type", ""))
    return event


def _context(request: Request, route: Route, path: str, headers: dict[str, str], now: datetime) -> dict[str, Any]:
    domain = headers.get("host", "localhost")
    return {
        "accountId": ACCOUNT,
        "apiId": "local",
        "domainName": domain,
        "domainPrefix": domain.partition(".")[0],
        "http": {
            "method": request.method,
            "path": path,
            "protocol": request.protocol,
            "sourceIp": request.source_ip,
            "userAgent": headers.get("user-agent", ""),
        },
        "requestId": str(uuid4()),
        "routeKey": route.key,
        "stage": "$default",
        "time": now.astimezone(UTC).strftime("%d/%b/%Y:%H:%M:%S +0000"),
        "timeEpoch": int(now.timestamp() * 1000),
    }


def _added(request: Request) -> dict[str, str]:
    """The headers that API Gateway puts in on its way."""
    before = request.headers.get("x-forwarded-for")
    now = int(datetime.now(UTC).timestamp())
    trace = request.headers.get("x-amzn-trace-id") or f"Root=1-{now:08x}-{uuid4().hex[:24]}"
    return {
        "x-amzn-trace-id": trace,
        "x-forwarded-for": f"{before}, {request.source_ip}" if before else request.source_ip,
        "x-forwarded-port": request.headers.get("host", "").partition(":")[2] or "80",
        "x-forwarded-proto": "http",
    }


def _body(body: bytes, content_type: str) -> tuple[str, bool]:
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type in TEXT_TYPES or media_type.startswith("text/"):
        try:
            return body.decode(), False
        except UnicodeDecodeError:
            pass
    return base64.b64encode(body).decode(), True


def _joined(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """One value a name: repeated ones are joined by commas."""
    found: dict[str, str] = {}
    for name, value in pairs:
        found[name] = f"{found[name]},{value}" if name in found else value
    return found


def answer(result: Any) -> Answer:
    """What the client gets for a function's result; a bare value is a 200 with that value as its body."""
    if not isinstance(result, dict) or "statusCode" not in result:
        body = result if isinstance(result, str) else json.dumps(result)
        return Answer(200, [("content-type", "application/json")], body.encode())
    try:
        return _structured(result)
    except (TypeError, ValueError, AttributeError):
        return Answer.json(500, SERVER_ERROR)


def _structured(result: dict[str, Any]) -> Answer:
    status = int(result["statusCode"])
    if not 200 <= status <= 599:
        raise ValueError(status)
    headers = [(name.lower(), _header(value)) for name, value in (result.get("headers") or {}).items()]
    headers += [("set-cookie", _header(cookie)) for cookie in result.get("cookies") or []]
    body = result.get("body") or ""
    if not isinstance(body, str):
        raise TypeError("a body is text")
    content = base64.b64decode(body) if result.get("isBase64Encoded") else body.encode()
    if content and all(name != "content-type" for name, _ in headers):
        headers.append(("content-type", "text/plain;charset=UTF-8"))
    return Answer(status, headers, content)


def _header(value: Any) -> str:
    written = str(value).lower() if isinstance(value, bool) else str(value)
    if "\r" in written or "\n" in written:
        raise ValueError("a header cannot hold a line break")
    return written
