"""The circuit breaker: what the outcomes of a batch mean for the lanes they went by."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor

from tocsin.channels.outcomes import Accepted, Failure, FailureClass, Outcome
from tocsin.delivery.send import BREAKS_AFTER, CLOSING
from tocsin.delivery.settlement import pause_of
from tocsin.foundation.due import Due
from tocsin.store import admin_system_events, lanes, outbox
from tocsin.store.flow import circuit_breaker as breaker
from tocsin.store.rows import Delivery, Lane

SLOWEST_THROTTLE = timedelta(seconds=60)
BREAKER_PAUSE = timedelta(seconds=30)
LONGEST_BREAK = timedelta(minutes=10)
LONGEST_STOP = timedelta(hours=1)
WIDEST = 64  # what a slowed lane takes at once before it counts as open
FIRST_LOT, SWEPT_LOT = 500, 1_000  # of what waits for a lane that has reopened
_FAILING = (FailureClass.TRANSIENT, FailureClass.AMBIGUOUS)


def update_lanes(conn: Connection[Any], sends: list[tuple[str, Delivery, Outcome]], seen: dict[str, Lane]) -> list[Cursor[Due]]:
    """Close the lanes that were told to slow down or stop, count failures, open what let us through. `seen`: as they were before.

    Returns what waited for a lane and is due now. Comes after the settlements, so that this batch waits for nothing itself.
    Lanes are taken in the order of their names: no ring of waiters."""
    outcomes: dict[str, list[tuple[Delivery, Outcome]]] = {name: [] for name, lane in seen.items() if lane.is_ours}
    for name, delivery, outcome in sends:
        outcomes.setdefault(name, []).append((delivery, outcome))
    due = [_update_lane(conn, name, outcomes[name], seen.get(name)) for name in sorted(outcomes)]
    return [cursor for cursor in due if cursor is not None]


def _update_lane(
    conn: Connection[Any], name: str, outcomes: list[tuple[Delivery, Outcome]], seen: Lane | None
) -> Cursor[Due] | None:
    failures = [outcome for _, outcome in outcomes if isinstance(outcome, Failure)]
    failing = [failure for failure in failures if failure.kind in _FAILING]
    went_through = [delivery for delivery, outcome in outcomes if isinstance(outcome, Accepted)]
    owner = lanes.owner_of(name, outcomes[0][0].work.tenant_id) if outcomes else None
    if told_off := [failure for failure in failures if failure.kind in CLOSING]:
        _close(conn, name, told_off[-1], owner)
    elif went_through:
        return _open(conn, name, went_through, seen)
    elif failing:
        _count_failures(conn, name, failing, seen, owner)
    elif seen is not None and seen.is_ours:
        lanes.release_probe(conn, seen)
    return None


def _open(conn: Connection[Any], name: str, went_through: list[Delivery], seen: Lane | None) -> Cursor[Due] | None:
    """What waits is brought forward in steps: as many as a slowed lane takes next, a first lot where it is open again, and then
    twice as many as went through."""
    if seen is not None:
        lanes.widen(conn, seen, widest=WIDEST)
        breaker.reopen(conn, seen)
        return outbox.bring_forward(conn, name, limit=FIRST_LOT)
    waited = sum(delivery.work.waits_for == name for delivery in went_through)
    return outbox.bring_forward(conn, name, limit=2 * waited) if waited else None


def _count_failures(conn: Connection[Any], name: str, failing: list[Failure], seen: Lane | None, owner: UUID | None) -> None:
    """The breaker: a lane that only fails is passed over for a while. One that was closed and is tried in vain stays so."""
    was_closed = seen is not None and seen.state in ("stopped", "broken")
    breaker.count_failures(
        conn,
        name,
        failures=max(len(failing), BREAKS_AFTER if was_closed else 0),
        timed_out=any(failure.timed_out for failure in failing),
        breaks_after=BREAKS_AFTER,
        pause=BREAKER_PAUSE,
        longest=LONGEST_BREAK,
        owner=owner,
    )


def wake_reopened(conn: Connection[Any]) -> list[Due]:
    """Bring forward what still waits for lanes that are open, and end their trouble, whoever opened them."""
    admin_system_events.resolve_reopened(conn)
    return [due for lane in outbox.find_reopened(conn) for due in outbox.bring_forward(conn, lane, limit=SWEPT_LOT)]


def _close(conn: Connection[Any], lane: str, failure: Failure, owner: UUID | None) -> None:
    is_slow_only = failure.kind is FailureClass.THROTTLED and failure.pause is None
    lanes.close(
        conn,
        lane,
        owner=owner,
        state="slowed" if is_slow_only else "stopped",
        trouble="throttled" if is_slow_only else "quota" if failure.kind is FailureClass.THROTTLED else "configuration",
        reason=failure.code,
        pause=pause_of(failure),
        longest=SLOWEST_THROTTLE if is_slow_only else LONGEST_STOP,
    )
    if not is_slow_only:
        admin_system_events.raise_once(
            conn,
            event_type="quota_reached" if failure.kind is FailureClass.THROTTLED else "lane_stopped",
            severity="critical",
            subject=lane,
            description=f"Sending on {lane} is stopped: {failure.code}. The waiting routes' attempts have the provider's words.",
            details={"lane": lane, "code": failure.code},
            tenant_id=owner,
        )
