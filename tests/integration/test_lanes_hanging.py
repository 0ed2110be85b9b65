"""A provider that does not answer: how many of our senders it may keep, and that others do not wait for it."""

import threading
from collections import Counter
from datetime import timedelta

from tests.crash.desk import Crew
from tests.crash.waiting import wait_until
from tests.world import World
from tocsin.channels.outcomes import Failure, FailureClass, Outcome
from tocsin.channels.ways import Message

SILENT = Failure(FailureClass.AMBIGUOUS, "ReadTimeoutError", "no answer", timed_out=True)
SENDERS, SHARE = 16, 4


class Hanging:
    """A provider that keeps every sender until it is let go, and then has not answered."""

    def __init__(self) -> None:
        self.held = self.most = 0
        self._lock, self._over = threading.Lock(), threading.Event()

    def __call__(self, message: Message) -> Outcome:
        with self._lock:
            self.held += 1
            self.most = max(self.most, self.held)
        assert self._over.wait(30), "nobody let the senders go"
        with self._lock:
            self.held -= 1
        return SILENT

    def let_go(self) -> None:
        self._over.set()


def sms(world: World, count: int) -> None:
    world.add_user(phone="+14155550100")
    for _ in range(count):
        world.accept(channels=["sms"])


def hang(world: World, count: int = 1_000) -> Hanging:
    hanging = Hanging()
    world.sms.answers.extend([hanging] * count)
    return hanging


def timed_out_once(world: World) -> None:
    world.admin.execute(
        """INSERT INTO lanes (lane, state, trouble, reason, resume_at, failures, timed_out, updated_at)
           VALUES ('sns:sms', 'failing', 'failures', 'time-outs in a row', tocsin_now(), 1, true, tocsin_now())"""
    )


def test_four_hundred_hanging_sms_keep_no_more_senders_than_their_share_and_the_mail_beside_them_goes_out(world: World) -> None:
    sms(world, 400)
    for _ in range(20):
        world.accept()
    world.dispatch(batch_size=500)  # so many are planned and nudged
    assert world.sms.calls == 0
    timed_out_once(world)
    hanging, crew = hang(world), Crew()

    crew.start(lambda: world.dispatch(world.connect(), concurrency=SENDERS, batch_size=500))
    wait_until(lambda: hanging.held == SHARE and len(world.email.accepted) == 20)
    hanging.let_go()
    crew.join()

    assert (hanging.most, world.sms.calls) == (SHARE, SHARE)
    ends = Counter((row["status"], row["attempt_count"]) for row in world.routes() if row["channel"] == "sms")
    assert ends == {("pending", 0): 396, ("failed", 1): SHARE}
    assert world.rows("SELECT state, timed_out FROM lanes") == [{"state": "broken", "timed_out": True}]


def test_what_exceeds_the_share_looks_again_within_seconds_and_is_nudged(world: World) -> None:
    sms(world, 8)
    timed_out_once(world)
    world.sms.answers.extend([SILENT])

    world.dispatch(concurrency=4)

    waits = world.rows("SELECT due_at - tocsin_now() AS wait, waits_for FROM outbox WHERE NOT attempt_open")
    assert len(waits) == 7
    assert all(row["wait"] <= timedelta(seconds=2.2) and row["waits_for"] is None for row in waits)
    assert sum(len(nudge.ids) for nudge in world.nudges() if 2 <= nudge.delay_seconds <= 3) == 7


def test_one_answer_gives_the_lane_back_to_all(world: World) -> None:
    sms(world, 8)
    timed_out_once(world)

    world.dispatch(concurrency=4)
    world.pass_time(timedelta(seconds=3))
    world.dispatch(concurrency=4)

    assert (len(world.sms.accepted), world.count("lanes")) == (8, 0)


def test_a_lane_that_begins_to_hang_costs_one_round_of_senders_and_not_the_whole_batch(world: World) -> None:
    sms(world, 100)
    hanging, crew = hang(world), Crew()

    crew.start(lambda: world.dispatch(world.connect(), concurrency=SENDERS))
    wait_until(lambda: hanging.held == SENDERS)
    hanging.let_go()
    crew.join()

    assert world.sms.calls < SENDERS + 5
    outcomes = {row["outcome"] for row in world.attempts()}
    assert outcomes == {"unknown", "not_sent"}
    assert world.one("SELECT state FROM lanes") == "broken"


def test_while_one_lane_hangs_the_mail_of_the_same_batch_finds_senders(world: World) -> None:
    """Nothing is known of the lane yet; the SMS come first, and there are more of them than senders."""
    sms(world, 50)
    for _ in range(30):
        world.accept()
    hanging, crew = hang(world), Crew()

    crew.start(lambda: world.dispatch(world.connect(), concurrency=4))
    wait_until(lambda: len(world.email.accepted) == 30)
    hanging.let_go()
    crew.join()

    assert hanging.most <= 4


def test_time_outs_with_answers_in_between_do_not_close_the_lane(world: World) -> None:
    sms(world, 12)
    world.sms.answers.extend([SILENT, SILENT, SILENT, SILENT, None] * 2)  # type: ignore[list-item]

    world.dispatch(concurrency=1)

    assert (world.sms.calls, world.count("lanes")) == (12, 0)
