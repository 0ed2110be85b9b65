"""The same crashes with the provider's events flowing: nothing lost, nothing sent twice, and no doubt about what was accepted."""

from collections import Counter
from collections.abc import Callable

import pytest

from tests.crash import invariants, news
from tests.crash.invariants import Evidence
from tests.crash.moments import MOST_EXCHANGES, assert_one_after_the_other, moments
from tests.crash.site import Site
from tests.crash.test_every_boundary import CHUNKS, DOORS
from tests.crash.traffic import ENDS
from tests.world import WINDOW

AFTER_ACCEPTANCE = ["after ses/sns in tocsin.channels.ses", "settle._record", "before ses/sns in tocsin.channels.ses"]
# Recipients by what becomes of their mail, and the register and suppression that the events then leave.
ENDINGS = {
    "bounce-bert@example.com": ("hard_bounced", "hard_bounce"),
    "complaint-carl@example.com": ("complained", "complaint"),
    "dora@example.com": ("delivered", None),
}


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_crash_at_any_boundary_loses_nothing_and_sends_nothing_twice(chunk: int, site: Site) -> None:
    for turn, (n, counting) in enumerate(moments(chunk, CHUNKS)):
        site.renew()
        if not crash_and_hear(site, n, when="early" if turn % 2 else "late", counting=counting):
            return
    pytest.fail(f"dispatch has more than {MOST_EXCHANGES} exchanges")


@pytest.mark.parametrize("when", ["early", "late"])
@pytest.mark.parametrize("counting", AFTER_ACCEPTANCE)
def test_a_crash_around_an_acceptance_is_resolved_whenever_the_event_comes(counting: str, when: str, site: Site) -> None:
    assert crash_and_hear(site, 1, when=when, counting=counting)


@pytest.mark.parametrize("n", range(1, 7))
def test_a_crash_among_concurrent_sends_leaves_one_copy_of_each_email(n: int, site: Site) -> None:
    """Which ones the provider still accepts from a process that is dying is chance; that each arrives once is not."""
    site.settings["SEND_CONCURRENCY"] = "16"
    site.office.events.steer("on")
    DOORS["dispatch"].arrange(site)

    ending = site.invoke("dispatch", site.nudge(), kill_at=n, counting="ses/sns")
    site.recover(news="early" if n % 2 else "late")

    where = f"send boundary {n}: {ending.killed_at}"
    assert ending.killed_at
    found = invariants.check(site.world, site.office.ledger(), where)
    emails = {name: row for name, row in found.routes.items() if row["channel"] == "email"}
    assert [(row["status"], len(found.ledger_of[name])) for name, row in emails.items()] == [("published", 1)] * 3, where


def crash_and_hear(site: Site, n: int, *, when: str, counting: str = "", before: Callable[[], object] | None = None) -> bool:
    """Kill one dispatch at boundary n; recover while events come. False when it ended before.

    `before` changes the process that recovers: for mutations."""
    site.office.events.steer("on")
    DOORS["dispatch"].arrange(site)
    ending = site.invoke("dispatch", site.nudge(), kill_at=n, counting=counting)
    where = f"boundary {n}, events {when}: {ending.killed_at or 'none, it ran to its end'}"
    assert not ending.error, f"{where}\n{ending.error}"
    at_crash = invariants.gather(site.world, site.office.ledger())

    site.recover(news=when, before=before)

    found = invariants.check(site.world, site.office.ledger(), where)
    assert len(found.records) == 1, where
    _one_copy_of_each(at_crash, found, where)
    return bool(ending.killed_at)


def _one_copy_of_each(at_crash: Evidence, found: Evidence, where: str) -> None:
    """Email: published, one copy, and doubted only where nothing had been accepted. SMS has no events: held when in doubt."""
    open_then = {f"{row['notification_id']}_{row['route_id']}" for row in at_crash.outbox if row["attempt_open"]}
    people = Counter()
    for name, row in found.routes.items():
        channel, person = row["channel"], row["recipient_ref"].removeprefix("user:")
        people[person] += 1
        sent, sent_then = len(found.ledger_of.get(name, [])), len(at_crash.ledger_of.get(name, []))
        whose = f"{where}: {channel} to {person}"
        if channel == "sms" and name in open_then:
            assert (row["status"], row["reason"], sent) == ("dead_letter", "ambiguous", sent_then), whose
            continue
        assert row["status"] == ENDS[channel, person], f"{whose} ended {row['status']}"
        if channel == "email":
            assert sent == 1, f"{whose} was accepted {sent} times"
            assert row["feedback"] == "delivered", whose
            assert row["duplicate_suspected"] == (name in open_then and not sent_then), f"{whose}: {row['duplicate_suspected']}"
            if name in open_then and sent_then:
                _resolved_promptly(row, found.attempts[name], whose)
    assert people == {"alice": 3, "bob": 3, "carol": 3}, where


def _resolved_promptly(route: invariants.Row, attempts: list[invariants.Row], whose: str) -> None:
    (attempt,) = attempts
    assert attempt["outcome"] == "accepted", whose
    assert route["published_at"] - attempt["started_at"] < WINDOW, f"{whose} waited for the end of the window"


def test_a_crash_of_the_feedback_door_at_any_boundary_changes_nothing_in_the_end(site: Site) -> None:
    """Killed while it heeds a batch that proves three sends and suppresses two addresses; then the queue delivers it again."""
    for n, counting in moments():
        site.renew()
        events = lose_three_answers(site)

        ending = site.invoke("feedback", events, kill_at=n, counting=counting)
        assert not ending.error, ending.error
        site.recover(news="early")  # first of all, the same events again

        assert_every_ending(site, f"boundary {n}: {ending.killed_at or 'none, it ran to its end'}")
        if not ending.killed_at:
            return
    pytest.fail(f"feedback has more than {MOST_EXCHANGES} exchanges")


def test_the_boundaries_of_the_feedback_door_are_where_the_design_has_them(site: Site) -> None:
    exchanges = [
        "insert_new",
        "record_evidence",
        "hurry_proven",
        "raise_feedback",
        "insert_or_strengthen",
    ]

    ending = site.invoke("feedback", lose_three_answers(site))

    first = [
        next((n for n, name in enumerate(ending.crossed) if one in name), None)
        for one in ["connect", "apply_events", *exchanges, "sqs in tocsin.foundation.work_queue"]
    ]
    assert None not in first and first == sorted(first), "\n".join([str(first), *ending.crossed])  # type: ignore[type-var]
    assert_one_after_the_other(ending.crossed)


def lose_three_answers(site: Site) -> dict[str, object]:
    """Three emails that the provider accepted and whose answers were lost; returns the batch of events about them."""
    site.office.events.steer("on")
    site.office.fail("email", "accept_then_drop", times=len(ENDINGS))
    for address in ENDINGS:
        site.world.accept(audience={"kind": "address", "email": address})
    ending = site.invoke("dispatch", site.nudge())
    assert not ending.error, ending.error
    assert site.world.one("SELECT count(*) FROM attempts WHERE outcome = 'unknown'") == len(ENDINGS)
    site.messages()
    return news.batch(news.fetched(site.office.url))


def assert_every_ending(site: Site, where: str) -> None:
    found = invariants.check(site.world, site.office.ledger(), where)
    ends = {row["resolved_email"]: (row["status"], row["feedback"], row["duplicate_suspected"]) for row in found.routes.values()}
    assert ends == {address: ("published", feedback, False) for address, (feedback, _) in ENDINGS.items()}, where
    assert len(found.ledger) == len(ENDINGS), f"{where}: {len(found.ledger)} copies"
    suppressed = {row["address"]: row["reason"] for row in site.world.rows("SELECT address, reason FROM suppressions")}
    assert suppressed == {address: reason for address, (_, reason) in ENDINGS.items() if reason}, where
    assert len(found.events) == 2 + 3 + 2, f"{where}: each event is stored once"
    for name, row in found.routes.items():
        _resolved_promptly(row, found.attempts[name], f"{where}: {row['resolved_email']}")
