"""Rivals for one key or one limit: exactly one of them wins, exactly as many as allowed get in."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from tests.world import TENANT, World
from tocsin.foundation.database import tenant_transaction
from tocsin.intake import accept_intents
from tocsin.intake.accept_intents import Admitted, Asked
from tocsin.intake.admission import KeyInFlight, RateExceeded
from tocsin.store import records
from tocsin.store.flow import accept_intents as statements


def test_twenty_at_once_with_one_key_make_one_record_and_give_one_answer(world: World) -> None:
    world.add_user()
    asked = [world.asked(key="k-1") for _ in range(20)]
    conns = [world.connect("tocsin_app") for _ in asked]

    with ThreadPoolExecutor(20) as pool:
        ends = list(pool.map(lambda pair: world.try_accept(pair[0], conn=pair[1])[0], zip(asked, conns, strict=True)))

    assert len({end.notification_id for end in ends if isinstance(end, Admitted)}) == 1
    assert [end.is_replay for end in ends if isinstance(end, Admitted)].count(False) == 1
    assert (world.count("records"), world.count("outbox")) == (1, 1)


def test_of_twenty_at_once_under_a_limit_of_ten_exactly_ten_are_stored(world: World) -> None:
    world.add_user()
    conns = [world.connect("tocsin_app") for _ in range(20)]

    def attempt(conn: object) -> bool:
        try:
            (end,) = world.try_accept(world.asked(), conn=conn, rate_limit=10)  # type: ignore[arg-type]
        except RateExceeded:
            return False
        return isinstance(end, Admitted)

    with ThreadPoolExecutor(20) as pool:
        accepted = list(pool.map(attempt, conns))

    # a minute may begin in between: each of its windows is exact for itself
    windows = [row["request_count"] for row in world.rows("SELECT request_count FROM rate_limits")]
    assert all(count <= 10 for count in windows)
    assert (
        sum(windows)
        == accepted.count(True)
        == world.count("records")
        == world.count("outbox")
        == sum(len(nudge.ids) for nudge in world.nudges())
    )
    assert accepted.count(True) == (10 if len(windows) == 1 else sum(windows))


def test_a_batch_above_the_limit_stores_nothing_of_it(world: World) -> None:
    world.add_user()

    with pytest.raises(RateExceeded):
        world.try_accept(*[world.asked() for _ in range(11)], rate_limit=10)

    assert (world.count("records"), world.count("outbox"), world.count("rate_limits"), world.nudges()) == (0, 0, 0, [])


def test_the_limit_is_fresh_in_the_next_minute(world: World) -> None:
    world.add_user()
    world.try_accept(*[world.asked() for _ in range(10)], rate_limit=10)
    world.pass_time(timedelta(minutes=1))

    (end,) = world.try_accept(world.asked(), rate_limit=10)

    assert isinstance(end, Admitted)


def _hold(world: World, asked: Asked) -> object:
    """A connection whose transaction has reserved the key and does not end."""
    conn = world.connect("tocsin_app")
    conn.execute("BEGIN")
    conn.execute("SELECT set_config('tocsin.tenant', %s, true)", [str(TENANT)])
    statements.reserve(
        conn,
        [accept_intents._row(0, asked)],
        tenant_id=TENANT,
        producer="shop",
        mode="live",
        request_id="r",
        trace_id="",
        window=timedelta(days=7),
        rate_subject="rival",
        rate_limit=1_000,
        cost=1,
    )
    return conn


def test_a_key_in_flight_elsewhere_is_waited_for_and_then_said_to_be_in_flight(world: World) -> None:
    world.add_user()
    _hold(world, world.asked(key="k-1"))
    world.app.execute("SET lock_timeout = '100ms'")

    with pytest.raises(KeyInFlight):
        world.try_accept(world.asked(key="k-1"))

    assert world.app.info.transaction_status.name == "IDLE"


def test_the_application_waits_two_seconds_for_a_key(world: World) -> None:
    row = world.app.execute("SHOW lock_timeout").fetchone()

    assert row is not None
    assert row[0] == "2s"


@pytest.mark.parametrize("first_commits", [True, False])
def test_whoever_waited_replays_the_first_or_wins_when_it_rolled_back(world: World, first_commits: bool) -> None:
    world.add_user()
    first, second = world.asked(key="k-1"), world.asked(key="k-1")
    conn = _hold(world, first)

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(world.try_accept, second)
        _until_someone_waits(world)
        conn.execute("COMMIT" if first_commits else "ROLLBACK")  # type: ignore[attr-defined]
        (end,) = waiting.result(timeout=10)

    winner = first if first_commits else second
    assert isinstance(end, Admitted)
    assert (end.notification_id, end.is_replay) == (winner.notification_id, first_commits)
    assert world.count("records") == 1


def test_a_key_released_between_the_two_looks_is_not_mistaken_for_unknown_users(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add_user()
    world.accept(key="k-1")
    world.pass_time(timedelta(days=8))
    find = accept_intents._find

    def retention_comes_by_first(*args: object) -> object:
        records.release_expired_keys(world.retention, limit=10)
        return find(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(accept_intents, "_find", retention_comes_by_first)

    (end,) = world.try_accept(world.asked(key="k-1"))

    assert isinstance(end, Admitted)


def test_a_transaction_that_failed_leaves_the_connection_fit_for_the_next(world: World) -> None:
    world.add_user()
    with pytest.raises(RateExceeded):
        world.try_accept(world.asked(), world.asked(), rate_limit=1)

    (end,) = world.try_accept(world.asked())

    assert isinstance(end, Admitted)
    with tenant_transaction(world.app, TENANT):
        count = world.app.execute("SELECT count(*) FROM records")
    assert count.fetchone() == (1,)


def _until_someone_waits(world: World) -> None:
    for _ in range(500):
        if world.one("SELECT count(*) FROM pg_locks WHERE NOT granted"):
            return
        world.one("SELECT 1 FROM pg_sleep(0.01)")
    raise AssertionError("nobody waits for the key")
