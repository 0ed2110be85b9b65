"""The front door: the event that API Gateway would make of a request, and the answer it would make of a result."""

import base64
import json
import re
import socket
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import pytest

from devstack.environment import Outcome
from devstack.gateway import Gateway
from devstack.http_event import Answer, Request
from devstack.routes import match
from tests.devstack.front_door import ROUTES, Functions, ask


@pytest.fixture
def functions() -> Functions:
    return Functions()


@pytest.fixture
def gateway(functions: Functions) -> Iterator[Gateway]:
    def pages(request: Request) -> Answer:
        return Answer.json(200, {"local": request.raw_path})

    made = Gateway(0, routes=ROUTES, invoke=functions, local_pages=pages, integration_seconds=1.0)
    made.start()
    yield made
    made.stop(patience=0)


def talk(gateway: Gateway, raw: bytes) -> bytes:
    """Send these bytes and read until the other side hangs up."""
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=10) as sock:
        sock.sendall(raw)
        answer = b""
        while part := sock.recv(65536):
            answer += part
    return answer


def test_the_event_has_the_documented_fields(gateway: Gateway, functions: Functions) -> None:
    lines = [
        "GET /things/my%20path?parameter1=value1&parameter1=value2&parameter2=a%20b HTTP/1.1",
        "Host: api.example.com",
        "Header1: value1",
        "Header2: value1",
        "header2: value2",
        "Cookie: cookie1=a; cookie2=b",
        "User-Agent: agent",
        "Connection: close",
    ]

    talk(gateway, "\r\n".join([*lines, "", ""]).encode())

    event = functions.event
    context = event.pop("requestContext")
    assert event["headers"].pop("x-amzn-trace-id").startswith("Root=1-")
    assert event == {
        "version": "2.0",
        "routeKey": "GET /things/{id}",
        "rawPath": "/things/my path",
        "rawQueryString": "parameter1=value1&parameter1=value2&parameter2=a%20b",
        "cookies": ["cookie1=a", "cookie2=b"],
        "headers": {
            "host": "api.example.com",
            "header1": "value1",
            "header2": "value1,value2",
            "user-agent": "agent",
            "x-forwarded-for": "127.0.0.1",
            "x-forwarded-port": "80",
            "x-forwarded-proto": "http",
        },
        "queryStringParameters": {"parameter1": "value1,value2", "parameter2": "a b"},
        "pathParameters": {"id": "my path"},
        "isBase64Encoded": False,
    }
    assert context.pop("http") == {
        "method": "GET",
        "path": "/things/my path",
        "protocol": "HTTP/1.1",
        "sourceIp": "127.0.0.1",
        "userAgent": "agent",
    }
    assert re.fullmatch(r"\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d \+0000", context.pop("time"))
    assert isinstance(context.pop("timeEpoch"), int)
    assert re.fullmatch(r"[0-9a-f-]{36}", context.pop("requestId"))
    assert context == {
        "accountId": "123456789012",
        "apiId": "local",
        "domainName": "api.example.com",
        "domainPrefix": "api",
        "routeKey": "GET /things/{id}",
        "stage": "$default",
    }


def test_what_a_request_does_not_have_is_not_in_the_event(gateway: Gateway, functions: Functions) -> None:
    ask(gateway, "GET", "/nothing")

    assert {"body", "cookies", "queryStringParameters", "pathParameters"}.isdisjoint(functions.event)
    assert functions.event["rawQueryString"] == ""
    assert functions.event["isBase64Encoded"] is False


@pytest.mark.parametrize("content_type", ["application/json", "application/JSON; charset=utf-8", "text/plain"])
def test_text_arrives_as_text(gateway: Gateway, functions: Functions, content_type: str) -> None:
    ask(gateway, "POST", "/files/a", '{"grüße": 1}'.encode(), content_type=content_type)

    assert (functions.event["body"], functions.event["isBase64Encoded"]) == ('{"grüße": 1}', False)


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("application/octet-stream", b"\x00\xff"),
        ("application/x-www-form-urlencoded", b"a=1"),
        ("application/json", b"\xff not text at all"),
    ],
)
def test_anything_else_arrives_in_base64(gateway: Gateway, functions: Functions, content_type: str, body: bytes) -> None:
    ask(gateway, "POST", "/files/a", body, content_type=content_type)

    assert functions.event["isBase64Encoded"] is True
    assert base64.b64decode(functions.event["body"]) == body


def test_a_body_in_chunks_arrives_whole(gateway: Gateway, functions: Functions) -> None:
    ask(gateway, "POST", "/files/a", iter([b"one ", b"two ", b"three"]), content_type="text/plain")

    assert functions.event["body"] == "one two three"


@pytest.mark.parametrize(
    ("method", "path", "function", "parameters"),
    [
        ("GET", "/things/special", "Special", {}),
        ("GET", "/things/7", "Things", {"id": "7"}),
        ("PATCH", "/things/7", "AnyThing", {"id": "7"}),
        ("HEAD", "/things/7", "AnyThing", {"id": "7"}),
        ("PUT", "/users/a%2Fb/devices/x%3Ay", "Devices", {"id": "a/b", "token": "x:y"}),
        ("POST", "/files/a/b/c", "Files", {"path": "a/b/c"}),
        ("GET", "/things", "Otherwise", {}),
        ("GET", "/things/", "Otherwise", {}),
        ("GET", "/things/7/", "Otherwise", {}),
        ("POST", "/files/", "Otherwise", {}),
    ],
)
def test_the_most_specific_route_wins(method: str, path: str, function: str, parameters: dict[str, str]) -> None:
    found = match(ROUTES, method, path)

    assert found is not None
    assert (found[0].function, found[1]) == (function, parameters)


def test_without_a_catch_all_an_unknown_path_is_not_found(gateway: Gateway) -> None:
    gateway.routes = ROUTES[:-1]

    response, content = ask(gateway, "GET", "/nowhere")

    assert (response.status, json.loads(content)) == (404, {"message": "Not Found"})


def test_a_structured_result_becomes_the_answer(gateway: Gateway, functions: Functions) -> None:
    functions.outcome = Outcome(
        {
            "statusCode": 201,
            "headers": {"Content-Type": "image/png", "X-Number": 7, "X-Flag": True},
            "cookies": ["a=1", "b=2"],
            "body": base64.b64encode(b"\x89PNG").decode(),
            "isBase64Encoded": True,
        }
    )

    response, content = ask(gateway, "GET", "/things/1")

    assert (response.status, content) == (201, b"\x89PNG")
    assert response.headers["content-type"] == "image/png"
    assert (response.headers["x-number"], response.headers["x-flag"]) == ("7", "true")
    assert response.headers.get_all("set-cookie") == ["a=1", "b=2"]
    assert response.headers["apigw-requestid"] == functions.event["requestContext"]["requestId"]


@pytest.mark.parametrize(("result", "body"), [({"message": "hi"}, b'{"message": "hi"}'), ("plain", b"plain"), (None, b"null")])
def test_a_bare_result_is_a_json_answer(gateway: Gateway, functions: Functions, result: Any, body: bytes) -> None:
    functions.outcome = Outcome(result)

    response, content = ask(gateway, "GET", "/things/1")

    assert (response.status, response.headers["content-type"], content) == (200, "application/json", body)


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(error={"errorType": "ValueError", "errorMessage": "secret details"}),
        Outcome({"statusCode": "many"}),
        Outcome({"statusCode": 42}),
        Outcome({"statusCode": 200, "headers": {"X": "a\r\nSet-Cookie: b"}}),
        Outcome({"statusCode": 200, "body": {"not": "text"}}),
    ],
)
def test_a_failed_function_is_an_internal_server_error(gateway: Gateway, functions: Functions, outcome: Outcome) -> None:
    functions.outcome = outcome

    response, content = ask(gateway, "GET", "/things/1")

    assert (response.status, json.loads(content)) == (500, {"message": "Internal Server Error"})


def test_a_function_that_takes_too_long_is_unavailable(gateway: Gateway, functions: Functions) -> None:
    end = threading.Event()
    functions.wait = lambda: end.wait(10)

    response, content = ask(gateway, "GET", "/things/1")

    end.set()
    assert (response.status, json.loads(content)) == (503, {"message": "Service Unavailable"})


def test_a_function_that_lets_many_wait_does_not_make_others_wait(functions: Functions) -> None:
    everybody, end = threading.Semaphore(0), threading.Event()

    def invoke(function: str, event: dict[str, Any]) -> Outcome:
        if function == "Special":
            everybody.release()
            end.wait(20)
        return functions(function, event)

    gateway = Gateway(0, routes=ROUTES, invoke=invoke)
    gateway.start()
    waiting = [threading.Thread(target=ask, args=(gateway, "GET", "/things/special")) for _ in range(70)]
    for each in waiting:
        each.start()
    for _ in range(64):
        assert everybody.acquire(timeout=20)

    response, _ = ask(gateway, "GET", "/things/1")

    end.set()
    for each in waiting:
        each.join()
    gateway.stop(patience=0)
    assert response.status == 200


def test_a_body_above_ten_megabytes_is_refused_unread(gateway: Gateway, functions: Functions) -> None:
    head = f"POST /files/a HTTP/1.1\r\nHost: x\r\nContent-Length: {10 * 1024 * 1024 + 1}\r\n\r\n"

    answer = talk(gateway, head.encode())

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b'{"message": "Request Entity Too Large"}' in answer
    assert functions.asked == []


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"nonsense\r\n\r\n",
        b"POST /files/a HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n",
        b"POST /files/a HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"POST /files/a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /files/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /files/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
    ],
)
def test_a_malformed_request_is_refused_in_json(gateway: Gateway, functions: Functions, request_bytes: bytes) -> None:
    answer = talk(gateway, request_bytes)

    assert re.search(rb"^(HTTP/1\.1 400 |\{\"message\")", answer)
    assert b'{"message"' in answer
    assert functions.asked == []


def test_a_connection_serves_many_requests(gateway: Gateway, functions: Functions) -> None:
    connection = HTTPConnection("127.0.0.1", gateway.port, timeout=10)
    for _ in range(3):
        connection.request("POST", "/files/a", body=b"x")
        assert connection.getresponse().read() == b"fine"
    connection.close()

    assert len(functions.asked) == 3


def test_head_has_the_headers_of_the_answer_and_no_body(gateway: Gateway) -> None:
    connection = HTTPConnection("127.0.0.1", gateway.port, timeout=10)
    connection.request("HEAD", "/things/1")
    response = connection.getresponse()

    assert (response.status, response.headers["content-length"], response.read()) == (200, "4", b"")
    connection.request("GET", "/things/1")
    assert connection.getresponse().read() == b"fine", "the connection is still in step"
    connection.close()


def test_an_answer_without_content_has_no_length(gateway: Gateway, functions: Functions) -> None:
    functions.outcome = Outcome({"statusCode": 204})

    response, content = ask(gateway, "DELETE", "/things/1")

    assert (response.status, response.headers["content-length"], content) == (204, None, b"")


def test_local_pages_are_served_beside_the_api(gateway: Gateway, functions: Functions) -> None:
    response, content = ask(gateway, "GET", "/_local/mailbox")

    assert (response.status, json.loads(content)) == (200, {"local": "/_local/mailbox"})
    assert functions.asked == []


def test_a_taken_port_is_refused_at_once(gateway: Gateway) -> None:
    with pytest.raises(OSError, match="in use"):
        Gateway(gateway.port)


def test_stopping_lets_a_request_under_way_finish(functions: Functions) -> None:
    gateway = Gateway(0, routes=ROUTES, invoke=functions)
    gateway.start()
    entered, leave = threading.Event(), threading.Event()

    def wait() -> None:
        entered.set()
        leave.wait(10)

    functions.wait = wait
    answers: list[int] = []
    client = threading.Thread(target=lambda: answers.append(ask(gateway, "GET", "/things/1")[0].status))
    client.start()
    assert entered.wait(10)
    stopper = threading.Thread(target=gateway.stop)
    stopper.start()

    leave.set()

    client.join(10)
    stopper.join(10)
    assert answers == [200]
