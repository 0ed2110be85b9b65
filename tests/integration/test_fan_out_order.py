"""The fan-out reads events in the order of their transactions, never past an open one: none is skipped, none told twice."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from psycopg import Connection

from tests.crash.mutations import _rewrite
from tests.events import cursor, fan_out_all, fan_out_once, happen, inbox, route, told, took_part, wait_until_readable
from tests.world import TENANT, World
from tocsin.audience import fan_out
from tocsin.intake import accept_events
from tocsin.intake.accept_events import Told
from tocsin.store import domain_events
from tocsin.store.flow import accept_events as statements

READABLE = "AND domain_events.txid < pg_snapshot_xmin(pg_current_snapshot())"
PLACE = "(domain_events.txid, domain_events.id) > (processed.last_txid, processed.last_event_id)"


class Producer:
    """A transaction of intake that stays open until it is told to commit."""

    def __init__(self, world: World) -> None:
        self.conn = world.connect("tocsin_app")
        self.conn.execute("BEGIN")
        self.conn.execute("SELECT set_config('tocsin.tenant', %s, true)", [str(TENANT)])

    def take_txid(self) -> None:
        self.conn.execute("SELECT pg_current_xact_id()")

    def insert(self, title: str, **event: Any) -> Told:
        one = told(title=title, mentions=["alice"], **event)
        _insert(self.conn, one)
        return one

    def commit(self) -> None:
        self.conn.execute("COMMIT")

    def roll_back(self) -> None:
        self.conn.execute("ROLLBACK")


def _insert(conn: Connection[Any], one: Told) -> None:
    statements.insert_unless_known(
        conn,
        [accept_events._row(0, one)],
        tenant_id=TENANT,
        mode="live",
        request_id="r",
        trace_id="",
        rate_subject=str(one.notification_id),  # not the limit's row is to be waited for
        rate_limit=1_000,
    )


def _prepare(world: World) -> None:
    """Alice takes part in the thread already, so that its events may be told in one batch."""
    world.add_user("alice")
    took_part(world, "alice", "mention")
    route(world)


def _tell_the_rest(world: World) -> None:
    """One visit when no transaction is open: what it does not see is never seen."""
    wait_until_readable(world)
    fan_out_once(world)


def _titles(world: World) -> list[str]:
    """What alice was told, each event in a row of its own, in the order of telling."""
    return [row["title"] for row in world.rows("SELECT title FROM notifications ORDER BY created_at, id")]


def a_lower_id_that_commits_late_is_told_first(world: World) -> None:
    _prepare(world)
    first, second = Producer(world), Producer(world)
    first.insert("low id, commits late", thread={"kind": "issue", "id": "1"})
    second.insert("high id, commits early", thread={"kind": "issue", "id": "1"})
    second.commit()

    while_open = fan_out_once(world)
    told_while_open = len(world.inbox())
    first.commit()
    _tell_the_rest(world)

    assert (told_while_open, while_open.look_again) == (0, True), "the reader went past an open transaction"
    row = inbox(world)["alice"]
    assert (row["title"], row["event_count"]) == ("high id, commits early", 2)


def a_lower_txid_that_inserts_later_is_told_first(world: World) -> None:
    _prepare(world)
    first, second = Producer(world), Producer(world)
    first.take_txid()
    second.insert("low id, high txid", thread={"kind": "issue", "id": "1"})
    second.commit()

    fan_out_once(world)
    told_while_open = len(world.inbox())
    first.insert("high id, low txid", thread={"kind": "issue", "id": "1"})
    first.commit()
    _tell_the_rest(world)

    assert told_while_open == 0, "the reader went past an open transaction"
    row = inbox(world)["alice"]
    # told first, but recorded last: the later time gives the words
    assert (row["title"], row["event_count"]) == ("high id, low txid", 2)


def transactions_in_any_order_are_all_told_once_and_in_order(world: World, seed: int) -> None:
    """Producers begin, insert, commit and give up as the dice fall, and the fan-out comes by in between."""
    _prepare(world)
    dice, open_ones = random.Random(seed), [Producer(world) for _ in range(3)]  # noqa: S311 - dice
    for n in range(60):
        step = dice.choice(["insert", "insert", "insert", "fan out", "fan out", "end", "begin"])
        if step == "insert":
            dice.choice(open_ones).insert(f"event {n}")
        elif step == "fan out":
            fan_out_once(world)
        elif step == "end":
            one = open_ones.pop(dice.randrange(len(open_ones)))
            one.commit() if dice.random() < 0.8 else one.roll_back()
            one.conn.close()
        if len(open_ones) < 3 or step == "begin":
            open_ones.append(Producer(world))
            open_ones[-1].take_txid() if dice.random() < 0.5 else None
    for one in open_ones:
        one.commit()
    _tell_the_rest(world)

    committed = [row["title"] for row in world.rows("SELECT data ->> 'title' AS title FROM domain_events ORDER BY txid, id")]
    assert len(committed) >= 15
    assert _titles(world) == committed


SCENARIOS = [a_lower_id_that_commits_late_is_told_first, a_lower_txid_that_inserts_later_is_told_first]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.__name__)
def test_order(scenario: Callable[[World], None], world: World) -> None:
    scenario(world)


@pytest.mark.parametrize("seed", range(8))
def test_transactions_in_any_order_are_all_told_once_and_in_order(
    seed: int, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fan_out, "BATCH", 1)  # each event at a time of its own: then the inbox shows their order
    transactions_in_any_order_are_all_told_once_and_in_order(world, seed)


def without_the_horizon(patch: pytest.MonkeyPatch) -> None:
    _rewrite(patch, domain_events.read_next, READABLE, "", times=1)


def by_id_alone(patch: pytest.MonkeyPatch) -> None:
    without_the_horizon(patch)
    _rewrite(patch, domain_events.read_next, PLACE, "domain_events.id > processed.last_event_id", times=1)
    _rewrite(
        patch, domain_events.read_next, "ORDER BY domain_events.txid, domain_events.id", "ORDER BY domain_events.id", times=1
    )


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("mutation", [without_the_horizon, by_id_alone])
def test_a_reader_without_this_care_is_noticed(
    mutation: Callable[[pytest.MonkeyPatch], None],
    scenario: Callable[[World], None],
    world: World,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch:
        mutation(patch)

        with pytest.raises(AssertionError):
            scenario(world)


@pytest.mark.parametrize("mutation", [without_the_horizon, by_id_alone])
def test_a_reader_without_this_care_is_noticed_by_the_dice_too(
    mutation: Callable[[pytest.MonkeyPatch], None], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fan_out, "BATCH", 1)
    with monkeypatch.context() as patch:
        mutation(patch)

        with pytest.raises(AssertionError):
            transactions_in_any_order_are_all_told_once_and_in_order(world, seed=0)


def test_what_was_committed_before_the_open_transaction_began_is_told_at_once(world: World) -> None:
    _prepare(world)
    happen(world, thread=None, title="before", mentions=["alice"])
    wait_until_readable(world)
    late = Producer(world)
    late.insert("late")
    happen(world, thread=None, title="after", mentions=["alice"])

    made = fan_out_once(world)

    assert (_titles(world), made.look_again) == (["before"], True)
    late.commit()
    fan_out_all(world)
    assert _titles(world)[0] == "before"
    assert sorted(_titles(world)[1:]) == ["after", "late"]


def test_several_events_of_one_transaction_are_told_together_and_in_the_order_of_their_insertion(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fan_out, "BATCH", 2)
    _prepare(world)
    producer = Producer(world)
    for n in range(5):
        producer.insert(str(n), thread={"kind": "issue", "id": "1"})

    fan_out_once(world)
    assert world.inbox() == []
    producer.commit()
    fan_out_all(world)

    assert (inbox(world)["alice"]["title"], inbox(world)["alice"]["event_count"]) == ("4", 5)


def test_the_place_is_kept_within_a_transaction_of_more_events_than_a_batch(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fan_out, "BATCH", 2)
    _prepare(world)
    producer = Producer(world)
    for n in range(5):
        producer.insert(str(n))
    producer.commit()
    wait_until_readable(world)

    counts = []
    for _ in range(3):
        fan_out_once(world, batches=1)
        counts.append(len(world.inbox()))

    fan_out_all(world)
    assert (counts, len(world.inbox())) == ([2, 4, 5], 5)


def test_what_was_rolled_back_is_neither_told_nor_waited_for(world: World) -> None:
    _prepare(world)
    producer = Producer(world)
    producer.insert("never")
    producer.roll_back()
    happen(world, thread=None, title="after the gap", mentions=["alice"])

    fan_out_all(world)

    assert _titles(world) == ["after the gap"]
    assert cursor(world)["last_event_id"] == world.one("SELECT id FROM domain_events")


def test_a_transaction_that_only_reads_holds_nobody_up(world: World) -> None:
    _prepare(world)
    reader = world.connect()
    reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    reader.execute("SELECT count(*) FROM domain_events")
    happen(world, title="told", thread=None, mentions=["alice"])

    fan_out_all(world)

    assert _titles(world) == ["told"]
