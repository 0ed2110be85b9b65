"""Scenarios of many workers at once. Each raises AssertionError when a promise is broken, for its test and the mutations."""

import threading

from psycopg import errors

from tests.crash.desk import Crew, Desk, Desks
from tests.crash.staging import drain, plan_only, worker
from tests.world import World
from tocsin.outbox.dispatch import dispatch

ROUTES = 400
WORKERS = 8


def a_worker_never_waits_for_rows_that_another_is_claiming(world: World) -> None:
    """SKIP LOCKED: a claim is not committed yet; a second worker takes what is free at once, and only that."""
    world.add_user()
    for _ in range(6):
        world.accept()
    plan_only(world)
    ids, desk = world.due(), Desk()
    first, second = world.connect(), world.connect()
    second.execute("SET lock_timeout = '500ms'")
    with first.transaction():
        first.execute("SELECT id FROM outbox WHERE id = ANY(%s) FOR UPDATE", [ids[:3]])

        try:
            claimed = dispatch(second, ids, worker(Desks(desk)))
        except errors.LockNotAvailable:
            raise AssertionError("the second worker waited for the first one's rows") from None

        assert claimed == 3, f"{claimed} of the 3 free rows were claimed"
        assert len(desk.ledger) == 3
    drain(world, desk)
    assert len(desk.ledger) == 6


def eight_workers_share_400_routes(world: World) -> None:
    """Each is told of its own fifty, as the queue would do it."""
    _crowd(world, lambda ids, n: ids[n::WORKERS])


def eight_workers_are_each_told_of_all_400_routes(world: World) -> None:
    """Every nudge reaches every worker, at the same moment, each in an order of its own."""
    _crowd(world, lambda ids, n: ids[n * 50 :] + ids[: n * 50])


def _crowd(world: World, told: object) -> None:
    for n in range(ROUTES):
        world.add_user(f"user-{n}")
    world.accept(audience={"kind": "tenant"})
    plan_only(world)
    ids, desk, crew, start = world.due(), Desk(), Crew(), threading.Barrier(WORKERS)
    assert len(ids) == ROUTES

    def work(n: int) -> None:
        conn = world.connect()
        start.wait(30)
        dispatch(conn, told(ids, n), worker(Desks(desk), batch_size=20))  # type: ignore[operator]

    for n in range(WORKERS):
        crew.start(lambda n=n: work(n))  # type: ignore[misc]
    crew.join()
    if world.due():  # a worker may end while a row is still in another's hands: that one has it
        drain(world, desk)

    assert len(desk.ledger) == ROUTES, f"{len(desk.ledger)} messages for {ROUTES} routes"
    found = drain(world, desk)
    assert {row["status"] for row in found.routes.values()} == {"published"}
    assert len({entry["to"][0] for entry in desk.ledger}) == ROUTES
