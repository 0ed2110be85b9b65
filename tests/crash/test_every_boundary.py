"""Each door is killed at each exchange with Postgres, SES, SNS and SQS in turn; it recovers: nothing lost, nothing sent twice."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from tests.crash import invariants
from tests.crash.invariants import Evidence
from tests.crash.moments import MOST_EXCHANGES, assert_one_after_the_other, moments
from tests.crash.site import Site
from tests.crash.traffic import ENDS, INTENT, post_intent, queued_intent

CHUNKS = 2


@dataclass(frozen=True, slots=True)
class Door:
    """How to bring a site to the moment of the invocation, the event, and what its sender does after a crash."""

    function: str
    arrange: Callable[[Site], None]
    event: Callable[[Site], dict[str, Any]]
    sender_repeats: bool = False
    before: Callable[[], object] | None = None


def nothing(site: Site) -> None:
    """A door at the beginning."""


def accepted(site: Site) -> None:
    site.world.accept(**INTENT)


def accepted_in_trouble(site: Site) -> None:
    """The provider is down for the first messages: the worker also records retries and nudges at them."""
    accepted(site)
    site.office.fail("email", "unavailable", times=2)
    site.office.fail("sms", "throttle", times=1)


def accepted_long_ago(site: Site) -> None:
    accepted(site)
    site.world.pass_time(timedelta(minutes=1))


def planned(site: Site) -> None:
    accepted(site)
    assert not site.invoke("dispatch", site.nudge("plan")).error


def accepted_while_the_lanes_recover(site: Site) -> None:
    """Both providers were stopped, and their pauses are over: the worker tries each with one message, the others wait for it."""
    accepted(site)
    site.world.admin.execute(
        """INSERT INTO lanes (lane, state, trouble, reason, resume_at, updated_at)
           SELECT lane, 'stopped', 'configuration', 'AccountSuspended', now() - interval '1 minute', now()
           FROM unnest(ARRAY['ses:email', 'sns:sms']) AS lane"""
    )


def request(site: Site) -> dict[str, Any]:
    return post_intent(site.ground.api_key)


DOORS = {
    "intake": Door("intake", nothing, request, sender_repeats=True),
    "intake_queue": Door("intake_queue", nothing, lambda _: queued_intent(), sender_repeats=True),
    "dispatch": Door("dispatch", accepted, Site.nudge),
    "dispatch_in_trouble": Door("dispatch", accepted_in_trouble, Site.nudge),
    "plan_queue": Door("dispatch", accepted, lambda site: site.nudge("plan")),
    "email_queue": Door("dispatch", planned, lambda site: site.nudge("email")),
    "dispatch_by_lanes_that_recover": Door("dispatch", accepted_while_the_lanes_recover, Site.nudge),
    "sweep": Door("sweep", accepted_long_ago, lambda _: {}),
}


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("door", DOORS)
def test_a_crash_at_any_boundary_loses_nothing_and_repeats_nothing(door: str, chunk: int, site: Site) -> None:
    for n, counting in moments(chunk, CHUNKS):
        site.renew()
        if not crash_and_recover(site, DOORS[door], n, counting):
            return
    pytest.fail(f"{door} has more than {MOST_EXCHANGES} exchanges")


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("channel", ["ses", "sns"])
def test_a_crash_around_the_first_message_of_a_channel_follows_its_policy(moment: str, channel: str, site: Site) -> None:
    """Routes go out in no particular order, so the n-th boundary alone may miss one of the two policies."""
    assert crash_and_recover(site, DOORS["dispatch"], 1, f"{moment} ses/sns in tocsin.channels.{channel}")


@pytest.mark.parametrize("n", range(1, 11))
def test_a_crash_among_concurrent_sends_keeps_every_invariant(n: int, site: Site) -> None:
    """Several answers are under way when the process dies; which ones is chance, what must hold is not."""
    site.settings["SEND_CONCURRENCY"] = "16"
    accepted(site)

    ending = site.invoke("dispatch", site.nudge(), kill_at=n, counting="ses/sns")
    site.recover()

    assert ending.killed_at
    invariants.check(site.world, site.office.ledger(), f"send boundary {n}: {ending.killed_at}")


def crash_and_recover(site: Site, door: Door, n: int, counting: str = "") -> bool:
    """Kill one invocation at boundary n, recover, compare. False when it ended before it came to n boundaries."""
    door.arrange(site)
    event = door.event(site)
    ending = site.invoke(door.function, event, kill_at=n, counting=counting, before=door.before)
    where = f"boundary {n}: {ending.killed_at or 'none, it ran to its end'}"
    assert not ending.error, f"{where}\n{ending.error}"
    at_crash = invariants.gather(site.world, site.office.ledger())

    if door.sender_repeats and ending.killed_at:
        answer = site.invoke(door.function, event).answer or {}
        assert answer.get("statusCode") == 202 or answer == {"batchItemFailures": []}, f"{where}\n{answer}"
    site.recover()

    found = invariants.check(site.world, site.office.ledger(), where)
    assert len(found.records) == 1, where
    _only_doubtful_routes_may_differ(at_crash, found, where)
    return bool(ending.killed_at)


def _only_doubtful_routes_may_differ(at_crash: Evidence, found: Evidence, where: str) -> None:
    """Without an attempt open at the crash: exactly one message and the healthy end. With one: the channel's policy."""
    open_then = {f"{row['notification_id']}_{row['route_id']}" for row in at_crash.outbox if row["attempt_open"]}
    people = Counter()
    for name, row in found.routes.items():
        channel, person = row["channel"], row["recipient_ref"].removeprefix("user:")
        people[person] += 1
        sent, sent_then = len(found.ledger_of.get(name, [])), len(at_crash.ledger_of.get(name, []))
        if name not in open_then:
            assert row["status"] == ENDS[channel, person], f"{where}: {channel} to {person} ended {row['status']}"
            assert not row["duplicate_suspected"], f"{where}: {channel} to {person} is doubted for no reason"
            assert sent == (ENDS[channel, person] == "published" and channel != "in_app"), (
                f"{where}: {channel} to {person}: {sent}"
            )
        elif channel == "email":
            assert (row["status"], row["duplicate_suspected"]) == ("published", True), f"{where}: email to {person}"
            assert sent == sent_then + 1, f"{where}: email to {person} was accepted {sent_then} times, then {sent}"
        else:
            assert (row["status"], row["reason"]) == ("dead_letter", "ambiguous"), f"{where}: sms to {person}"
            assert sent == sent_then, f"{where}: sms to {person} was accepted {sent_then} times, then {sent}"
    assert people == {"alice": 3, "bob": 3, "carol": 3}, where


@pytest.mark.parametrize(
    ("door", "exchanges"),
    {
        "intake": ["authenticate.authenticate", "reserve.reserve", "sqs in tocsin.foundation.work_queue._send"],
        "intake_queue": ["reserve.reserve", "sqs in tocsin.foundation.work_queue._send"],
        "dispatch": ["dispatch._take", "flow.plan", "open.open_attempts", "ses/sns in tocsin.channels", "settle._record"],
        "dispatch_in_trouble": [
            "open.open_attempts",
            "tocsin.channels",
            "lanes.close",
            "sqs in tocsin.foundation.work_queue._send",
        ],
        "plan_queue": ["dispatch._take", "flow.plan", "sqs in tocsin.foundation.work_queue._send"],
        "email_queue": ["dispatch._take", "open.open_attempts", "ses/sns in tocsin.channels", "settle._record"],
        "dispatch_by_lanes_that_recover": [
            "lanes.take_probes",
            "tocsin.channels",
            "settle._record",
            "sqs in tocsin.foundation.work_queue._send",
        ],
        "sweep": ["outbox.choose_due", "outbox.mark_nudged", "sqs in tocsin.foundation.work_queue._send", "outbox.measure"],
    }.items(),
)
def test_the_boundaries_are_where_the_design_has_them(door: str, exchanges: list[str], site: Site) -> None:
    DOORS[door].arrange(site)

    ending = site.invoke(DOORS[door].function, DOORS[door].event(site))

    first = [next((n for n, name in enumerate(ending.crossed) if exchange in name), None) for exchange in exchanges]
    assert None not in first and first == sorted(first), "\n".join([str(first), *ending.crossed])  # type: ignore[type-var]
    assert_one_after_the_other(ending.crossed)
