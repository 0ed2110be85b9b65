"""The clock of the local cloud, with a clock of our own."""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from devstack import cadence
from devstack.declared import Schedule
from devstack.environment import Outcome
from devstack.intrinsics import TemplateError
from devstack.scheduler import FIRST_AFTER, Scheduler

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)  # a Sunday


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **by: float) -> None:
        self.now += timedelta(**by)


class Functions:
    """Counts who was invoked with what; `hold` keeps them running."""

    def __init__(self) -> None:
        self.invoked: list[tuple[str, Any]] = []
        self.may_end = threading.Event()
        self.may_end.set()

    def __call__(self, function: str, event: Any) -> Outcome:
        self.invoked.append((function, event))
        self.may_end.wait(10)
        return Outcome(None)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.005)


def schedule(expression: str, name: str = "Tick", event: dict[str, Any] | None = None) -> Schedule:
    return Schedule(name, "Sweep", expression, event)


def finish(scheduler: Scheduler) -> None:
    for entry in scheduler._entries:
        if entry.running:
            entry.running.result(10)


def test_everything_fires_shortly_after_the_start_and_then_by_its_rate() -> None:
    clock, functions = Clock(), Functions()
    scheduler = Scheduler([schedule("rate(1 minute)"), schedule("rate(1 hour)", "Tock")], functions, clock=clock)

    fired = [scheduler.tick()]
    for _ in range(3):
        clock.advance(seconds=FIRST_AFTER.total_seconds() if len(fired) == 1 else 60)
        fired.append(scheduler.tick())
        finish(scheduler)

    assert fired == [[], ["Tick", "Tock"], ["Tick"], ["Tick"]]


def test_nothing_fires_twice_for_one_turn() -> None:
    clock, functions = Clock(), Functions()
    scheduler = Scheduler([schedule("rate(1 minute)")], functions, clock=clock)
    clock.advance(seconds=5)

    assert scheduler.tick() == ["Tick"]
    finish(scheduler)
    assert scheduler.tick() == []


def test_one_that_still_runs_is_not_started_on_top_of_itself() -> None:
    clock, functions = Clock(), Functions()
    functions.may_end.clear()
    scheduler = Scheduler([schedule("rate(1 minute)")], functions, clock=clock)
    clock.advance(seconds=5)
    scheduler.tick()
    wait_until(lambda: len(functions.invoked) == 1)

    clock.advance(minutes=1)
    while_running = scheduler.tick()
    functions.may_end.set()
    finish(scheduler)
    clock.advance(minutes=1)
    afterwards = scheduler.tick()

    assert (while_running, afterwards) == ([], ["Tick"])


def test_after_a_long_sleep_it_fires_once_not_once_a_minute() -> None:
    clock, functions = Clock(), Functions()
    scheduler = Scheduler([schedule("rate(1 minute)")], functions, clock=clock)

    clock.advance(hours=8)
    first = scheduler.tick()
    finish(scheduler)

    assert (first, scheduler.tick()) == (["Tick"], [])


def test_a_function_that_fails_is_fired_again_at_its_next_turn() -> None:
    clock = Clock()

    def fail(function: str, event: Any) -> Outcome:
        raise RuntimeError("down")

    scheduler = Scheduler([schedule("rate(1 minute)")], fail, clock=clock)
    clock.advance(seconds=5)
    scheduler.tick()
    finish(scheduler)
    clock.advance(minutes=1)

    assert scheduler.tick() == ["Tick"]


def test_the_event_is_that_of_eventbridge_unless_the_template_has_its_own() -> None:
    clock, functions = Clock(), Functions()
    both = [schedule("rate(1 minute)"), schedule("rate(1 minute)", "Own", {"batch": 5})]
    scheduler = Scheduler(both, functions, clock=clock)
    clock.advance(seconds=5)

    scheduler.tick()
    finish(scheduler)

    events = [event for _, event in functions.invoked]
    own, usual = sorted(events, key=len)
    assert own == {"batch": 5}
    assert (usual["source"], usual["detail-type"], usual["time"]) == (
        "aws.scheduler",
        "Scheduled Event",
        "2026-11-15T12:00:05Z",
    )


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("rate(5 minutes)", NOON + timedelta(minutes=5)),
        ("rate(1 day)", NOON + timedelta(days=1)),
        ("cron(15 10 * * ? *)", datetime(2026, 11, 16, 10, 15, tzinfo=UTC)),
        ("cron(0/20 * * * ? *)", datetime(2026, 11, 15, 12, 20, tzinfo=UTC)),
        ("cron(0 8 1 * ? *)", datetime(2026, 12, 1, 8, 0, tzinfo=UTC)),
        ("cron(30 9 ? * MON-FRI *)", datetime(2026, 11, 16, 9, 30, tzinfo=UTC)),
        ("cron(0 18 ? JAN,MAR SUN 2027)", datetime(2027, 1, 3, 18, 0, tzinfo=UTC)),
    ],
)
def test_an_expression_says_when_the_next_turn_is(expression: str, expected: datetime) -> None:
    assert cadence.read(expression).next_after(NOON) == expected


@pytest.mark.parametrize(
    "expression",
    ["rate(1 minutes)", "rate(2 minute)", "rate(0 minutes)", "every minute", "cron(* * * *)", "cron(61 * * * ? *)"],
)
def test_an_expression_that_eventbridge_refuses_is_refused(expression: str) -> None:
    with pytest.raises(TemplateError):
        cadence.read(expression)
