"""How many events are told together, and how many are looked at next."""

from typing import Any
from uuid import UUID

import pytest

from tocsin.audience.reach import followed, how_far, next_look
from tocsin.store.rows import Event

TENANT, OTHER_TENANT = UUID(int=1), UUID(int=2)
ALICE = UUID(int=3)


def _events(*threads: str | None, tenants: tuple[UUID, ...] = (TENANT,)) -> list[Event]:
    """Events 1, 2 and so on of these threads (`issue/1`; None: of no thread), their tenants in turn."""
    found = []
    for n, thread in enumerate(threads):
        kind, _, thread_id = (thread or "").partition("/")
        where: dict[str, Any] = {"thread_kind": kind or None, "thread_id": thread_id or None}
        found.append(Event(n + 1, tenants[n % len(tenants)], "issue.commented", None, {}, **where))
    return found


def test_events_whose_threads_nobody_joins_are_told_together() -> None:
    assert how_far(_events("issue/1", "issue/1", "issue/2", None), {1: [], 2: []}) == 4


def test_an_event_is_left_whose_thread_somebody_joins_by_an_earlier_one() -> None:
    assert how_far(_events("issue/1", "issue/2", "issue/1", "issue/3"), {1: [ALICE]}) == 2


def test_what_comes_after_an_event_that_is_left_is_left_too_so_that_nothing_is_skipped() -> None:
    assert how_far(_events("issue/1", "issue/1", None, "issue/2"), {1: [ALICE]}) == 1


def test_the_first_event_is_always_told() -> None:
    assert how_far(_events("issue/1", "issue/1"), {1: [ALICE], 2: [ALICE]}) == 1


def test_whoever_joins_by_the_last_event_of_a_thread_leaves_nothing_behind() -> None:
    assert how_far(_events("issue/1", "issue/1", "issue/2"), {1: [], 2: [ALICE]}) == 3


@pytest.mark.parametrize("other", ["issue/2", "pull/1", None])
def test_another_thread_is_not_the_same(other: str | None) -> None:
    assert how_far(_events("issue/1", other), {1: [ALICE]}) == 2


def test_a_thread_of_another_tenant_is_not_the_same() -> None:
    events = _events("issue/1", "issue/1", tenants=(TENANT, OTHER_TENANT))

    assert (how_far(events, {1: [ALICE]}), followed(events)) == (2, [])


def test_nothing_reaches_nowhere() -> None:
    assert (how_far([], {}), followed([])) == (0, [])


def test_who_joins_matters_only_of_events_that_another_of_their_thread_follows() -> None:
    assert followed(_events("issue/1", "issue/2", "issue/1", None, "issue/1", None, "pull/1")) == [1, 3]


@pytest.mark.parametrize(
    ("looked_at", "told", "next"),
    [(200, 200, 200), (150, 150, 200), (3, 3, 6), (1, 1, 2), (200, 1, 1), (2, 1, 1), (100, 40, 40)],
)
def test_looks_grow_while_everything_is_told_and_shrink_to_what_was(looked_at: int, told: int, next: int) -> None:
    assert next_look(looked_at, told, most=200) == next
