"""The provider fails in each of its ways, over HTTP: every route ends as that failure's class says, one request per attempt."""

from collections import Counter
from dataclasses import dataclass

import pytest

from devstack.post_office import PostOffice
from tests.crash import invariants
from tests.crash.invariants import Evidence
from tests.crash.site import Site
from tests.crash.traffic import INTENT, MESSAGES

EMAILS, TEXTS = 3, 2
HASTY = {"sesv2": (2.0, 0.3), "sns": (2.0, 0.3)}


@dataclass(frozen=True, slots=True)
class End:
    """How each route of a channel ends, with how many tries that count and how many acceptances."""

    status: str
    reason: str
    attempts: int
    accepted: int
    doubted: bool = False


SENT_LATER = End("published", "", 1, 1)
SENT_AGAIN = End("published", "", 2, 1, doubted=True)
SENT_TWICE = End("published", "", 2, 2, doubted=True)
ENDS = {
    # once for each message: what becomes of email, what becomes of SMS
    "throttle": (SENT_LATER, SENT_LATER),
    "unavailable": (End("published", "", 2, 1), End("published", "", 2, 1)),
    "refuse": (End("dead_letter", "permanent", 1, 0), End("dead_letter", "permanent", 1, 0)),
    "error_before": (SENT_AGAIN, End("dead_letter", "ambiguous", 1, 0)),
    "drop": (SENT_AGAIN, End("dead_letter", "ambiguous", 1, 0)),
    "error_after": (SENT_TWICE, End("dead_letter", "ambiguous", 1, 1)),
    "accept_then_drop": (SENT_TWICE, End("dead_letter", "ambiguous", 1, 1)),
    "accept_then_hang": (SENT_TWICE, End("dead_letter", "ambiguous", 1, 1)),
}


@pytest.mark.parametrize("mode", ENDS)
def test_each_way_to_fail_has_its_end(mode: str, site: Site, office: PostOffice, requests: list[str]) -> None:
    email, sms = ENDS[mode]
    site.limits = HASTY if mode == "accept_then_hang" else {}
    site.world.accept(**INTENT)
    office.fail("email", mode, times=EMAILS)
    office.fail("sms", mode, times=TEXTS)

    site.invoke("dispatch", site.nudge())
    site.recover()

    found = invariants.check(site.world, office.ledger(), mode)
    assert _ends(found, "email") == Counter({email: EMAILS})
    assert _ends(found, "sms") == Counter({sms: TEXTS})
    _one_request_per_attempt(found, requests)


def test_a_provider_that_stays_down_exhausts_every_attempt_and_says_what_to_do(
    site: Site, office: PostOffice, requests: list[str]
) -> None:
    site.world.accept(**INTENT)
    office.fail("*", "unavailable")

    site.invoke("dispatch", site.nudge())
    site.recover()

    found = invariants.check(site.world, office.ledger())
    assert _ends(found, "email") == Counter({End("dead_letter", "exhausted", 5, 0): EMAILS})
    assert _ends(found, "sms") == Counter({End("dead_letter", "exhausted", 5, 0): TEXTS})
    assert all("replay once it is healthy" in letter["recovery_hint"] for letter in found.letters)
    _one_request_per_attempt(found, requests)


@pytest.mark.parametrize(("mode", "event"), [("suspend", "lane_stopped"), ("quota", "quota_reached")])
def test_a_stopped_lane_keeps_its_routes_and_tells_the_operator_once(
    mode: str, event: str, site: Site, office: PostOffice, requests: list[str]
) -> None:
    site.world.accept(**INTENT)
    office.fail("email", mode)

    site.invoke("dispatch", site.nudge())

    assert requests.count("email") == 1, "the rest of the lane was tried although it was closed"
    waiting = site.world.rows("SELECT status, attempt_count FROM routes WHERE channel = 'email'")
    assert waiting == [{"status": "pending", "attempt_count": 0}] * EMAILS
    events = "SELECT event_type, subject, is_resolved FROM admin_system_events"
    assert site.world.rows(events) == [{"event_type": event, "subject": "ses:email", "is_resolved": False}]

    office.heal()
    site.recover()

    found = invariants.check(site.world, office.ledger())
    assert _ends(found, "email") == Counter({SENT_LATER: EMAILS})
    assert site.world.rows(events) == [{"event_type": event, "subject": "ses:email", "is_resolved": True}]
    assert len(office.ledger()) == MESSAGES
    _one_request_per_attempt(found, requests)


def test_a_suspended_account_gets_no_more_calls_than_senders_at_once(site: Site, office: PostOffice, requests: list[str]) -> None:
    site.settings["SEND_CONCURRENCY"] = "4"
    for n in range(40):
        site.world.add_user(f"user-{n}")
    site.world.accept(audience={"kind": "tenant"})
    office.fail("email", "suspend")

    site.invoke("dispatch", site.nudge())

    assert 1 <= requests.count("email") <= 4
    office.heal()
    site.recover()
    invariants.check(site.world, office.ledger())
    assert len(office.ledger()) == 43


def _ends(found: Evidence, channel: str) -> Counter[End]:
    """How the routes of a channel that had an address ended."""
    return Counter(
        End(row["status"], row["reason"], row["attempt_count"], len(found.ledger_of.get(name, [])), row["duplicate_suspected"])
        for name, row in found.routes.items()
        if row["channel"] == channel and row["reason"] != "no_address"
    )


def _one_request_per_attempt(found: Evidence, requests: list[str]) -> None:
    """The SDK's own retries are off: each attempt that was sent is one HTTP request, and no request is without one."""
    tries = Counter(
        found.routes[name]["channel"] for name, tries in found.attempts.items() for one in tries if one["outcome"] != "not_sent"
    )
    assert Counter(requests) == tries
