"""The outbox takes any kind of work: each that the schema allows ends, with or without somebody who can do it."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg.types.json import Jsonb

from tests.claiming import claim
from tests.events import fan_out_once, happen, route, wait_until_readable
from tests.world import TENANT, World
from tocsin.access import key_format
from tocsin.access.audit import Actor
from tocsin.audience import fan_out
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.dead_letters import replay_many
from tocsin.foundation.ids import uuid7
from tocsin.foundation.settings import QUEUES
from tocsin.outbox.dispatch import dispatch
from tocsin.outbox.handlers import HANDLERS
from tocsin.outbox.sweep import sweep
from tocsin.store.dead_letters import Wanted
from tocsin.store.flow.bury import bury
from tocsin.store.rows import Buried

REFUSED = Failure(FailureClass.PERMANENT, "MessageRejected", "Address blacklisted.")


def allowed(world: World, column: str) -> list[str]:
    """What the schema lets a column of the outbox be."""
    definitions = world.rows(
        "SELECT pg_get_constraintdef(oid) AS said FROM pg_constraint WHERE conrelid = 'outbox'::regclass AND contype = 'c'"
    )
    (said,) = [row["said"] for row in definitions if f"({column} = ANY" in row["said"]]
    return re.findall(r"'(\w+)'::text", said)


def put(world: World, kind: str, *, queue: str = "plan", **columns: Any) -> UUID:
    """A row of work that belongs to nothing, as a newer or broken version may have written it."""
    row: dict[str, Any] = {"payload": None, "principal_id": None, "trigger_depth": 0, "notification_id": None} | columns
    row |= {"id": uuid7(), "tenant_id": TENANT, "source_kind": kind, "queue": queue, "payload": Jsonb(row["payload"])}
    world.admin.execute(
        "INSERT INTO outbox (id, tenant_id, source_kind, queue, payload, principal_id, trigger_depth, notification_id, due_at,"
        " max_attempts, retry_backoff, retry_base_ms) VALUES (%(id)s, %(tenant_id)s, %(source_kind)s, %(queue)s, %(payload)s,"
        " %(principal_id)s, %(trigger_depth)s, %(notification_id)s, tocsin_now(), 7, 'linear', 250)",
        row,
    )
    return UUID(str(row["id"]))


def put_a_plan(world: World) -> None:
    world.accept()


def put_a_delivery(world: World) -> None:
    world.accept()
    dispatch(world.worker, world.due(), replace(world.worker_policy(), queue="plan"))


def put_a_page(world: World) -> None:
    route(world)
    happen(world, mentions=["alice", "bob", "carol"])
    wait_until_readable(world)
    fan_out_once(world)


def put_a_run(world: World) -> None:
    key = world.add_key("send", "data")
    handler, trigger = uuid7(), uuid7()
    intent = {"type": "t", "audience": {"kind": "users", "user_ids": ["alice"]}, "payload": {"title": "{{ event.key }}"}}
    world.admin.execute(
        "INSERT INTO trigger_handlers (id, tenant_id, kind, config) VALUES (%s, %s, 'intent', %s)",
        [handler, TENANT, Jsonb({"intent": intent})],
    )
    world.admin.execute(
        "INSERT INTO triggers (id, tenant_id, handler_id, kind, retry_max_attempts, retry_backoff, retry_base_ms,"
        " registered_by_principal) SELECT %s, %s, %s, 'kv', 5, 'constant', 1000, id FROM api_keys WHERE key_hash = %s",
        [trigger, TENANT, handler, key_format.digest(key)],
    )
    put(world, "trigger", queue="trigger", payload={"trigger_id": str(trigger), "key": "A-17"})


def put_a_webhook(world: World) -> None:
    """One that nobody is left to hear: it ends where it is handled, and calls nobody."""
    put(world, "webhook", queue="webhook")


def put_a_job(world: World) -> None:
    replay_many.enqueue(world.app, Actor(TENANT, "key:test"), uuid7(), Wanted(), by=uuid7(), past_expiry=False)


SOUND: dict[str, Callable[[World], None]] = {
    "plan": put_a_plan,
    "deliver": put_a_delivery,
    "fanout": put_a_page,
    "trigger": put_a_run,
    "webhook": put_a_webhook,
    "replay": put_a_job,
}
QUIET = {"webhook"}  # what is gone is not told of; nobody misses it


def test_every_kind_that_the_schema_allows_is_handled_or_known_to_be_buried(world: World) -> None:
    kinds = allowed(world, "source_kind")

    assert kinds
    assert set(HANDLERS) == set(kinds)
    assert set(SOUND) == set(HANDLERS), "this file has one of each kind that is handled"


@pytest.mark.parametrize("kind", SOUND)
def test_work_of_each_kind_that_has_a_handler_is_done(kind: str, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fan_out, "MOST_IN_BATCH", 2)
    for person in ("alice", "bob", "carol"):
        world.add_user(person)
    SOUND[kind](world)
    assert kind in {row["source_kind"] for row in world.rows("SELECT source_kind FROM outbox")}

    world.dispatch()

    assert world.rows("SELECT * FROM outbox WHERE source_kind = %(kind)s", kind=kind) == []
    assert world.dead_letters() == []


@pytest.mark.parametrize("queue", QUEUES)
def test_work_that_is_nudged_to_the_workers_of_another_queue_is_done_all_the_same(queue: str, world: World) -> None:
    world.add_user()
    put_a_delivery(world)

    dispatch(world.worker, world.due(), replace(world.worker_policy(), queue=queue))

    assert (world.route()["status"], world.count("outbox"), len(world.email.accepted)) == ("published", 0, 1)


@pytest.mark.parametrize("queue", [None, *QUEUES])
def test_whatever_belongs_to_nothing_ends_at_its_first_claim_on_any_queue(queue: str | None, world: World) -> None:
    kinds = allowed(world, "source_kind")
    put_on = {put(world, kind, queue=queue or "plan"): kind for kind in kinds if kind != "webhook"}
    put(world, "webhook")  # its hook was deleted: that is nobody's loss

    dispatch(world.worker, world.due(), replace(world.worker_policy(), queue=queue))

    assert world.count("outbox") == 0
    letters = {letter["outbox_id"]: letter for letter in world.dead_letters()}
    assert {one: letter["source_kind"] for one, letter in letters.items()} == {
        one: kind for one, kind in put_on.items() if kind not in QUIET
    }
    assert all(letter["recovery_hint"] and letter["failure_message"] for letter in letters.values())
    assert {letter["failure_classification"] for letter in letters.values()} == {"orphaned"}


def test_a_kind_that_nobody_knows_does_not_keep_its_neighbours_waiting(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when a newer version wrote it, and was rolled back."""
    monkeypatch.delitem(HANDLERS, "trigger")  # type: ignore[arg-type]
    world.add_user()
    put(world, "trigger")
    world.accept()

    world.dispatch()

    assert world.route()["status"] == "published"
    (letter,) = world.dead_letters()
    assert letter["failure_classification"] == "unknown_kind"
    assert "trigger" in letter["failure_message"]


def test_a_fault_of_ours_in_taking_work_apart_buries_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when a column is forgotten: the work waits for the lease to end, and for a version that is right."""
    world.add_user()
    put_a_delivery(world)
    wrong = replace(HANDLERS["deliver"], make=lambda work: work)
    monkeypatch.setitem(HANDLERS, "deliver", wrong)  # type: ignore[arg-type]

    with pytest.raises(TypeError):
        world.dispatch()

    assert (world.dead_letters(), world.route()["status"], world.count("outbox")) == ([], "pending", 1)


@pytest.mark.parametrize(
    "payload", [None, {}, [], "trigger_id", {"trigger_id": 7}, {"trigger_id": "seven"}, {"trigger_id": None}, ["trigger_id"]]
)
def test_a_run_whose_payload_names_no_trigger_is_buried_with_it(payload: Any, world: World) -> None:
    put(world, "trigger", payload=payload)
    put(world, "trigger", payload={"trigger_id": str(uuid4())})  # this one's is gone

    world.dispatch()

    (letter,) = world.dead_letters()
    assert (letter["failure_classification"], letter["payload"], world.count("outbox")) == ("orphaned", payload, 0)
    assert (letter["trigger_id"], letter["handler_id"]) == (None, None)


@pytest.mark.parametrize("payload", [None, {}, {"event": "seven"}, {"event": [7]}, {"event": 7, "after": "nobody"}, ["event"]])
def test_a_page_whose_payload_says_nothing_is_buried_with_it(payload: Any, world: World) -> None:
    put(world, "fanout", payload=payload)

    world.dispatch()

    (letter,) = world.dead_letters()
    assert (letter["failure_classification"], letter["payload"], world.count("outbox")) == ("orphaned", payload, 0)


def test_the_sweep_has_work_buried_that_is_on_a_queue_nobody_serves(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when an older version runs on a newer schema."""
    assert world.work_queue is not None
    queues = allowed(world, "queue")
    put_there = {put(world, "trigger", queue=queue) for queue in queues}
    monkeypatch.setattr("tocsin.outbox.sweep.QUEUES", ("plan", "email"))
    world.pass_time(timedelta(seconds=31))

    assert sweep(world.worker).nudged == len(queues)

    assert {nudge.queue for nudge in world.nudges()} == {"plan", "email"}
    for nudge in world.nudges():
        dispatch(world.worker, nudge.ids, replace(world.worker_policy(), queue=nudge.queue))
    assert {letter["outbox_id"] for letter in world.dead_letters()} == put_there
    assert world.count("outbox") == 0


def test_a_dead_letter_keeps_what_a_replay_needs(world: World) -> None:
    principal = uuid4()
    one = put(world, "trigger", payload={"collection": "stock", "key": "A-17"}, principal_id=principal, trigger_depth=3)
    token = uuid4()
    claim(world.worker, [one], token=token)
    first_claimed_at = world.one("SELECT first_claimed_at FROM outbox")
    world.pass_time(timedelta(minutes=5))
    claim(world.worker, [one], token=token)

    bury(world.worker, [Buried(one, "permanent", "the handler said no", "mend it")], lease_token=token)

    (letter,) = world.dead_letters()
    assert letter["payload"] == {"collection": "stock", "key": "A-17"}
    assert (letter["principal_id"], letter["trigger_depth"], letter["queue"], letter["priority"]) == (principal, 3, "plan", 3)
    assert (letter["max_attempts"], letter["retry_backoff"], letter["retry_base_ms"]) == (7, "linear", 250)
    assert letter["final_attempt_count"] == 1
    assert letter["first_attempt_at"] == first_claimed_at
    assert letter["last_attempt_at"] - first_claimed_at >= timedelta(minutes=5)


def test_the_dead_letter_of_a_route_keeps_its_attempts_times_and_the_providers_code(world: World) -> None:
    world.add_user()
    world.accept(retry={"max_attempts": 3, "backoff": "constant", "base_ms": 60_000})
    world.email.answers += [Failure(FailureClass.TRANSIENT, "ServiceUnavailable", "later"), REFUSED]
    world.dispatch()
    world.pass_time(timedelta(minutes=2))
    world.dispatch()

    (letter,) = world.dead_letters()
    first, last = world.attempts()
    assert (letter["first_attempt_at"], letter["last_attempt_at"]) == (first["started_at"], last["started_at"])
    assert (letter["provider"], letter["provider_code"]) == ("ses", "MessageRejected")
    assert (letter["queue"], letter["max_attempts"], letter["retry_backoff"]) == ("email", 3, "constant")


def test_poison_of_a_kind_without_attempts_says_how_often_it_was_taken_on(world: World) -> None:
    world.add_user()
    asked = world.accept()
    for _ in range(3):
        claim(world.worker, [asked.notification_id])
        world.pass_time(timedelta(minutes=2))

    world.dispatch()

    (letter,) = world.dead_letters()
    assert (letter["failure_classification"], letter["final_attempt_count"], letter["source_kind"]) == ("poison", 3, "plan")
