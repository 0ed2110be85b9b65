"""The answer is lost on its way over HTTP while the provider's events flow, come late, or are lost too."""

from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from devstack.post_office import PostOffice
from tests.cancelling import cancel
from tests.content import add_type
from tests.crash import invariants
from tests.crash.invariants import Evidence
from tests.crash.site import Site
from tests.world import TENANT, WINDOW

PEOPLE = ["alice", "bob", "carol"]
HASTY = {"sesv2": (2.0, 0.3), "sns": (2.0, 0.3)}
LOSING = ["accept_then_drop", "accept_then_hang", "error_after"]
Ends = Counter[tuple[str, str, bool, int]]


def lose(site: Site, mode: str, *, channel: str = "email", times: int | None = 3, **intent: object) -> None:
    site.limits = HASTY if mode == "accept_then_hang" else {}
    site.office.fail(channel, mode, times=times)
    site.world.accept(audience={"kind": "users", "user_ids": PEOPLE[: times or None]}, channels=[channel], **intent)
    ending = site.invoke("dispatch", site.nudge())
    assert not ending.error, ending.error


def ends(found: Evidence) -> Ends:
    """How many routes ended how: status, reason, doubt, and copies in the ledger."""
    rows = found.routes.items()
    return Counter((row["status"], row["reason"], row["duplicate_suspected"], len(found.ledger_of[name])) for name, row in rows)


@pytest.mark.parametrize("events", ["on", "dup"])
@pytest.mark.parametrize("mode", LOSING)
def test_with_events_every_lost_answer_is_found_and_nothing_is_sent_again(mode: str, events: str, site: Site) -> None:
    site.office.events.steer(events)
    lose(site, mode)

    site.recover(news="early" if events == "on" else "late")

    found = invariants.check(site.world, site.office.ledger(), mode)
    assert ends(found) == {("published", "", False, 1): 3}
    for name, row in found.routes.items():
        (attempt,), (entry,) = found.attempts[name], found.ledger_of[name]
        assert row["provider_message_id"] == attempt["provider_message_id"] == entry["message_id"]
        assert row["published_at"] - attempt["started_at"] < WINDOW, "it waited for the end of the window"


@pytest.mark.parametrize("mode", LOSING)
def test_with_events_lost_too_each_email_has_two_copies_at_most_and_the_doubt_is_recorded(mode: str, site: Site) -> None:
    lose(site, mode)

    site.recover()

    found = invariants.check(site.world, site.office.ledger(), mode)
    assert ends(found) == {("published", "", True, 2): 3}


@pytest.mark.parametrize(
    ("channel", "policy", "expected"),
    [
        ("email", "hold", ("dead_letter", "ambiguous", False, 1)),
        ("sms", None, ("dead_letter", "ambiguous", False, 1)),
        ("sms", "retry", ("published", "", True, 2)),
    ],
)
def test_with_events_lost_too_the_policy_of_the_type_decides(
    channel: str, policy: str | None, expected: tuple[str, str, bool, int], site: Site
) -> None:
    add_type(site.world, ambiguous_policy=policy)
    lose(site, "accept_then_drop", channel=channel, times=2)

    site.recover()

    assert ends(invariants.check(site.world, site.office.ledger())) == {expected: 2}


@pytest.mark.parametrize("policy", ["retry", "hold"])
@pytest.mark.parametrize("stop", ["expired", "cancelled"])
@pytest.mark.parametrize("mode", LOSING)
def test_with_events_lost_too_what_expired_or_was_cancelled_is_not_sent_again_and_its_end_says_so(
    mode: str, stop: str, policy: str, site: Site
) -> None:
    add_type(site.world, ambiguous_policy=policy)
    expiry = {"expires_at": (datetime.now(UTC) + timedelta(minutes=10)).isoformat()} if stop == "expired" else {}
    lose(site, mode, **expiry)
    if stop == "cancelled":
        answer = cancel(site.world.app, TENANT, site.world.one("SELECT notification_id FROM records"))
        assert answer is not None and answer.is_too_late

    site.recover()

    found = invariants.check(site.world, site.office.ledger(), mode)
    assert ends(found) == {("dead_letter", "ambiguous", False, 1): 3}
    assert all(one["failure_message"].endswith(f"not sent again: {stop}") for one in found.letters)
    assert all(one["error_message"] for tries in found.attempts.values() for one in tries), "the attempt's own words are gone"


def test_events_that_come_after_the_retry_are_recorded_beside_it(site: Site, office: PostOffice) -> None:
    """#22: both acceptances are on record, the doubt stays, and nothing more is sent."""
    office.events.steer("hold")
    lose(site, "accept_then_drop")
    site.recover()
    assert ends(invariants.check(site.world, office.ledger())) == {("published", "", True, 2): 3}

    office.events.steer("on")
    site.recover(news="late")

    found = invariants.gather(site.world, office.ledger())
    assert ends(found) == {("published", "", True, 2): 3}
    for name, tries in found.attempts.items():
        accepted = [(one["outcome"], one["provider_message_id"]) for one in tries]
        assert accepted == [("accepted", entry["message_id"]) for entry in found.ledger_of[name]]
        assert found.routes[name]["provider_message_id"] == tries[-1]["provider_message_id"]
    assert {row["feedback"] for row in found.routes.values()} == {"delivered"}


def test_a_provider_that_never_answers_but_tells_gets_one_copy_of_each(site: Site) -> None:
    """Every answer is lost, for ever; the events alone carry the truth."""
    site.office.events.steer("on")
    lose(site, "accept_then_drop", times=None)

    site.recover(news="late")

    assert ends(invariants.check(site.world, site.office.ledger())) == {("published", "", False, 1): 3}
