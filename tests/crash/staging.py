"""What the scenarios share: a worker, a planned email, and the drain after which every invariant must hold."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.crash import invariants
from tests.crash.desk import Desk, Desks
from tests.world import LEASE, WINDOW, World
from tocsin.delivery.prepare import Policy
from tocsin.outbox.dispatch import dispatch
from tocsin.outbox.worker import Worker

PAST_LEASE = LEASE + timedelta(seconds=1)
PAST_WINDOW = WINDOW + timedelta(seconds=1)


def worker(ways: Any, *, lease: timedelta = LEASE, batch_size: int = 100) -> Worker:
    return Worker(ways, lease, Policy(WINDOW, 1), lambda: timedelta(seconds=30), batch_size)


def one_email(world: World) -> UUID:
    """A planned email to Alice; returns the id of its outbox row."""
    world.add_user()
    world.accept()
    plan_only(world)
    (delivery,) = world.due()
    return delivery


def plan_only(world: World) -> None:
    """Plan what is accepted and deliver nothing: the worker's time is over when its plans are made."""
    times = iter([timedelta(seconds=30)])
    ids = world.due()
    planner = Worker(Desks(), LEASE, Policy(WINDOW, 1), lambda: next(times, timedelta(0)), len(ids))
    dispatch(world.worker, ids, planner)


def drain(world: World, desk: Desk, where: str = "") -> invariants.Evidence:
    """Let windows pass and healthy workers come until nothing is left, then check every invariant."""
    desk.answer = None
    for _ in range(5):
        if not world.due():
            break
        world.pass_time(PAST_WINDOW)
        dispatch(world.worker, world.due(), worker(Desks(desk)))
    return invariants.check(world, desk.ledger, where)
