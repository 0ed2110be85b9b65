"""The doors of the clock: the sweep every minute, retention every hour."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from devstack.post_office import PostOffice
from tests.events import fan_out_all, happen
from tests.functions.doors import Context, handler_of
from tests.world import World
from tocsin.channels import ses_quota
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.foundation import aws
from tocsin.store import job_runs
from tocsin.upkeep.balance import balance
from tocsin.upkeep.run_job import run_in_turn, run_job


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


def test_the_sweep_reports_the_used_share_of_the_ses_quota_when_it_is_time_to_ask(
    world: World,
    run_as: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    run_as("tocsin_worker")
    handler_of("sweep")({}, Context())
    before = _metrics(capsys)
    with PostOffice(tmp_path / "ledger.sqlite") as office:
        monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", office.url)
        monkeypatch.setattr(ses_quota, "_next_at", 0.0)
        aws.client.cache_clear()
        handler_of("sweep")({}, Context())
    aws.client.cache_clear()

    assert "SesQuotaUsedPercent" not in before
    assert _metrics(capsys)["SesQuotaUsedPercent"] == [0.0]


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


def test_the_sweep_reports_closed_lanes_and_open_system_events(
    world: World, run_as: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    world.add_user()
    world.email.answers.append(Failure(FailureClass.CONFIGURATION, "AccountSuspended", "x"))
    world.accept()
    world.dispatch()
    run_as("tocsin_worker")

    handler_of("sweep")({}, Context())

    metrics = _metrics(capsys)
    assert (metrics["LanesClosed"], metrics["OpenSystemEvents"]) == ([1.0], [1.0])


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


def test_what_runs_on_schedule_is_recorded(world: World, run_as: Callable[[str], None]) -> None:
    run_as("tocsin_retention")
    handler_of("retention")({}, Context(300_000))
    run_as("tocsin_worker")
    handler_of("sweep")({}, Context())

    runs = {run.job: run for run in job_runs.latest(world.admin, ["sweep", "retention", "never"])}

    assert {job: run.outcome for job, run in runs.items()} == {"sweep": "complete", "retention": "complete"}
    assert runs["sweep"].report == {"nudged": 0, "depth": 0, "oldest_due_seconds": 0}
    assert runs["retention"].report["forgotten"]["records"] == 0


def test_every_hour_is_counted_and_the_books_are_looked_at(
    world: World, run_as: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    world.add_user()
    world.accept()
    world.dispatch()
    run_as("tocsin_retention")

    handler_of("retention")({}, Context(300_000))
    sound = _metrics(capsys)
    world.admin.execute("DELETE FROM attempts")
    handler_of("retention")({}, Context(300_000))
    broken = _metrics(capsys)

    assert world.rows("SELECT total_sent FROM metrics WHERE hour IS NULL") == [{"total_sent": 1}]
    assert (sound["BooksResidue"], broken["BooksResidue"]) == ([0.0], [1.0])
    runs = {run.job: run for run in job_runs.latest(world.admin, ["metrics", "books"])}
    assert {job: run.outcome for job, run in runs.items()} == {"metrics": "complete", "books": "complete"}
    assert runs["books"].report["residue"] == {"published_without_acceptance": 1}


def test_a_job_that_fails_keeps_none_of_the_others_from_their_turn(world: World, run_as: Callable[[str], None]) -> None:
    def fail(conn: Any) -> Any:
        raise ZeroDivisionError

    run_as("tocsin_retention")

    with pytest.raises(ZeroDivisionError):
        run_in_turn({"metrics": fail, "books": lambda conn: balance(conn, has_time=lambda: True)})

    runs = {run.job: run.outcome for run in job_runs.latest(world.admin, ["metrics", "books"])}
    assert runs == {"metrics": "failed", "books": "complete"}


def test_a_run_that_had_no_time_is_partial(world: World, run_as: Callable[[str], None]) -> None:
    run_as("tocsin_retention")

    handler_of("retention")({}, Context(5_000))

    assert job_runs.latest(world.admin, ["retention"])[0].outcome == "partial"


def test_a_job_that_fails_raises_one_system_event_until_it_succeeds(world: World, run_as: Callable[[str], None]) -> None:
    def open_events() -> list[tuple[str, str]]:
        rows = world.admin.execute("SELECT event_type, subject FROM admin_system_events WHERE NOT is_resolved").fetchall()
        return [(row[0], row[1]) for row in rows]

    def fail(conn: Any) -> Any:
        raise ZeroDivisionError("alice@example.com")

    run_as("tocsin_worker")
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            run_job("sweep", fail)

    failed = job_runs.latest(world.admin, ["sweep"])[0]
    assert (failed.outcome, failed.error) == ("failed", "ZeroDivisionError")
    assert open_events() == [("job_failed", "sweep")]

    handler_of("sweep")({}, Context())
    assert open_events() == []
