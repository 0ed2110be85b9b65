"""Endpoints that others run, each with a lane and a circuit breaker of its own: who may be called now, and who rests."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.foundation import work_queue
from tocsin.foundation.calls import MOST_PER_ENDPOINT, Calls
from tocsin.foundation.database import worker_round_trip
from tocsin.foundation.due import Due
from tocsin.store import lanes, outbox
from tocsin.store.flow import circuit_breaker as breaker
from tocsin.store.flow.put_off import PutOff, put_off
from tocsin.store.rows import Lane, Work

BREAKS_AFTER = 5  # failures in a row
BREAK = timedelta(seconds=30)
LONGEST_BREAK = timedelta(minutes=10)
PROBE_LEASE = timedelta(seconds=30)  # whoever dies while trying an endpoint holds it up for so long
LOOK_AGAIN = timedelta(seconds=2)
FIRST_LOT = 2 * MOST_PER_ENDPOINT  # of what waited for an endpoint that answers again


@dataclass(frozen=True, slots=True)
class Candidate:
    """A call that is to be made: for which work, by which lane, and as which lane was seen with it."""

    work: Work
    endpoint: str
    lane: Lane | None
    about: Any


@dataclass(frozen=True, slots=True)
class EndpointOutcome:
    """How a call ended for its endpoint. `is_awaited`: further work waits for it."""

    candidate: Candidate
    succeeded: bool
    timed_out: bool
    is_awaited: bool


def start_calls(
    conn: Connection[Any], candidates: list[Candidate], calls: Calls, start: Callable[[Candidate], None], *, lease_token: UUID
) -> None:
    """Start what has room; the rest is put off and uses no attempt. One call tries an endpoint whose rest is over."""
    waits: list[PutOff] = []
    trying = _take_probes(conn, candidates, calls)
    for one in sorted(candidates, key=lambda one: one.endpoint not in trying):  # who tries goes first, while there is room
        lane = trying.get(one.endpoint, one.lane)
        wait = _wait(one, lane, calls)
        if wait is None:
            start(Candidate(one.work, one.endpoint, lane, one.about))
        else:
            waits.append(PutOff(one.work.id, one.endpoint, wait))
    if waits:
        first = put_off(conn, waits, lease_token=lease_token).fetchall()
        work_queue.nudge_each((timedelta(seconds=one.seconds), [Due(one.id, one.queue, one.tenant_id)]) for one in first)


def record_outcomes(conn: Connection[Any], outcomes: Iterable[EndpointOutcome]) -> list[Due]:
    """Count the failures of each endpoint, reopen those that answered, and bring forward what waits for them.

    In the order of their names: no ring of waiters."""
    by_endpoint: dict[str, list[EndpointOutcome]] = {}
    for one in outcomes:
        by_endpoint.setdefault(one.candidate.endpoint, []).append(one)
    with worker_round_trip(conn):
        due = [_record(conn, name, by_endpoint[name]) for name in sorted(by_endpoint)]
    return [one for cursor in due if cursor is not None for one in cursor]


def _take_probes(conn: Connection[Any], candidates: list[Candidate], calls: Calls) -> dict[str, Lane | None]:
    """Those that recover, as they are once it is known who tries them; None is open again."""
    wanted = {
        one.endpoint
        for one in candidates
        if one.lane is not None and one.lane.is_recovering and calls.has_room_for(one.endpoint, 1, owner=one.work.tenant_id)
    }
    if not wanted:
        return {}
    found = {lane.lane: lane for lane in lanes.take_probes(conn, sorted(wanted), lease=PROBE_LEASE)}
    return {name: found.get(name) for name in wanted}


def _wait(one: Candidate, lane: Lane | None, calls: Calls) -> timedelta | None:
    """How long until it may be called; None: now."""
    now = one.work.claimed_at
    if lane is not None and lane.is_closed:
        return lane.resume_at - now
    if lane is not None and lane.is_recovering:
        is_first = lane.is_ours and calls.has_room_for(one.endpoint, 1, owner=one.work.tenant_id)
        return None if is_first else max(LOOK_AGAIN, (lane.probe_until or now) - now)
    most = 1 if lane is not None and lane.timed_out else MOST_PER_ENDPOINT
    return None if calls.has_room_for(one.endpoint, most, owner=one.work.tenant_id) else LOOK_AGAIN


def _record(conn: Connection[Any], name: str, outcomes: list[EndpointOutcome]) -> Any:
    seen = next((one.candidate.lane for one in outcomes if one.candidate.lane is not None), None)
    if succeeded := [one for one in outcomes if one.succeeded]:
        if seen is not None:
            breaker.reopen(conn, seen)
        if any(one.is_awaited for one in outcomes):
            return outbox.bring_forward(conn, name, limit=max(2 * len(succeeded), FIRST_LOT if seen else 0))
        return None
    was_closed = seen is not None and seen.state == "broken"
    breaker.count_failures(
        conn,
        name,
        failures=max(len(outcomes), BREAKS_AFTER if was_closed else 0),
        timed_out=any(one.timed_out for one in outcomes),
        breaks_after=BREAKS_AFTER,
        pause=BREAK,
        longest=LONGEST_BREAK,
        owner=outcomes[0].candidate.work.tenant_id,
    )
    return None
