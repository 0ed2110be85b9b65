"""Sweeps that overlap or die nudge each due row once in five minutes, and forget none."""

import threading
from datetime import timedelta

import pytest

from tests.crash import invariants
from tests.crash.desk import Crew
from tests.crash.site import Site
from tests.crash.traffic import INTENT
from tests.world import World
from tocsin.outbox import sweep as sweeping
from tocsin.outbox.sweep import sweep

ROWS = 60


def test_a_sweep_that_meets_another_in_mid_transaction_passes_over_its_rows(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SKIP LOCKED in the sweep: the second neither waits nor nudges again."""
    due_rows(world, ROWS)
    first, second = world.connect(), world.connect()
    second.execute("SET lock_timeout = '500ms'")
    with first.transaction():
        with monkeypatch.context() as patch:
            patch.setattr(sweeping, "MOST_PER_TENANT", ROWS // 2)
            marked = sweeping._mark(first, "plan")

        swept = sweep(second)

        assert (len(marked), swept.nudged) == (ROWS // 2, ROWS // 2)
    assert sweep(second).nudged == 0


def test_two_sweeps_at_once_nudge_each_row_once(world: World) -> None:
    due_rows(world, ROWS)
    crew, start, nudged = Crew(), threading.Barrier(2), []

    def work() -> None:
        conn = world.connect()
        start.wait(30)
        nudged.append(sweep(conn).nudged)

    crew.start(work)
    crew.start(work)
    crew.join()

    assert sum(nudged) == ROWS, nudged
    nudged = [one for nudge in world.nudges() for one in nudge.ids]
    assert sorted(nudged) == sorted(world.due())


def test_a_row_is_nudged_again_after_five_minutes_and_not_before(world: World) -> None:
    due_rows(world, 1)
    assert sweep(world.worker).nudged == 1

    world.pass_time(timedelta(minutes=4, seconds=59))
    assert sweep(world.worker).nudged == 0

    world.pass_time(timedelta(seconds=1))
    assert sweep(world.worker).nudged == 1


def test_a_sweep_that_dies_between_mark_and_nudge_costs_five_minutes(site: Site) -> None:
    site.world.accept(**INTENT)
    site.world.pass_time(timedelta(seconds=31))

    ending = site.invoke("sweep", {}, kill_at=1, counting="before sqs")

    assert ending.killed_at.startswith("before sqs")
    assert site.messages() == []
    assert site.invoke("sweep", {}).answer == {"nudged": 0, "depth": 1}
    site.world.pass_time(timedelta(minutes=5))
    assert site.invoke("sweep", {}).answer == {"nudged": 1, "depth": 1}
    assert len(site.messages()) == 1
    site.recover()
    invariants.check(site.world, site.office.ledger())


def due_rows(world: World, count: int) -> None:
    """Work that nobody nudged and that has been due for half a minute."""
    world.add_user()
    for _ in range(count):
        world.accept()
    assert world.work_queue is not None
    world.work_queue.clear()
    world.pass_time(timedelta(seconds=31))
