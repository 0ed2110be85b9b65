"""What is tried again and what never is, how long is waited, and that every try says the same."""

from typing import Any

import httpx
import pytest

from tests.clients.python.wire import Asker, Clock, Wire, accepted, problem
from tocsin_client import (
    Conflict,
    ConnectionFailed,
    Problem,
    RateLimited,
    Retries,
    TocsinError,
    Unavailable,
)
from tocsin_client.retries import retry_after

SEND: dict[str, Any] = {"type": "t", "to": "ada", "title": "T"}
USER = httpx.Response(200, json={"id": "ada"})
PASSING = [
    problem(429),
    problem(500),
    problem(502),
    problem(503),
    problem(504),
    httpx.Response(503, json={"message": "Service Unavailable"}),
    httpx.ConnectError("refused"),
    httpx.ConnectTimeout("slow"),
    httpx.PoolTimeout("full"),
    httpx.ReadTimeout("slow"),
    httpx.ReadError("broke"),
    httpx.WriteError("broke"),
    httpx.RemoteProtocolError("hung up"),
]
SURELY_NOT_TAKEN = [problem(429), httpx.ConnectError("refused"), httpx.ConnectTimeout("slow"), httpx.PoolTimeout("full")]
IN_DOUBT = [one for one in PASSING if repr(one) not in [repr(other) for other in SURELY_NOT_TAKEN]]


@pytest.mark.parametrize("fault", [*PASSING, problem(409, "idempotency-key-in-flight")], ids=repr)
def test_a_send_is_tried_again_with_the_same_key_and_body(ask: Asker, wire: Wire, clock: Clock, fault: Any) -> None:
    wire.then(fault, fault, accepted())

    receipt = ask("send", **SEND)

    assert len(wire.calls) == 3
    assert {call.headers["idempotency-key"] for call in wire.calls} == {receipt.idempotency_key}
    assert len({call.content for call in wire.calls}) == 1
    assert clock.pauses == [0.5, 1.0]


@pytest.mark.parametrize(
    ("name", "args", "named", "answer"),
    [
        ("users.get", ["ada"], {}, USER),
        ("users.put", ["ada"], {"email": "a@example.com"}, USER),
        ("users.patch", ["ada"], {"email": None}, USER),
        ("users.list", [], {}, httpx.Response(200, json={"data": [], "next_cursor": None})),
        ("send_batch", [[SEND]], {}, httpx.Response(200, json={"results": []})),
        (
            "event",
            [],
            {"type": "t", "source": "s"},
            accepted(source="s", event_id="e", recorded_at="2026-11-17T10:00:00Z"),
        ),
        ("cancel", ["n-1"], {}, httpx.Response(200, json={"notification_id": "n-1", "stopped": 1, "too_late": 0})),
        ("tokens.create", ["ada"], {}, httpx.Response(201, json={"token": "t", "expires_at": "2026-11-17T10:00:00Z"})),
        ("request", ["DELETE", "/v1/kv/a/b"], {}, httpx.Response(204)),
        ("request", ["POST", "/v1/users/batch"], {"json": {}, "repeatable": True}, httpx.Response(200)),
    ],
)
def test_what_does_no_harm_twice_is_tried_again(
    ask: Asker, wire: Wire, name: str, args: list[Any], named: dict[str, Any], answer: httpx.Response
) -> None:
    wire.then(httpx.ReadError("broke"), problem(503), answer)

    ask(name, *args, **named)

    assert len({(call.method, str(call.url), call.content) for call in wire.calls}) == 1
    assert len(wire.calls) == 3


@pytest.mark.parametrize("fault", [*IN_DOUBT, problem(409, "idempotency-key-in-flight")], ids=repr)
def test_what_may_have_been_done_is_not_done_twice(ask: Asker, wire: Wire, fault: Any) -> None:
    wire.then(fault)

    with pytest.raises(TocsinError) as raised:
        ask("request", "POST", "/v1/api-keys", json={"name": "k"})

    assert (len(wire.calls), raised.value.tries) == (1, 1)


@pytest.mark.parametrize("fault", SURELY_NOT_TAKEN, ids=repr)
def test_what_was_surely_not_taken_is_said_again_whatever_it_is(ask: Asker, wire: Wire, fault: Any) -> None:
    wire.then(fault, httpx.Response(201, json={"id": "k"}))

    assert ask("request", "POST", "/v1/api-keys", json={"name": "k"}).json == {"id": "k"}


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 405, 409, 412, 413, 415, 422, 501])
def test_a_refusal_is_final(ask: Asker, wire: Wire, status: int) -> None:
    wire.then(problem(status))

    with pytest.raises(Problem):
        ask("send", **SEND)

    assert len(wire.calls) == 1


def test_it_gives_up_after_some_tries_and_says_with_which_key_to_go_on(ask: Asker, wire: Wire, clock: Clock) -> None:
    wire.then(problem(503))

    with pytest.raises(Unavailable) as raised:
        ask("send", **SEND)

    assert (len(wire.calls), raised.value.tries) == (5, 5)
    assert raised.value.idempotency_key == wire.calls[0].headers["idempotency-key"]
    assert clock.pauses == [0.5, 1.0, 2.0, 4.0]


def test_who_goes_on_with_the_key_of_the_exception_asks_for_the_same(ask: Asker, wire: Wire) -> None:
    wire.then(
        *[httpx.ReadTimeout("slow")] * 5, httpx.Response(202, json=accepted().json(), headers={"Idempotency-Replayed": "true"})
    )
    with pytest.raises(ConnectionFailed) as raised:
        ask("send", **SEND)

    receipt = ask("send", **SEND, idempotency_key=raised.value.idempotency_key)

    assert receipt.is_replay
    assert len({(call.headers["idempotency-key"], call.content) for call in wire.calls}) == 1


def test_a_batch_and_an_event_say_with_which_names_to_go_on(ask: Asker, wire: Wire) -> None:
    wire.then(problem(503))

    with pytest.raises(Unavailable) as batch:
        ask("send_batch", [SEND, SEND | {"idempotency_key": "mine"}])
    with pytest.raises(Unavailable) as event:
        ask("event", type="t", source="s")

    made, mine = batch.value.idempotency_keys
    assert (len(made), mine, batch.value.idempotency_key) == (36, "mine", None)
    assert f'"id":"{event.value.event_id}"' in wire.calls[-1].content.decode()


def test_each_send_without_a_key_gets_one_of_its_own(ask: Asker, wire: Wire) -> None:
    wire.then(accepted())

    assert ask("send", **SEND).idempotency_key != ask("send", **SEND).idempotency_key


def test_waits_are_a_random_part_of_a_doubling_time(ask: Asker, wire: Wire, clock: Clock) -> None:
    clock.chance = 0.25
    ask.options["retries"] = Retries(tries=8, first=1, longest=8)
    wire.then(httpx.ConnectError("refused"))

    with pytest.raises(ConnectionFailed):
        ask("users.get", "ada")

    assert clock.pauses == [0.25, 0.5, 1.0, 2.0, 2.0, 2.0, 2.0]


def test_the_service_says_how_long_to_wait(ask: Asker, wire: Wire, clock: Clock) -> None:
    wire.then(problem(429, headers={"retry-after": "7"}), problem(503, headers={"retry-after": "0"}), accepted())

    ask("send", **SEND)

    assert clock.pauses == [7.0, 1.0], "and never less than we would by ourselves"


def test_a_wait_that_is_too_long_is_told_instead_of_waited(ask: Asker, wire: Wire, clock: Clock) -> None:
    wire.then(problem(429, headers={"retry-after": "61"}))

    with pytest.raises(RateLimited) as raised:
        ask("send", **SEND)

    assert (raised.value.retry_after, clock.pauses, len(wire.calls)) == (61.0, [], 1)


def test_no_try_begins_after_the_time_is_over(ask: Asker, wire: Wire, clock: Clock) -> None:
    clock.lag = 15
    wire.then(httpx.ReadTimeout("slow"))

    with pytest.raises(ConnectionFailed) as raised:
        ask("send", **SEND)

    assert raised.value.tries == 4, "at 0, 15.5, 31.5 and 48.5 seconds"


def test_one_try_can_be_all(ask: Asker, wire: Wire, clock: Clock) -> None:
    ask.options["retries"] = Retries(tries=1)
    wire.then(problem(503))

    with pytest.raises(Unavailable):
        ask("send", **SEND)

    assert (len(wire.calls), clock.pauses) == (1, [])


@pytest.mark.parametrize(
    ("faults", "is_sure"),
    [
        ([httpx.ConnectError("refused")], True),
        ([problem(429), httpx.ConnectError("refused")], True),
        ([httpx.ReadError("broke"), httpx.ConnectError("refused")], False),
        ([problem(503), httpx.ConnectError("refused")], False),
        ([httpx.ConnectError("refused"), httpx.ReadTimeout("slow")], False),
    ],
)
def test_a_failed_connection_says_whether_any_try_may_have_arrived(
    ask: Asker, wire: Wire, faults: list[Any], is_sure: bool
) -> None:
    wire.then(*faults)

    with pytest.raises(ConnectionFailed) as raised:
        ask("send", **SEND)

    assert raised.value.was_surely_not_taken is is_sure
    assert isinstance(raised.value.__cause__, httpx.RequestError)


def test_a_certificate_that_is_not_valid_does_not_get_valid(ask: Asker, wire: Wire) -> None:
    wire.then(httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed"))

    with pytest.raises(ConnectionFailed, match="CERTIFICATE_VERIFY_FAILED"):
        ask("send", **SEND)

    assert len(wire.calls) == 1


def test_a_conflict_that_is_not_a_key_in_flight_is_told(ask: Asker, wire: Wire) -> None:
    wire.then(problem(409, "already-taken", headers={"retry-after": "1"}))

    with pytest.raises(Conflict) as raised:
        ask("users.put", "ada", email="a@example.com")

    assert (raised.value.kind, len(wire.calls)) == ("already-taken", 1)


def test_retry_after_is_seconds_or_a_date_seen_from_the_answers_own() -> None:
    date = {"date": "Tue, 17 Nov 2026 10:00:00 GMT"}

    assert retry_after({"retry-after": "12"}) == 12
    assert retry_after({"retry-after": "Tue, 17 Nov 2026 10:00:30 GMT"} | date) == 30
    assert retry_after({"retry-after": "Tue, 17 Nov 2026 09:00:00 GMT"} | date) == 0
    assert [retry_after({"retry-after": text} | date) for text in ("", "soon", "-1", "٣")] == [None] * 4
    assert retry_after({}) is None
