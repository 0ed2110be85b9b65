"""The sweep: what is due and nobody was nudged about is nudged again, fairly, and the backlog is measured."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.world import OTHER_TENANT, TENANT, WINDOW, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.foundation import aws
from tocsin.foundation import work_queue as nudging
from tocsin.outbox import sweep as sweeping
from tocsin.outbox.dispatch import dispatch
from tocsin.outbox.sweep import sweep

LOST = Failure(FailureClass.AMBIGUOUS, "ReadTimeoutError", "")


@pytest.fixture
def quiet(world: World) -> World:
    """A world in which every nudge of intake was lost."""
    world.add_user()
    return world


def _lose_nudges(world: World) -> None:
    assert world.work_queue is not None
    world.work_queue.clear()


def _nudged(world: World) -> list[object]:
    return [one for nudge in world.nudges() for one in nudge.ids]


def test_work_whose_nudge_was_lost_is_nudged_half_a_minute_later(quiet: World) -> None:
    asked = quiet.accept()
    _lose_nudges(quiet)

    assert sweep(quiet.worker).nudged == 0  # its own nudge may still be on the way
    quiet.pass_time(timedelta(seconds=31))
    assert sweep(quiet.worker).nudged == 1

    assert _nudged(quiet) == [asked.notification_id]


def test_what_was_nudged_is_not_nudged_again_for_five_minutes(quiet: World) -> None:
    quiet.accept()
    quiet.pass_time(timedelta(seconds=31))
    sweep(quiet.worker)

    quiet.pass_time(timedelta(minutes=4))
    assert sweep(quiet.worker).nudged == 0
    quiet.pass_time(timedelta(minutes=2))
    assert sweep(quiet.worker).nudged == 1


def test_two_sweeps_one_after_the_other_nudge_once(quiet: World) -> None:
    for _ in range(10):
        quiet.accept()
    _lose_nudges(quiet)
    quiet.pass_time(timedelta(minutes=1))

    counts = [sweep(quiet.connect()).nudged for _ in range(2)]

    assert (counts, len(_nudged(quiet))) == ([10, 0], 10)


def test_work_that_is_not_due_is_not_nudged(quiet: World) -> None:
    quiet.accept(send_at=(datetime.now(UTC) + timedelta(hours=1)).isoformat())
    quiet.pass_time(timedelta(minutes=59))
    assert sweep(quiet.worker).nudged == 0

    quiet.pass_time(timedelta(minutes=2))

    assert sweep(quiet.worker).nudged == 1


def test_work_under_a_lease_is_left_alone_and_nudged_when_the_lease_has_lapsed(quiet: World) -> None:
    quiet.accept()
    quiet.pass_time(timedelta(minutes=1))
    quiet.admin.execute("UPDATE outbox SET leased_until = tocsin_now() + interval '90 seconds', lease_token = gen_random_uuid()")
    assert sweep(quiet.worker).nudged == 0

    quiet.pass_time(timedelta(seconds=91))

    assert sweep(quiet.worker).nudged == 1


def test_a_retry_with_a_nudge_of_its_own_is_nudged_only_if_that_nudge_seems_lost(quiet: World) -> None:
    quiet.accept()
    quiet.email.answers.append(Failure(FailureClass.TRANSIENT, "x", ""))
    quiet.dispatch()

    quiet.pass_time(timedelta(minutes=4))
    assert sweep(quiet.worker).nudged == 0
    quiet.pass_time(timedelta(minutes=2))
    assert sweep(quiet.worker).nudged == 1


def test_a_send_in_doubt_is_nudged_when_its_window_has_ended(quiet: World) -> None:
    quiet.accept()
    quiet.email.answers.append(LOST)
    quiet.dispatch()
    quiet.pass_time(WINDOW)
    assert sweep(quiet.worker).nudged == 0

    quiet.pass_time(timedelta(seconds=31))

    assert sweep(quiet.worker).nudged == 1


def test_a_row_that_another_holds_is_skipped_and_not_waited_for(quiet: World) -> None:
    held, free = quiet.accept(), quiet.accept()
    _lose_nudges(quiet)
    quiet.pass_time(timedelta(minutes=1))
    other = quiet.connect()
    other.execute("BEGIN")
    other.execute("SELECT FROM outbox WHERE id = %s FOR UPDATE", [held.notification_id])

    assert sweep(quiet.worker).nudged == 1
    assert _nudged(quiet) == [free.notification_id]


def test_a_flood_of_one_tenant_does_not_push_the_other_out(quiet: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "MOST_PER_TENANT", 5)
    quiet.add_tenant()
    quiet.add_user(tenant=OTHER_TENANT)
    flood = {quiet.accept().notification_id for _ in range(40)}
    few = {quiet.accept(tenant=OTHER_TENANT).notification_id for _ in range(3)}
    _lose_nudges(quiet)
    quiet.pass_time(timedelta(minutes=1))

    sweep(quiet.worker)

    assert few <= set(_nudged(quiet))
    assert len(flood & set(_nudged(quiet))) == 5


def test_over_several_sweeps_the_whole_flood_is_nudged(quiet: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "MOST_PER_TENANT", 5)
    for _ in range(12):
        quiet.accept()
    quiet.pass_time(timedelta(minutes=1))

    assert [sweep(quiet.worker).nudged for _ in range(4)] == [5, 5, 2, 0]


def test_a_sweep_has_an_end_however_much_is_due(quiet: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "MOST_PER_QUEUE", 7)
    for _ in range(10):
        quiet.accept()
    quiet.pass_time(timedelta(minutes=1))

    assert sweep(quiet.worker).nudged == 7


def test_what_is_due_longest_is_nudged_first(quiet: World) -> None:
    first = quiet.accept()
    quiet.pass_time(timedelta(seconds=20))
    second = quiet.accept()
    _lose_nudges(quiet)
    quiet.pass_time(timedelta(minutes=1))

    sweep(quiet.worker)

    assert _nudged(quiet) == [first.notification_id, second.notification_id]


def test_after_an_hour_of_silence_everything_is_nudged_and_goes_out(quiet: World) -> None:
    for _ in range(5):
        quiet.accept()
    _lose_nudges(quiet)
    quiet.pass_time(timedelta(hours=1))

    sweep(quiet.worker)
    dispatch(quiet.worker, [one for nudge in quiet.nudges() for one in nudge.ids], quiet.worker_policy())

    assert (len(quiet.email.accepted), quiet.count("outbox")) == (5, 0)


def test_what_a_queue_does_not_take_is_nudged_by_the_next_sweep(quiet: World, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet.accept()
    _lose_nudges(quiet)
    quiet.pass_time(timedelta(minutes=1))

    def deaf(service: str, limits: object = None) -> object:
        raise ConnectionError(service)

    with monkeypatch.context() as patch:
        patch.setattr(aws, "client", deaf)
        assert sweep(quiet.worker).nudged == 0
    assert quiet.nudges() == []

    assert sweep(quiet.worker).nudged == 1
    assert len(quiet.nudges()) == 1


def test_what_a_queue_takes_in_part_is_marked_in_part(quiet: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nudging, "IDS_PER_NUDGE", 1)
    first, second = quiet.accept(), quiet.accept()
    _lose_nudges(quiet)
    quiet.pass_time(timedelta(minutes=1))
    sqs = aws.client("sqs", nudging.PATIENCE)

    def hard_of_hearing(**call: Any) -> object:
        sqs.send_message(QueueUrl=call["QueueUrl"], MessageBody=call["Entries"][0]["MessageBody"])
        return {"Failed": [{"Id": "1"}]}

    with monkeypatch.context() as patch:
        patch.setattr(sqs, "send_message_batch", hard_of_hearing)
        assert sweep(quiet.worker).nudged == 1
    assert _nudged(quiet) == [first.notification_id]

    sweep(quiet.worker)

    assert _nudged(quiet) == [first.notification_id, second.notification_id]


def test_the_sweep_gives_the_queue_more_time_than_intake_does() -> None:
    waits = [aws.client("sqs").meta.config, aws.client("sqs", nudging.PATIENCE).meta.config]

    assert [(each.connect_timeout, each.read_timeout) for each in waits] == [(0.3, 0.3), (2.0, 5.0)]
    assert [each.retries["total_max_attempts"] for each in waits] == [1, 1]


def test_the_backlog_is_measured(quiet: World) -> None:
    quiet.accept()
    quiet.email.answers.append(LOST)
    quiet.dispatch()
    quiet.accept()
    quiet.accept(send_at=(datetime.now(UTC) + timedelta(hours=3)).isoformat())
    quiet.pass_time(timedelta(minutes=10))

    backlog = sweep(quiet.worker).backlog

    assert (backlog.depth, backlog.unknown_attempts) == (3, 1)
    assert 600 <= backlog.oldest_due_seconds < 660


def test_an_empty_outbox_measures_nothing(world: World) -> None:
    backlog = sweep(world.worker).backlog

    assert (backlog.depth, backlog.oldest_due_seconds, backlog.unknown_attempts) == (0, 0, 0)
    assert world.one("SELECT count(*) FROM tenants WHERE id = %(tenant)s", tenant=TENANT) == 1
