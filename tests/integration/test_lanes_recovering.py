"""A lane that recovers: one tries it, the others wait for what becomes of it, and what waits is brought forward."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.claiming import claim
from tests.crash.desk import Crew, Pause
from tests.world import LEASE, OTHER_TENANT, TENANT, World
from tocsin.channels.outcomes import Failure, FailureClass, Outcome
from tocsin.channels.ways import Message
from tocsin.delivery import circuit_breaker
from tocsin.outbox.dispatch import dispatch
from tocsin.outbox.sweep import sweep
from tocsin.store import lanes, outbox

THROTTLED = Failure(FailureClass.THROTTLED, "TooManyRequestsException", "slow down")
QUOTA = Failure(FailureClass.THROTTLED, "LimitExceededException", "daily quota", pause=timedelta(minutes=10))
SUSPENDED = Failure(FailureClass.CONFIGURATION, "AccountSuspendedException", "the account is suspended")
DOWN = Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "later")
SILENT = Failure(FailureClass.AMBIGUOUS, "ReadTimeoutError", "no answer", timed_out=True)
REFUSED = Failure(FailureClass.PERMANENT, "MessageRejected", "no")
PAST_STOP = timedelta(minutes=5, seconds=1)
PAST_BREAK = timedelta(seconds=31)


class WorkerDied(BaseException):
    """Not an Exception: nothing of ours may catch it, as nothing catches a killed process."""


def pause_of(world: World, lane: str = "ses:email") -> float:
    return float(world.one("SELECT extract(epoch FROM resume_at - updated_at) FROM lanes WHERE lane = %(lane)s", lane=lane))


def state_of(world: World, lane: str = "ses:email") -> str | None:
    found = world.rows("SELECT state FROM lanes WHERE lane = %(lane)s", lane=lane)
    return found[0]["state"] if found else None


def stop(world: World, waiting: int) -> None:
    """A stopped lane that so many emails wait for."""
    world.add_user()
    for _ in range(waiting):
        world.accept()
    world.email.answers.append(SUSPENDED)
    world.dispatch(concurrency=1)
    world.pass_time(timedelta(seconds=2))
    world.dispatch()
    assert (state_of(world), world.email.calls) == ("stopped", 1)
    assert world.one("SELECT count(*) FROM outbox WHERE waits_for = 'ses:email'") == waiting
    assert world.work_queue is not None
    world.work_queue.clear()


def due_now(world: World) -> int:
    return int(world.one("SELECT count(*) FROM outbox WHERE due_at <= tocsin_now()"))


def statuses(world: World) -> set[str]:
    return {route["status"] for route in world.routes()}


@pytest.mark.parametrize(
    ("answers", "pauses"),
    [
        ([THROTTLED] * 3 + [SUSPENDED], [1, 2, 4, 300]),
        ([THROTTLED] * 3 + [SUSPENDED, SUSPENDED, THROTTLED, SUSPENDED], [1, 2, 4, 300, 600, 1, 300]),
        ([QUOTA, QUOTA, SUSPENDED], [600, 1200, 300]),
        ([SUSPENDED, SUSPENDED, QUOTA], [300, 600, 600]),
        ([THROTTLED] * 3 + [QUOTA], [1, 2, 4, 600]),
        ([SUSPENDED, SUSPENDED, DOWN, DOWN, SUSPENDED], [300, 600, 30, 60, 300]),
    ],
    ids=["throttled, stopped", "to and fro", "quota, stopped", "stopped, quota", "throttled, quota", "stopped, broken"],
)
def test_pauses_grow_with_the_same_trouble_and_begin_anew_with_another(
    answers: list[Failure], pauses: list[int], world: World
) -> None:
    world.add_user()
    world.accept(retry={"max_attempts": 20})
    found = []
    for answer in answers:
        world.email.answers.append(answer)
        world.dispatch(concurrency=1)
        found.append(pause_of(world))
        world.pass_time(timedelta(hours=2))

    assert found == pauses


def test_failures_after_throttling_are_counted_from_nought(world: World) -> None:
    world.add_user()
    world.accept(retry={"max_attempts": 20})
    world.email.answers.extend([THROTTLED] * 3 + [DOWN] * 5)
    for _ in range(8):
        world.dispatch(concurrency=1)
        world.pass_time(timedelta(hours=2))

    assert (state_of(world), pause_of(world)) == ("broken", 30)


def test_what_goes_through_ends_the_row_of_strikes(world: World) -> None:
    world.add_user()
    for answer in (THROTTLED, THROTTLED, None, THROTTLED):
        world.accept()
        if answer:
            world.email.answers.append(answer)
        world.dispatch(concurrency=1)
        world.pass_time(timedelta(hours=2))

    assert world.one("SELECT strikes FROM lanes") == 1


def test_one_message_tries_a_stopped_lane_and_the_others_wait_for_what_becomes_of_it(world: World) -> None:
    stop(world, waiting=5)
    world.pass_time(PAST_STOP + timedelta(minutes=1))
    world.email.answers.append(SUSPENDED)

    world.dispatch()

    assert (world.email.calls, state_of(world), pause_of(world)) == (2, "stopped", 600)
    assert {(route["status"], route["attempt_count"]) for route in world.routes()} == {("pending", 0)}
    assert [event["is_resolved"] for event in world.system_events()] == [False]


def test_one_message_reopens_it_and_what_waited_is_due_and_nudged_at_once(world: World) -> None:
    stop(world, waiting=5)
    world.pass_time(PAST_STOP + timedelta(minutes=1))

    world.dispatch()

    assert (world.email.calls, state_of(world), due_now(world)) == (2, None, 4)
    assert [event["is_resolved"] for event in world.system_events()] == [True]
    assert sorted(one for nudge in world.nudges() if nudge.delay_seconds == 0 for one in nudge.ids) == sorted(world.due())

    world.dispatch()

    assert (statuses(world), len(world.email.accepted)) == ({"published"}, 5)


def test_of_two_workers_one_tries_the_lane_and_the_other_waits(world: World) -> None:
    stop(world, waiting=6)
    world.pass_time(PAST_STOP + timedelta(minutes=1))
    trying, crew, rival = Pause(), Crew(), world.connect()
    first, *others = world.due()
    world.email.answers.append(lambda message: trying())  # type: ignore[arg-type, return-value, func-returns-value]
    policy = world.worker_policy()

    crew.start(lambda: dispatch(world.connect(), [first], policy))
    trying.wait_until_reached()
    dispatch(rival, others, policy)
    calls_meanwhile = world.email.calls
    waits = world.rows("SELECT due_at - tocsin_now() AS wait, waits_for FROM outbox WHERE leased_until IS NULL")
    trying.end()
    crew.join()

    assert calls_meanwhile == 2, "the other worker did not wait for the one who tries"
    assert {row["waits_for"] for row in waits} == {"ses:email"}
    assert all(timedelta(seconds=60) < row["wait"] < LEASE * 1.2 for row in waits), waits
    assert (state_of(world), due_now(world)) == (None, 5)
    world.dispatch()
    assert (statuses(world), len(world.email.accepted)) == ({"published"}, 6)


def test_of_many_who_ask_at_the_same_time_one_gets_the_lane(world: World) -> None:
    stop(world, waiting=1)
    world.pass_time(PAST_STOP)
    holder, askers = world.connect(), [world.connect() for _ in range(4)]
    crew, found = Crew(), list[bool]()
    holder.execute("BEGIN")
    mine = lanes.take_probes(holder, ["ses:email"], lease=LEASE)

    for conn in askers:
        crew.start(
            lambda conn=conn: found.extend(lane.is_ours for lane in lanes.take_probes(conn, ["ses:email"], lease=LEASE))  # type: ignore[misc]
        )
    holder.execute("COMMIT")
    crew.join()

    assert ([lane.is_ours for lane in mine], found) == ([True], [False] * 4)


def test_a_worker_that_dies_with_it_holds_the_lane_up_for_its_lease_and_no_longer(world: World) -> None:
    stop(world, waiting=3)
    world.pass_time(PAST_STOP + timedelta(minutes=1))

    def die(message: Message) -> Outcome:
        raise WorkerDied

    world.email.answers.append(die)
    with pytest.raises(WorkerDied):
        dispatch(world.connect(), world.due()[:1], world.worker_policy())
    world.dispatch()
    assert world.email.calls == 2, "somebody else tried the lane at the same time"

    world.pass_time(LEASE * 1.2)
    world.dispatch()

    assert (world.email.calls, state_of(world)) == (3, None)


@pytest.mark.parametrize("answer", [REFUSED, None], ids=["a refusal of this message", "lost before it was sent"])
def test_a_try_that_teaches_nothing_lets_the_next_one_try_at_once(
    answer: Failure | None, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop(world, waiting=2)
    world.pass_time(PAST_STOP + timedelta(minutes=1))
    first, second = world.due()
    if answer:
        world.email.answers.append(answer)
    else:
        monkeypatch.setattr("tocsin.delivery.open.open_attempts", _open_nothing)
    dispatch(world.worker, [first], world.worker_policy())
    monkeypatch.undo()
    assert (state_of(world), world.one("SELECT probe_until FROM lanes")) == ("stopped", None)

    dispatch(world.worker, [second], world.worker_policy())

    assert (state_of(world), len(world.email.accepted)) == (None, 1)


def test_a_stopped_lane_that_does_not_even_answer_stays_closed(world: World) -> None:
    stop(world, waiting=3)
    world.pass_time(PAST_STOP + timedelta(minutes=1))
    world.email.answers.append(SILENT)

    world.dispatch()

    assert (state_of(world), pause_of(world), world.email.calls) == ("broken", 30, 2)
    assert sorted(event["event_type"] for event in world.system_events()) == ["breaker_opened", "lane_stopped"]


def test_a_slowed_lane_lets_twice_as_many_go_each_time(world: World) -> None:
    world.add_user()
    for _ in range(20):
        world.accept()
    world.email.answers.append(THROTTLED)
    world.dispatch(concurrency=1)
    world.pass_time(timedelta(seconds=5))

    went = []
    while world.one("SELECT count(*) FROM lanes"):
        before = len(world.email.accepted)
        world.dispatch()
        went.append(len(world.email.accepted) - before)

    assert went == [1, 2, 4, 8, 5]
    assert statuses(world) == {"published"}


def test_a_slowed_lane_that_is_wide_enough_is_open(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(circuit_breaker, "WIDEST", 4)
    world.add_user()
    for _ in range(20):
        world.accept()
    world.email.answers.append(THROTTLED)
    world.dispatch(concurrency=1)
    world.pass_time(timedelta(seconds=5))

    went = []
    for _ in range(4):
        before = len(world.email.accepted)
        world.dispatch()
        went.append(len(world.email.accepted) - before)

    assert (went, state_of(world)) == ([1, 2, 4, 13], None)


def test_a_slowed_lane_that_is_told_off_while_it_recovers_begins_again_with_one(world: World) -> None:
    world.add_user()
    for _ in range(20):
        world.accept()
    world.email.answers.append(THROTTLED)
    world.dispatch(concurrency=1)
    world.pass_time(timedelta(seconds=5))
    world.dispatch()
    world.dispatch()
    world.email.answers.extend([THROTTLED])

    world.dispatch(concurrency=1)

    (lane,) = world.rows("SELECT * FROM lanes")
    assert (lane["state"], lane["probe_size"], pause_of(world)) == ("slowed", 1, 1), "it went well in between: no longer pause"


def test_a_lane_that_only_times_out_is_tried_by_one_message_at_a_time_also_where_it_is_the_only_one(world: World) -> None:
    world.add_user()
    for _ in range(8):
        world.accept()
    world.email.answers.extend([SILENT] * 20)
    world.dispatch(concurrency=1)
    assert (state_of(world), world.email.calls) == ("broken", 5), "the rest of the batch went after them"
    assert [event["event_type"] for event in world.system_events()] == ["breaker_opened"]

    calls = []
    for _ in range(3):
        world.pass_time(timedelta(minutes=5))
        before = world.email.calls
        world.dispatch()
        world.dispatch()
        calls.append(world.email.calls - before)

    assert calls == [1, 1, 1]


def test_when_it_answers_again_all_that_waited_goes_out(world: World) -> None:
    world.add_user(phone="+14155550100")
    for _ in range(8):
        world.accept(channels=["sms"])
    world.sms.answers.extend([SILENT] * 5)
    world.dispatch(concurrency=1)
    world.pass_time(PAST_BREAK + timedelta(seconds=5))

    world.dispatch()
    world.dispatch()

    assert (state_of(world, "sns:sms"), len(world.sms.accepted)) == (None, 3)
    assert [event["is_resolved"] for event in world.system_events()] == [True]


def test_a_message_that_waited_a_day_for_a_lane_that_only_times_out_is_a_dead_letter(world: World) -> None:
    world.add_user()
    world.accept()
    world.admin.execute(
        """INSERT INTO lanes (lane, state, trouble, reason, resume_at, failures, timed_out, updated_at)
           VALUES ('ses:email', 'broken', 'failures', 'time-outs in a row', tocsin_now() + interval '3 days', 5, true,
                   tocsin_now())"""
    )
    world.dispatch()
    assert world.route()["status"] == "pending"
    world.pass_time(timedelta(hours=24))
    world.admin.execute("UPDATE outbox SET due_at = tocsin_now()")

    world.dispatch()

    (letter,) = world.dead_letters()
    assert (letter["failure_classification"], world.email.calls) == ("exhausted", 0)
    assert "nothing went through ses:email for a day" in letter["failure_message"]


def test_what_waits_is_brought_forward_in_lots_each_by_those_who_went_before(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(circuit_breaker, "FIRST_LOT", 3)
    stop(world, waiting=20)
    world.pass_time(PAST_STOP)
    world.admin.execute("UPDATE outbox SET due_at = due_at + interval '1 hour'")
    world.admin.execute("UPDATE outbox SET due_at = tocsin_now() WHERE id = (SELECT id FROM outbox LIMIT 1)")

    lots = []
    while world.count("outbox"):
        before = len(world.email.accepted)
        world.dispatch()
        lots.append(len(world.email.accepted) - before)

    assert lots == [1, 3, 6, 10], "one tries, a first lot follows, then twice as many as went through"


def test_every_tenant_gets_its_share_when_what_waits_is_brought_forward(world: World) -> None:
    world.add_tenant()
    stop(world, waiting=12)
    world.add_user(tenant=OTHER_TENANT)
    for _ in range(2):
        world.accept(tenant=OTHER_TENANT)
    world.dispatch()
    world.admin.execute("DELETE FROM lanes")

    woken = {one.id for one in outbox.bring_forward(world.worker, "ses:email", limit=4)}

    by_tenant = world.rows("SELECT tenant_id, id FROM outbox")
    theirs, ours = ({row["id"] for row in by_tenant if row["tenant_id"] == one} & woken for one in (OTHER_TENANT, TENANT))
    assert (len(theirs), len(ours)) == (2, 2)


@pytest.mark.parametrize(
    ("state", "resume", "woken"),
    [
        ("stopped", "1 hour", 0),
        ("stopped", "-1 hour", 0),
        ("failing", "-1 hour", 0),
        ("slowed", "1 hour", 0),
        ("slowed", "-1 hour", 3),
    ],
)
def test_only_as_many_are_brought_forward_as_the_lane_takes(state: str, resume: str, woken: int, world: World) -> None:
    stop(world, waiting=5)
    world.admin.execute("UPDATE lanes SET state = %s, resume_at = tocsin_now() + %s::interval, probe_size = 3", [state, resume])

    assert len(outbox.bring_forward(world.worker, "ses:email", limit=100).fetchall()) == woken


def test_what_somebody_leases_is_not_brought_forward(world: World) -> None:
    stop(world, waiting=3)
    world.admin.execute("DELETE FROM lanes")
    world.admin.execute("UPDATE outbox SET leased_until = tocsin_now() + interval '1 minute', lease_token = gen_random_uuid()")

    assert outbox.bring_forward(world.worker, "ses:email", limit=100).fetchall() == []


def test_a_lane_that_an_operator_opens_by_hand_is_noticed_by_the_sweep(world: World) -> None:
    stop(world, waiting=3)
    world.admin.execute("DELETE FROM lanes")

    swept = sweep(world.worker)

    assert (swept.nudged, due_now(world)) == (3, 3)
    assert sorted(one for nudge in world.nudges() for one in nudge.ids) == sorted(world.due())
    assert [event["is_resolved"] for event in world.system_events()] == [True]
    world.dispatch()
    assert statuses(world) == {"published"}


def test_the_sweep_leaves_alone_what_waits_for_a_closed_lane(world: World) -> None:
    stop(world, waiting=3)

    assert (sweep(world.worker).nudged, due_now(world)) == (0, 0)
    assert [event["is_resolved"] for event in world.system_events()] == [False]


def test_what_no_longer_waits_for_a_lane_is_not_found_by_it(world: World) -> None:
    stop(world, waiting=1)
    world.pass_time(PAST_STOP + timedelta(minutes=1))
    world.email.answers.append(DOWN)
    world.dispatch()

    assert world.one("SELECT waits_for FROM outbox") is None, "it waits for its own retry now"


def test_what_waits_for_a_lane_is_claimed_without_touching_an_index(world: World) -> None:
    stop(world, waiting=5)
    world.pass_time(timedelta(hours=1))

    with world.worker.transaction():
        before = _updates(world)
        claimed = claim(world.worker, world.due())
        after = _updates(world)

    assert [one.waits_for for one in claimed] == ["ses:email"] * 5
    assert [now - then for now, then in zip(after, before, strict=True)] == [5, 5], (
        "updates, and those that left the indexes alone"
    )


def test_a_lane_that_was_closed_anew_meanwhile_is_not_opened_by_what_went_through_before(world: World) -> None:
    stop(world, waiting=1)
    world.pass_time(PAST_STOP + timedelta(minutes=1))
    rival = world.connect()

    def close_meanwhile(message: Message) -> None:
        pauses = {"pause": timedelta(minutes=10), "longest": timedelta(hours=1)}
        lanes.close(rival, "ses:email", owner=None, state="stopped", trouble="quota", reason="x", **pauses)

    world.email.answers.append(close_meanwhile)  # type: ignore[arg-type]
    world.dispatch(concurrency=1)

    assert state_of(world) == "stopped"
    assert [event["is_resolved"] for event in world.system_events()] == [False]


def test_what_waits_for_a_lane_is_due_when_it_expires_if_that_is_sooner(world: World) -> None:
    stop(world, waiting=1)
    expires_at = datetime.now(UTC) + timedelta(minutes=2)
    asked = world.accept(expires_at=expires_at.isoformat())
    world.dispatch()

    query = "SELECT * FROM routes WHERE notification_id = %(id)s"
    (route,) = world.rows(query, id=asked.notification_id)
    assert route["next_attempt_at"] == expires_at
    delays = [nudge.delay_seconds for nudge in world.nudges() if len(nudge.ids) == 1 and nudge.delay_seconds]
    assert [110 <= delay <= 120 for delay in delays] == [True]
    world.pass_time(timedelta(minutes=2))
    world.dispatch()
    (route,) = world.rows(query, id=asked.notification_id)
    assert (route["status"], route["reason"]) == ("skipped", "expired")


def _open_nothing(conn: psycopg.Connection[Any], openings: object, *, lease_token: UUID) -> Any:
    """As if another worker had taken the lease over."""
    return conn.execute("SELECT WHERE false")


def _updates(world: World) -> tuple[int, int]:
    """Of the outbox, by the worker's session as far as it has not reported them: all, and those that were HOT."""
    counted = world.worker.execute(
        "SELECT pg_stat_get_xact_tuples_updated('outbox'::regclass), pg_stat_get_xact_tuples_hot_updated('outbox'::regclass)"
    ).fetchone()
    assert counted is not None
    return counted
