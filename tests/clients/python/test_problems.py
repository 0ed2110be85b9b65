"""What went wrong, as exceptions that one can catch, read and keep, and that never tell the key."""

import copy
import json
import pickle
import traceback
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tocsin_client
from tests.clients.python.wire import KEY, Asker, Clock, Wire, accepted, problem
from tocsin_client import ConnectionFailed, InvalidRequest, Problem, Remark, TocsinError, UnexpectedAnswer
from tocsin_client.problems import problem_of


@pytest.mark.parametrize(
    ("status", "name"),
    [
        (400, "InvalidRequest"),
        (401, "Unauthorized"),
        (403, "Forbidden"),
        (404, "NotFound"),
        (405, "Problem"),
        (409, "Conflict"),
        (412, "Conflict"),
        (413, "InvalidRequest"),
        (415, "InvalidRequest"),
        (422, "InvalidRequest"),
        (429, "RateLimited"),
        (500, "Unavailable"),
        (503, "Unavailable"),
        (504, "Unavailable"),
    ],
)
def test_each_status_has_its_exception(ask: Asker, wire: Wire, status: int, name: str) -> None:
    wire.then(problem(status, "odd", errors=[{"pointer": "/a", "message": "is odd"}]))

    with pytest.raises(TocsinError) as raised:
        ask("users.get", "ada")

    found = raised.value
    assert isinstance(found, Problem)
    assert type(found) is getattr(tocsin_client, name)
    assert (found.status, found.kind, found.title, found.detail) == (status, "odd", "It is so", "Because.")
    assert (found.errors, found.request_id) == ((Remark("/a", "is odd"),), "r-1")


def test_the_message_names_the_first_field(ask: Asker, wire: Wire) -> None:
    errors = [{"pointer": "/audience", "message": "is required"}, {"pointer": "/type", "message": "is too long"}]
    wire.then(problem(422, "invalid-request", errors=errors))

    with pytest.raises(InvalidRequest) as raised:
        ask("send", type="t", to="ada", title="T")

    told = "It is so (422 invalid-request). Because. /audience: is required (and 1 more). [request r-1]"
    assert str(raised.value) == told


def test_the_message_says_nothing_twice() -> None:
    body = {"type": "/errors#odd", "title": "It is so", "errors": [{"pointer": "/email", "message": "must be one address"}]}

    told = problem_of(422, body | {"detail": "`/email` must be one address"})

    assert str(told) == "It is so (422 odd). `/email` must be one address."


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        ("/errors#unknown-users", "unknown-users"),
        ("unknown-users", "unknown-users"),
        ("https://t.example/errors#x", "x"),
        ("about:blank", ""),
        (7, ""),
    ],
)
def test_the_kind_is_what_stands_after_the_mark(type_: Any, kind: str) -> None:
    assert problem_of(422, {"type": type_}).kind == kind


@pytest.mark.parametrize("body", [b"<html>gateway</html>", b'{"message": "Service Unavailable"}', b"", b"[1]", b'"x"', b"\xff"])
def test_what_something_on_the_way_answers_is_a_problem_too(ask: Asker, wire: Wire, body: bytes) -> None:
    wire.then(httpx.Response(502, content=body, headers={"apigw-requestid": "g-1"}))

    with pytest.raises(Problem, match=r"Bad Gateway \(502\)\.") as raised:
        ask("users.get", "ada")

    assert (raised.value.kind, raised.value.request_id) == ("", "g-1")


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, html="<html>please log in</html>"),
        httpx.Response(200, json={"hello": "world"}),
        httpx.Response(200, json=[]),
        httpx.Response(204),
        accepted(accepted_at="soon"),
    ],
)
def test_a_success_that_cannot_be_read_is_told_with_the_key_to_go_on(ask: Asker, wire: Wire, answer: httpx.Response) -> None:
    wire.then(answer)

    with pytest.raises(UnexpectedAnswer, match="Is a Tocsin stack at this address") as raised:
        ask("send", type="t", to="ada", title="T", idempotency_key="k-1")

    assert (raised.value.idempotency_key, len(wire.calls)) == ("k-1", 1)


def test_a_redirect_is_not_followed_and_the_key_stays_here(ask: Asker, wire: Wire) -> None:
    wire.then(httpx.Response(307, headers={"location": "https://elsewhere.example/v1/intents?x=1"}))

    with pytest.raises(Problem, match=r"leads to https://elsewhere.example/v1/intents\.") as raised:
        ask("send", type="t", to="ada", title="T")

    assert (raised.value.status, raised.value.kind) == (307, "redirected")
    assert [call.url.host for call in wire.calls] == ["tocsin.example"]


def test_no_message_has_the_key_in_it(ask: Asker, wire: Wire) -> None:
    echo = {"title": f"Bearer {KEY}", "detail": KEY, "errors": [{"pointer": KEY, "message": KEY}], "request_id": KEY}
    wire.then(problem(422, KEY, **echo), problem(401, KEY), httpx.Response(502, json={"message": KEY}))
    told = []

    for _ in range(3):
        with pytest.raises(Problem) as raised:
            ask("request", "POST", "/v1/x")
        told.append(f"{raised.value} {raised.value!r} {raised.value.args}")

    assert not [one for one in told if KEY in one]


@pytest.mark.parametrize("answer", [problem(422), httpx.ReadError("broke"), httpx.Response(200, html="<p>")], ids=repr)
def test_no_variable_that_a_traceback_shows_has_the_key_in_it(wire: Wire, clock: Clock, answer: Any) -> None:
    wire.then(answer)
    with Asker(wire, clock, is_async=False).client() as client, pytest.raises(TocsinError) as raised:
        client.users.get("ada")

    told = "".join(traceback.TracebackException.from_exception(raised.value, capture_locals=True).format())

    assert "tried = " in told
    assert KEY not in told


def test_an_exception_survives_a_pickle_and_a_copy() -> None:
    """As a task queue makes one, to tell another process."""
    found = problem_of(422, {"type": "/errors#odd", "title": "T", "errors": [{"pointer": "/a", "message": "b"}]}, retry_after=2)
    found.idempotency_keys, found.tries = ("k",), 3
    broken = ConnectionFailed("GET /v1/x: broke")
    broken.was_surely_not_taken = True

    for again in (pickle.loads(pickle.dumps(found)), copy.copy(found)):  # noqa: S301 - our own
        assert type(again) is InvalidRequest
        assert (str(again), again.idempotency_key, again.tries, again.retry_after) == (str(found), "k", 3, 2)
    assert pickle.loads(pickle.dumps(broken)).was_surely_not_taken  # noqa: S301 - our own


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["pointer", "message", "x"]), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(["type", "title", "detail", "errors", "request_id", "message"])


@settings(max_examples=40)
@given(status=st.integers(400, 599), body=st.dictionaries(FIELDS, JSON) | JSON)
def test_whatever_is_answered_becomes_a_problem_with_a_message(status: int, body: Any) -> None:
    found = problem_of(status, json.loads(json.dumps(body)))

    assert str(status) in str(found)
