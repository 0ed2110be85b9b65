"""Others' wait: how long small tenants wait while a large one floods, hangs or tells everybody, against the same in calm."""

import math
import statistics
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from bench.ground import Ground
from bench.neighbourhood import Letters, Neighbourhood, letters_of, neighbourhood
from bench.noises import CROWD, FLOOD, HANGING, TO_EVERYONE, everyone, hanging_sms, many_events, many_sms, news
from bench.report import Result, compared, counted
from bench.waits import Waits, by_inbox, by_letter, p95

LOADED = 3.0  # seconds of calm wait above which the machine is too busy with other things to tell


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the noisy tenant does, and which ways the quiet ones are watched on meanwhile."""

    name: str
    noise: Callable[[Neighbourhood], AbstractContextManager[None]]
    ways: tuple[str, ...]


SCENARIOS = (
    Scenario(f"beside events for {CROWD:,}, one after the other", news, ("inbox",)),
    Scenario(f"beside {FLOOD:,} events", many_events, ("inbox",)),
    Scenario(f"beside {TO_EVERYONE} SMS to all {CROWD:,}", everyone, ("email",)),
    Scenario(f"beside {FLOOD:,} due SMS", many_sms, ("email", "sms")),
    # last: its workers are busy for a while after it
    Scenario(f"while {HANGING} SMS hang", hanging_sms, ("email",)),
)


def measure(ground: Ground) -> list[Result]:
    results: list[Result] = []
    with neighbourhood(crowd=CROWD) as hood:
        letters = letters_of(hood.stack)
        _warm_up(hood, letters)
        calm = _waits(hood, letters, ("email", "sms", "inbox"))
        for way, waits in calm.items():
            _say("in calm", way, waits)
            results.append(counted(f"others' wait: {way} in calm, p50", statistics.median(waits), "s"))
            results.append(counted(f"others' wait: {way} in calm, p95", p95(waits), "s"))
        for scenario in SCENARIOS:
            hood.calm_down()
            with scenario.noise(hood):
                seen = _waits(hood, letters, scenario.ways)
                undone = _left(hood)
            for way, waits in seen.items():
                _say(scenario.name, way, waits)
                results.append(_result(f"others' wait: {way} {scenario.name}, p95", waits, calm[way], lasted=undone > 0))
            print(f"    {undone:,} of the noisy tenant's were left", flush=True)
    return results


def _warm_up(hood: Neighbourhood, letters: Letters) -> None:
    """Start the functions, several of each: what they take to start is not what is measured."""
    by_letter(hood, letters, ["email", "sms"], pace=math.inf)
    by_inbox(hood, pace=math.inf)


def _waits(hood: Neighbourhood, letters: Letters, ways: tuple[str, ...]) -> dict[str, Waits]:
    channels = [way for way in ways if way != "inbox"]
    found = by_letter(hood, letters, channels) if channels else {}
    return found | ({"inbox": by_inbox(hood)} if "inbox" in ways else {})


def _left(hood: Neighbourhood) -> int:
    """How much noise there is still; between two events of a kind there may be none for a moment."""
    deadline = time.monotonic() + 1
    while not (undone := hood.undone()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return undone


def _say(scenario: str, way: str, waits: Waits) -> None:
    figures = f"p50 {statistics.median(waits):.2f} s, p95 {p95(waits):.2f} s, longest {max(waits):.2f} s"
    print(f"    {way} {scenario}: {len(waits)}, {figures}", flush=True)


def _result(name: str, waits: Waits, calm: Waits, *, lasted: bool) -> Result:
    """Against the bound. No verdict from a machine that is slow by itself, and no praise for a noise that did not last."""
    bound = 2 * p95(calm) + 2
    doubt = ""
    if p95(calm) > LOADED:
        doubt = " (machine too loaded to tell)"
    elif not lasted and p95(waits) <= bound:
        doubt = " (noise ended too early to tell)"
    return compared(name + doubt, p95(waits), "s", "2 x calm p95 + 2 s", bound, None if doubt else "<= 1")
