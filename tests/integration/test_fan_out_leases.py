"""The cursor is under a lease, and everything that an event causes moves with it in one transaction, or not at all."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from psycopg import Connection

from tests.crash.waiting import wait_until
from tests.events import (
    SCOPE,
    Visit,
    cursor,
    fan_out_all,
    fan_out_once,
    happen,
    happen_together,
    inbox,
    outcomes,
    route,
    took_part,
    wait_until_readable,
    watch,
)
from tests.world import World
from tocsin.audience import fan_out
from tocsin.foundation import aws
from tocsin.outbox.dispatch import fan_out_waiting
from tocsin.outbox.sweep import sweep
from tocsin.outbox.worker import BATCH_SIZE
from tocsin.store import domain_events_processed
from tocsin.store.flow.set_aside import set_aside

PAST_LEASE = fan_out.LEASE + timedelta(seconds=1)
FAN_OUT_NUDGE = '{"v":1,"ids":[],"fanout":true}'
# What comes of an event, by table; that alice and bob take part was there before.
CAUSED = {one: one for one in ("notifications", "records", "routes", "outbox")}
CAUSED["notification_threads"] = "notification_threads WHERE reason = 'mention'"


@pytest.fixture
def waiting(world: World) -> World:
    """Two events of one batch wait: both for alice, who takes part in the thread already, and the second for carol, too."""
    for person in ("alice", "bob", "carol"):
        world.add_user(person)
    for person in ("alice", "bob"):
        took_part(world, person, "comment")
    route(world, rules={"mention": ["in_app", "email"]})
    happen(world, title="one", actor="bob", mentions=["alice"])
    happen(world, title="two", actor="bob", mentions=["alice", "carol"])
    _lose_nudges(world)
    return world


def _lose_nudges(world: World) -> None:
    assert world.work_queue is not None
    world.work_queue.clear()


def _nudges(world: World) -> list[tuple[str, int]]:
    assert world.work_queue is not None
    delays = [nudge.delay_seconds for nudge in world.nudges()]
    return list(zip(world.work_queue.bodies(), delays, strict=True))


def _left(world: World) -> dict[str, int]:
    """How much has come of the events."""
    return {table: count for table, rows in CAUSED.items() if (count := world.one(f"SELECT count(*) FROM {rows}"))}


def _assert_told_once(world: World) -> None:
    assert {who: (row["title"], row["event_count"]) for who, row in inbox(world).items()} == {
        "alice": ("two", 2),
        "carol": ("two", 1),
    }
    assert outcomes(world) == [("notified", 1), ("notified", 2)]
    assert _left(world) == {"notifications": 2, "notification_threads": 1, "records": 2, "routes": 3, "outbox": 3}


def test_everything_that_an_event_causes_is_written_by_the_transaction_that_moves_the_cursor(waiting: World) -> None:
    told = Visit(waiting).tell()

    assert told.moved
    written_by = {
        rows: {row["xmin"] for row in waiting.rows(f"SELECT xmin::text FROM {rows}")}
        for rows in [*CAUSED.values(), "domain_events", "domain_events_processed"]
    }
    assert len(set.union(*written_by.values())) == 1, written_by
    assert cursor(waiting)["last_event_id"] == waiting.one("SELECT max(id) FROM domain_events")


@pytest.mark.parametrize("moment", ["claimed", "read", "told and not committed"])
def test_a_worker_that_dies_leaves_nothing_and_after_its_lease_another_tells_everything_once(moment: str, waiting: World) -> None:
    before = cursor(waiting)
    if moment == "claimed":
        conn = waiting.connect()
        domain_events_processed.claim(conn, lease_token=uuid4(), lease=fan_out.LEASE)
        conn.close()
    else:
        visit = Visit(waiting)
        if moment != "read":
            visit.conn.execute("BEGIN")
            assert visit.tell().moved
        visit.conn.close()

    early = fan_out_once(waiting)

    assert (early.due, _left(waiting)) == ([], {})
    assert outcomes(waiting) == [("waiting", 0), ("waiting", 0)]
    assert cursor(waiting)["last_event_id"] == before["last_event_id"]
    waiting.pass_time(PAST_LEASE)
    fan_out_all(waiting)
    _assert_told_once(waiting)
    waiting.dispatch()
    emails = sorted(message.email for message in waiting.email.accepted)
    assert emails == ["alice@example.com", "carol@example.com"], "the second to alice about the thread is the dampener's"


def test_a_lease_is_waited_for_to_its_last_second(waiting: World) -> None:
    Visit(waiting).conn.close()

    waiting.pass_time(fan_out.LEASE - timedelta(seconds=5))
    assert (fan_out_once(waiting).due, _left(waiting)) == ([], {})

    waiting.pass_time(timedelta(seconds=5))
    fan_out_all(waiting)
    _assert_told_once(waiting)


def test_a_worker_that_lost_its_lease_moves_nothing(waiting: World) -> None:
    """It had read the events before it slept; meanwhile another told them, and a third event came."""
    asleep = Visit(waiting)
    waiting.pass_time(PAST_LEASE)
    fan_out_all(waiting)
    happen(waiting, title="three", mentions=["alice"])
    before = (cursor(waiting), waiting.inbox(), _left(waiting), outcomes(waiting))

    told = asleep.tell()

    assert (told.moved, told.due) == (False, [])
    assert (cursor(waiting), waiting.inbox(), _left(waiting), outcomes(waiting)) == before


def test_a_worker_that_lost_its_lease_to_one_still_at_work_moves_nothing_for_it(waiting: World) -> None:
    asleep = Visit(waiting)
    waiting.pass_time(PAST_LEASE)
    successor = Visit(waiting)
    held = cursor(waiting)

    late = asleep.tell()
    domain_events_processed.release(asleep.conn, lease_token=asleep.token)
    is_buried = set_aside(asleep.conn, asleep.events[0].id, lease_token=asleep.token, tries=3, message="late", hint="")

    assert (late.moved, is_buried, cursor(waiting), waiting.dead_letters()) == (False, False, held, [])
    assert successor.tell().moved
    domain_events_processed.release(successor.conn, lease_token=successor.token)
    fan_out_all(waiting)
    _assert_told_once(waiting)


def test_a_worker_whose_cursor_is_being_taken_waits_for_the_end_of_that_and_moves_nothing(waiting: World) -> None:
    asleep = Visit(waiting)
    waiting.pass_time(PAST_LEASE)
    successor = waiting.connect()
    successor.execute("BEGIN")
    assert domain_events_processed.claim(successor, lease_token=uuid4(), lease=fan_out.LEASE)

    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(asleep.tell)
        _wait_for_a_lock(waiting, asleep.conn)
        successor.execute("COMMIT")

    assert (late.result().moved, _left(waiting)) == (False, {})


def test_a_worker_that_is_late_and_not_yet_replaced_finishes_and_keeps_the_cursor(waiting: World) -> None:
    """Its statement is under way when another wants the cursor: that one waits, and finds it taken."""
    late = Visit(waiting)
    waiting.pass_time(PAST_LEASE)
    late.conn.execute("BEGIN")
    assert late.tell().moved
    rival = waiting.connect()

    with ThreadPoolExecutor(1) as pool:
        claim = pool.submit(domain_events_processed.claim, rival, lease_token=uuid4(), lease=fan_out.LEASE)
        _wait_for_a_lock(waiting, rival)
        late.conn.execute("COMMIT")

    assert claim.result() is None
    _assert_told_once(waiting)


def _wait_for_a_lock(world: World, conn: Connection[Any]) -> None:
    asked = "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = %(pid)s"
    wait_until(lambda: world.one(asked, pid=conn.info.backend_pid))


def test_workers_in_turns_and_at_once_tell_300_events_once_each(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fan_out, "BATCH", 20)
    people = [f"user-{n}" for n in range(5)]
    for person in people:
        world.add_user(person)
        watch(world, person)
    route(world, rules={"watching": ["in_app", "email"], "author": ["in_app"]})
    events = [
        {"scope": SCOPE, "title": str(n)} | ({"thread": {"kind": "issue", "id": str(n % 7)}} if n % 3 else {}) for n in range(300)
    ]
    for start in range(0, 300, 15):
        happen_together(world, events[start : start + 15])
    wait_until_readable(world)
    begin, workers = threading.Barrier(2), [world.connect() for _ in range(2)]

    def work(n: int) -> int:
        begin.wait(30)
        visits = 0
        while domain_events_processed.seconds_behind(workers[n]) is not None:
            visits += bool(fan_out_once(world, workers[n], batches=2).due)
        return visits

    with ThreadPoolExecutor(2) as pool:
        visits = list(pool.map(work, range(2)))

    assert sum(visits) >= 5, "the cursor changed hands"
    assert world.one("SELECT bool_and(outcome = 'notified' AND recipient_count = 5) FROM domain_events")
    assert world.one("SELECT sum(event_count) FROM notifications") == 1_500
    assert world.one("SELECT count(*) FROM notifications") == 5 * (100 + 7)
    assert world.one("SELECT count(DISTINCT (notification_id, user_id)) FROM routes") == world.count("routes") == 1_500
    assert world.count("outbox") == 1_500
    # each row shows the last event of its thread: nobody overtook anybody
    lasts = world.rows("SELECT DISTINCT thread_id, title FROM notifications WHERE thread_id IS NOT NULL ORDER BY thread_id")
    assert [int(row["title"]) for row in lasts] == [max(n for n in range(300) if n % 3 and n % 7 == t) for t in range(7)]


def test_a_worker_whose_time_is_up_gives_the_cursor_back_and_says_that_there_is_more(
    waiting: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fan_out, "BATCH", 1)
    wait_until_readable(waiting)

    made = fan_out_once(waiting, batches=1)

    assert (len(made.due), made.look_again) == (1, True)
    assert (cursor(waiting)["leased_until"], cursor(waiting)["claim_count"]) == (None, 0)
    fan_out_all(waiting)
    _assert_told_once(waiting)


def test_a_worker_stops_when_it_has_made_enough_deliveries(waiting: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fan_out, "BATCH", 1)
    wait_until_readable(waiting)

    made = fan_out.fan_out(waiting.worker, has_time=lambda: True, most_due=1)

    assert (len(made.due), made.look_again) == (1, True)
    assert cursor(waiting)["leased_until"] is None


def test_the_sweep_nudges_at_the_fan_out_while_events_wait_and_no_longer(waiting: World) -> None:
    sweep(waiting.worker)
    assert _nudges(waiting) == [(FAN_OUT_NUDGE, 0)]

    fan_out_all(waiting)
    _lose_nudges(waiting)
    sweep(waiting.worker)

    assert _nudges(waiting) == []


def test_the_sweep_nudges_although_a_dead_worker_still_has_the_cursor(waiting: World) -> None:
    Visit(waiting).conn.close()

    sweep(waiting.worker)

    assert _nudges(waiting) == [(FAN_OUT_NUDGE, 0)]


def test_losing_every_nudge_changes_nothing_but_the_time(waiting: World) -> None:
    for _ in range(4):
        _lose_nudges(waiting)
        waiting.pass_time(timedelta(minutes=5, seconds=1))
        sweep(waiting.worker)
        if FAN_OUT_NUDGE in [body for body, _ in _nudges(waiting)]:
            fan_out_waiting(waiting.worker, waiting.worker_policy())  # what the nudges of the deliveries say is lost, too
    for _ in range(3):
        waiting.pass_time(timedelta(minutes=11))
        waiting.dispatch()

    assert {person: row["event_count"] for person, row in inbox(waiting).items()} == {"alice": 2, "carol": 1}
    to_alice = [message.content.title for message in waiting.email.accepted if message.email == "alice@example.com"]
    assert (to_alice, len(waiting.email.accepted)) == (["one", "1 more update: two"], 3)
    assert waiting.count("outbox") == 0


def test_a_nudge_while_another_worker_has_the_cursor_is_left_to_that_one(waiting: World) -> None:
    visit = Visit(waiting)

    assert fan_out_waiting(waiting.worker, waiting.worker_policy()) == []

    assert (_nudges(waiting), _left(waiting)) == ([], {})
    visit.conn.close()


def test_what_comes_while_a_worker_is_leaving_is_seen_by_its_last_look(waiting: World) -> None:
    """It found nothing more; then an event came, whose nudge met a cursor that was taken; then it let go."""
    fan_out_all(waiting)
    leaving = Visit(waiting)
    assert leaving.events == []
    happen(waiting, title="three", mentions=["alice"])
    _lose_nudges(waiting)
    assert fan_out_waiting(waiting.worker, waiting.worker_policy()) == []

    domain_events_processed.release(leaving.conn, lease_token=leaving.token)

    assert domain_events_processed.ask_for_another_look(leaving.conn)


def test_what_comes_when_the_time_of_the_worker_is_up_leads_to_another_nudge(waiting: World) -> None:
    rival = waiting.connect()

    def time_is_up() -> bool:
        happen(waiting, title="three", mentions=["alice"])
        assert fan_out_once(waiting, rival).due == []
        return False

    assert fan_out.fan_out(waiting.worker, has_time=time_is_up).look_again
    assert _left(waiting) == {}


def test_another_look_is_asked_for_once_in_a_second(waiting: World) -> None:
    looks = [fan_out_once(waiting, batches=0).look_again for _ in range(3)]
    waiting.pass_time(timedelta(seconds=1))
    looks += [fan_out_once(waiting, batches=0).look_again for _ in range(2)]

    assert looks == [True, False, False, True, False]


def test_a_nudge_for_events_that_cannot_be_read_yet_leads_to_another_nudge(waiting: World) -> None:
    other = waiting.connect()
    fan_out_all(waiting)
    waiting.pass_time(timedelta(seconds=1))
    other.execute("BEGIN")
    other.execute("SELECT pg_current_xact_id()")
    happen(waiting, title="three", mentions=["alice"])
    _lose_nudges(waiting)

    assert fan_out_waiting(waiting.worker, waiting.worker_policy()) == []
    assert _nudges(waiting) == [(FAN_OUT_NUDGE, 1)]

    other.execute("ROLLBACK")
    _lose_nudges(waiting)
    wait_until_readable(waiting)
    assert len(fan_out_waiting(waiting.worker, waiting.worker_policy())) == 1
    assert _nudges(waiting) == []


def test_few_deliveries_are_gone_on_with_and_many_are_nudged(waiting: World) -> None:
    wait_until_readable(waiting)
    assert len(fan_out_waiting(waiting.worker, waiting.worker_policy())) == 3
    assert _nudges(waiting) == []

    names = [f"user-{n}" for n in range(BATCH_SIZE * 2 + 1)]
    for name in names:
        waiting.add_user(name)
    happen(waiting, mentions=names)
    _lose_nudges(waiting)
    wait_until_readable(waiting)

    assert fan_out_waiting(waiting.worker, waiting.worker_policy()) == []
    nudged = [one for nudge in waiting.nudges() for one in nudge.ids]
    assert len(nudged) == len(names)
    assert set(nudged) <= set(waiting.due())


def test_a_queue_that_is_down_takes_nothing_from_the_fan_out(waiting: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aws, "client", lambda name: 1 / 0)
    wait_until_readable(waiting)

    assert len(fan_out_waiting(waiting.worker, waiting.worker_policy())) == 3

    _assert_told_once(waiting)
