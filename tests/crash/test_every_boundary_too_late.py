"""The same crashes of dispatch, and then it is too late: what expired or was cancelled is not sent, and no end hides what was."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from tests.cancelling import cancel
from tests.crash import invariants, mutations
from tests.crash.invariants import TERMINAL, Evidence
from tests.crash.moments import MOST_EXCHANGES, moments
from tests.crash.site import Site
from tests.crash.test_every_boundary import CHUNKS
from tests.crash.traffic import INTENT
from tests.world import TENANT

BEFORE_RECOVERY = timedelta(minutes=4)  # the first look after a crash is five minutes later
AROUND_A_SEND = ["before ses/sns in tocsin.channels", "after ses/sns in tocsin.channels", "settle._record"]


def expiring(site: Site) -> None:
    site.world.accept(**INTENT, expires_at=(datetime.now(UTC) + BEFORE_RECOVERY).isoformat())


def cancelled(site: Site) -> None:
    site.world.accept(**INTENT)


ARRANGE: dict[str, Callable[[Site], None]] = {"expired": expiring, "cancelled": cancelled}


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("stop", ARRANGE)
def test_after_a_crash_at_any_boundary_nothing_is_sent_that_expired_or_was_cancelled(stop: str, chunk: int, site: Site) -> None:
    for n, counting in moments(chunk, CHUNKS):
        site.renew()
        if not crash_too_late(site, stop, n, counting=counting):
            return
    pytest.fail(f"dispatch has more than {MOST_EXCHANGES} exchanges")


@pytest.mark.parametrize("counting", AROUND_A_SEND)
@pytest.mark.parametrize("stop", ARRANGE)
def test_an_event_still_tells_the_truth_about_what_was_accepted(stop: str, counting: str, site: Site) -> None:
    assert crash_too_late(site, stop, 1, counting=counting, news="late")


@pytest.mark.parametrize("stop", ARRANGE)
def test_it_is_noticed_when_the_end_hides_what_may_have_arrived(stop: str, site: Site) -> None:
    with pytest.raises(AssertionError, match="its end hides it"):
        crash_too_late(site, stop, 1, counting=AROUND_A_SEND[1], before=mutations.doubt_is_forgotten)


def crash_too_late(
    site: Site, stop: str, n: int, *, counting: str = "", news: str = "", before: Callable[[], object] | None = None
) -> bool:
    """Kill dispatch at boundary n; when somebody comes back, everything has expired, or a cancel was answered meanwhile."""
    site.office.events.steer("on" if news else "drop")
    ARRANGE[stop](site)
    ending = site.invoke("dispatch", site.nudge(), kill_at=n, counting=counting)
    where = f"{stop}, boundary {n}: {ending.killed_at or 'none, it ran to its end'}"
    assert not ending.error, f"{where}\n{ending.error}"
    if stop == "cancelled":
        cancel(site.world.app, TENANT, site.world.one("SELECT notification_id FROM records"))
    at_crash = invariants.gather(site.world, site.office.ledger())

    site.recover(before=before, news=news)

    found = invariants.check(site.world, site.office.ledger(), where)
    assert found.ledger == at_crash.ledger, f"{where}: sent when it was too late"
    _ends_as_far_as_it_had_come(at_crash, found, stop, bool(news), where)
    return bool(ending.killed_at)


def _ends_as_far_as_it_had_come(at_crash: Evidence, found: Evidence, stop: str, is_told: bool, where: str) -> None:
    """What had ended stays; what was surely not sent says why; what is in doubt says so, unless an event resolves it."""
    open_then = {f"{row['notification_id']}_{row['route_id']}" for row in at_crash.outbox if row["attempt_open"]}
    for name, row in found.routes.items():
        whose = f"{where}: {row['channel']} to {row['recipient_ref']}"
        end = (row["status"], row["reason"], row["may_have_arrived"])
        before = at_crash.routes.get(name)
        if before and before["status"] in TERMINAL:
            assert end == (before["status"], before["reason"], False), whose
        elif name not in open_then:
            unsent = [("cancelled", "cancelled", False), ("skipped", stop, False), ("skipped", "no_address", False)]
            assert end in unsent and not found.attempts[name], f"{whose}: {end}"
        elif is_told and row["channel"] == "email" and at_crash.ledger_of[name]:
            assert end == ("published", "", False), whose
        else:
            assert end == ("dead_letter", "ambiguous", True), whose
            assert [one["outcome"] for one in found.attempts[name]] == ["unknown"], whose
