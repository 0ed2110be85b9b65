"""How far a batch of events reaches: whoever joins a thread by one event is to hear of the next, in the next batch. Pure."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from tocsin.store.rows import Event

ThreadKey = tuple[UUID, str | None, str | None]


def followed(events: Sequence[Event]) -> list[int]:
    """The ids of those that another of the same thread follows: only of them it matters who joins."""
    found: list[int] = []
    later: set[ThreadKey] = set()
    for one in reversed(events):
        if one.thread_id is not None:
            if _thread(one) in later:
                found.append(one.id)
            later.add(_thread(one))
    return found[::-1]


def how_far(events: Sequence[Event], newcomers: Mapping[int, Sequence[UUID]]) -> int:
    """How many of these, from the first, can be told together: up to one whose thread somebody joins by an earlier one."""
    joined: set[ThreadKey] = set()
    for n, one in enumerate(events):
        if _thread(one) in joined:
            return n
        if newcomers.get(one.id):
            joined.add(_thread(one))
    return len(events)


def next_look(looked_at: int, told: int, *, most: int) -> int:
    """How many events to look at next: as many as were told, while threads are being joined; twice as many when all were."""
    return told if told < looked_at else min(most, 2 * told)


def _thread(event: Event) -> ThreadKey:
    return event.tenant_id, event.thread_kind, event.thread_id
