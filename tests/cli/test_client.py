"""Calls: what is repeated and what never is, how long is waited, and what a shell learns of a refusal."""

from datetime import UTC, datetime

import httpx
import pytest

from tests.cli.conftest import Terminal
from tests.cli.stack import Doors
from tocsin_cli.client import TRIES, path, retry_after
from tocsin_cli.exits import Exit

OK = {"healthy": True, "problems": [], "at": "2026-11-17T10:00:00Z", "backlog": []}
ACCEPTED = {"notification_id": "n-1", "status": "accepted", "accepted_at": "2026-11-17T10:00:00Z"}
SEND = ("send", "--email", "ada@example.com", "--type", "t", "--title", "T")


def problem(status: int, **more: object) -> httpx.Response:
    body = {"type": "some-problem", "title": "It is so", "status": status, "detail": "Because.", "request_id": "r-1"} | more
    return httpx.Response(status, json=body, headers={"content-type": "application/problem+json"})


@pytest.mark.parametrize(
    "fault",
    [problem(503), problem(500), problem(502), problem(429), httpx.ReadTimeout("slow"), httpx.ReadError("broke")],
    ids=repr,
)
def test_a_safe_call_is_made_again(bare: Terminal, doors: Doors, fault: httpx.Response | Exception) -> None:
    doors.instead.extend([fault, fault, httpx.Response(200, json=OK)])

    ran = bare("status")

    assert (ran.code, len(doors.calls), len(bare.pauses)) == (0, 3, 2)
    assert bare.pauses[1] > bare.pauses[0] * 1.1, "longer each time"


def test_a_send_is_made_again_with_the_same_key(bare: Terminal, doors: Doors) -> None:
    in_flight = problem(409)
    in_flight.headers["retry-after"] = "1"
    doors.instead.extend([httpx.ReadError("broke"), problem(503), in_flight, httpx.Response(202, json=ACCEPTED)])

    ran = bare(*SEND, "--json")

    keys = {call.headers["idempotency-key"] for call in doors.calls}
    assert (ran.code, len(doors.calls), keys) == (0, 4, {ran.json["idempotency_key"]})
    assert len({call.content for call in doors.calls}) == 1


@pytest.mark.parametrize("fault", [problem(500), problem(503), httpx.ReadError("broke"), httpx.ReadTimeout("slow")], ids=repr)
def test_what_may_have_been_done_is_not_done_twice(bare: Terminal, doors: Doors, fault: httpx.Response | Exception) -> None:
    doors.instead.append(fault)

    ran = bare("keys", "create", "k", "--producer", "p", "--scope", "send")

    assert (ran.code, len(doors.calls)) == (Exit.UNREACHABLE, 1)


def test_what_was_surely_not_taken_is_said_again_whatever_it_is(bare: Terminal, doors: Doors) -> None:
    made = {"key": "tcn_1", "id": "i", "name": "k", "mode": "live", "scopes": ["send"]}
    doors.instead.extend([problem(429), httpx.ConnectError("refused"), httpx.Response(201, json=made)])

    assert bare("keys", "create", "k", "--producer", "p", "--scope", "send").out == "tcn_1\n"


def test_the_server_says_how_long_to_wait(bare: Terminal, doors: Doors) -> None:
    busy = problem(429)
    busy.headers["retry-after"] = "7"
    doors.instead.extend([busy, httpx.Response(200, json=OK)])

    ran = bare("status")

    assert (ran.code, bare.pauses) == (0, [7.0])
    assert "Trying again in 7 s" in ran.err


def test_a_wait_of_an_hour_is_told_instead_of_waited(bare: Terminal, doors: Doors) -> None:
    busy = problem(429)
    busy.headers["retry-after"] = "3600"
    doors.instead.append(busy)

    assert (bare("status").code, bare.pauses) == (6, [])


def test_it_gives_up_after_some_tries(bare: Terminal, doors: Doors) -> None:
    doors.instead.extend([httpx.ConnectError("refused")] * 20)

    ran = bare("status")

    assert (ran.code, len(doors.calls)) == (6, TRIES)
    assert "cannot be reached" in ran.err
    assert "tocsin doctor" in ran.err


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, 5),
        (401, 3),
        (403, 3),
        (404, 4),
        (405, 4),
        (409, 5),
        (412, 5),
        (413, 5),
        (415, 5),
        (422, 5),
        (429, 6),
        (500, 6),
        (503, 6),
    ],
)
def test_each_refusal_has_an_exit_code(bare: Terminal, doors: Doors, status: int, code: int) -> None:
    doors.instead.extend([problem(status)] * TRIES)

    ran = bare("users", "show", "ada", "--json")

    assert (ran.code, ran.out) == (code, "")


def test_a_problem_is_told_with_its_detail_its_pointers_and_its_type(bare: Terminal, doors: Doors) -> None:
    errors = [{"pointer": "/email", "message": "is \x1b[31mred"}, {"pointer": "?limit", "message": "is odd"}]
    doors.instead.append(problem(422, errors=errors, type="https://docs.example/problems/odd"))

    told = bare("users", "show", "ada").err

    for part in (
        "It is so (422)",
        "Because.",
        "/email: is [31mred",
        "?limit: is odd",
        "https://docs.example/problems/odd",
        "r-1",
    ):
        assert part in told
    assert "\x1b" not in told


@pytest.mark.parametrize("body", [b"<html>gateway</html>", b'{"message": "Service Unavailable"}', b"", b"[1]", b'"x"'])
def test_what_something_on_the_way_answers_is_told_too(bare: Terminal, doors: Doors, body: bytes) -> None:
    doors.instead.extend([httpx.Response(502, content=body)] * TRIES)

    assert bare("status").code == 6


def test_a_page_instead_of_an_answer_is_told(bare: Terminal, doors: Doors) -> None:
    doors.instead.append(httpx.Response(200, html="<html>please log in</html>"))

    ran = bare("status")

    assert ran.code == 6
    assert "Is a Tocsin stack at this address?" in ran.err


def test_ctrl_c_is_130(bare: Terminal, doors: Doors) -> None:
    doors.instead.append(KeyboardInterrupt())  # type: ignore[arg-type]

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    doors.handle_request = interrupt  # type: ignore[method-assign, assignment]

    assert bare("status").code == 130


def test_words_in_a_path_are_one_segment() -> None:
    assert path("/v1/users/{}/erase", "a/b?c#d é%") == "/v1/users/a%2Fb%3Fc%23d%20%C3%A9%25/erase"


def test_retry_after_is_seconds_or_a_date() -> None:
    now = datetime(2026, 11, 17, 10, 0, tzinfo=UTC)

    assert retry_after("12", now) == 12
    assert retry_after("Tue, 17 Nov 2026 10:00:30 GMT", now) == 30
    assert retry_after("Tue, 17 Nov 2026 09:00:00 GMT", now) == 0
    assert (retry_after("", now), retry_after("soon", now)) == (None, None)


def test_a_problem_leads_to_the_page_that_says_what_it_means(bare: Terminal, doors: Doors) -> None:
    doors.instead.append(problem(404, type="/errors#not-found"))

    ran = bare("status")

    assert "//" in ran.err.partition("what it means: ")[2].partition("/errors#not-found")[0]
