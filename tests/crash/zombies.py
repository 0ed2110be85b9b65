"""Scenarios of workers that wake too late. Each raises AssertionError when a promise is broken: for its test, and a mutation."""

from datetime import timedelta

from tests.crash.desk import Crew, Desk, Desks, Pause
from tests.crash.staging import PAST_LEASE, PAST_WINDOW, drain, one_email, worker
from tests.world import World
from tocsin.channels.outcomes import Failure, FailureClass, Outcome
from tocsin.outbox.dispatch import dispatch


def a_worker_that_wakes_before_opening_sends_nothing(world: World) -> None:
    """The fence in open: its successor holds the lease, and has opened nothing yet, when it wakes."""
    delivery = one_email(world)
    asleep, claimed, crew, desk = Pause(), Pause(), Crew(), Desk()
    sleeper, successor = world.connect(), world.connect()

    late = crew.start(lambda: dispatch(sleeper, [delivery], worker(Desks(desk, pause=asleep))))
    asleep.wait_until_reached()
    world.pass_time(PAST_LEASE)
    crew.start(lambda: dispatch(successor, [delivery], worker(Desks(desk, pause=claimed))))
    claimed.wait_until_reached()
    asleep.end()
    late.join(30)
    sent_by_the_late_one = list(desk.ledger)
    claimed.end()
    crew.join()

    assert sent_by_the_late_one == [], "the late worker sent although its lease was gone"
    drain(world, desk)
    assert len(desk.ledger) == 1


def a_worker_that_wakes_while_its_successor_sends_adds_nothing(world: World) -> None:
    delivery = one_email(world)
    asleep, sending, crew, desk = Pause(), Pause(), Crew(), Desk()
    sleeper, successor = world.connect(), world.connect()

    late = crew.start(lambda: dispatch(sleeper, [delivery], worker(Desks(desk, pause=asleep))))
    asleep.wait_until_reached()
    world.pass_time(PAST_LEASE)
    desk.answer = sending
    crew.start(lambda: dispatch(successor, [delivery], worker(Desks(desk))))
    sending.wait_until_reached()
    desk.answer = None
    asleep.end()
    late.join(30)
    sending.end()
    crew.join()

    drain(world, desk)
    assert len(desk.ledger) == 1
    assert world.one("SELECT count(*) FROM attempts") == 1


def a_worker_whose_lease_lapsed_sends_nothing_even_if_nobody_took_over(world: World) -> None:
    delivery = one_email(world)
    asleep, crew, desk = Pause(), Crew(), Desk()
    sleeper = world.connect()

    crew.start(lambda: dispatch(sleeper, [delivery], worker(Desks(desk, pause=asleep))))
    asleep.wait_until_reached()
    world.pass_time(PAST_LEASE)
    asleep.end()
    crew.join()

    assert desk.ledger == []
    drain(world, desk)
    assert len(desk.ledger) == 1


def a_worker_whose_lease_is_about_to_end_gives_the_route_back(world: World) -> None:
    """Opened, and then too little of the lease is left for a provider's slowest answer: nothing is sent and nothing counted."""
    delivery, desk = one_email(world), Desk()

    dispatch(world.connect(), [delivery], worker(Desks(desk), lease=timedelta(seconds=13)))

    assert desk.ledger == []
    assert [one["outcome"] for one in world.rows("SELECT outcome FROM attempts")] == ["not_sent"]
    assert world.one("SELECT attempt_count FROM outbox") == 0
    drain(world, desk)
    assert len(desk.ledger) == 1


def the_proof_of_a_late_worker_is_kept_and_the_route_published_once(world: World) -> None:
    """Its message was accepted while it slept; its successor waits for evidence, and finds it."""
    delivery = one_email(world)
    sending, crew, desk = Pause(), Crew(), Desk()
    desk.answer = sending
    sleeper = world.connect()

    crew.start(lambda: dispatch(sleeper, [delivery], worker(Desks(desk))))
    sending.wait_until_reached()
    world.pass_time(PAST_LEASE)
    dispatch(world.connect(), [delivery], worker(Desks(desk)))
    before = world.rows("SELECT * FROM outbox"), world.routes()
    sending.end()
    crew.join()

    assert (world.rows("SELECT * FROM outbox"), world.routes()) == before, "a fenced settle touched the route"
    proof = world.rows("SELECT outcome, provider_message_id FROM attempts")
    assert proof == [{"outcome": "accepted", "provider_message_id": "email-1"}]
    drain(world, desk)
    assert len(desk.ledger) == 1
    assert [one["duplicate_suspected"] for one in world.routes()] == [False]


def the_proof_survives_a_successor_that_looked_before_it_came(world: World) -> None:
    """The successor has claimed and seen an open attempt; then the proof comes; then the successor records its doubt."""
    delivery = one_email(world)
    sending, looking, crew, desk = Pause(), Pause(), Crew(), Desk()
    desk.answer = sending
    sleeper, successor = world.connect(), world.connect()

    late = crew.start(lambda: dispatch(sleeper, [delivery], worker(Desks(desk))))
    sending.wait_until_reached()
    world.pass_time(PAST_LEASE)
    crew.start(lambda: dispatch(successor, [delivery], worker(Desks(desk, pause=looking))))
    looking.wait_until_reached()
    sending.end()
    late.join(30)
    looking.end()
    crew.join()

    proof = world.rows("SELECT outcome, provider_message_id FROM attempts")
    assert proof == [{"outcome": "accepted", "provider_message_id": "email-1"}], f"the proof was overwritten: {proof}"
    drain(world, desk)
    assert len(desk.ledger) == 1


def a_late_failure_changes_nothing_for_the_new_holder(world: World) -> None:
    """The fence in settle: the first worker's refusal comes when its successor holds the lease; the successor decides."""
    delivery = one_email(world)
    first, second, crew, desk = Pause(), Pause(), Crew(), Desk()
    sleeper, successor = world.connect(), world.connect()

    def refuse(message: object) -> Outcome:
        first()
        return Failure(FailureClass.PERMANENT, "MessageRejected", "no")

    desk.answer = refuse
    late = crew.start(lambda: dispatch(sleeper, [delivery], worker(Desks(desk))))
    first.wait_until_reached()
    world.pass_time(PAST_WINDOW)
    desk.answer = second
    crew.start(lambda: dispatch(successor, [delivery], worker(Desks(desk))))
    second.wait_until_reached()
    before = world.rows("SELECT * FROM outbox"), world.routes()
    first.end()
    late.join(30)
    after = world.rows("SELECT * FROM outbox"), world.routes()
    second.end()
    crew.join()

    assert after == before, "a late worker's outcome was recorded over the new holder's lease"
    found = drain(world, desk)
    assert [row["status"] for row in found.routes.values()] == ["published"]


SCENARIOS = [
    a_worker_that_wakes_before_opening_sends_nothing,
    a_worker_that_wakes_while_its_successor_sends_adds_nothing,
    a_worker_whose_lease_lapsed_sends_nothing_even_if_nobody_took_over,
    a_worker_whose_lease_is_about_to_end_gives_the_route_back,
    the_proof_of_a_late_worker_is_kept_and_the_route_published_once,
    the_proof_survives_a_successor_that_looked_before_it_came,
    a_late_failure_changes_nothing_for_the_new_holder,
]
