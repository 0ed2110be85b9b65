"""What somebody waits for: whatever ends the work, or puts it off, replies; who has left finds it as one abandoned execution."""

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from psycopg import Connection
from psycopg.types.json import Jsonb

from tests.cancelling import cancel
from tests.content import add_suppression
from tests.crash.staging import plan_only
from tests.crash.waiting import wait_until
from tests.providers import add_provider, deliver_by, make_data_key, ways_of
from tests.recipients import THREAD, prefer, set_clock
from tests.ses_events import heard
from tests.world import LEASE, OTHER_TENANT, TENANT, WINDOW, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.feedback.apply import apply_events
from tocsin.foundation.database import tenant_transaction
from tocsin.intake import wait
from tocsin.outbox.dispatch import dispatch
from tocsin.store import reply_inboxes

STAY = timedelta(seconds=10)
FAR = datetime(2100, 1, 1, tzinfo=UTC)  # longer than anybody stays
NIGHT = "2026-11-15T23:00:00+00:00"
TRANSIENT = Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "")
THROTTLED = Failure(FailureClass.THROTTLED, "TooManyRequests", "")
SUSPENDED = Failure(FailureClass.CONFIGURATION, "AccountSuspended", "")
PERMANENT = Failure(FailureClass.PERMANENT, "MessageRejected", "")
LOST = Failure(FailureClass.AMBIGUOUS, "ReadTimeout", "")
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Case:
    """How work comes to its outcome: what is so before it is accepted, what the intent says, and what happens after."""

    outcome: tuple[str, str]
    before: Callable[[World], object] = lambda world: None
    intent: Callable[[World], dict[str, Any]] = lambda world: {}
    then: Callable[[World, UUID], object] = lambda world, id: world.dispatch()
    calls: int = 0
    of: str = "deliver"


def answers(*outcomes: Failure) -> Callable[[World], None]:
    return lambda world: world.email.answers.extend(outcomes)


def planned_then(act: Callable[[World, UUID], object]) -> Callable[[World, UUID], None]:
    """What happens between planning and sending."""

    def then(world: World, notification_id: UUID) -> None:
        plan_only(world)
        act(world, notification_id)
        world.dispatch()

    return then


def in_doubt_then(act: Callable[[World], object]) -> Callable[[World, UUID], None]:
    def then(world: World, notification_id: UUID) -> None:
        world.dispatch()
        assert world.one("SELECT reply_to FROM outbox") == notification_id, "it is waited for"
        act(world)
        world.dispatch()

    return then


def prove(world: World) -> None:
    (attempt,) = world.attempts()
    apply_events(world.worker, [heard("send", attempt)])


def fill_the_hour(world: World) -> None:
    world.admin.execute(
        """
        INSERT INTO notification_email_log (
            tenant_id, recipient_user_id, notification_type, channel, notification_id, route_id, generation, sent_at)
        SELECT tenant_id, id, 'x', 'email', gen_random_uuid(), 'r', 1, tocsin_now()
        FROM users CROSS JOIN generate_series(1, 100)
        """
    )


def tell_the_thread(world: World) -> None:
    world.accept(thread=THREAD)
    world.dispatch()


def close_the_lane(world: World) -> None:
    world.email.answers.append(SUSPENDED)
    world.accept()
    world.dispatch()


def soon(world: World) -> dict[str, Any]:
    now: datetime = world.one("SELECT tocsin_now()")
    return {"expires_at": (now + timedelta(seconds=5)).isoformat()}


CASES = {
    "sent": Case(("published", ""), calls=1),
    "refused for good": Case(("dead_letter", "permanent"), answers(PERMANENT), calls=1),
    "a transient failure": Case(("dead_letter", "no_retry"), answers(TRANSIENT), calls=1),
    "throttled": Case(("dead_letter", "no_retry"), answers(THROTTLED), calls=1),
    "a set-up that is wrong": Case(("dead_letter", "no_retry"), answers(SUSPENDED), calls=1),
    "suppressed meanwhile": Case(("skipped", "suppressed: manual"), then=planned_then(lambda world, id: add_suppression(world))),
    "not wanted": Case(
        ("skipped", "preference: email off"), lambda world: prefer(world, world.one("SELECT id FROM users"), enabled=False)
    ),
    "expired": Case(
        ("skipped", "expired"), intent=soon, then=planned_then(lambda world, id: world.pass_time(timedelta(seconds=6)))
    ),
    "cancelled by the call": Case(("cancelled", "cancelled"), then=planned_then(lambda world, id: cancel(world.app, TENANT, id))),
    "cancelled under a lease": Case(
        ("cancelled", "cancelled"),
        then=planned_then(lambda world, id: world.admin.execute("UPDATE records SET cancelled_at = tocsin_now()")),
    ),
    "unrenderable": Case(
        ("dead_letter", "unrenderable"),
        then=planned_then(
            lambda world, id: world.admin.execute("UPDATE records SET payload_json = %s", [Jsonb({"message": "x" * 200_000})])
        ),
    ),
    "poison": Case(
        ("dead_letter", "poison"), then=planned_then(lambda world, id: world.admin.execute("UPDATE outbox SET claim_count = 3"))
    ),
    "orphaned": Case(
        ("dead_letter", "orphaned"),
        then=planned_then(lambda world, id: world.admin.execute("UPDATE outbox SET notification_id = gen_random_uuid()")),
    ),
    "in doubt and proven": Case(("published", ""), answers(LOST), then=in_doubt_then(prove), calls=1),
    "in doubt and silent": Case(
        ("dead_letter", "ambiguous"),
        answers(LOST),
        then=in_doubt_then(lambda world: world.pass_time(WINDOW + MINUTE)),
        calls=1,
    ),
    "dampened into a digest": Case(("skipped", "dampened"), tell_the_thread, lambda world: {"thread": THREAD}, calls=1),
    "quiet hours": Case(
        ("pending", "quiet_hours"), lambda world: prefer(world, world.one("SELECT id FROM users"), quiet="22:00-07:00")
    ),
    "a full hour": Case(("pending", "dampened: hourly"), fill_the_hour),
    "a closed lane": Case(("pending", "lane_stopped"), close_the_lane, calls=1),
    "nobody there at all": Case(("skipped", "no_address"), intent=lambda world: {"channels": ["push"]}, of="plan"),
    "only the inbox": Case(("published", ""), intent=lambda world: {"channels": ["in_app"]}, of="plan"),
    "a plan that is given up": Case(
        ("dead_letter", "poison"),
        then=lambda world, id: [world.admin.execute("UPDATE outbox SET claim_count = 3"), world.dispatch()],
        of="plan",
    ),
    "cancelled before it is planned": Case(
        ("cancelled", "cancelled"), then=lambda world, id: [cancel(world.app, TENANT, id), world.dispatch()], of="plan"
    ),
}


def under_way(world: World, notification_id: UUID) -> bool:
    return wait._is_under_way(world.app, TENANT, notification_id)


def carried_out(world: World, case: Case, *, is_waited_for: bool) -> UUID:
    set_clock(world, NIGHT)
    world.add_user()
    case.before(world)
    asked = world.accept(reply_within=STAY, **case.intent(world))
    assert under_way(world, asked.notification_id)
    if is_waited_for:
        world.admin.execute("UPDATE reply_inboxes SET expires_at = %s", [FAR])
    else:
        wait._leave(world.app, TENANT, asked.notification_id, FAR)
    case.then(world, asked.notification_id)
    return asked.notification_id


@pytest.mark.parametrize("name", CASES)
def test_whatever_ends_it_or_puts_it_off_replies_to_whoever_waits(world: World, name: str) -> None:
    notification_id = carried_out(world, CASES[name], is_waited_for=True)

    assert not under_way(world, notification_id)
    assert world.count("abandoned_executions") == 0
    assert world.email.calls == CASES[name].calls


@pytest.mark.parametrize("name", CASES)
def test_whoever_has_left_finds_it_as_one_abandoned_execution(world: World, name: str) -> None:
    case = CASES[name]

    notification_id = carried_out(world, case, is_waited_for=False)

    (late,) = world.rows("SELECT * FROM abandoned_executions")
    assert (late["tenant_id"], late["reply_to"], late["source_kind"]) == (TENANT, notification_id, case.of)
    status, reason = case.outcome
    if case.of == "plan" and status != "dead_letter":
        assert late["outcome"] == {status: 1}
    else:
        assert late["outcome"]["status"] == status
        assert late["outcome"]["reason"].startswith(reason)
    assert (late["outcome"].get("next_attempt_at") is not None) == (status == "pending")
    assert world.count("reply_inboxes") == 0


@pytest.mark.parametrize("name", ["quiet hours", "a full hour", "a closed lane"])
def test_what_was_put_off_is_an_ordinary_delivery_from_then_on(world: World, name: str) -> None:
    notification_id = carried_out(world, CASES[name], is_waited_for=True)
    world.pass_time(timedelta(hours=9))
    world.admin.execute("DELETE FROM lanes")
    world.admin.execute("DELETE FROM outbox WHERE notification_id <> %s", [notification_id])
    world.email.answers.append(TRANSIENT)

    for _ in range(2):
        world.dispatch()
        world.pass_time(timedelta(hours=1))

    (route,) = world.rows("SELECT * FROM routes WHERE notification_id = %(id)s", id=notification_id)
    assert (route["status"], route["attempt_count"]) == ("published", 2)
    assert world.count("abandoned_executions") == 0


def test_a_message_above_its_providers_rate_is_told_and_waits_as_usual(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    make_data_key(monkeypatch)
    world.add_user()
    config = add_provider(world, "ses", rate_limit=1)
    world.admin.execute("UPDATE provider_configs SET tokens = 0, tokens_at = tocsin_now() WHERE id = %s", [config.id])
    asked = world.accept(reply_within=STAY)
    deliver_by(world, ways_of(world, "http://127.0.0.1:1"))

    assert not under_way(world, asked.notification_id)
    assert (world.route()["status"], world.route()["reason"]) == ("pending", "provider_rate_limit")


def test_work_whose_worker_died_is_taken_up_by_the_rules_of_leases_and_ends_late(world: World) -> None:
    world.add_user()
    asked = world.accept(reply_within=STAY)
    plan_only(world)
    world.admin.execute("UPDATE outbox SET lease_token = gen_random_uuid(), leased_until = tocsin_now() + %s", [LEASE])

    assert world.dispatch() == 0
    assert under_way(world, asked.notification_id)
    wait._leave(world.app, TENANT, asked.notification_id, FAR)
    world.pass_time(LEASE + MINUTE)
    world.dispatch()

    assert (world.route()["status"], world.email.calls, world.count("abandoned_executions")) == ("published", 1, 1)


def test_each_piece_of_work_that_ends_late_is_one_row_and_what_ended_in_time_is_none(world: World) -> None:
    world.add_user(phone="+4915112345678")
    asked = world.accept(channels=["email", "sms", "in_app"], reply_within=STAY)
    plan_only(world)
    email, sms = (world.one("SELECT id FROM outbox WHERE queue = %(queue)s", queue=queue) for queue in ("email", "sms"))
    world.admin.execute("UPDATE outbox SET due_at = tocsin_now() + interval '1 hour' WHERE id = %s", [sms])
    world.dispatch()

    is_left = wait._leave(world.app, TENANT, asked.notification_id, FAR)
    world.pass_time(timedelta(hours=2))
    world.dispatch()

    assert is_left
    (late,) = world.rows("SELECT * FROM abandoned_executions")
    assert (late["outbox_id"], late["route_id"].split("-")[0]) == (sms, "sms")
    assert email != sms


def test_a_mailbox_is_of_one_tenant(world: World) -> None:
    world.add_tenant()
    world.add_user()
    asked = world.accept(reply_within=STAY)

    with tenant_transaction(world.app, OTHER_TENANT):
        seen = reply_inboxes.look(world.app, OTHER_TENANT, asked.notification_id).fetchone()
    wait._leave(world.app, OTHER_TENANT, asked.notification_id, FAR)

    assert seen == (False,)
    assert world.count("reply_inboxes") == 1


def test_who_stays_longest_takes_the_mailbox_away(world: World) -> None:
    world.add_user()
    asked = world.accept(reply_within=STAY)
    first_until = world.one("SELECT expires_at FROM reply_inboxes")
    with tenant_transaction(world.app, TENANT):
        second_until = reply_inboxes.insert_or_prolong(world.app, TENANT, asked.notification_id, stay=2 * STAY)

    assert wait._leave(world.app, TENANT, asked.notification_id, first_until)
    stays = world.count("reply_inboxes")
    world.dispatch()

    assert not wait._leave(world.app, TENANT, asked.notification_id, second_until)
    assert (stays, world.count("reply_inboxes"), world.count("abandoned_executions")) == (1, 0, 0)


def _is_blocked(world: World, conn: Connection[Any]) -> bool:
    return bool(world.one("SELECT cardinality(pg_blocking_pids(%(pid)s)) > 0", pid=conn.info.backend_pid))


def test_a_caller_who_leaves_while_the_outcome_is_being_written_waits_for_it_and_is_told(world: World) -> None:
    world.add_user()
    asked = world.accept(reply_within=STAY)
    caller, replier = world.connect("tocsin_app"), world.connect()
    with replier.transaction():
        replier.execute("DELETE FROM outbox")  # as settling does; its end is not committed yet
        leaving = ThreadPoolExecutor(1).submit(wait._leave, caller, TENANT, asked.notification_id, FAR)
        wait_until(lambda: _is_blocked(world, caller))

    assert leaving.result(5) is False, "it is told"
    assert (world.count("reply_inboxes"), world.count("abandoned_executions")) == (0, 0)


def test_an_outcome_that_comes_while_the_caller_is_leaving_is_abandoned_and_not_told(world: World) -> None:
    world.add_user()
    asked = world.accept(reply_within=STAY)
    plan_only(world)
    caller = world.connect("tocsin_app")
    with caller.transaction():
        caller.execute("SELECT set_config('tocsin.tenant', %s, true)", [str(TENANT)])
        reply_inboxes.delete(caller, TENANT, asked.notification_id, until=FAR)
        working = ThreadPoolExecutor(1).submit(world.dispatch)
        wait_until(lambda: _is_blocked(world, world.worker))
        found = reply_inboxes.look(caller, TENANT, asked.notification_id).fetchone()

    working.result(5)
    assert found == (True,)
    assert world.count("abandoned_executions") == 1


def test_in_any_race_an_outcome_is_told_or_abandoned_and_never_both(world: World) -> None:
    dice = random.Random(20)  # noqa: S311 - a race, seeded
    world.add_user(phone="+4915112345678")
    caller = world.connect("tocsin_app")
    for _ in range(60):
        asked = world.accept(channels=["email", "sms"], reply_within=STAY)
        plan_only(world)
        ids, head_start = world.due(), dice.uniform(0, 0.012)
        with ThreadPoolExecutor(1) as pool:
            working = pool.submit(dispatch, world.worker, ids, world.worker_policy())
            threading.Event().wait(head_start)
            is_left = wait._leave(caller, TENANT, asked.notification_id, FAR)
            working.result(10)
        abandoned = world.one(
            "SELECT count(*) FROM abandoned_executions WHERE notification_id = %(id)s", id=asked.notification_id
        )
        assert (abandoned == 0) == (not is_left), (abandoned, is_left)
        assert abandoned <= 2


def test_two_workers_that_settle_routes_of_the_same_notifications_do_not_wait_for_each_other(world: World) -> None:
    world.add_user(phone="+4915112345678")
    for _ in range(2):
        world.accept(channels=["email", "sms"], reply_within=STAY)
    plan_only(world)
    first, second = world.connect(), world.connect()

    with first.transaction(), second.transaction():
        first.execute("DELETE FROM outbox WHERE queue = 'email'")
        second.execute("DELETE FROM outbox WHERE queue = 'sms'")  # would wait here, and for ever in another order

    assert world.count("outbox") == 0


def test_what_nobody_waits_for_is_not_looked_up_among_the_mailboxes(world: World) -> None:
    world.add_user()
    world.accept()
    plan_only(world)
    worker = world.connect()
    worker.execute("SET lock_timeout = '100ms'")

    with world.admin.transaction():
        world.admin.execute("LOCK TABLE reply_inboxes IN ACCESS EXCLUSIVE MODE")
        world.dispatch(worker)

        assert world.route()["status"] == "published"
