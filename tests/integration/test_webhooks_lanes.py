"""One slow or dead endpoint delays nobody: calls under way, what is put off, and the circuit breaker of each endpoint."""

import threading
from collections import Counter
from datetime import timedelta
from typing import Any
from uuid import UUID

from devstack.post_office.letters import Silence
from tests.crash.desk import Crew
from tests.crash.waiting import wait_until
from tests.webhooks import (
    Gate,
    Receiver,
    add_hook,
    call_hooks,
    deliveries,
    nudges_within,
    receiving,
    status,
    webhook_worker,
)
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.foundation.calls import MOST_CALLS, MOST_PER_ENDPOINT
from tocsin.outbox.sweep import sweep
from tocsin.webhooks.endpoints import BREAK, BREAKS_AFTER, LONGEST_BREAK

MANY = 500


def enqueue(world: World, hook_id: UUID, count: int, *, tenant: UUID = TENANT) -> None:
    """So many deliveries that are due, as the database would have written them."""
    world.admin.execute(
        """WITH delivery AS (
               INSERT INTO webhook_deliveries (id, tenant_id, webhook_id, event_type, payload, message_id, next_retry_at)
               SELECT tocsin_uuid7(), %(tenant)s, %(hook)s, 'notification.published', '{"type": "x"}', tocsin_uuid7(),
                      tocsin_now()
               FROM generate_series(1, %(count)s) RETURNING id
           )
           INSERT INTO outbox (id, tenant_id, source_kind, queue, due_at, max_attempts, retry_backoff, retry_base_ms)
           SELECT id, %(tenant)s, 'webhook', 'webhook', tocsin_now(), 10, 'exponential', 5000 FROM delivery""",
        {"tenant": tenant, "hook": hook_id, "count": count},
    )


def lane(world: World) -> dict[str, Any]:
    (row,) = world.rows("SELECT *, resume_at - tocsin_now() AS rests FROM lanes")
    return row


def break_lane(world: World, receiver: Receiver) -> UUID:
    """A hook whose endpoint has just failed so often that it rests."""
    hook = add_hook(world, receiver.url)
    receiver.always = status(500)
    enqueue(world, hook.id, BREAKS_AFTER)
    call_hooks(world)
    assert lane(world)["state"] == "broken"
    return hook.id


def test_while_one_endpoint_hangs_with_hundreds_waiting_others_are_told_at_once(world: World, receiver: Receiver) -> None:
    """Another hook of the same tenant, whose events come after five hundred, and another tenant's: both while it hangs."""
    world.add_tenant()
    gate, crew = Gate(), Crew()
    receiver.always = gate
    hanging = add_hook(world, receiver.url)
    enqueue(world, hanging.id, MANY)
    with receiving() as other, receiving() as stranger:
        ours, theirs = add_hook(world, other.url), add_hook(world, stranger.url, tenant=OTHER_TENANT)
        enqueue(world, ours.id, 10)
        enqueue(world, theirs.id, 10, tenant=OTHER_TENANT)

        crew.start(lambda: call_hooks(world, conn=world.connect()))
        wait_until(lambda: len(other.heard) == 10 and len(stranger.heard) == 10 and gate.held == MOST_PER_ENDPOINT)
        enqueue(world, ours.id, 10)  # and what happens meanwhile
        wait_until(lambda: len(other.heard) == 20)

        assert (gate.held, gate.most, len(receiver.heard)) == (MOST_PER_ENDPOINT, MOST_PER_ENDPOINT, MOST_PER_ENDPOINT)
        gate.open()
        crew.join()


def test_what_has_no_room_uses_no_attempt_and_is_due_one_after_the_other(world: World, receiver: Receiver) -> None:
    gate, crew = Gate(then=Silence.DROP), Crew()
    receiver.always = gate
    hook = add_hook(world, receiver.url)
    enqueue(world, hook.id, MANY)

    crew.start(lambda: call_hooks(world, conn=world.connect()))
    wait_until(lambda: world.one("SELECT count(*) FROM outbox WHERE waits_for IS NOT NULL") == MANY - MOST_PER_ENDPOINT)
    rows = world.rows(
        "SELECT due_at - tocsin_now() AS wait, attempt_count, claim_count, lease_token FROM outbox WHERE waits_for IS NOT NULL"
    )
    gate.open()
    crew.join()

    assert {(row["attempt_count"], row["claim_count"], row["lease_token"]) for row in rows} == {(0, 0, None)}
    waits = sorted(row["wait"] for row in rows)
    assert waits[-1] - waits[0] >= timedelta(seconds=45), "they come back together"
    per_second = Counter(int(wait.total_seconds()) for wait in waits)
    assert max(per_second.values()) <= 2 * 11
    assert {row["attempt_count"] for row in deliveries(world)} == {0, 1}


def test_a_backlog_is_told_as_fast_as_its_endpoint_answers(world: World, receiver: Receiver) -> None:
    """Answers bring forward what was put off: nobody waits for its turn by the clock."""
    hook = add_hook(world, receiver.url)
    enqueue(world, hook.id, MANY)

    call_hooks(world)

    assert (len(receiver.heard), len(set(receiver.ids)), world.count("outbox")) == (MANY, MANY, 0)
    assert {row["status"] for row in deliveries(world)} == {"delivered"}


def test_a_worker_makes_no_more_calls_than_it_may_and_one_tenant_cannot_have_them_all(world: World, receiver: Receiver) -> None:
    world.add_tenant()
    gate, crew = Gate(), Crew()
    receiver.always = gate
    for _ in range(10):
        enqueue(world, add_hook(world, receiver.url).id, 5)
    with receiving() as stranger:
        theirs = add_hook(world, stranger.url, tenant=OTHER_TENANT)
        crew.start(lambda: call_hooks(world, conn=world.connect()))
        wait_until(lambda: gate.held >= 24)
        enqueue(world, theirs.id, 8, tenant=OTHER_TENANT)

        wait_until(lambda: len(stranger.heard) == 8)

        assert gate.most == 24 < MOST_CALLS
        gate.open()
        crew.join()


def test_an_endpoint_that_fails_five_times_in_a_row_rests_and_its_tenant_is_told_once(world: World, receiver: Receiver) -> None:
    hook_id = break_lane(world, receiver)

    rest = lane(world)
    assert (rest["lane"], rest["failures"]) == (f"webhook:{hook_id}", BREAKS_AFTER)
    assert BREAK - timedelta(seconds=2) <= rest["rests"] <= BREAK
    (event,) = world.system_events()
    assert (event["event_type"], event["tenant_id"], event["subject"]) == ("breaker_opened", TENANT, f"webhook:{hook_id}")

    enqueue(world, hook_id, 3)
    call_hooks(world)
    assert len(receiver.heard) == BREAKS_AFTER, "it was called while it rests"
    waiting = world.rows("SELECT due_at - tocsin_now() AS wait, attempt_count FROM outbox WHERE waits_for IS NOT NULL")
    assert len(waiting) >= 3
    assert all(row["wait"] > BREAK - timedelta(seconds=3) for row in waiting)


def test_when_its_rest_is_over_one_call_tries_it_and_a_success_brings_the_others(world: World, receiver: Receiver) -> None:
    hook_id = break_lane(world, receiver)
    heard = len(receiver.heard)
    enqueue(world, hook_id, 100)
    call_hooks(world)
    world.pass_time(BREAK + timedelta(seconds=20))
    gate, crew = Gate(), Crew()
    receiver.always = gate

    crew.start(lambda: call_hooks(world, conn=world.connect()))
    wait_until(lambda: gate.held == 1)
    call_hooks(world)  # a second worker meanwhile
    assert (gate.most, len(receiver.heard)) == (1, heard + 1)
    gate.open()
    crew.join()

    assert world.count("lanes") == 0
    assert [event["is_resolved"] for event in world.system_events()] == [True]
    assert len(receiver.heard) - heard >= 100
    pending = [row for row in deliveries(world) if row["status"] != "delivered"]
    assert all(row["attempt_count"] == 1 for row in pending), "only what failed before waits, for its own time"


def test_when_the_try_fails_the_rest_is_twice_as_long_up_to_ten_minutes(world: World, receiver: Receiver) -> None:
    hook_id = break_lane(world, receiver)
    enqueue(world, hook_id, 20)
    rests = []

    for _ in range(6):
        world.pass_time(lane(world)["rests"] + timedelta(seconds=3))
        heard = len(receiver.heard)
        call_hooks(world)
        assert len(receiver.heard) == heard + 1
        rests.append(round(lane(world)["rests"].total_seconds()))

    assert rests == [60, 120, 240, 480, 600, 600]
    assert timedelta(minutes=10) == LONGEST_BREAK
    assert len(world.system_events()) == 1


def test_an_endpoint_that_timed_out_gets_one_call_at_a_time(world: World, receiver: Receiver) -> None:
    hook = add_hook(world, receiver.url, timeout_seconds=1)
    receiver.answers.append(Silence.HANG)
    enqueue(world, hook.id, 1)
    call_hooks(world)
    assert (lane(world)["state"], lane(world)["timed_out"]) == ("failing", True)
    world.admin.execute("UPDATE webhooks SET timeout_seconds = 15")  # what comes now takes as long as the test
    gate, crew = Gate(), Crew()
    receiver.always = gate
    enqueue(world, hook.id, 20)

    crew.start(lambda: call_hooks(world, conn=world.connect()))
    wait_until(lambda: world.one("SELECT count(*) FROM outbox WHERE waits_for IS NOT NULL") == 19)
    wait_until(lambda: gate.held > 0)
    assert gate.held == 1
    gate.open()
    crew.join()

    assert world.count("lanes") == 0


def test_the_sweep_brings_forward_what_waits_for_an_endpoint_that_is_free(world: World, receiver: Receiver) -> None:
    """Whoever put it off is gone: the next sweep makes it due, and one nudge starts a worker."""
    hook = add_hook(world, receiver.url)
    enqueue(world, hook.id, 20)
    world.admin.execute("UPDATE outbox SET waits_for = 'webhook:' || %s, due_at = tocsin_now() + interval '1 hour'", [hook.id])
    assert world.work_queue is not None
    world.work_queue.clear()

    sweep(world.worker)

    assert {nudge.queue for nudge in world.nudges()} == {"webhook"}
    call_hooks(world)
    assert len(receiver.heard) == 20


def test_whoever_ends_with_work_put_off_leaves_a_nudge_for_it(world: World, receiver: Receiver) -> None:
    hook_id = break_lane(world, receiver)
    assert world.work_queue is not None
    world.work_queue.clear()
    enqueue(world, hook_id, 100)

    call_hooks(world)

    assert [29, 30, 31].count(nudges_within(world, 900)[0]) == 1
    assert len(nudges_within(world, 900)) < 10, "one nudge for an endpoint is enough"


def test_a_worker_whose_time_is_over_starts_no_call(world: World, receiver: Receiver) -> None:
    hook = add_hook(world, receiver.url)
    enqueue(world, hook.id, 5)

    call_hooks(world, webhook_worker(remaining=timedelta(seconds=19)))

    assert (receiver.heard, world.count("outbox")) == ([], 5)
    assert world.one("SELECT max(claim_count) FROM outbox") == 0


def test_providers_lanes_are_read_without_the_endpoints(world: World, receiver: Receiver) -> None:
    from tocsin.store import lanes

    break_lane(world, receiver)

    assert lanes.all_troubled(world.worker).fetchall() == []


def test_two_workers_settle_the_same_hooks_without_waiting_in_a_ring(world: World, receiver: Receiver) -> None:
    hooks = [add_hook(world, receiver.url).id for _ in range(6)]
    for hook_id in hooks:
        enqueue(world, hook_id, 40)
    crew = Crew()
    together = threading.Barrier(2)

    def work() -> None:
        conn = world.connect()
        together.wait(10)
        call_hooks(world, conn=conn)

    for _ in range(2):
        crew.start(work)
    crew.join()
    call_hooks(world)

    assert (world.count("outbox"), len(set(receiver.ids))) == (0, 240)
