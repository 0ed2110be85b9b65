"""Compiled templates, kept while there is room: the oldest go first, and a large one takes the room of many small ones."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Kept = TypeVar("Kept")


class Cache(Generic[Key, Kept]):
    """At most so many, of so much weight together. What is heavier than that alone is made and not kept."""

    def __init__(self, *, most: int, most_weight: int) -> None:
        self.most, self.most_weight = most, most_weight
        self._kept: OrderedDict[Key, tuple[Kept, int]] = OrderedDict()
        self._weight = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, key: Key) -> bool:
        return key in self._kept

    def get(self, key: Key, make: Callable[[Key], tuple[Kept, int]]) -> Kept:
        """`make` returns the value and its weight, and is called without the lock: two threads may both make it."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][0]
        made = make(key)
        with self._lock:
            if key not in self._kept and made[1] <= self.most_weight:
                self._kept[key] = made
                self._weight += made[1]
            while len(self._kept) > self.most or self._weight > self.most_weight:
                _, (_, weight) = self._kept.popitem(last=False)
                self._weight -= weight
        return made[0]
