"""The fan-out is killed at each exchange with Postgres, SES and SQS in turn: no event is lost, and nobody hears of one twice."""

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.crash import invariants
from tests.crash.fan_out_faults import die_of_poison, small_pages
from tests.crash.moments import assert_one_after_the_other
from tests.crash.recovery import arn_at
from tests.crash.site import Site
from tests.crash.traffic import PEOPLE, post_intent
from tests.events import happen, happen_together, inbox, is_behind, outcomes, route, subscriptions, took_part
from tocsin.audience import fan_out

CHUNKS = 2
MOST_BOUNDARIES = 200
THREAD = {"kind": "issue", "id": "1"}
TELLING = "after postgres in tocsin.store.flow.fan_out.fan_out"
NUDGE = {"Records": [{"messageId": "nudge", "body": '{"v":1,"ids":[],"fanout":true}'}]}


def on_the_plan_queue(site: Site) -> dict[str, Any]:
    """The nudge as a worker of the plan queue gets it, who goes on with the pages."""
    (record,) = NUDGE["Records"]
    return {"Records": [record | {"eventSourceARN": arn_at(site.queue_urls["plan"])}]}


def three_events_wait(site: Site) -> None:
    """One that is also emailed, and two that only the inbox tells; all of one thread, all for the same three people."""
    site.office.events.steer("on")
    route(site.world, "issue.opened", {"mention": ["in_app", "email"]})
    route(site.world, "issue.commented", {"mention": ["in_app"]})
    types = ["issue.opened", "issue.commented", "issue.commented"]
    happen_together(
        site.world,
        [{"type": kind, "title": str(n), "thread": THREAD, "mentions": list(PEOPLE)} for n, kind in enumerate(types, 1)],
    )


def assert_told_once(site: Site, where: str) -> None:
    """Nothing lost, one row each with the right count, and one email each."""
    found = invariants.check(site.world, site.office.ledger(), where)
    rows = {person: (row["title"], row["event_count"], row["unread"]) for person, row in inbox(site.world).items()}
    assert rows == dict.fromkeys(PEOPLE, ("3", 3, True)), where
    assert outcomes(site.world) == [("notified", 3)] * 3, where
    assert subscriptions(site.world) == dict.fromkeys(PEOPLE, (True, "mention")), where
    assert sorted(entry["to"][0] for entry in found.ledger) == [f"{person}@example.com" for person in PEOPLE], where
    assert [row["status"] for row in found.routes.values()] == ["published"] * 3, where
    assert not is_behind(site.world), where


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_crash_at_any_boundary_loses_no_event_and_tells_nobody_twice(chunk: int, site: Site) -> None:
    """After each exchange, which for the world is before the next one: nothing happens outside between the two."""
    for turn, n in enumerate(range(chunk + 1, MOST_BOUNDARIES, CHUNKS)):
        site.renew()
        three_events_wait(site)

        ending = site.invoke("dispatch", NUDGE, kill_at=n, counting="after ")
        site.recover(news="early" if turn % 2 else "late")

        where = f"boundary {n}: {ending.killed_at or 'none, it ran to its end'}"
        assert not ending.error, f"{where}\n{ending.error}"
        assert_told_once(site, where)
        if not ending.killed_at:
            return
    pytest.fail(f"dispatch has more than {MOST_BOUNDARIES} boundaries")


def test_a_crash_between_the_pages_of_an_event_tells_nobody_twice(site: Site) -> None:
    for n in range(1, MOST_BOUNDARIES):
        site.renew()
        three_events_wait(site)

        ending = site.invoke("dispatch", on_the_plan_queue(site), kill_at=n, counting=TELLING, before=small_pages)
        site.recover(news="early", before=small_pages)

        where = f"boundary {n} of telling: {ending.killed_at or 'none, it ran to its end'}"
        assert not ending.error, f"{where}\n{ending.error}"
        assert_told_once(site, where)
        if not ending.killed_at:
            assert n > 1 + 3 * 2, "the cursor, then three events of two pages"
            return
    pytest.fail(f"telling has more than {MOST_BOUNDARIES} boundaries")


def test_a_crash_of_the_sweep_or_of_intake_loses_no_event(site: Site) -> None:
    """Intake's sender repeats what was not answered; the sweep comes again."""
    for n in range(1, MOST_BOUNDARIES):
        site.renew()
        route(site.world, rules={"mention": ["in_app"]})
        event = told_over_http(site)

        ending = site.invoke("intake", event, kill_at=n, counting="after ")
        assert not ending.error, ending.error
        if ending.killed_at:
            answer = site.invoke("intake", event).answer or {}
            assert answer.get("statusCode") == 202, f"boundary {n}: {ending.killed_at}\n{answer}"
        site.messages()
        site.invoke("sweep", {}, kill_at=n, counting="after ")
        site.recover()

        rows = {person: row["event_count"] for person, row in inbox(site.world).items()}
        assert (rows, outcomes(site.world)) == ({"alice": 1}, [("notified", 1)]), f"boundary {n}: {ending.killed_at}"
        if not ending.killed_at:
            return
    pytest.fail(f"intake has more than {MOST_BOUNDARIES} boundaries")


def told_over_http(site: Site) -> dict[str, Any]:
    """The HTTP API's event for POST /v1/events; a repetition is the same event again."""
    event = {
        "specversion": "1.0",
        "id": "e-1",
        "source": "/repo",
        "type": "issue.commented",
        "data": {"thread": THREAD, "mentions": ["alice"]},
    }
    request = post_intent(site.ground.api_key, intent=event)
    http = request["requestContext"]["http"] | {"path": "/v1/events"}
    return request | {
        "routeKey": "POST /v1/events",
        "rawPath": "/v1/events",
        "headers": request["headers"] | {"content-type": "application/cloudevents+json"},
        "requestContext": request["requestContext"] | {"http": http},
    }


def test_the_boundaries_are_where_the_design_has_them(site: Site) -> None:
    """The cursor is claimed, read, moved with all that it causes, claimed again and let go; then the emails go out."""
    three_events_wait(site)

    ending = site.invoke("dispatch", NUDGE)

    assert not ending.error, ending.error
    exchanges = [
        "domain_events_processed.claim", "domain_events.read_next", "flow.fan_out",
        "domain_events_processed.release", "dispatch._take", "open.open_attempts", "ses/sns in tocsin.channels", "settle._record",
    ]  # fmt: skip
    first = [next((n for n, name in enumerate(ending.crossed) if one in name), None) for one in exchanges]
    assert None not in first and first == sorted(first), "\n".join([str(first), *ending.crossed])  # type: ignore[type-var]
    assert_one_after_the_other(ending.crossed)


def test_an_event_that_kills_its_workers_is_set_aside_after_three_deaths_and_its_neighbours_are_told(site: Site) -> None:
    route(site.world, "*", {"mention": ["in_app"]})
    took_part(site.world, "alice", "mention")  # nobody joins the thread by these, so they are told together
    for kind, title in [("fine", "1"), ("poison", "2"), ("fine", "3")]:
        happen(site.world, type=kind, title=title, mentions=["alice"])

    deaths = 0
    for _ in range(10):
        if not is_behind(site.world):
            break
        ending = site.invoke("dispatch", NUDGE, before=die_of_poison)
        assert not ending.error, ending.error
        deaths += bool(ending.killed_at)
        site.world.pass_time(fan_out.LEASE + timedelta(seconds=1))

    assert deaths == 4, "once in the company of its batch, then three times alone"
    assert [outcome for outcome, _ in outcomes(site.world)] == ["notified", "dead_letter", "notified"]
    row = inbox(site.world)["alice"]
    assert (row["title"], row["event_count"]) == ("3", 2)
    (letter,) = site.world.dead_letters()
    assert (letter["source_kind"], letter["failure_classification"]) == ("fanout", "poison")


def test_every_nudge_three_times_and_to_two_workers_at_once_tells_nobody_twice(site: Site) -> None:
    three_events_wait(site)
    nudges = {"Records": [{"messageId": str(uuid4()), "body": json.dumps({"v": 1, "ids": [], "fanout": True})} for _ in range(3)]}

    endings = [site.start("dispatch", nudges) for _ in range(2)]
    for ending in endings:
        assert (ending().answer or {}).get("batchItemFailures") == []
    site.recover(news="early", copies=3)

    assert_told_once(site, "two workers")
