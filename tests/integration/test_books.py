"""The books balance: each breach is planted and found, and nothing that is sound is taken for one."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.events import fan_out_all, happen
from tests.integration.endings import ENDINGS, Ending
from tests.listening import listen
from tests.world import OTHER_TENANT, TENANT, World
from tocsin.channels.outcomes import Failure, FailureClass
from tocsin.foundation.database import tenant_transaction
from tocsin.upkeep import balance as use_case
from tocsin.upkeep.balance import CHECKS, Balance, balance, balance_of

DAY = timedelta(days=1)


def look(world: World, has_time: Callable[[], bool] = lambda: True) -> Balance:
    return balance(world.retention, has_time=has_time)


def _found(world: World) -> dict[str, int]:
    counts: dict[str, int] = look(world).report()["residue"]
    return counts


def _in_thread(world: World) -> None:
    world.accept(channels=["in_app"], thread={"kind": "order", "id": "7"})
    world.dispatch()


def _send(world: World, *, answer: FailureClass | None = None, channels: tuple[str, ...] = ("email",)) -> None:
    if answer:
        world.email.answers.append(Failure(answer, "x", "x"))
    world.accept(channels=list(channels))
    world.dispatch()


def _fail(world: World) -> None:
    _send(world, answer=FailureClass.PERMANENT)


def _wait(world: World) -> None:
    _send(world, answer=FailureClass.TRANSIENT)


def _tell_a_hook(world: World) -> None:
    listen(world)
    _send(world)


def _digest(world: World) -> None:
    for _ in range(3):
        world.accept(thread={"kind": "order", "id": "7"})
    world.dispatch()
    assert world.count("digests") == 1


def _event(world: World) -> None:
    happen(world)
    fan_out_all(world)


# name of the breach, what happens, and what breaks it behind everybody's back
PLANTED: list[tuple[str, Callable[[World], Any], str]] = [
    ("records_without_work", lambda world: world.accept(), "DELETE FROM outbox"),
    ("records_without_work", _send, "DELETE FROM routes"),
    ("live_routes_without_work", _wait, "DELETE FROM outbox"),
    (
        "live_routes_without_work",
        _send,
        "UPDATE routes SET status = 'pending', published_at = NULL",
    ),
    ("live_routes_without_work", _wait, "UPDATE outbox SET generation = 2"),
    ("published_without_acceptance", _send, "DELETE FROM attempts"),
    ("published_without_acceptance", _send, "UPDATE attempts SET outcome = 'unknown'"),
    (
        "published_without_acceptance",
        _wait,
        "UPDATE routes SET status = 'published', published_at = tocsin_now(), reason = '', next_attempt_at = NULL",
    ),
    ("published_without_inbox_row", lambda world: _send(world, channels=("in_app",)), "DELETE FROM notifications"),
    ("published_without_inbox_row", _in_thread, "DELETE FROM notifications"),
    (
        "accepted_without_publication",
        _send,
        "UPDATE routes SET status = 'skipped', reason = 'x', published_at = NULL, skipped_at = tocsin_now()",
    ),
    ("dead_routes_without_letter", _fail, "DELETE FROM dead_letters"),
    ("dead_routes_without_letter", _fail, "UPDATE routes SET generation = 2"),
    ("work_without_live_route", _wait, "UPDATE routes SET outbox_id = gen_random_uuid()"),
    (
        "work_without_live_route",
        _wait,
        "UPDATE routes SET status = 'skipped', reason = 'x', skipped_at = tocsin_now(), next_attempt_at = NULL",
    ),
    ("work_without_live_route", _wait, "DELETE FROM routes"),
    (
        "letters_without_dead_route",
        _fail,
        "UPDATE routes SET status = 'skipped', reason = 'x', dead_lettered_at = NULL, skipped_at = tocsin_now()",
    ),
    ("events_passed_over", _event, "UPDATE domain_events SET outcome = 'waiting'"),
    ("webhooks_without_work", _tell_a_hook, "DELETE FROM outbox"),
    ("digests_without_route", _digest, "DELETE FROM routes WHERE outbox_id IN (SELECT outbox_id FROM digests)"),
    ("digests_without_route", _digest, "UPDATE digests SET outbox_id = gen_random_uuid()"),
]  # fmt: skip


@pytest.mark.parametrize(("breach", "happens", "breaks"), PLANTED, ids=[f"{one[0]}-{n}" for n, one in enumerate(PLANTED)])
def test_each_breach_is_found_and_the_sound_books_have_none(
    world: World, breach: str, happens: Callable[[World], Any], breaks: str
) -> None:
    world.add_user()
    happens(world)
    assert _found(world) == {}

    world.admin.execute(breaks)  # type: ignore[call-overload]

    assert _found(world)[breach] >= 1
    (event,) = [one for one in world.system_events() if one["subject"] == breach]
    assert (event["event_type"], event["severity"], event["tenant_id"]) == ("books_do_not_balance", "high", TENANT)
    assert 1 <= len(event["details"]["ids"]) <= 10


def test_every_check_has_a_breach_that_is_planted() -> None:
    assert {one[0] for one in PLANTED} == {check.name for check in CHECKS}


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda one: one.name)
def test_after_every_ending_there_is_the_books_balance(ending: Ending, world: World) -> None:
    listen(world)

    ending.act(world)

    assert _found(world) == {}


def test_what_is_under_way_is_no_breach(world: World) -> None:
    """At every moment between two commits the books balance: planned and not sent, claimed, sent and not settled."""
    world.add_user()
    world.accept()
    assert _found(world) == {}
    seen = []

    def answer(message: Any) -> Failure:
        seen.append(_found(world))
        return Failure(FailureClass.TRANSIENT, "x", "x")

    world.email.answers.append(answer)
    world.dispatch()

    assert seen == [{}]
    assert _found(world) == {}


def test_the_event_is_open_until_what_it_names_adds_up(world: World) -> None:
    world.add_user()
    _wait(world)
    world.admin.execute("CREATE TEMPORARY TABLE lost AS SELECT * FROM outbox")
    world.admin.execute("DELETE FROM outbox")

    look(world)
    world.pass_time(timedelta(days=3))
    again = look(world)
    assert [one["is_resolved"] for one in world.system_events()] == [False]
    assert again.count == 1
    world.admin.execute("INSERT INTO outbox SELECT * FROM lost")
    look(world)

    assert [one["is_resolved"] for one in world.system_events()] == [True]


def test_a_breach_of_any_age_is_found_within_a_day(world: World) -> None:
    world.add_user()
    _wait(world)
    world.admin.execute("DELETE FROM outbox")
    world.pass_time(DAY * 60)

    found = []
    for _ in range(use_case.PARTS):
        found.append(_found(world))
        world.pass_time(timedelta(hours=1))

    assert {"live_routes_without_work": 1} in found


def test_each_tenant_is_told_of_its_own_books_only(world: World) -> None:
    world.add_tenant()
    for tenant in (TENANT, OTHER_TENANT):
        world.add_user(tenant=tenant)
        world.accept(tenant=tenant)
    world.admin.execute("DELETE FROM outbox")

    look(world)

    ids = {row["tenant_id"]: str(row["notification_id"]) for row in world.rows("SELECT * FROM records")}
    assert {one["tenant_id"]: one["details"]["ids"] for one in world.system_events()} == {
        tenant: [ids[tenant]] for tenant in (TENANT, OTHER_TENANT)
    }
    with tenant_transaction(world.app, TENANT):
        own = balance_of(world.app, TENANT, past=DAY, has_time=lambda: True)
    (mine,) = [row["notification_id"] for row in world.rows("SELECT * FROM records") if row["tenant_id"] == TENANT]
    assert own.residue["records_without_work"] == {TENANT: [mine]}


def test_a_report_names_no_tenant(world: World) -> None:
    world.add_user()
    world.accept()
    world.admin.execute("DELETE FROM outbox")

    report = look(world).report()

    assert report["residue"] == {"records_without_work": 1}
    assert str(TENANT) not in str(report)


def test_a_look_that_runs_out_of_time_says_so_and_tells_what_it_found(world: World) -> None:
    world.add_user()
    world.accept()
    world.admin.execute("DELETE FROM outbox")
    times = iter([True, True])

    cut = look(world, has_time=lambda: next(times, False))

    assert (cut.is_complete, cut.count) == (False, 1)
    assert len(world.system_events()) == 1


def test_letters_that_retention_has_taken_are_not_missed(world: World) -> None:
    world.add_user()
    _fail(world)
    world.pass_time(DAY * 2)
    world.admin.execute("DELETE FROM dead_letters")

    assert [_found(world) for _ in range(1)] == [{}]


def test_a_person_who_is_erased_takes_the_inbox_rows_along(world: World) -> None:
    world.add_user()
    _send(world, channels=("in_app",))

    world.admin.execute("DELETE FROM users")

    assert _found(world) == {}
