"""How many calls a worker makes at once: in all, to one endpoint, and for one tenant."""

import threading
from collections.abc import Iterator
from uuid import UUID

import pytest

from tocsin.foundation.calls import MOST_CALLS, MOST_PER_ENDPOINT, MOST_PER_OWNER, Calls, OutboundCall

ONE, OTHER = UUID(int=1), UUID(int=2)


@pytest.fixture
def over() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def start(calls: Calls, over: threading.Event, endpoint: str, owner: UUID | None = None) -> None:
    calls.start(OutboundCall(endpoint, None, lambda: over.wait(30), lambda conn, answered: [], owner))


def test_one_endpoint_gets_its_share(over: threading.Event) -> None:
    calls = Calls()
    for _ in range(MOST_PER_ENDPOINT):
        assert calls.has_room_for("a")
        start(calls, over, "a")

    assert not calls.has_room_for("a")
    assert calls.has_room_for("b")
    assert not calls.has_room_for("a", 1)


def test_one_tenant_leaves_room_for_others_however_many_endpoints_it_has(over: threading.Event) -> None:
    calls = Calls()
    for n in range(MOST_PER_OWNER):
        assert calls.has_room_for(f"endpoint {n}", owner=ONE)
        start(calls, over, f"endpoint {n}", ONE)

    assert not calls.has_room_for("another", owner=ONE)
    assert calls.has_room_for("another", owner=OTHER)


def test_the_room_is_what_is_left_and_nobody_gets_more(over: threading.Event) -> None:
    calls = Calls()
    assert calls.room == MOST_CALLS
    for n in range(MOST_CALLS):
        start(calls, over, f"endpoint {n}")

    assert (calls.room, calls.has_room_for("another", owner=OTHER)) == (0, False)
    over.set()
    while calls.are_under_way:
        calls.settle(None, patience=5)  # type: ignore[arg-type]
    assert calls.room == MOST_CALLS
