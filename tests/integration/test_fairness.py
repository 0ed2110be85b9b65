"""A worker of a queue goes on with whatever is due there: tenants take turns, and within a tenant what is urgent comes first."""

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tests.crash.desk import Crew
from tests.events import happen, outcomes, route, wait_until_readable
from tests.plans import rows_of, walk
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.channels.outcomes import Accepted, Outcome
from tocsin.channels.ways import Message
from tocsin.foundation import work_queue
from tocsin.foundation.due import Due
from tocsin.outbox import dispatch as dispatching
from tocsin.outbox.dispatch import dispatch
from tocsin.outbox.worker import Worker
from tocsin.store import outbox
from tocsin.store.outbox import FIRST_TENANT
from tocsin.store.rows import Choice


@pytest.fixture
def two(world: World) -> World:
    """Two tenants, each with an alice."""
    world.add_tenant()
    for tenant in (TENANT, OTHER_TENANT):
        world.add_user(tenant=tenant, phone="+14155550100")
    return world


def _worker(world: World, queue: str, **policy: Any) -> Worker:
    return replace(world.worker_policy(**policy), queue=queue)


def _serve(world: World, queue: str, *ids: UUID, **policy: Any) -> int:
    return dispatch(world.worker, list(ids), _worker(world, queue, **policy))


def _choose(world: World, queue: str = "plan", limit: int = 10, **options: Any) -> Choice:
    return outbox.choice(queue, outbox.choose_due(world.worker, queue, limit=limit, **options))


def _flood(world: World, count: int, tenant: UUID = TENANT, **intent: Any) -> list[UUID]:
    asked = [world.asked(**intent) for _ in range(count)]
    world.try_accept(*asked, tenant=tenant)
    return [one.notification_id for one in asked]


def _plan(world: World) -> None:
    _serve(world, "plan")


def test_a_planner_leaves_deliveries_to_the_workers_of_their_channels(two: World) -> None:
    two.accept(channels=["email", "sms"])
    assert two.work_queue is not None
    two.work_queue.clear()

    _plan(two)

    by_queue = {nudge.queue: nudge for nudge in two.nudges()}
    assert (two.email.calls, two.sms.calls, set(by_queue)) == (0, 0, {"email", "sms"})
    rows = two.rows("SELECT id, queue, priority FROM outbox ORDER BY queue")
    assert [(row["queue"], row["priority"], [row["id"]]) for row in rows] == [
        (queue, 3, by_queue[queue].ids) for queue in ("email", "sms")
    ]


def test_a_worker_of_one_channel_sends_nothing_of_another(two: World) -> None:
    two.accept(channels=["email", "sms"])
    _plan(two)

    assert _serve(two, "sms") == 1

    assert (two.sms.calls, two.email.calls) == (1, 0)
    assert [(row["channel"], row["status"]) for row in two.routes()] == [("email", "pending"), ("sms", "published")]


def test_a_nudge_never_mixes_tenants_and_names_the_tenant_as_its_group(two: World) -> None:
    _flood(two, 3)
    _flood(two, 2, OTHER_TENANT)
    assert two.work_queue is not None
    two.work_queue.clear()

    _plan(two)

    owner = {row["id"]: row["tenant_id"] for row in two.rows("SELECT id, tenant_id FROM outbox")}
    assert sorted((nudge.group, len(nudge.ids)) for nudge in two.nudges()) == [(str(TENANT), 3), (str(OTHER_TENANT), 2)]
    assert all(str(owner[one]) == nudge.group for nudge in two.nudges() for one in nudge.ids)


def test_a_worker_that_has_done_what_it_was_hinted_goes_on_with_what_is_due(two: World) -> None:
    _flood(two, 30)
    _plan(two)
    first = two.due()[0]

    assert _serve(two, "email", first, batch_size=10) == 30

    assert (len(two.email.accepted), two.count("outbox")) == (30, 0)


def test_a_worker_without_a_nudge_drains_its_queue(two: World) -> None:
    _flood(two, 25)

    assert _serve(two, "plan", batch_size=10) == 25

    assert two.one("SELECT count(*) FROM outbox WHERE queue = 'plan'") == 0


def test_what_is_not_due_waits(two: World) -> None:
    two.accept(send_at=(datetime.now(UTC) + timedelta(hours=1)).isoformat())

    assert _serve(two, "plan") == 0

    two.pass_time(timedelta(hours=1, seconds=1))
    assert _serve(two, "plan") == 1


def test_tenants_take_turns_however_much_one_of_them_has(two: World) -> None:
    _flood(two, 200)
    two.pass_time(timedelta(minutes=1))
    theirs = _flood(two, 3, OTHER_TENANT)

    choice = _choose(two, limit=10)

    assert [one.tenant_id for one in choice.due[:6]] == [TENANT, OTHER_TENANT] * 3
    assert {one.id for one in choice.due if one.tenant_id == OTHER_TENANT} == set(theirs)
    assert len(choice.due) == 10


def test_a_newcomer_is_served_in_the_next_round_of_a_worker_that_drains_a_flood(two: World) -> None:
    _flood(two, 60)
    _plan(two)
    order: list[UUID] = []

    def send(message: Message) -> Outcome:
        if len(order) == 5:
            _late(two)
        order.append(UUID(message.tags["tocsin_route"].partition("_")[0]))
        return Accepted("m")

    two.email.answers.extend([send] * 61)
    _serve(two, "email", batch_size=10, concurrency=1)

    theirs = two.one("SELECT notification_id FROM records WHERE tenant_id = %(tenant)s", tenant=OTHER_TENANT)
    assert order.index(theirs) < 30, "the round under way, the one already looked up, and then it is the newcomer's turn"


def _late(world: World) -> None:
    """A newcomer's email becomes due while a worker is busy."""
    world.accept(tenant=OTHER_TENANT)
    dispatch(world.connect(), [], _worker(world, "plan"))


@pytest.mark.parametrize("urgent", ["critical", "high"])
def test_what_is_urgent_comes_first_within_a_tenant(urgent: str, two: World) -> None:
    _flood(two, 20)
    two.pass_time(timedelta(minutes=1))
    first = two.accept(priority=urgent).notification_id
    _flood(two, 1, priority="low")

    assert _choose(two, limit=5).due[0].id == first


def test_the_order_of_priorities_holds_for_plans_and_their_deliveries(two: World) -> None:
    asked = {priority: two.accept(priority=priority) for priority in ("low", "normal", "high", "critical")}
    expected = [asked[priority].notification_id for priority in ("critical", "high", "normal", "low")]

    assert [one.id for one in _choose(two).due] == expected
    _plan(two)

    notification = {row["id"]: row["notification_id"] for row in two.rows("SELECT id, notification_id FROM outbox")}
    assert [notification[one.id] for one in _choose(two, "email").due] == expected


def test_low_waits_ten_minutes_at_most_for_what_comes_later(two: World) -> None:
    low = two.accept(priority="low").notification_id
    two.pass_time(timedelta(minutes=9, seconds=59))
    normal = two.accept().notification_id
    assert [one.id for one in _choose(two).due] == [normal, low]

    two.pass_time(timedelta(seconds=2))
    later = two.accept().notification_id

    assert [one.id for one in _choose(two).due] == [normal, low, later]


def test_high_passes_what_was_due_five_minutes_before_it_and_no_more(two: World) -> None:
    old = two.accept().notification_id
    two.pass_time(timedelta(minutes=4))
    newer = two.accept().notification_id
    two.pass_time(timedelta(minutes=1, seconds=1))

    high = two.accept(priority="high").notification_id

    assert [one.id for one in _choose(two).due] == [old, high, newer]


def test_critical_passes_everything(two: World) -> None:
    _flood(two, 3)
    two.pass_time(timedelta(days=3))

    critical = two.accept(priority="critical").notification_id

    assert _choose(two).due[0].id == critical


def test_the_priority_of_one_tenant_means_nothing_to_another(two: World) -> None:
    _flood(two, 50, priority="critical")
    theirs = _flood(two, 1, OTHER_TENANT, priority="low")

    assert theirs[0] in [one.id for one in _choose(two, limit=2).due]


def test_what_is_leased_is_nobody_elses_choice(two: World) -> None:
    _flood(two, 2)
    held = two.due()[0]
    two.admin.execute("UPDATE outbox SET leased_until = tocsin_now() + interval '1 minute' WHERE id = %s", [held])

    assert held not in [one.id for one in _choose(two).due]


def test_many_tenants_are_walked_in_parts_and_all_are_served(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    tenants = [world.add_tenant(UUID(int=100 + n), f"tenant {n}") for n in range(7)]
    for tenant in tenants:
        world.add_user(tenant=tenant)
        world.accept(tenant=tenant)
    parts = [_choose(world, most_tenants=3)]
    while parts[-1].stopped_at:
        parts.append(_choose(world, most_tenants=3, after=parts[-1].stopped_at))
    assert [len(part.due) for part in parts] == [3, 3, 1]

    choose = outbox.choose_due
    monkeypatch.setattr(outbox, "choose_due", lambda *args, **options: choose(*args, **{**options, "most_tenants": 3}))

    assert _serve(world, "plan") == 7


def test_tenants_whose_work_is_not_due_yet_hide_nobody_behind_them(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    for n in range(8):
        tenant = world.add_tenant(UUID(int=100 + n), f"tenant {n}")
        world.add_user(tenant=tenant)
        world.accept(tenant=tenant, send_at=None if n == 7 else later)
    choose = outbox.choose_due
    monkeypatch.setattr(outbox, "choose_due", lambda *args, **options: choose(*args, **{**options, "most_tenants": 3}))

    assert _serve(world, "plan") == 1
    assert _serve(world, "plan") == 0, "a walk over all of them that finds nothing ends"


def test_a_worker_whose_time_is_up_starts_a_successor(two: World, monkeypatch: pytest.MonkeyPatch) -> None:
    _flood(two, 300)
    _flood(two, 10, OTHER_TENANT)
    assert two.work_queue is not None
    two.work_queue.clear()
    times = iter([timedelta(seconds=30)] * 2)
    worker = replace(_worker(two, "plan", batch_size=20), remaining=lambda: next(times, timedelta(0)))

    dispatch(two.worker, [], worker)

    (nudge,) = [nudge for nudge in two.nudges() if nudge.queue == "plan"]
    assert 0 < len(nudge.ids) <= work_queue.IDS_PER_NUDGE
    assert _serve(two, "plan", *nudge.ids) > 200


def test_two_workers_of_one_queue_do_everything_once(two: World) -> None:
    _flood(two, 90)
    _plan(two)
    crew, start = Crew(), threading.Barrier(2)
    counts: list[int] = []

    def work() -> None:
        conn = two.connect()
        start.wait(30)
        counts.append(dispatch(conn, [], _worker(two, "email", batch_size=7)))

    for _ in range(2):
        crew.start(work)
    crew.join()

    assert (sum(counts), len(two.email.accepted), two.count("outbox")) == (90, 90, 0)


def test_rows_that_somebody_holds_do_not_keep_a_worker_busy_for_ever(two: World) -> None:
    two.accept()
    other = two.connect()
    rounds = _counting(dispatching, "_take")
    with other.transaction():
        other.execute("SELECT FROM outbox FOR UPDATE")
        assert _serve(two, "plan") == 0

    assert 1 < len(rounds()) <= 3 * dispatching.MOST_EMPTY_ROUNDS


def _counting(module: Any, name: str) -> Callable[[], list[Any]]:
    calls: list[Any] = []
    original = getattr(module, name)

    def counted(*args: Any, **options: Any) -> Any:
        calls.append(args)
        return original(*args, **options)

    setattr(module, name, counted)

    def done() -> list[Any]:
        setattr(module, name, original)
        return calls

    return done


def test_events_do_not_wait_for_a_planner_to_run_out_of_plans(two: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """All workers of the queue may be busy with a backlog: whoever goes on for a second looks at the events in between."""
    monkeypatch.setattr(dispatching, "EVENTS_EVERY", -1.0)
    route(two)
    happen(two, mentions=["alice"])
    wait_until_readable(two)
    _flood(two, 3)

    _plan(two)

    assert outcomes(two) == [("notified", 1)]


def test_what_took_workers_down_is_still_claimed_alone(two: World) -> None:
    ids = _flood(two, 5)
    two.admin.execute("UPDATE outbox SET claim_count = 1 WHERE id = ANY(%s)", [ids[:2]])

    assert _serve(two, "plan") == 5


def test_an_endless_audience_is_planned_to_its_end_by_one_worker_if_it_has_the_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tocsin.audience.plan.PAGE_SIZE", 2)
    for n in range(7):
        world.add_user(f"user-{n}")
    world.accept(audience={"kind": "tenant"})

    _plan(world)

    assert (world.count("routes"), world.one("SELECT count(*) FROM outbox WHERE queue = 'plan'")) == (7, 0)


def test_many_large_plans_are_planned_in_portions_and_the_rest_is_given_back(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tocsin.audience.plan.MOST_ROUTES", 1)
    monkeypatch.setattr("tocsin.outbox.handlers.PLANNING_TIME", -1.0)
    world.add_user()
    ids = _flood(world, 4)

    dispatch(world.worker, ids, world.worker_policy())

    rows = world.rows("SELECT claim_count, lease_token FROM outbox WHERE source_kind = 'plan'")
    assert [(row["claim_count"], row["lease_token"]) for row in rows] == [(0, None)] * 3
    assert len(world.email.accepted) == 1


def test_a_round_does_what_was_chosen_in_the_order_of_the_choice(two: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever's turn it is comes first, though others' rows are older: what a slow round gives back is not always theirs."""
    monkeypatch.setattr("tocsin.audience.plan.MOST_ROUTES", 1)
    monkeypatch.setattr("tocsin.outbox.handlers.PLANNING_TIME", -1.0)
    older, newer = _flood(two, 2)
    monkeypatch.setattr(outbox, "choice", lambda queue, cursor: Choice([], stopped_at=None))

    _serve(two, "plan", newer, older)

    assert [row["notification_id"] for row in two.rows("SELECT notification_id FROM outbox WHERE queue = 'plan'")] == [older]


def test_suspects_of_one_tenant_do_not_fill_a_round(two: World) -> None:
    ids = _flood(two, 20)
    two.admin.execute("UPDATE outbox SET claim_count = 1")
    rounds = _counting(dispatching, "_round")

    assert _serve(two, "plan", *ids) == 20

    assert len(rounds()) > 20 // dispatching.MOST_SUSPECTS


def test_a_worker_without_a_queue_claims_all_suspects_it_was_asked_for(two: World) -> None:
    ids = _flood(two, 12)
    two.admin.execute("UPDATE outbox SET claim_count = 1")

    dispatch(two.worker, ids, two.worker_policy())

    assert two.one("SELECT count(*) FROM outbox WHERE source_kind = 'plan'") == 0


def test_pages_of_several_audiences_take_turns(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tocsin.audience.plan.PAGE_SIZE", 1)
    for n in range(3):
        world.add_user(f"user-{n}")
    first, second = (world.accept(audience={"kind": "tenant"}).notification_id for _ in range(2))

    for _ in range(2):
        (chosen,) = [one.id for one in _choose(world, limit=1).due]
        dispatch(world.worker, [chosen], world.worker_policy())

    planned = {
        row["notification_id"]: row["n"] for row in world.rows("SELECT notification_id, count(*) AS n FROM routes GROUP BY 1")
    }
    assert planned == {first: 1, second: 1}


def test_due_work_is_found_by_index_alone(two: World) -> None:
    """Whatever waits, leased or not due, is not read through."""
    _flood(two, 200)
    _flood(two, 300, send_at=(datetime.now(UTC) + timedelta(hours=1)).isoformat())
    two.admin.execute("ANALYZE outbox")
    two.worker.execute("SET plan_cache_mode = force_generic_plan")
    statements: list[tuple[str, Any]] = []

    class Recorder:
        def execute(self, query: str, parameters: Any) -> None:
            statements.append((query, parameters))

    outbox.choose_due(Recorder(), "plan", limit=10, after=FIRST_TENANT)  # type: ignore[arg-type]
    ((query, parameters),) = statements
    explained = two.worker.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {query}", parameters).fetchone()  # type: ignore[arg-type]

    assert explained is not None
    nodes = list(walk(explained[0][0]["Plan"]))
    read = [node for node in nodes if node.get("Relation Name") == "outbox"]
    assert {node["Node Type"] for node in read} <= {"Index Scan", "Index Only Scan"}, read
    assert not [node for node in nodes if any(key.startswith("outbox.") for key in node.get("Sort Key", []))], nodes
    assert 0 < sum(rows_of(node) for node in read) <= 30, read  # of the 500


def test_a_due_row_says_whose_it_is(two: World) -> None:
    asked = two.accept(tenant=OTHER_TENANT)

    assert outbox.find_due(two.worker, [asked.notification_id]) == [Due(asked.notification_id, "plan", OTHER_TENANT)]
