"""Fair comparison on a noisy machine: contestants take turns in many short rounds, and each one's median counts."""

import gc
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Contestant = Callable[[], float]


def interleaved(contestants: dict[str, Contestant], *, rounds: int) -> dict[str, float]:
    """The median figure of each contestant. The order turns round, so that nobody always follows the same neighbour."""
    figures: dict[str, list[float]] = {name: [] for name in contestants}
    names = list(contestants)
    for turn in range(rounds):
        start = turn % len(names)
        for name in names[start:] + names[:start]:
            figures[name].append(contestants[name]())
    return {name: statistics.median(values) for name, values in figures.items()}


def rate_of(work: Callable[[Any], object], inputs: Callable[[], list[Any]]) -> Contestant:
    """How many inputs `work` takes a second. They are made beforehand, off the clock."""

    def measure() -> float:
        made = inputs()
        with _quiet():
            started = time.perf_counter()
            for one in made:
                work(one)
            return len(made) / (time.perf_counter() - started)

    return measure


@contextmanager
def _quiet() -> Iterator[None]:
    """No garbage of another contestant is collected on this one's time."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
