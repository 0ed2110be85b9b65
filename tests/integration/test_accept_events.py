"""Recording events: the row is the promise; (tenant, source, id) makes a repetition harmless."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from bench.proxy import CountingProxy
from devstack.postgres import Postgres
from tests.events import fan_out_all, happen_together, inbox, route, told, try_record
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.foundation import aws
from tocsin.intake.accept_events import Told, _row, record_events
from tocsin.intake.admission import KeyInFlight, RateExceeded, Sender
from tocsin.store.flow import accept_events

FAN_OUT_NUDGE = '{"v":1,"ids":[],"fanout":true}'


def _nudges(world: World) -> list[str]:
    assert world.work_queue is not None
    return world.work_queue.bodies()


def test_an_event_is_kept_as_it_was_told_and_nudged(world: World) -> None:
    user_id = world.add_user("alice")
    data = {"actor": "alice", "scope": "repo:7", "thread": {"kind": "issue", "id": "1"}, "extra": [1, None]}
    one = told("e-1", source="/repo", type="issue.opened", **data)

    (end,) = try_record(world, one)

    (row,) = world.rows("SELECT * FROM domain_events")
    assert (row["event_id"], row["source"], row["type"], row["scope"]) == ("e-1", "/repo", "issue.opened", "repo:7")
    assert (row["thread_kind"], row["thread_id"], row["actor_user_id"]) == ("issue", "1", user_id)
    assert row["data"] == one.data
    assert (row["outcome"], row["recipient_count"], row["mode"], row["tenant_id"]) == ("waiting", 0, "live", TENANT)
    assert (end.notification_id, end.recorded_at, end.is_duplicate) == (one.notification_id, row["recorded_at"], False)
    assert row["occurred_at"] == row["recorded_at"], "it did not say when it happened"
    assert _nudges(world) == [FAN_OUT_NUDGE]


def test_a_repetition_is_recognised_answered_like_the_first_and_not_nudged(world: World) -> None:
    (first,) = try_record(world, told("e-1", title="first"))

    (second,) = try_record(world, told("e-1", title="changed"))

    assert (second.notification_id, second.recorded_at, second.is_duplicate) == (first.notification_id, first.recorded_at, True)
    assert [row["data"]["title"] for row in world.rows("SELECT data FROM domain_events")] == ["first"]
    assert len(_nudges(world)) == 1


def test_the_same_id_from_another_source_or_tenant_is_another_event(world: World) -> None:
    world.add_tenant()

    ends = [
        *try_record(world, told("e-1", source="/a")),
        *try_record(world, told("e-1", source="/b")),
        *try_record(world, told("e-2", source="/a")),
        *try_record(world, told("e-1", source="/a"), tenant=OTHER_TENANT),
    ]

    assert [end.is_duplicate for end in ends] == [False] * 4
    assert len({end.notification_id for end in ends}) == world.count("domain_events") == 4


def test_one_that_is_told_twice_in_one_request_is_taken_once(world: World) -> None:
    ends = try_record(world, told("e-1"), told("e-2"), told("e-1"))

    assert [end.is_duplicate for end in ends] == [False, False, True]
    assert ends[2].notification_id == ends[0].notification_id
    assert world.count("domain_events") == 2


def test_our_own_first_try_whose_answer_was_lost_is_no_duplicate(world: World) -> None:
    one = told("e-1")
    try_record(world, one)

    (again,) = try_record(world, one)

    assert (again.is_duplicate, world.count("domain_events")) == (False, 1)


def test_new_and_known_events_of_one_request_are_answered_in_their_order(world: World) -> None:
    try_record(world, told("known-1"), told("known-2"))

    ends = try_record(world, told("new-1"), told("known-2"), told("new-2"), told("known-1"))

    assert [end.is_duplicate for end in ends] == [False, True, False, True]
    names = {row["notification_id"]: row["event_id"] for row in world.rows("SELECT * FROM domain_events")}
    assert [names[end.notification_id] for end in ends] == ["new-1", "known-2", "new-2", "known-1"]


def test_a_repetition_after_the_fan_out_tells_nobody_again(world: World) -> None:
    world.add_user("alice")
    route(world)
    for _ in range(2):
        try_record(world, told("e-1", mentions=["alice"]))
        fan_out_all(world)

    assert [row["event_count"] for row in inbox(world).values()] == [1]


def test_twenty_at_once_of_one_event_make_one_row_and_give_one_answer(world: World) -> None:
    pairs = [(told("e-1"), world.connect("tocsin_app")) for _ in range(20)]

    with ThreadPoolExecutor(20) as pool:
        ends = list(pool.map(lambda pair: try_record(world, pair[0], conn=pair[1])[0], pairs))

    assert [end.is_duplicate for end in ends].count(False) == 1
    assert len({(end.notification_id, end.recorded_at) for end in ends}) == 1
    assert (world.count("domain_events"), _nudges(world)) == (1, [FAN_OUT_NUDGE])


def test_an_event_in_flight_elsewhere_is_waited_for_and_then_said_to_be_in_flight(world: World) -> None:
    holder = world.connect("tocsin_app")
    holder.execute("BEGIN")
    _insert_without_committing(holder, told("e-1"))
    world.app.execute("SET lock_timeout = '100ms'")

    with pytest.raises(KeyInFlight):
        try_record(world, told("e-1"))

    assert world.app.info.transaction_status.name == "IDLE"
    holder.execute("ROLLBACK")
    (end,) = try_record(world, told("e-1"))
    assert not end.is_duplicate


def _insert_without_committing(conn: psycopg.Connection[Any], one: Told) -> None:
    conn.execute("SELECT set_config('tocsin.tenant', %s, true)", [str(TENANT)])
    accept_events.insert_unless_known(
        conn, [_row(0, one)], tenant_id=TENANT, mode="live", request_id="", trace_id="", rate_subject="other", rate_limit=9
    )


def test_the_events_of_a_request_count_together_and_above_the_limit_nothing_is_stored(world: World) -> None:
    try_record(world, *[told() for _ in range(7)], rate_limit=10)

    with pytest.raises(RateExceeded):
        try_record(world, *[told() for _ in range(4)], rate_limit=10)
    try_record(world, *[told() for _ in range(3)], rate_limit=10)

    assert (world.count("domain_events"), len(_nudges(world))) == (10, 2)
    assert world.rows("SELECT limit_type, request_count FROM rate_limits") == [{"limit_type": "events", "request_count": 10}]


def test_known_events_count_too_and_the_next_minute_is_fresh(world: World) -> None:
    for _ in range(2):
        try_record(world, told("e-1"), rate_limit=2)
    with pytest.raises(RateExceeded):
        try_record(world, told("e-1"), rate_limit=2)

    world.pass_time(timedelta(minutes=1))

    assert try_record(world, told("e-1"), rate_limit=2)[0].is_duplicate


def test_events_and_intents_have_limits_of_their_own(world: World) -> None:
    world.add_user()
    try_record(world, told(), rate_limit=1)

    (end,) = world.try_accept(world.asked(), rate_limit=1)

    assert world.count("records") == 1, end


def test_a_person_of_another_tenant_is_no_actor_of_ours(world: World) -> None:
    world.add_tenant()
    world.add_user("alice", tenant=OTHER_TENANT)

    try_record(world, told(actor="alice"))

    assert world.one("SELECT actor_user_id FROM domain_events") is None


def test_five_hundred_events_are_recorded_in_their_order_with_one_nudge(world: World) -> None:
    happen_together(world, [{"event_id": str(n)} for n in range(500)])

    rows = world.rows("SELECT event_id, txid::text FROM domain_events ORDER BY id")
    assert [row["event_id"] for row in rows] == [str(n) for n in range(500)]
    assert len({row["txid"] for row in rows}) == 1
    assert _nudges(world) == [FAN_OUT_NUDGE]


def test_a_queue_that_is_down_takes_nothing_from_the_promise(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aws, "client", lambda name: 1 / 0)

    (end,) = try_record(world, told())

    assert (end.is_duplicate, world.count("domain_events")) == (False, 1)


def test_new_events_cost_one_round_trip_however_many_and_known_ones_a_second(world: World, server: Postgres) -> None:
    sender = Sender(TENANT, "shop", "live", rate_subject="test", rate_limit=1_000_000)
    name = world.admin.info.dbname
    with CountingProxy(server.port) as proxy:
        url = f"postgresql://tocsin_app@127.0.0.1:{proxy.port}/{name}"
        with psycopg.connect(url, autocommit=True, prepare_threshold=2) as conn:

            def trips(*events: Told) -> int:
                before = proxy.exchanges
                record_events(conn, list(events), sender=sender, request_id="r", trace_id="")
                return proxy.exchanges - before

            for _ in range(4):  # until every statement is prepared
                trips(told("known"))

            assert trips(told()) == 1
            assert trips(*[told() for _ in range(100)]) == 1
            assert trips(told("known"), told()) == 2
