"""An event for a crowd is told page by page: each person once, whatever breaks in between, and the later events wait."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from tests.events import (
    SCOPE,
    Visit,
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
    wait_until_readable,
    watch,
)
from tests.world import OTHER_TENANT, World
from tocsin import fan_out
from tocsin.store import domain_events

PAST_LEASE = fan_out.LEASE + timedelta(seconds=1)


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


def test_an_event_for_more_than_a_page_is_told_page_by_page_and_the_cursor_passes_it_at_the_end(crowd: World) -> None:
    happen(crowd, scope=SCOPE)
    event = crowd.one("SELECT id FROM domain_events")
    wait_until_readable(crowd)

    pages = []
    for _ in range(3):
        made = fan_out_once(crowd, batches=1)
        place = cursor(crowd)
        pages.append((len(made.deliveries), len(crowd.inbox()), place["current_event_id"], place["last_event_id"] == event))
        waiting = outcomes(crowd)

    assert pages == [(4, 4, event, False), (4, 8, event, False), (2, 10, None, True)]
    assert waiting == [("notified", 10)]
    assert cursor(crowd)["after_user_id"] is None
    _assert_each_told_once(crowd)
    assert crowd.count("records") == 1


def test_an_event_is_waiting_until_its_last_page_was_told(crowd: World) -> None:
    happen(crowd, scope=SCOPE)
    wait_until_readable(crowd)

    fan_out_once(crowd, batches=1)

    assert outcomes(crowd) == [("waiting", 4)]


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
    assert (outcomes(world), cursor(world)["current_event_id"]) == ([("notified", people)], None)


@pytest.mark.parametrize("moment", ["before telling", "before committing"])
@pytest.mark.parametrize("pages", [0, 1, 2])
def test_a_worker_that_dies_in_the_midst_of_the_pages_is_replaced_where_it_stood(pages: int, moment: str, crowd: World) -> None:
    happen(crowd, scope=SCOPE)
    wait_until_readable(crowd)
    if pages:
        fan_out_once(crowd, batches=pages)
    visit = Visit(crowd)
    if moment == "before committing":
        visit.conn.execute("BEGIN")
        assert visit.tell().moved
    visit.conn.close()
    told_before = len(crowd.inbox())

    crowd.pass_time(PAST_LEASE)
    fan_out_all(crowd)

    assert told_before == 4 * pages
    _assert_each_told_once(crowd)
    assert outcomes(crowd) == [("notified", 10)]


def test_a_worker_that_lost_its_lease_in_the_midst_of_the_pages_tells_nobody_twice(crowd: World) -> None:
    happen(crowd, scope=SCOPE)
    wait_until_readable(crowd)
    fan_out_once(crowd, batches=1)
    asleep = Visit(crowd)
    crowd.pass_time(PAST_LEASE)
    fan_out_once(crowd, batches=1)

    assert not asleep.tell().moved

    fan_out_all(crowd)
    _assert_each_told_once(crowd)


def test_later_events_wait_for_a_crowd_and_earlier_ones_of_the_batch_are_not_lost(crowd: World) -> None:
    crowd.add_user("alice")
    happen(crowd, title="before", mentions=["alice"])
    happen(crowd, title="for all", scope=SCOPE)
    happen(crowd, title="after", mentions=["alice"])
    wait_until_readable(crowd)

    seen = []
    for _ in range(5):
        fan_out_once(crowd, batches=1)
        seen.append([outcome for outcome, _ in outcomes(crowd)])

    waiting, notified = "waiting", "notified"
    assert seen == [
        [notified, waiting, waiting],
        [notified, waiting, waiting],
        [notified, waiting, waiting],
        [notified, notified, waiting],
        [notified, notified, notified],
    ]
    assert _counts(crowd) == {"alice": 2} | dict.fromkeys(_everyone(crowd) - {"alice"}, 1)
    assert inbox(crowd)["alice"]["title"] == "after"


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
    fan_out_once(crowd, batches=1)
    crowd.admin.execute("DELETE FROM users WHERE id IN (SELECT id FROM users ORDER BY id OFFSET 3 LIMIT 3)")  # one told, two not
    crowd.add_user("late")
    watch(crowd, "late")

    fan_out_all(crowd)

    assert (len(_counts(crowd)), set(_counts(crowd).values())) == (8, {1})
    assert outcomes(crowd) == [("notified", 9)]


def test_what_reaches_the_worker_is_no_more_than_a_page_of_deliveries(crowd: World, monkeypatch: pytest.MonkeyPatch) -> None:
    happen(crowd, scope=SCOPE)
    visit = Visit(crowd)

    assert (len(visit.events), len(visit.tell().deliveries)) == (1, 4)

    crowd.pass_time(PAST_LEASE)
    made = fan_out.fan_out(crowd.worker, has_time=lambda: True, most_deliveries=3)
    assert (len(made.deliveries), made.look_again) == (4, True)


def test_events_of_many_threads_are_told_with_one_statement(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    populate(world, 20)
    route(world, rules={"mention": ["in_app", "email"]})
    people = sorted(_everyone(world))
    happen_together(
        world, [{"thread": {"kind": "issue", "id": str(n)}, "actor": people[n % 20], "mentions": people} for n in range(100)]
    )
    told = _counting(domain_events.fan_out, monkeypatch)

    fan_out_all(world)

    assert len(told) == 1
    assert world.count("routes") == 100 * 19


def test_a_lively_thread_costs_no_more_than_a_few_looks_at_each_event(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each comment adds a participant who is to hear of the next one; everyone else's events wait behind these."""
    populate(world, 60)
    route(world)
    people = sorted(_everyone(world))
    happen_together(world, [{"thread": {"kind": "issue", "id": "1"}, "actor": person} for person in people])
    read = _counting(domain_events.read_next, monkeypatch)

    fan_out_all(world)

    assert {person: row["event_count"] for person, row in inbox(world).items()} == {
        person: 59 - n for n, person in enumerate(people[:-1])
    }
    assert sum(len(events) for events in read) <= 5 * 60


def _counting(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a function of the store answers from now on."""
    answers: list[Any] = []

    def counted(*args: Any, **options: Any) -> Any:
        answers.append(function(*args, **options))
        return answers[-1]

    monkeypatch.setattr(domain_events, function.__name__, counted)
    return answers


def test_twelve_thousand_watchers_are_told_page_by_page(world: World) -> None:
    """The first page is as long as a batch may have it: who else was in the batch waits from then on."""
    populate(world, 12_000, watching=SCOPE)
    world.add_user("alice")
    route(world)
    happen(world, title="before", mentions=["alice"], thread=None)
    happen(world, title="for all", scope=SCOPE)
    happen(world, title="after", mentions=["alice"], thread=None)
    wait_until_readable(world)

    told = []
    for _ in range(6):
        fan_out_once(world, batches=1)
        told.append(world.count("notifications"))

    assert told == [1, 1_001, 6_001, 11_001, 12_001, 12_002]
    assert outcomes(world) == [("notified", 1), ("notified", 12_000), ("notified", 1)]
    for_all = "SELECT count(DISTINCT user_id) = 12000 AND bool_and(event_count = 1) FROM notifications WHERE thread_id = '1'"
    assert world.one(for_all)
