"""The doors of the clock: the sweep every minute, retention every hour."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.events import fan_out_all, happen
from tests.functions.doors import Context, handler_of
from tests.world import World


def _metrics(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The last ones that were printed for CloudWatch."""
    metrics: dict[str, Any] = [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line][-1]
    return metrics


def test_the_sweep_nudges_what_is_due_and_reports_the_backlog(
    world: World, run_as: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    world.add_user()
    asked = world.accept()
    assert world.work_queue is not None
    world.work_queue.clear()
    world.pass_time(timedelta(minutes=2))
    run_as("tocsin_worker")

    answer = handler_of("sweep")({}, Context())

    assert answer == {"nudged": 1, "depth": 1}
    assert [nudge.ids for nudge in world.nudges()] == [[asked.notification_id]]
    metrics = _metrics(capsys)
    assert (metrics["OutboxDepth"], metrics["UnknownAttempts"]) == ([1.0], [0.0])
    assert metrics["OldestDueSeconds"][0] >= 120


def test_the_sweep_reports_how_long_the_first_event_behind_the_cursor_has_waited(
    world: World, run_as: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    happen(world, title="first")
    world.pass_time(timedelta(minutes=3))
    happen(world, title="second")
    run_as("tocsin_worker")

    handler_of("sweep")({}, Context())
    waiting = _metrics(capsys)
    fan_out_all(world)
    handler_of("sweep")({}, Context())

    assert 180 <= waiting["OldestEventSeconds"][0] < 3600
    assert _metrics(capsys)["OldestEventSeconds"] == [0.0]


def test_the_sweep_with_nothing_to_do_says_so(world: World, run_as: Callable[[str], None]) -> None:
    run_as("tocsin_worker")

    assert handler_of("sweep")({}, Context()) == {"nudged": 0, "depth": 0}


def test_retention_forgets_and_reports(world: World, run_as: Callable[[str], None]) -> None:
    world.add_user()
    world.accept()
    world.dispatch()
    world.pass_time(timedelta(days=91))
    run_as("tocsin_retention")

    answer = handler_of("retention")({}, Context(300_000))

    assert answer["is_complete"]
    assert (answer["forgotten"]["records"], world.count("records")) == (1, 0)


def test_retention_stops_before_its_time_is_up(world: World, run_as: Callable[[str], None]) -> None:
    world.add_user()
    world.accept()
    world.dispatch()
    world.pass_time(timedelta(days=91))
    run_as("tocsin_retention")

    answer = handler_of("retention")({}, Context(5_000))

    assert (answer["is_complete"], world.count("records")) == (False, 1)
