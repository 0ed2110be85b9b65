"""The HTTP door: every request gets an answer, and every failure is a problem document."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest

from tests.unit.http_events import Answer, an_event, ask
from tocsin.foundation.outages import DatabaseUnavailable, OutageReason
from tocsin.http import door as http_door
from tocsin.http import problems
from tocsin.http.door import Endpoint, Request, Response, door
from tocsin.http.problems import Problem

QUERY = [{"name": name, "in": "query"} for name in "abcdef"]
SECRET = "postgres password hunter2 in /opt/python"


def answer(run: Any, **event: Any) -> Answer:
    """What a door with one open endpoint answers when that does this."""
    return ask(door([Endpoint("POST /x", None, run, "x", parameters=QUERY)]), an_event("POST /x", **event))


def raising(error: Exception) -> Any:
    def run(request: Request) -> Response:
        raise error

    return run


def seen(**event: Any) -> Request:
    """The request as an endpoint sees it."""
    requests: list[Request] = []

    def run(request: Request) -> Response:
        requests.append(request)
        return Response(200)

    answer(run, **event)
    return requests[0]


def test_an_answer_is_json_with_the_request_id() -> None:
    got = answer(lambda request: Response(202, {"a": "ü"}, {"X-More": "1"}))

    assert (got.status, got.body) == (202, {"a": "ü"})
    assert got.headers == {
        "Content-Type": "application/json",
        "X-Request-Id": "req-1",
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "X-More": "1",
    }


def test_times_and_ids_are_answered_as_text() -> None:
    at = datetime(2026, 11, 15, 13, 0, tzinfo=timezone(timedelta(hours=1)))

    got = answer(lambda request: Response(200, {"at": at, "utc": at.astimezone(UTC), "id": UUID(int=1)}))

    assert got.body == {
        "at": "2026-11-15T12:00:00Z",
        "utc": "2026-11-15T12:00:00Z",
        "id": "00000000-0000-0000-0000-000000000001",
    }


def test_an_answer_without_a_body_has_none_and_no_type_of_it() -> None:
    got = answer(lambda request: Response(204))

    assert "body" not in got.raw
    assert "Content-Type" not in got.headers


def test_an_endpoint_may_say_itself_how_long_its_answer_keeps() -> None:
    assert answer(lambda request: Response(200, {}, {"Cache-Control": "private"})).headers["Cache-Control"] == "private"


def test_a_head_is_answered_like_the_get_that_the_door_serves_but_without_a_body() -> None:
    serving = door([Endpoint("GET /x", None, lambda request: Response(200, {"a": 1}, {"X-More": "1"}), "x")])

    head, elsewhere = (ask(serving, an_event("HEAD /", path=path, routeKey="$default")) for path in ("/x", "/y"))

    assert (head.status, head.headers["Content-Type"], head.headers["X-More"]) == (200, "application/json", "1")
    assert elsewhere.status == 404
    assert "body" not in head.raw | elsewhere.raw


@pytest.mark.parametrize(
    ("status", "name", "answered"), [(404, "special", 405), (404, str(UUID(int=1)), 404), (409, "special", 409)]
)
def test_what_is_not_found_under_the_name_of_another_path_is_405(status: int, name: str, answered: int) -> None:
    def otherwise(request: Request) -> Response:
        raise Problem(405, "method-not-allowed", "", "", headers={"Allow": "GET"})

    serving = door([Endpoint("PATCH /x/{id}", None, raising(Problem(status, "s", "", "")), "x")], otherwise=otherwise)
    got = ask(serving, an_event("PATCH /x/{id}", pathParameters={"id": name}))

    assert (got.status, got.headers.get("Allow")) == (answered, "GET" if answered == 405 else None)


def test_a_problem_is_answered_as_one_with_its_headers_and_errors() -> None:
    problem = Problem(409, "in-flight", "Still running", "Wait.", [{"pointer": "/a", "message": "b"}], {"Retry-After": "1"})

    got = answer(raising(problem))

    assert got.is_problem
    assert (got.status, got.body["type"], got.body["errors"]) == (409, "/errors#in-flight", [{"pointer": "/a", "message": "b"}])
    assert got.headers["Retry-After"] == "1"


def _unavailable(reason: OutageReason) -> DatabaseUnavailable:
    error = DatabaseUnavailable(reason)
    error.__cause__ = RuntimeError(SECRET)
    return error


def test_a_database_out_of_reach_is_a_503_that_says_when_to_come_back() -> None:
    got = answer(raising(_unavailable(OutageReason.PASSWORD)))

    assert got.is_problem
    assert (got.status, got.body["type"]) == (503, "/errors#unavailable")
    assert int(got.headers["Retry-After"]) >= 1
    for word in ("hunter2", "password"):
        assert word not in got.raw["body"]


def test_why_the_database_is_out_of_reach_is_logged_without_the_words_of_the_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heard: list[dict[str, Any]] = []
    monkeypatch.setattr(http_door.log, "error", lambda message, *, extra: heard.append(extra))

    answer(raising(_unavailable(OutageReason.TOO_MANY_CONNECTIONS)))

    assert heard == [{"request_id": "req-1", "reason": "too_many_connections", "error": "RuntimeError"}]


@pytest.mark.parametrize("error", [RuntimeError(SECRET), KeyError(SECRET), AssertionError(SECRET), RecursionError(SECRET)])
def test_an_unforeseen_fault_is_a_500_that_tells_nothing_of_itself(error: Exception) -> None:
    got = answer(raising(error))

    assert got.is_problem
    assert (got.status, got.body["type"]) == (500, "/errors#internal")
    for word in ("hunter2", "/opt", "Error", "Traceback"):
        assert word not in got.raw["body"]


def test_an_answer_that_cannot_be_written_is_a_500_too() -> None:
    got = answer(lambda request: Response(200, {"a": object()}))

    assert got.is_problem
    assert got.status == 500


def test_a_body_that_only_pretends_to_be_base64_is_a_400() -> None:
    got = answer(lambda request: Response(200), body="abcde", isBase64Encoded=True)

    assert got.is_problem
    assert got.status == 400


def test_a_route_that_no_endpoint_serves_is_a_404() -> None:
    got = ask(door([]), an_event("GET /nowhere"))

    assert got.is_problem
    assert got.status == 404


@pytest.mark.parametrize("event", [{}, {"requestContext": {}}, {"headers": None, "body": None, "pathParameters": None}])
def test_an_event_with_hardly_anything_in_it_still_gets_an_answer(event: dict[str, Any]) -> None:
    got = Answer(door([])(event, None))

    assert got.status == 404
    assert "X-Request-Id" in got.headers


def test_the_names_of_headers_are_read_in_any_case() -> None:
    headers = seen(headers={"Content-TYPE": "text/plain", "x-thing": "1"}).headers

    assert headers == {"content-type": "text/plain", "x-thing": "1"}


def test_a_body_in_base64_is_read_as_the_bytes_it_stands_for() -> None:
    assert seen(body="eyJhIjoi/yJ9", isBase64Encoded=True).body == b'{"a":"\xff"}'
    assert seen(body='{"a":"ü"}').body == '{"a":"ü"}'.encode()
    assert seen().body == b""


def test_the_query_is_decoded() -> None:
    query = seen(rawQueryString="a=1&b=x%20y+z&c&d=%E4%B8%AD&e=1=2&&f=").query

    assert query == {"a": "1", "b": "x y z", "c": "", "d": "中", "e": "1=2", "f": ""}


@pytest.mark.parametrize("query", ["a=%00", "a=1&b=x%00y", "%00=1", "a=%ff", "a=%ed%a0%80", "a=\ud800", "a=1&a=2", "g=1"])
def test_a_query_that_is_not_valid_is_refused_at_the_door(query: str) -> None:
    got = answer(lambda request: Response(200), rawQueryString=query)

    assert got.is_problem
    assert got.status == 422


def test_who_asks_is_asked_before_what_they_ask() -> None:
    guarded = door([Endpoint("GET /x", "read", raising(AssertionError()), "x")])

    assert ask(guarded, an_event("GET /x", rawQueryString="nonsense=%00")).status == 401


def test_a_link_is_followed_with_whatever_others_hang_onto_it() -> None:
    link = door([Endpoint("GET /x", None, lambda request: Response(200, request.query), "x", is_link=True)])

    assert ask(link, an_event("GET /x", rawQueryString="utm_source=%ff&a")).status == 200


@pytest.mark.parametrize(
    ("header", "trace_id"),
    [
        ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "0af7651916cd43dd8448eb211c80319c"),
        ("", ""),
        ("garbage", ""),
        ("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", ""),
        ("00-0af7651916cd43dd8448eb211c80319c", ""),
    ],
)
def test_the_trace_id_is_taken_from_a_whole_traceparent_only(header: str, trace_id: str) -> None:
    assert seen(headers={"Traceparent": header}).trace_id == trace_id


def test_what_a_problem_says_by_default_is_an_empty_list_of_errors_left_out() -> None:
    assert "errors" not in problems.not_found("thing").body("r")
