"""The roll-up: what it says of an hour or a day is what the rows say."""

from collections import Counter
from datetime import datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

import pytest

from tests.integration.forgetting import apply
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.upkeep import roll_up as use_case
from tocsin.upkeep.roll_up import RolledUp, roll_up
from tocsin.upkeep.run_job import run_job

HOUR = timedelta(hours=1)
TOTALS = ("total_sent", "total_failed", "total_skipped", "total_pending")

# Straight from the rows, each number by a question of its own.
EXPECTED = """
    WITH ended AS (
        SELECT tenant_id, notification_id, channel, provider, published_at AS at, 'total_sent' AS what FROM routes
        WHERE published_at IS NOT NULL
        UNION ALL
        SELECT tenant_id, notification_id, channel, provider, skipped_at, 'total_skipped' FROM routes WHERE skipped_at IS NOT NULL
        UNION ALL
        SELECT tenant_id, notification_id, channel, provider, created_at, 'total_failed' FROM dead_letters
        WHERE route_id IS NOT NULL
        UNION ALL
        SELECT tenant_id, notification_id, channel, provider, accepted_at, 'total_pending' FROM routes
        WHERE status IN ('pending', 'failed')
    )
    SELECT ended.tenant_id, (SELECT mode FROM records WHERE records.notification_id = ended.notification_id) AS mode,
           channel, provider, (at AT TIME ZONE 'UTC')::date AS date, extract(hour FROM at AT TIME ZONE 'UTC')::int AS hour, what
    FROM ended"""


def _run(world: World, has_time: Any = lambda: True) -> RolledUp:
    return roll_up(world.retention, has_time=has_time)


def _rolled_up(world: World, *, hourly: bool = True) -> Counter[tuple[Any, ...]]:
    """Each number that is not zero, by what it is of."""
    found: Counter[tuple[Any, ...]] = Counter()
    for row in world.rows("SELECT * FROM metrics WHERE (hour IS NOT NULL) = %(hourly)s", hourly=hourly):
        for what in TOTALS:
            found[_key(row, hourly=hourly, what=what)] += row[what]
    return +found


def _expected(world: World, *, hourly: bool = True) -> Counter[tuple[Any, ...]]:
    return Counter(_key(row, hourly=hourly, what=row["what"]) for row in world.rows(EXPECTED))


def _key(row: dict[str, Any], *, hourly: bool, what: str) -> tuple[Any, ...]:
    place = (row["date"], row["hour"]) if hourly else (row["date"],)
    return (row["tenant_id"], row["mode"], *place, row["channel"], row["provider"], what)


def _agrees(world: World) -> bool:
    return all(_rolled_up(world, hourly=hourly) == _expected(world, hourly=hourly) for hourly in (True, False))


def _something_happens(world: World, chance: Random) -> None:
    """A few intents, some of which fail, wait, are skipped or are nobody's; then perhaps some time."""
    channel = chance.choice(("email", "sms", "in_app"))
    person = chance.choice(("alice", "bob", "unreachable"))
    later = {"send_at": (_now(world) + HOUR * chance.choice((2, 30))).isoformat()} if chance.random() < 0.3 else {}
    for tenant, mode in chance.choices([(TENANT, "live"), (TENANT, "test"), (OTHER_TENANT, "live")], k=2):
        world.accept(tenant=tenant, mode=mode, channels=[channel], audience={"kind": "users", "user_ids": [person]}, **later)
    if chance.random() < 0.4:
        broken = chance.choice((FailureClass.PERMANENT, FailureClass.TRANSIENT))
        getattr(world, "sms" if channel == "sms" else "email").answers.append(Failure(broken, "x", "x"))
    if chance.random() < 0.7:
        world.dispatch()
    world.pass_time(timedelta(minutes=chance.choice((0, 7, 50, 130))))


@pytest.mark.parametrize("seed", range(2))
def test_whatever_happened_the_hours_and_the_days_are_what_the_rows_say(world: World, seed: int) -> None:
    chance = Random(seed)  # noqa: S311 - the same world each time
    world.add_tenant()
    for tenant in (TENANT, OTHER_TENANT):
        for name in ("alice", "bob"):
            world.add_user(name, tenant=tenant, phone="+4915112345678")
        world.add_user("unreachable", tenant=tenant, email=None)

    for _ in range(3):
        for _ in range(8):
            _something_happens(world, chance)
        _run(world)
        assert _agrees(world)

    assert len(_expected(world)) > 5


def test_the_average_is_the_time_from_when_it_was_to_go_until_it_was_accepted(world: World) -> None:
    world.add_user()
    world.accept()
    world.pass_time(timedelta(seconds=40))
    world.dispatch()
    world.accept(send_at=(_now(world) + timedelta(minutes=10)).isoformat())
    world.pass_time(timedelta(minutes=10, seconds=20))
    world.dispatch()

    _run(world)

    (day,) = world.rows("SELECT sum(total_sent) AS sent, sum(total_delivery_ms) AS ms FROM metrics WHERE hour IS NULL")
    assert day["sent"] == 2
    assert 60_000 <= day["ms"] < 75_000
    raw = world.one(
        """SELECT floor(sum(floor(extract(epoch FROM published_at - GREATEST(records.accepted_at, send_at)) * 1000)) / 2)
           FROM routes JOIN records USING (notification_id)"""
    )
    averages = world.rows("SELECT total_delivery_ms / total_sent AS computed, avg_delivery_ms FROM metrics WHERE total_sent > 0")
    assert all(row["computed"] == row["avg_delivery_ms"] for row in averages)
    assert day["ms"] // 2 == raw


def test_what_test_keys_send_is_counted_apart(world: World) -> None:
    world.add_user()
    world.accept()
    world.accept(mode="test")
    world.accept(mode="test", channels=["in_app"])
    world.dispatch()

    _run(world)

    found = world.rows("SELECT mode, provider, total_sent FROM metrics WHERE hour IS NULL ORDER BY mode, provider")
    assert [tuple(row.values()) for row in found] == [("live", "ses", 1), ("test", "inbox", 1), ("test", "sandbox", 1)]


def test_counting_again_changes_nothing(world: World) -> None:
    world.add_user()
    world.accept()
    world.dispatch()
    world.accept()
    first = _run(world)
    before = world.rows("SELECT * FROM metrics ORDER BY id")

    again = _run(world)

    assert (first.changed > 0, again.changed) == (True, 0)
    assert world.rows("SELECT * FROM metrics ORDER BY id") == before


def test_what_is_sent_days_after_it_came_is_counted_when_it_is_sent_and_waits_no_longer(world: World) -> None:
    world.add_user()
    world.email.answers.append(Failure(FailureClass.TRANSIENT, "x", "x"))
    world.accept()
    world.dispatch()
    _run(world)
    waiting = _rolled_up(world)

    world.pass_time(timedelta(days=3))
    world.dispatch()
    _run(world)

    assert [key[-1] for key in waiting] == ["total_pending"]
    assert [key[-1] for key in _rolled_up(world)] == ["total_sent"]
    assert _agrees(world)


def test_a_failure_stays_counted_when_it_is_replayed(world: World) -> None:
    world.add_user()
    world.email.answers.append(Failure(FailureClass.PERMANENT, "x", "x"))
    world.accept()
    world.dispatch()
    _run(world)
    before = _rolled_up(world)

    world.admin.execute(
        """UPDATE routes SET status = 'published', published_at = tocsin_now() + interval '1 day', dead_lettered_at = NULL,
                  reason = '', generation = 2"""
    )
    _run(world)

    assert _rolled_up(world) == before


def test_a_run_without_time_goes_on_next_time(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.add_user()
    for _ in range(4):
        world.accept()
        world.dispatch()
        world.pass_time(timedelta(days=2))
    times = iter([True, True, False])

    def work(conn: Any) -> RolledUp:
        return roll_up(conn, has_time=lambda: next(times, True))

    monkeypatch.setattr("tocsin.foundation.database.run", lambda work: work(world.retention))
    parts = [run_job(use_case.JOB, work), run_job(use_case.JOB, work)]

    assert [part.is_complete for part in parts] == [False, True]
    assert parts[0].through < parts[1].through
    assert _agrees(world)


def test_hours_of_which_nobody_counted_are_made_up_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The timer stood still for two days: no run sees only the last hours."""
    monkeypatch.setattr("tocsin.foundation.database.run", lambda work: work(world.retention))
    world.add_user()
    run_job(use_case.JOB, lambda conn: roll_up(conn, has_time=lambda: True))
    for _ in range(3):
        world.pass_time(timedelta(hours=16))
        world.accept()
        world.dispatch()

    run_job(use_case.JOB, lambda conn: roll_up(conn, has_time=lambda: True))

    assert _agrees(world)


def test_what_retention_has_taken_stays_counted(world: World) -> None:
    world.add_user()
    world.accept()
    world.dispatch()
    _run(world)
    before = _rolled_up(world)
    world.pass_time(timedelta(hours=4))

    world.admin.execute("DELETE FROM records")
    world.admin.execute(
        """INSERT INTO job_runs (id, job, outcome, report, finished_at)
           VALUES (%s, 'metrics', 'complete', %s::jsonb, tocsin_now())""",
        [UUID(int=1), f'{{"through": "{_now(world).isoformat()}"}}'],
    )
    _run(world)

    assert _rolled_up(world) == before


def test_what_was_erased_within_the_hour_is_not_counted(world: World) -> None:
    world.add_user()
    world.accept()
    world.dispatch()
    _run(world)

    world.admin.execute("DELETE FROM records")
    _run(world)

    assert not _rolled_up(world)
    assert not _rolled_up(world, hourly=False)


def test_hours_are_kept_for_ninety_days_and_days_for_longer(world: World) -> None:
    world.add_user()
    world.accept()
    world.dispatch()
    _run(world)

    world.pass_time(timedelta(days=92))
    apply(world)
    assert [row["hour"] for row in world.rows("SELECT hour FROM metrics")] == [None]

    _run(world)
    assert world.rows("SELECT sum(total_sent) AS sent FROM metrics") == [{"sent": 1}]


def _now(world: World) -> datetime:
    now: datetime = world.one("SELECT tocsin_now()")
    return now
