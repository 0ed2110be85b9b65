"""An event for a crowd is told page by page beside the cursor: each person once, whatever breaks in between."""

from dataclasses import replace
from datetime import timedelta
from types import ModuleType
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import Connection

from tests.claiming import claim_page
from tests.crash.waiting import wait_until
from tests.events import (
    SCOPE,
    THREAD,
    choose,
    cursor,
    fan_out_all,
    fan_out_once,
    happen,
    happen_together,
    inbox,
    outcomes,
    populate,
    reasons,
    route,
    subscriptions,
    tell_page,
    wait_until_readable,
    watch,
)
from tests.world import LEASE, OTHER_TENANT, World
from tocsin.audience import fan_out
from tocsin.outbox.dispatch import dispatch
from tocsin.store import domain_events
from tocsin.store.flow import fan_out as statements
from tocsin.store.rows import Page

PAST_LEASE = LEASE + timedelta(seconds=1)


@pytest.fixture
def crowd(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """Ten people watch; a page has four, and an event with four or more does not share a transaction."""
    monkeypatch.setattr(fan_out, "PAGE", 4)
    monkeypatch.setattr(fan_out, "MOST_IN_BATCH", 4)
    populate(world, 10, watching=SCOPE)
    route(world, rules={"watching": ["in_app", "email"], "mention": ["in_app", "email"]})
    return world


def _counts(world: World) -> dict[str, int]:
    return {person: row["event_count"] for person, row in inbox(world).items()}


def _everyone(world: World) -> set[str]:
    return {row["external_id"] for row in world.rows("SELECT external_id FROM users")}


def _assert_each_told_once(world: World, count: int = 10) -> None:
    assert set(_counts(world).values()) == {1}
    assert len(_counts(world)) == count
    assert world.one("SELECT count(*) = count(DISTINCT user_id) AND count(*) = %(count)s FROM routes", count=count)
    assert world.count("outbox") == count


def _walk(world: World, pages: int) -> None:
    for _ in range(pages):
        assert tell_page(world) is not None


def test_an_event_for_more_than_a_page_is_told_page_by_page_beside_the_cursor_which_has_passed_it(crowd: World) -> None:
    happen(crowd, scope=SCOPE)
    event = crowd.one("SELECT id FROM domain_events")
    wait_until_readable(crowd)

    made = fan_out_once(crowd, batches=1)
    assert ([one.queue for one in made.due], crowd.inbox()) == (["plan"], [])
    assert cursor(crowd)["last_event_id"] == event
    pages = []
    while page := tell_page(crowd):
        pages.append((sorted(one.queue for one in page.due), len(crowd.inbox()), outcomes(crowd)))

    assert pages == [
        (["email"] * 4 + ["plan"], 4, [("waiting", 4)]),
        (["email"] * 4 + ["plan"], 8, [("waiting", 8)]),
        (["email"] * 2, 10, [("notified", 10)]),
    ]
    _assert_each_told_once(crowd)
    assert crowd.count("records") == 1


@pytest.mark.parametrize("people", [3, 4, 5, 8, 9])
def test_a_crowd_of_any_size_around_the_page_is_told_completely(
    people: int, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fan_out, "PAGE", 4)
    monkeypatch.setattr(fan_out, "MOST_IN_BATCH", 4)
    populate(world, people, watching=SCOPE)
    route(world, rules={"watching": ["in_app", "email"]})

    happen(world, scope=SCOPE)
    fan_out_all(world)

    _assert_each_told_once(world, people)
    assert outcomes(world) == [("notified", people)]


@pytest.mark.parametrize("moment", ["before telling", "before committing"])
@pytest.mark.parametrize("pages", [0, 1, 2])
def test_a_worker_that_dies_in_the_midst_of_the_pages_is_replaced_where_it_stood(pages: int, moment: str, crowd: World) -> None:
    happen(crowd, scope=SCOPE)
    wait_until_readable(crowd)
    fan_out_once(crowd)
    _walk(crowd, pages)
    dying = crowd.connect()
    page, token = _claim_page(crowd, dying)
    if moment == "before committing":
        dying.execute("BEGIN")
        assert fan_out.fan_out_page(dying, page, lease_token=token)
    pid = dying.info.backend_pid
    dying.close()
    wait_until(lambda: not crowd.rows("SELECT FROM pg_stat_activity WHERE pid = %(pid)s", pid=pid))  # and lets go of its rows
    told_before = len(crowd.inbox())
    assert tell_page(crowd) is None, "it is leased to the dead one"

    crowd.pass_time(PAST_LEASE)
    fan_out_all(crowd)

    assert told_before == 4 * pages
    _assert_each_told_once(crowd)
    assert outcomes(crowd) == [("notified", 10)]


def test_a_worker_that_lost_its_lease_in_the_midst_of_the_pages_tells_nobody_twice(crowd: World) -> None:
    happen(crowd, scope=SCOPE)
    wait_until_readable(crowd)
    fan_out_once(crowd)
    asleep = crowd.connect()
    page, token = _claim_page(crowd, asleep)
    crowd.pass_time(PAST_LEASE)
    _walk(crowd, 1)

    assert fan_out.fan_out_page(asleep, page, lease_token=token) == []

    fan_out_all(crowd)
    _assert_each_told_once(crowd)


def _claim_page(world: World, conn: Connection[Any]) -> tuple[Page, UUID]:
    token = uuid4()
    waiting = [row["id"] for row in world.rows("SELECT id FROM outbox WHERE source_kind = 'fanout'")]
    page = claim_page(conn, waiting, token=token)
    assert page
    return page, token


def test_later_events_do_not_wait_for_a_crowd(crowd: World) -> None:
    crowd.add_user("alice")
    happen(crowd, title="before", mentions=["alice"])
    happen(crowd, title="for all", scope=SCOPE)
    happen(crowd, title="after", mentions=["alice"])
    wait_until_readable(crowd)

    fan_out_once(crowd)
    assert [outcome for outcome, _ in outcomes(crowd)] == ["notified", "waiting", "notified"]
    fan_out_all(crowd)

    assert [outcome for outcome, _ in outcomes(crowd)] == ["notified"] * 3
    assert _counts(crowd) == {"alice": 2} | dict.fromkeys(_everyone(crowd) - {"alice"}, 1)
    assert inbox(crowd)["alice"]["title"] == "after"


def test_the_later_event_gives_the_words_though_the_crowd_is_told_of_the_earlier_one_after_it(crowd: World) -> None:
    person = min(_everyone(crowd))
    happen(crowd, title="for all", scope=SCOPE)
    happen(crowd, title="for one", mentions=[person])
    wait_until_readable(crowd)

    fan_out_once(crowd)
    assert {name: row["title"] for name, row in inbox(crowd).items()} == {person: "for one"}
    fan_out_all(crowd)

    told = {name: (row["title"], row["kind"], row["reason"], row["event_count"]) for name, row in inbox(crowd).items()}
    assert told.pop(person) == ("for one", "issue.commented", "mention", 2)
    assert set(told.values()) == {("for all", "issue.commented", "watching", 1)}


def test_two_events_of_one_moment_fold_the_same_way_whichever_is_told_first(crowd: World) -> None:
    person = min(_everyone(crowd))
    happen_together(
        crowd,
        [
            {"title": "for all", "scope": SCOPE, "thread": THREAD},
            {"title": "for one", "mentions": [person], "thread": THREAD},
        ],
    )

    fan_out_all(crowd)

    assert inbox(crowd)[person]["title"] == "for one"


def test_a_page_that_is_told_late_brings_back_a_thread_that_was_read(crowd: World) -> None:
    person = min(_everyone(crowd))
    happen(crowd, title="for all", scope=SCOPE)
    happen(crowd, title="for one", mentions=[person])
    wait_until_readable(crowd)
    fan_out_once(crowd)
    crowd.admin.execute("UPDATE notifications SET unread = false, read_at = tocsin_now(), deleted_at = tocsin_now()")

    fan_out_all(crowd)

    row = inbox(crowd)[person]
    assert (row["unread"], row["read_at"], row["deleted_at"], row["event_count"]) == (True, None, None, 2)


def test_a_plan_worker_tells_a_page_between_other_work(crowd: World) -> None:
    """One page in a round: what else is due on the queue is done in between."""
    crowd.add_user("alice")
    happen(crowd, scope=SCOPE)
    wait_until_readable(crowd)
    fan_out_once(crowd)
    crowd.accept()

    dispatch(crowd.worker, [], replace(crowd.worker_policy(), queue="plan"))

    assert (outcomes(crowd), crowd.one("SELECT count(*) FROM outbox WHERE queue = 'plan'")) == ([("notified", 10)], 0)
    assert crowd.one("SELECT count(*) FROM outbox WHERE queue = 'email'") == 11


def test_crowd_after_crowd_in_one_thread_is_told_in_order(crowd: World) -> None:
    for title in ("one", "two", "three"):
        happen(crowd, title=title, scope=SCOPE)

    fan_out_all(crowd)

    assert {(row["title"], row["event_count"]) for row in inbox(crowd).values()} == {("three", 3)}
    assert outcomes(crowd) == [("notified", 10)] * 3
    assert crowd.one("SELECT count(*) FROM routes") == 30


def test_named_subscribed_and_watching_people_meet_in_the_pages_and_each_has_their_strongest_reason(crowd: World) -> None:
    """Each page takes the next people of all three kinds together, in the order of their ids."""
    people = sorted(_everyone(crowd))
    route(crowd)
    for person in people[::2]:
        choose(crowd, person, subscribed=True)
    for person in people[1::4]:
        choose(crowd, person, subscribed=False)

    happen(crowd, scope=SCOPE, actor=people[0], assignees=people[4:8])
    fan_out_all(crowd)

    reason_of = dict.fromkeys(people, "watching")
    reason_of |= dict.fromkeys(people[::2], "subscribed") | dict.fromkeys(people[4:8], "assign")
    silent = {people[0], *people[1::4]}
    assert reasons(crowd) == {person: reason for person, reason in reason_of.items() if person not in silent}
    assert outcomes(crowd) == [("notified", 10 - len(silent))]


def test_a_crowd_of_another_tenant_in_a_thread_of_the_same_name_fills_no_page_of_ours(crowd: World) -> None:
    crowd.add_tenant()
    for n in range(2, 6):
        crowd.add_user(f"user-{n}", tenant=OTHER_TENANT)
        choose(crowd, f"user-{n}", subscribed=True, tenant=OTHER_TENANT)
        watch(crowd, f"user-{n}", scope="repo:8", tenant=OTHER_TENANT)

    for _ in range(2):
        happen(crowd, scope="repo:8", assignees=[f"user-{n}" for n in range(2, 5)])
    wait_until_readable(crowd)
    route(crowd, rules={"assign": ["in_app"], "subscribed": ["in_app"], "watching": ["in_app"]})
    fan_out_once(crowd, batches=2)

    assert outcomes(crowd) == [("notified", 3)] * 2, "three of ours are less than a page, and with theirs they would be more"
    assert reasons(crowd, OTHER_TENANT) == {}


def test_pages_of_people_who_are_not_told_are_passed_over(crowd: World) -> None:
    crowd.add_user("zoe")
    for person in _everyone(crowd):
        choose(crowd, person, subscribed=False)

    happen(crowd, scope=SCOPE, mentions=["zoe"])
    fan_out_all(crowd)

    assert (reasons(crowd), outcomes(crowd)) == ({"zoe": "mention"}, [("notified", 1)])


def test_everyone_named_on_any_page_takes_part(crowd: World) -> None:
    people = sorted(_everyone(crowd))

    happen(crowd, actor=people[0], mentions=people[1:])
    fan_out_all(crowd)

    assert subscriptions(crowd) == {people[0]: (True, "comment")} | dict.fromkeys(people[1:], (True, "mention"))


def test_who_comes_and_goes_while_the_pages_are_told_is_told_once_or_not_at_all(crowd: World) -> None:
    happen(crowd, scope=SCOPE)
    wait_until_readable(crowd)
    fan_out_once(crowd)
    _walk(crowd, 1)
    crowd.admin.execute("DELETE FROM users WHERE id IN (SELECT id FROM users ORDER BY id OFFSET 3 LIMIT 3)")  # one told, two not
    crowd.add_user("late")
    watch(crowd, "late")

    fan_out_all(crowd)

    assert (len(_counts(crowd)), set(_counts(crowd).values())) == (8, {1})
    assert outcomes(crowd) == [("notified", 9)]


def test_events_of_many_threads_are_told_with_one_statement(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    populate(world, 20)
    route(world, rules={"mention": ["in_app", "email"]})
    people = sorted(_everyone(world))
    happen_together(
        world, [{"thread": {"kind": "issue", "id": str(n)}, "actor": people[n % 20], "mentions": people} for n in range(100)]
    )
    told = _counting(statements, "fan_out", monkeypatch)

    fan_out_all(world)

    assert len(told) == 1
    assert world.count("routes") == 100 * 19


def test_a_lively_thread_costs_no_more_than_a_few_looks_at_each_event(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each comment adds a participant who is to hear of the next one; everyone else's events wait behind these."""
    populate(world, 60)
    route(world)
    people = sorted(_everyone(world))
    happen_together(world, [{"thread": {"kind": "issue", "id": "1"}, "actor": person} for person in people])
    read = _counting(domain_events, "read_next", monkeypatch)

    fan_out_all(world)

    assert {person: row["event_count"] for person, row in inbox(world).items()} == {
        person: 59 - n for n, person in enumerate(people[:-1])
    }
    assert sum(len(events) for events in read) <= 5 * 60


def _counting(module: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a function of the store answers from now on."""
    function, answers = getattr(module, name), list[Any]()

    def counted(*args: Any, **options: Any) -> Any:
        answers.append(function(*args, **options))
        return answers[-1]

    monkeypatch.setattr(module, name, counted)
    return answers


def test_twelve_thousand_watchers_are_told_page_by_page_and_nobody_waits_for_them(world: World) -> None:
    populate(world, 12_000, watching=SCOPE)
    world.add_user("alice")
    route(world)
    happen(world, title="before", mentions=["alice"], thread=None)
    happen(world, title="for all", scope=SCOPE)
    happen(world, title="after", mentions=["alice"], thread=None)
    wait_until_readable(world)

    fan_out_once(world, batches=1)
    told = [world.count("notifications")]
    while tell_page(world):
        told.append(world.count("notifications"))

    assert told == [2, 5_002, 10_002, 12_002]
    assert outcomes(world) == [("notified", 1), ("notified", 12_000), ("notified", 1)]
    for_all = "SELECT count(DISTINCT user_id) = 12000 AND bool_and(event_count = 1) FROM notifications WHERE thread_id = '1'"
    assert world.one(for_all)
