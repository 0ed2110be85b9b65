"""Many dead letters at once: tried dry, or as a job that is carried out page by page, whoever dies on the way."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.letters import OPERATOR, REFUSED, bury_delivery, bury_plan, newest, replay
from tests.world import LEASE, OTHER_TENANT, TENANT, World
from tocsin.access.audit import Actor
from tocsin.dead_letters import replay_many
from tocsin.foundation.ids import uuid7
from tocsin.outbox.dispatch import dispatch
from tocsin.store import dead_letters
from tocsin.store.dead_letters import Wanted
from tocsin.store.jobs import Job

ACTOR = Actor(TENANT, f"key:{OPERATOR}")


@pytest.fixture
def alice(world: World) -> World:
    world.add_user()
    return world


def bury(world: World, count: int, **intent: Any) -> None:
    for _ in range(count):
        bury_delivery(world, **intent)


def enqueue(world: World, *, past_expiry: bool = False, tenant: UUID = TENANT, **filters: Any) -> Job:
    actor = Actor(tenant, f"key:{OPERATOR}")
    return replay_many.enqueue(world.app, actor, uuid7(), Wanted(**filters), by=OPERATOR, past_expiry=past_expiry)


def job(world: World) -> dict[str, Any]:
    (row,) = world.rows("SELECT * FROM jobs")
    return row


def test_a_dry_run_counts_and_changes_nothing(alice: World) -> None:
    bury(alice, 2)
    bury_plan(alice)
    bury_delivery(alice)
    alice.admin.execute("UPDATE records SET cancelled_at = tocsin_now() WHERE notification_id = (SELECT notification_id FROM"
                        " dead_letters ORDER BY created_at DESC LIMIT 1)")  # fmt: skip
    before = alice.rows("SELECT * FROM dead_letters ORDER BY id")

    tried = replay_many.try_dry(alice.app, TENANT, Wanted(), past_expiry=False)

    assert (tried.replayable, tried.skipped_reasons, tried.is_complete) == ({"deliver": 2, "plan": 1}, {"cancelled": 1}, True)
    assert (alice.rows("SELECT * FROM dead_letters ORDER BY id"), alice.count("outbox"), alice.count("jobs")) == (before, 0, 0)


def test_a_job_replays_what_its_filter_finds_and_nothing_else(alice: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_many, "PAGE", 2)
    bury(alice, 5)
    bury(alice, 2, type="other.type")

    made = enqueue(alice, type="order.shipped")
    assert (made.status, made.total, made.arguments["filter"]) == (
        "queued",
        None,
        {"state": "unresolved", "type": "order.shipped"},
    )
    for _ in range(6):
        alice.dispatch()

    done = job(alice)
    assert (done["status"], done["total"], done["done"], done["skipped"], done["failed"]) == ("complete", 5, 5, 0, 0)
    assert done["started_at"] <= done["finished_at"]
    assert len(alice.email.accepted) == 5
    assert alice.one("SELECT count(*) FROM dead_letters WHERE resolution IS NULL") == 2
    assert {row["resolved_by"] for row in alice.rows("SELECT resolved_by FROM dead_letters WHERE resolution = 'replayed'")} == {
        OPERATOR
    }
    told = alice.rows("SELECT actor, changes FROM audit_logs WHERE resource_type = 'job' ORDER BY created_at, id")
    assert [row["actor"] for row in told] == [ACTOR.name, *["job:replay"] * 3]
    assert sum(len(row["changes"]["new"].get("replayed", [])) for row in told) == 5


def test_what_a_job_does_is_told_of_the_person_who_asked_for_it(alice: World) -> None:
    bury(alice, 2)
    actor = Actor(TENANT, f"key:{OPERATOR}", person_name="Jane Doe")
    replay_many.enqueue(alice.app, actor, uuid7(), Wanted(), by=OPERATOR, past_expiry=False)

    alice.dispatch()

    told = alice.rows("SELECT actor, person, changes FROM audit_logs WHERE resource_type = 'job' ORDER BY seq")
    assert [(row["actor"], row["person"]) for row in told] == [(actor.name, "Jane Doe"), ("job:replay", "Jane Doe")]
    assert "Jane" not in str([row["changes"] for row in told])


def test_what_dies_again_is_not_replayed_again_by_the_same_job(alice: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_many, "PAGE", 1)
    bury(alice, 2)
    enqueue(alice)
    alice.email.answers.extend([REFUSED] * 10)

    for _ in range(6):
        alice.dispatch()

    assert (job(alice)["status"], job(alice)["done"], alice.count("dead_letters")) == ("complete", 2, 4)


def test_letters_that_cannot_be_replayed_are_counted_with_the_reason(alice: World) -> None:
    bury(alice, 3)
    replay(alice, newest(alice))
    alice.admin.execute("UPDATE records SET cancelled_at = tocsin_now() WHERE notification_id = (SELECT notification_id FROM"
                        " dead_letters WHERE resolution IS NULL LIMIT 1)")  # fmt: skip

    enqueue(alice, state="all")
    alice.dispatch()

    assert job(alice)["skipped_reasons"] == {"already_resolved": 1, "cancelled": 1}
    assert (job(alice)["done"], job(alice)["skipped"], job(alice)["total"]) == (1, 2, 3)


@contextmanager
def planted(world: World, table: str, change: str, fault: str) -> Iterator[None]:
    """A fault of the database, in the midst of a transaction of ours."""
    world.admin.execute(
        f"CREATE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {fault} RETURN NEW; END $$;"  # type: ignore[call-overload]
        f"CREATE TRIGGER planted BEFORE {change} ON {table} FOR EACH ROW EXECUTE FUNCTION planted()"
    )
    try:
        yield
    finally:
        world.admin.execute(f"DROP TRIGGER planted ON {table}; DROP FUNCTION planted()")  # type: ignore[call-overload]


@pytest.mark.parametrize("calls", [0, 1, 2])
def test_a_worker_that_dies_in_the_middle_leaves_whole_pages_and_the_next_goes_on(
    calls: int, alice: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_many, "PAGE", 2)
    bury(alice, 6)
    enqueue(alice)

    too_far = f"NEW.source_kind = 'replay' AND NEW.payload IS NOT NULL AND (SELECT done FROM jobs) > {2 * calls}"
    with planted(alice, "outbox", "UPDATE", f"IF {too_far} THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;"):
        conn = alice.connect()
        with pytest.raises(psycopg.OperationalError):
            for _ in range(6):
                alice.dispatch(conn)
    assert alice.one("SELECT count(*) FROM dead_letters WHERE resolution = 'replayed'") == 2 * calls == job(alice)["done"]
    alice.pass_time(LEASE * 2)
    for _ in range(6):
        alice.dispatch()

    assert (job(alice)["status"], job(alice)["done"]) == ("complete", 6)
    assert (len(alice.email.accepted), {row["generation"] for row in alice.routes()}) == (6, {2})


def test_a_letter_that_cannot_be_tried_stops_nobody(alice: World) -> None:
    bury(alice, 3)
    poisoned = alice.rows("SELECT notification_id FROM dead_letters ORDER BY created_at")[1]["notification_id"]
    enqueue(alice)

    fault = f"IF NEW.notification_id = '{poisoned}' AND NEW.status = 'pending' THEN PERFORM 1 / 0; END IF;"
    with planted(alice, "routes", "UPDATE", fault):
        for _ in range(6):
            alice.dispatch()

    assert (job(alice)["status"], job(alice)["done"], job(alice)["failed"]) == ("complete", 2, 1)


def test_a_job_that_ends_its_workers_fails_says_so_and_can_be_replayed_itself(alice: World) -> None:
    bury(alice, 2)
    made = enqueue(alice)
    alice.admin.execute("UPDATE outbox SET claim_count = 3 WHERE source_kind = 'replay'")
    alice.dispatch()

    assert (job(alice)["status"], alice.count("outbox")) == ("failed", 0)
    (event,) = alice.system_events()
    assert (event["event_type"], event["tenant_id"], event["subject"]) == ("job_failed", TENANT, f"replay:{made.id}")
    died = newest(alice)
    replay(alice, died)
    assert job(alice)["status"] == "queued"
    for _ in range(3):
        alice.dispatch()

    assert (job(alice)["status"], job(alice)["done"], alice.system_events()[0]["is_resolved"]) == ("complete", 2, True)


def test_a_cancelled_job_goes_no_further(alice: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay_many, "PAGE", 1)
    bury(alice, 3)
    made = enqueue(alice)

    assert isinstance(replay_many.cancel(alice.app, ACTOR, made.id), Job)
    assert replay_many.cancel(alice.app, ACTOR, made.id) is True, "it had ended"
    for _ in range(3):
        alice.dispatch()

    assert (job(alice)["status"], job(alice)["done"], alice.count("outbox")) == ("cancelled", 0, 0)


def test_others_get_their_turn_between_the_pages(alice: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that is done is due again behind what was due before."""
    monkeypatch.setattr(replay_many, "PAGE", 1)
    bury(alice, 3)
    enqueue(alice)
    alice.accept(channels=["in_app"])

    dispatch(alice.worker, alice.due(), alice.worker_policy())

    assert (len(alice.inbox()), job(alice)["status"], job(alice)["done"]) == (1, "running", 1)


def test_a_job_finds_the_letters_of_its_own_tenant_alone(alice: World) -> None:
    alice.add_tenant()
    alice.add_user(tenant=OTHER_TENANT)
    bury_delivery(alice)
    bury_delivery(alice, tenant=OTHER_TENANT)

    enqueue(alice, tenant=OTHER_TENANT)
    alice.dispatch()
    alice.dispatch()

    assert [(row["tenant_id"], row["resolution"]) for row in alice.dead_letters()] == [(TENANT, None), (OTHER_TENANT, "replayed")]


def test_letters_that_nobody_has_seen_to_are_counted_by_every_way_of_counting(alice: World) -> None:
    bury(alice, 3)

    assert dead_letters.count_matching(alice.worker, TENANT, Wanted(), most=2) == 3
    assert dead_letters.count_unresolved(alice.worker, TENANT) == 3
