"""To whom the database tells what, and that it tells it once: modes, wishes, repetitions, and all or nothing."""

from datetime import timedelta
from threading import Thread
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.cancelling import cancel
from tests.claiming import claim
from tests.crash.waiting import wait_until
from tests.events import happen, route, wait_until_readable
from tests.integration.endings import put, set_an_event_aside
from tests.listening import await_letters, carry_out, fired, listen, told
from tests.ses_events import heard
from tests.world import LEASE, OTHER_TENANT, TENANT, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.feedback.apply import apply_events
from tocsin.foundation import notices
from tocsin.outbox.dispatch import fan_out_waiting
from tocsin.store import routes
from tocsin.store.flow.bury import bury
from tocsin.store.flow.settle import settle
from tocsin.store.rows import Buried, Settlement

TRANSIENT = Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "later")
PUBLISHED = "notification.published"
WAITS = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE usename = 'tocsin_worker' AND wait_event_type = 'Lock')"


def _events(world: World, hook: Any = None) -> list[str]:
    return sorted(row["event_type"].removeprefix("notification.") for row in told(world, hook))


def _publish(world: World, **intent: Any) -> None:
    world.accept(**intent)
    carry_out(world)


def test_a_test_keys_end_is_told_only_to_hooks_that_ask_for_it(world: World) -> None:
    world.add_user()
    live, test, both = listen(world), listen(world, modes=("test",)), listen(world, modes=("live", "test"))

    _publish(world, mode="test", audience={"kind": "address", "email": "x@example.com"})
    assert ("published" in _events(world, test), _events(world, live)) == (True, [])
    assert {row["payload"]["data"]["mode"] for row in told(world)} == {"test"}
    of_tests = len(told(world, both))
    _publish(world)

    assert (_events(world, live), len(told(world, both))) == (["published"], of_tests + 1)
    assert len(told(world, test)) == of_tests


def test_a_test_keys_event_that_died_before_it_made_a_record_is_told_in_its_own_mode(world: World) -> None:
    live, test = listen(world), listen(world, modes=("test",))

    set_an_event_aside(world, "test")

    assert (_events(world, live), _events(world, test)) == ([], ["dead_lettered"])


def test_a_hook_is_told_only_what_it_asked_for(world: World) -> None:
    world.add_user("alice", email=None)
    world.add_user("bob")
    hook = listen(world, "notification.skipped", "notification.complained")

    _publish(world, audience={"kind": "users", "user_ids": ["alice", "bob"]})

    assert _events(world, hook) == ["skipped"]


def test_each_hook_is_told_by_itself_with_a_message_of_its_own(world: World) -> None:
    world.add_user()
    hooks = {listen(world), listen(world, PUBLISHED)}

    _publish(world)

    rows = told(world)
    assert {row["webhook_id"] for row in rows} == hooks
    assert len({row["message_id"] for row in rows}) == 2
    assert rows[0]["payload"] == rows[1]["payload"]


def test_two_tenants_hear_of_their_own(world: World) -> None:
    world.add_tenant()
    hooks = {tenant: listen(world, tenant=tenant) for tenant in (TENANT, OTHER_TENANT)}
    for tenant in hooks:
        world.add_user(tenant=tenant)
        world.email.answers.append(TRANSIENT)
        asked = world.accept(tenant=tenant)
        carry_out(world)
        cancel(world.app, tenant, asked.notification_id)  # as the application, which sees one tenant

    for tenant, hook in hooks.items():
        (row,) = told(world, hook)
        assert (row["tenant_id"], row["work_tenant_id"], row["event_type"]) == (tenant, tenant, "notification.cancelled")


def test_what_is_told_takes_trace_and_depth_along(world: World) -> None:
    world.add_user()
    listen(world)
    world.accept()
    world.admin.execute("UPDATE records SET trace_id = 'abc', trigger_depth = 3")

    carry_out(world)

    (row,) = told(world)
    assert (row["trace_id"], row["trigger_depth"]) == ("abc", 3)


def test_a_repeated_provider_event_is_told_once(world: World) -> None:
    world.add_user()
    hook = listen(world)
    _publish(world)
    (attempt,) = world.attempts()

    for _ in range(2):
        apply_events(world.worker, [heard("delivery", attempt), heard("delivery", attempt)])
    apply_events(world.worker, [heard("hard bounce", attempt), heard("complaint", attempt)])
    apply_events(world.worker, [heard("hard bounce", attempt, message_id="m-9")])

    assert _events(world, hook) == ["complained", "delivered", "published"]


def test_a_second_cancel_is_told_once(world: World) -> None:
    world.add_user()
    listen(world)
    world.email.answers.append(TRANSIENT)
    asked = world.accept()
    carry_out(world)

    for _ in range(2):
        cancel(world.app, TENANT, asked.notification_id)

    assert _events(world) == ["cancelled"]


def test_whoever_lost_the_lease_tells_nothing(world: World) -> None:
    world.add_user()
    listen(world)
    world.email.answers.append(TRANSIENT)
    world.accept()
    carry_out(world)
    world.pass_time(timedelta(minutes=1))
    late = uuid4()
    (claimed,) = claim(world.worker, world.due(), token=late)
    carry_out(world, LEASE + timedelta(seconds=1))
    assert _events(world) == ["published"]

    settle(world.worker, [Settlement(claimed.id, "skipped", "too late")], lease_token=late)
    bury(world.worker, [Buried(claimed.id, "poison", "too late", "")], lease_token=late)

    assert _events(world) == ["published"]


def test_a_plan_that_is_made_again_tells_only_of_what_it_adds(world: World) -> None:
    """As after a restore: the routes are there, and so is the plan."""
    world.add_user("alice", email=None)
    listen(world)
    asked = world.accept(channels=["email", "in_app"])
    carry_out(world)
    before = _events(world)
    put(world, "plan", "plan")
    world.admin.execute("UPDATE outbox SET notification_id = %s WHERE source_kind = 'plan'", [asked.notification_id])

    carry_out(world)

    assert (_events(world), before) == (["published", "skipped"], ["published", "skipped"])


def test_an_event_that_is_fanned_out_again_tells_nothing_again(world: World) -> None:
    world.add_user("alice", email=None)
    listen(world)
    route(world, rules={"mention": ["email"]})
    happen(world, title="Look", mentions=["alice"])
    for _ in range(2):
        wait_until_readable(world)
        fan_out_waiting(world.worker, world.worker_policy())
        world.admin.execute("UPDATE domain_events_processed SET last_event_id = 0, last_txid = '0'")

    assert _events(world) == ["skipped"]


def test_what_is_undone_was_not_told(world: World) -> None:
    world.add_user()
    listen(world)
    await_letters(world)
    _publish(world)
    (attempt,) = world.attempts()
    before = (told(world), world.due())

    with world.worker.transaction(force_rollback=True):
        routes.raise_feedback(world.worker, [(attempt["notification_id"], attempt["route_id"], "complained")])
        assert world.worker.execute("SELECT count(*) FROM webhook_deliveries").fetchone() == (len(before[0]) + 1,)

    assert ((told(world), world.due()), fired(world)) == (before, [])


def test_what_cannot_be_told_does_not_happen(breakable_world: World) -> None:
    """Else somebody would wait for an end that was never told."""
    world = breakable_world
    world.add_user()
    listen(world)
    world.accept()
    world.admin.execute("ALTER TABLE webhook_deliveries ADD CONSTRAINT none CHECK (false)")

    with pytest.raises(psycopg.errors.CheckViolation):
        carry_out(world)

    assert (world.route()["status"], told(world)) == ("pending", [])


def test_a_hook_that_is_removed_at_that_moment_undoes_nothing(world: World) -> None:
    """Its foreign key would, after the provider has taken the message."""
    world.add_user()
    hook = listen(world)
    world.accept()
    remover, watcher = world.connect("postgres"), world.connect("postgres")
    told_meanwhile = Thread(target=carry_out, args=[world])

    with remover.transaction():
        remover.execute("DELETE FROM webhooks WHERE id = %s", [hook])
        told_meanwhile.start()
        wait_until(lambda: watcher.execute(WAITS).fetchone() == (True,))
    told_meanwhile.join()

    assert (world.route()["status"], told(world), world.attempts()[0]["outcome"]) == ("published", [], "accepted")


def test_what_was_told_is_nudged_at_once(world: World) -> None:
    world.add_user()
    listen(world)

    _publish(world)

    (row,) = told(world)
    assert [nudge.ids for nudge in world.nudges() if nudge.queue == "webhook"] == [[row["id"]]]
    assert notices.heard(world.worker) == []


def test_a_dead_letter_trigger_fires_for_the_letters_that_its_filters_name(world: World) -> None:
    handler, other = uuid4(), uuid4()
    filters: list[dict[str, Any]] = [
        {},
        {"source_filter": "trigger"},
        {"trigger_id_filter": handler},
        {"script_id_filter": other},
        {"source_filter": "trigger", "trigger_id_filter": handler, "script_id_filter": other},
    ]
    matching = {await_letters(world, **one) for one in filters}
    for mismatch in ({"source_filter": "plan"}, {"trigger_id_filter": other}, {"script_id_filter": handler}):
        await_letters(world, **mismatch)
        await_letters(world, **(filters[-1] | mismatch))

    letter = _letter(world, "trigger", trigger_id=handler, handler_id=other)

    assert fired(world) == sorted((one, letter) for one in matching)


def test_a_letter_of_no_trigger_matches_no_filter_on_one(world: World) -> None:
    await_letters(world, trigger_id_filter=uuid4())
    await_letters(world, script_id_filter=uuid4())

    _letter(world, "plan")

    assert fired(world) == []


def _letter(world: World, kind: str, **columns: Any) -> Any:
    row = {"trigger_id": None, "handler_id": None, "payload": Jsonb({}), "kind": kind, "tenant": TENANT, "id": uuid4()} | columns
    world.worker.execute(
        """
        INSERT INTO dead_letters (id, tenant_id, source_kind, outbox_id, queue, payload, final_attempt_count, max_attempts,
                                  failure_classification, failure_message, created_at, trigger_id, handler_id)
        VALUES (%(id)s, %(tenant)s, %(kind)s, %(id)s, 'plan', %(payload)s, 1, 1, 'x', 'x', tocsin_now(), %(trigger_id)s,
                %(handler_id)s)
        """,
        row,
    )
    return row["id"]
