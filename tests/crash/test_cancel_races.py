"""Cancel at each step of a delivery: once a route was answered as cancelled, nothing is sent for it any more."""

from collections.abc import Callable
from types import ModuleType
from typing import Any
from uuid import UUID

import pytest

from tests.cancelling import cancel
from tests.crash.desk import Crew, Desk, Desks, Pause
from tests.crash.staging import PAST_LEASE, drain, worker
from tests.world import TENANT, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.delivery import deliver, gate
from tocsin.intake import cancel as cancelling
from tocsin.intake.cancel import Cancelled
from tocsin.outbox.dispatch import dispatch
from tocsin.store import outbox, routes
from tocsin.store.flow import plan as statement

PEOPLE = ["alice", "bob", "carol"]


class Canceller:
    """Cancels once, on a connection of its own, and remembers the answer and what the provider had until then."""

    def __init__(self, world: World, desk: Desk) -> None:
        self._world, self._desk = world, desk
        self._conn = world.connect("tocsin_app")
        self.notification_id: UUID | None = None
        self.answer: Cancelled | None = None
        self.sent_before: list[dict[str, Any]] = []
        self.stopped: set[str] = set()

    def __call__(self, *_: Any) -> None:
        if self.answer or self.notification_id is None:
            return
        self.answer = cancel(self._conn, TENANT, self.notification_id)
        self.sent_before = list(self._desk.ledger)
        self.stopped = {row["route_id"] for row in self._world.routes() if row["status"] == "cancelled"}


Action = Callable[[], None]
Arrange = Callable[[pytest.MonkeyPatch, Action, Desk], None]


def before(module: ModuleType, name: str) -> Arrange:
    def arrange(patch: pytest.MonkeyPatch, action: Action, desk: Desk) -> None:
        real = getattr(module, name)
        patch.setattr(module, name, lambda *args, **options: (action(), real(*args, **options))[1])

    return arrange


def after(module: ModuleType, name: str) -> Arrange:
    def arrange(patch: pytest.MonkeyPatch, action: Action, desk: Desk) -> None:
        real = getattr(module, name)
        patch.setattr(module, name, lambda *args, **options: (real(*args, **options), action())[0])

    return arrange


def while_sending(patch: pytest.MonkeyPatch, canceller: Action, desk: Desk) -> None:
    desk.answer = canceller  # type: ignore[assignment]


def after_a_retry_was_recorded(patch: pytest.MonkeyPatch, canceller: Action, desk: Desk) -> None:
    """The first try failed for sure and the next one waits: nothing is in the provider's hands."""
    desk.answer = lambda _: Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "")


def after_an_answer_was_lost(patch: pytest.MonkeyPatch, canceller: Action, desk: Desk) -> None:
    desk.answer = lambda _: Failure(FailureClass.AMBIGUOUS, "ReadTimeoutError", "")


STEPS = {
    "before its plan is made": before(statement, "plan"),
    "when it is planned": after(statement, "plan"),
    "when a delivery is claimed": before(gate, "decide"),
    "before the attempts are opened": before(deliver, "open_all"),
    "when the attempts are open": after(deliver, "open_all"),
    "while the first is sent": while_sending,
    "after a retry was recorded": after_a_retry_was_recorded,
    "after an answer was lost": after_an_answer_was_lost,
}
# Where inside the cancel's transaction the planner gets its turn.
MOMENTS = {
    "before routes are stopped": before(cancelling, "cancel_unsent"),
    "before the plan is held": before(outbox, "plan_now"),
    "before the commit": after(routes, "count_by_status"),
}


@pytest.mark.parametrize("step", STEPS)
def test_nothing_is_sent_after_a_route_was_answered_as_cancelled(
    step: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk()
    canceller = Canceller(world, desk)
    for person in PEOPLE:
        world.add_user(person)
    canceller.notification_id = world.accept(audience={"kind": "users", "user_ids": PEOPLE}).notification_id

    with monkeypatch.context() as patch:
        STEPS[step](patch, canceller, desk)
        dispatch(world.worker, world.due(), worker(Desks(desk)))
    canceller()
    drain(world, desk)

    assert_kept(world, desk, canceller)


@pytest.mark.parametrize("planner_has_claimed", [False, True], ids=["planner comes now", "planner has claimed"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_cancel_that_meets_the_planner_in_mid_transaction_is_kept(
    moment: str, planner_has_claimed: bool, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inside the cancel's transaction the planner goes on, as far as locks let it; then the cancel commits and answers."""
    desk, crew, planning, delivering = Desk(), Crew(), Pause(), Pause()
    canceller = Canceller(world, desk)
    world.add_user()
    canceller.notification_id = world.accept(channels=["email", "in_app"]).notification_id
    ids, planner = world.due(), world.connect()

    def let_the_planner_go_on(*_: Any) -> None:
        planning.end()
        thread = threads[0] if threads else start()
        delivering.wait_until_reached_or(lambda: waits_for_a_lock(world) or not thread.is_alive())

    def start() -> Any:
        return crew.start(lambda: dispatch(planner, ids, worker(Desks(desk, pause=delivering))))

    with monkeypatch.context() as patch:
        before(statement, "plan")(patch, planning, desk)
        threads = [start()] if planner_has_claimed else []
        if planner_has_claimed:
            planning.wait_until_reached()
        MOMENTS[moment](patch, let_the_planner_go_on, desk)
        canceller()
        delivering.end()
        crew.join()
    world.pass_time(PAST_LEASE)
    drain(world, desk)

    assert_kept(world, desk, canceller)


def assert_kept(world: World, desk: Desk, canceller: Canceller) -> None:
    """What was answered holds: the stopped routes stay cancelled and unsent; with nothing too late, nothing is sent at all."""
    assert canceller.answer is not None
    later = desk.ledger[len(canceller.sent_before) :]
    sent_later = {entry["tags"]["tocsin_route"].partition("_")[2] for entry in later}
    assert not sent_later & canceller.stopped, f"sent after their cancel was answered: {sent_later & canceller.stopped}"
    if canceller.answer.too_late == 0:
        assert not later, f"{canceller.answer} was answered and {len(later)} were sent later"
        assert {row["status"] for row in world.routes()} == {"cancelled"}, "a route ended otherwise after the answer"
    ends = {row["route_id"]: row["status"] for row in world.routes()}
    assert {ends[route] for route in canceller.stopped} <= {"cancelled"}


def waits_for_a_lock(world: World) -> bool:
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    return bool(world.one(query))
