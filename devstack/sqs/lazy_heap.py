"""A heap whose entries are not taken out when they stop being true: they are skipped, and swept out now and then."""

import heapq
import itertools
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
T = TypeVar("T")
SMALL = 64


class LazyHeap(Generic[K, T]):
    """The smallest key first. `is_current` tells whether an entry still says the truth about its item."""

    def __init__(self, is_current: Callable[[K, T], bool]) -> None:
        self._is_current = is_current
        self._entries: list[tuple[K, int, T]] = []
        self._ties = itertools.count()
        self._sweep_at = SMALL

    def __len__(self) -> int:
        return len(self._entries)

    def push(self, key: K, item: T) -> None:
        heapq.heappush(self._entries, (key, next(self._ties), item))
        if len(self._entries) > self._sweep_at:
            self._sweep()

    def first(self) -> tuple[K, T] | None:
        while self._entries:
            key, _, item = self._entries[0]
            if self._is_current(key, item):
                return key, item
            heapq.heappop(self._entries)
        return None

    def pop(self) -> None:
        heapq.heappop(self._entries)

    def _sweep(self) -> None:
        """Once for every doubling, so that it costs each entry a constant share."""
        self._entries = [entry for entry in self._entries if self._is_current(entry[0], entry[2])]
        heapq.heapify(self._entries)
        self._sweep_at = 2 * len(self._entries) + SMALL
