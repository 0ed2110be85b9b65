"""An intent for everyone: planned page by page, resumable, each person once, one inbox row for all."""

from datetime import timedelta
from uuid import uuid4

import pytest

from tests.claiming import claim_plans
from tests.world import LEASE, OTHER_TENANT, TENANT, World
from tocsin.audience import plan
from tocsin.outbox.dispatch import dispatch
from tocsin.store.flow import plan as statements
from tocsin.store.rows import Plan, Planned

EVERYONE = {"kind": "tenant"}


def _populate(world: World, count: int) -> None:
    world.admin.execute(
        """INSERT INTO users (id, tenant_id, external_id, email)
           SELECT tocsin_uuid7(), (SELECT id FROM tenants ORDER BY id LIMIT 1), 'user-' || n, 'user-' || n || '@example.com'
           FROM generate_series(1, %s) AS n""",
        [count],
    )


def _plan_page(world: World, *, page_size: int) -> Planned:
    """One page, as a worker does it: claim, plan, nothing else."""
    token = uuid4()
    (claimed,) = claim_plans(world.worker, world.due(), token=token)
    words = [{"locale": "default", "title": "title", "message": "message"}]
    planned = Plan(claimed.work.id, plan.channels_of(claimed.record), words)
    return statements.plan(world.worker, [planned], lease_token=token, page_size=page_size)


def test_two_thousand_five_hundred_users_are_planned_in_three_pages_that_survive_a_crash_in_between(world: World) -> None:
    _populate(world, 2_500)
    world.accept(audience=EVERYONE, channels=["email"])

    pages = []
    for _ in range(3):
        planned = _plan_page(world, page_size=1_000)  # the worker ends here each time; another one goes on
        pages.append((len(planned.deliveries), len(planned.unfinished)))
        world.admin.execute("DELETE FROM outbox WHERE source_kind = 'deliver'")

    assert pages == [(1_000, 1), (1_000, 1), (500, 0)]
    assert world.one("SELECT count(*) = 2500 AND count(DISTINCT user_id) = 2500 FROM routes")
    assert world.one("SELECT bool_and(status = 'pending' AND resolved_email <> '') FROM routes")
    assert world.count("outbox") == 0


def test_a_page_that_is_exactly_full_is_followed_by_an_empty_one_that_ends_the_plan(world: World) -> None:
    _populate(world, 4)
    world.accept(audience=EVERYONE, channels=["email"])

    _plan_page(world, page_size=4)
    world.admin.execute("DELETE FROM outbox WHERE source_kind = 'deliver'")
    last = _plan_page(world, page_size=4)

    assert (last.deliveries, last.unfinished, world.count("outbox")) == ([], [], 0)
    assert len(world.routes()) == 4


def test_a_plan_whose_lease_was_lost_writes_nothing_and_a_second_run_makes_no_duplicates(world: World) -> None:
    _populate(world, 10)
    world.accept(audience=EVERYONE, channels=["email", "in_app"])
    stale = uuid4()
    (claimed,) = claim_plans(world.worker, world.due(), token=stale)
    world.pass_time(LEASE + timedelta(seconds=1))
    world.dispatch(world.connect())  # another worker takes the plan over and finishes it

    late = plan.plan(world.worker, [claimed], lease_token=stale)

    assert (late.deliveries, late.unfinished) == ([], [])
    world.dispatch()
    assert len(world.routes()) == 11
    assert len(world.inbox()) == 1
    assert len(world.email.accepted) == 10


def test_a_page_planned_twice_makes_no_second_route_and_no_second_inbox_event(world: World) -> None:
    world.add_user()
    asked = world.accept(audience=EVERYONE, channels=["email", "in_app"], thread={"kind": "news", "id": "1"})
    world.dispatch()
    world.admin.execute(
        """INSERT INTO outbox (id, tenant_id, source_kind, notification_id, due_at, max_attempts, retry_backoff, retry_base_ms)
           SELECT notification_id, tenant_id, 'plan', notification_id, tocsin_now(), 5, 'linear', 1 FROM records
           WHERE notification_id = %s""",
        [asked.notification_id],
    )

    world.dispatch()

    assert (len(world.routes()), len(world.email.accepted)) == (2, 1)
    assert [row["event_count"] for row in world.inbox()] == [1]


def test_users_who_join_while_the_plan_is_under_way_are_reached_once_or_not_at_all(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "PAGE_SIZE", 2)
    for n in range(3):
        world.add_user(f"early-{n}")
    world.accept(audience=EVERYONE, channels=["email"])
    world.dispatch()
    world.add_user("late")

    for _ in range(3):
        world.dispatch()

    addresses = [message.email for message in world.email.accepted]
    assert len(addresses) == len(set(addresses)) == 4


def test_the_next_page_is_nudged_so_that_it_follows_at_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "PAGE_SIZE", 2)
    for n in range(3):
        world.add_user(f"user-{n}")
    asked = world.accept(audience=EVERYONE, channels=["email"])
    assert world.work_queue is not None
    world.work_queue.clear()

    dispatch(world.worker, [asked.notification_id], world.worker_policy())

    assert [asked.notification_id] in [nudge.ids for nudge in world.nudges()]


def test_a_page_of_many_deliveries_is_nudged_for_other_workers(world: World) -> None:
    _populate(world, 450)
    asked = world.accept(audience=EVERYONE, channels=["email"])
    assert world.work_queue is not None
    world.work_queue.clear()

    dispatch(world.worker, [asked.notification_id], world.worker_policy())

    nudged = [one for nudge in world.nudges() for one in nudge.ids]
    assert (len(nudged), world.email.calls) == (400, 0), "eight nudges: whoever begins goes on with the rest"
    assert set(nudged) < set(world.due())
    assert {(nudge.queue, nudge.group) for nudge in world.nudges()} == {("email", str(TENANT))}


def test_everyone_shares_one_inbox_row(world: World) -> None:
    for n in range(3):
        world.add_user(f"user-{n}")
    world.accept(audience=EVERYONE, channels=["in_app"])

    world.dispatch()

    (row,), route = world.inbox(), world.route()
    assert row["user_id"] is None
    assert (route["recipient_ref"], route["status"], route["provider"]) == ("tenant", "published", "inbox")


def test_tenant_wide_rows_of_one_thread_fold_too(world: World) -> None:
    for _ in range(2):
        world.accept(audience=EVERYONE, channels=["in_app"], thread={"kind": "news", "id": "1"})
    world.dispatch()
    world.accept(audience=EVERYONE, channels=["in_app"], thread={"kind": "news", "id": "1"})
    world.dispatch()

    assert [row["event_count"] for row in world.inbox()] == [3]


def test_a_tenant_without_users_has_a_skipped_route_for_each_channel_that_says_so(world: World) -> None:
    world.accept(audience=EVERYONE, channels=["email", "sms"])

    world.dispatch()

    assert {(route["recipient_ref"], route["status"], route["reason"]) for route in world.routes()} == {
        ("tenant", "skipped", "no_recipients")
    }
    assert world.count("outbox") == 0


def test_everyone_means_everyone_of_this_tenant(world: World) -> None:
    world.add_tenant()
    world.add_user("ours")
    world.add_user("theirs", tenant=OTHER_TENANT)
    world.accept(audience=EVERYONE, channels=["email"])

    world.dispatch()

    assert [message.email for message in world.email.accepted] == ["ours@example.com"]
