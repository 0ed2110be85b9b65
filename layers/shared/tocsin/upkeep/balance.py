"""Balance: do the tables keep the promises they make of each other? What does not add up is said, until it does."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.foundation.database import worker_transaction
from tocsin.store import admin_system_events, clock
from tocsin.store.flow import books, books_of_work
from tocsin.store.flow.books import Residue, Span

JOB = "books"
EVENT = "books_do_not_balance"
MOST_IDS = 10  # named in a system event

RECENT = timedelta(hours=25)  # looked at in every run
OLDEST = timedelta(days=92)  # of the rest, a part in each run
PARTS = 20  # all of it in as many hours: within a day, though a run or two should fail
OVERLAP = timedelta(hours=3)  # parts move with the clock: what leaves one before its turn is in the next at its own
AGES_AGO = datetime(2000, 1, 1, tzinfo=UTC)
FRESH = timedelta(hours=23)  # a letter or an inbox row is kept for a day at least


@dataclass(frozen=True, slots=True)
class Check:
    """One promise: what to call its breach, what that means, and how to find it."""

    name: str
    meaning: str
    find: Callable[[Connection[Any], Span], list[Residue]]
    is_windowed: bool = True  # or looks at all there is, because it is little
    is_of_tenants: bool = True  # or may be asked by nobody but the installation


CHECKS = (
    Check("records_without_work", "accepted, with no plan, no route and no dead letter", books.records_without_work),
    Check("live_routes_without_work", "a route waits, and no work will carry it on", books.live_routes_without_work),
    Check(
        "published_without_acceptance", "a route is published, and no attempt was accepted", books.published_without_acceptance
    ),
    Check("published_without_inbox_row", "published to an inbox that has no row of it", books.published_without_inbox_row),
    Check(
        "accepted_without_publication",
        "a provider accepted it, and the route's end does not say so",
        books.accepted_without_publication,
    ),
    Check("dead_routes_without_letter", "a route was given up on without a dead letter", books.dead_routes_without_letter),
    Check(
        "work_without_live_route",
        "work to deliver a route that has ended, or is none",
        books_of_work.work_without_live_route,
        is_windowed=False,
    ),
    Check(
        "letters_without_dead_route",
        "an unresolved dead letter of a route that is not dead",
        books_of_work.letters_without_dead_route,
    ),
    Check(
        "events_passed_over",
        "an event still waits behind the cursor that has passed it",
        books_of_work.events_passed_over,
        is_of_tenants=False,
    ),
    Check("webhooks_without_work", "a webhook is owed a message, and no work will send it", books_of_work.webhooks_without_work),
    Check(
        "digests_without_route",
        "a digest collects for an email that will not be sent",
        books_of_work.digests_without_route,
        is_windowed=False,
    ),
)
BY_NAME = {check.name: check for check in CHECKS}


@dataclass(frozen=True, slots=True)
class Balance:
    """What does not add up, by check and tenant; and whether everything that was to be looked at was."""

    residue: dict[str, dict[UUID, list[UUID]]] = field(default_factory=dict)
    is_complete: bool = True

    @property
    def count(self) -> int:
        return sum(len(ids) for found in self.residue.values() for ids in found.values())

    def report(self) -> dict[str, Any]:
        """Without the names of tenants."""
        counts = {check: sum(map(len, found.values())) for check, found in self.residue.items() if found}
        return {"residue": counts, "looked_at": [check.name for check in CHECKS if check.name in self.residue]}


def balance(conn: Connection[Any], *, has_time: Callable[[], bool]) -> Balance:
    """Look at every tenant's books: what is a day old, part of what is older, and again at what did not add up before.

    A breach is a system event of its tenant, high, open until that which it names adds up."""
    now = clock.now(conn)
    spans = [_span(now, now - RECENT, now + RECENT), _span(now, *part_of_the_past(now))]
    residue: dict[str, dict[UUID, list[UUID]]] = {}
    is_complete = True
    for check, span in _looks(spans):
        if not has_time():
            is_complete = False
            break
        found = residue.setdefault(check.name, {})
        for one in check.find(conn, span):
            ids = found.setdefault(one.tenant_id, [])
            if one.id not in ids:
                ids.append(one.id)
    settled = _look_again(conn, _span(now, AGES_AGO, now + RECENT), residue)
    _tell(conn, residue, settled)
    return Balance(residue, is_complete)


def balance_of(conn: Connection[Any], tenant_id: UUID, *, past: timedelta, has_time: Callable[[], bool]) -> Balance:
    """Look at one tenant's books of so much past time. Nothing is written."""
    now = clock.now(conn)
    span = replace(_span(now, now - past, now + RECENT), tenant_id=tenant_id)
    residue: dict[str, dict[UUID, list[UUID]]] = {}
    for check in CHECKS:
        if check.is_of_tenants:
            if not has_time():
                return Balance(residue, is_complete=False)
            ids = [one.id for one in check.find(conn, span)]
            residue[check.name] = {tenant_id: list(dict.fromkeys(ids))} if ids else {}
    return Balance(residue)


def _span(now: datetime, since: datetime, until: datetime) -> Span:
    return Span(since, until, fresh_since=now - FRESH)


def part_of_the_past(now: datetime) -> tuple[datetime, datetime]:
    """The part of the older books whose turn it is at this hour."""
    length = (OLDEST - RECENT) / PARTS
    oldest = now - OLDEST
    turn = int(now.timestamp() // 3600) % PARTS
    return oldest + length * turn - OVERLAP, oldest + length * (turn + 1)


def _looks(spans: list[Span]) -> Iterator[tuple[Check, Span]]:
    for check in CHECKS:
        for span in spans if check.is_windowed else spans[:1]:
            yield check, span


def _look_again(conn: Connection[Any], span: Span, residue: dict[str, dict[UUID, list[UUID]]]) -> list[tuple[UUID | None, str]]:
    """At what was named before: what still does not add up is residue of this run too. Returns what has settled."""
    settled = []
    for tenant_id, name, details in admin_system_events.find_open(conn, EVENT):
        check = BY_NAME.get(name)
        named = [UUID(one) for one in details.get("ids", [])]
        still = check.find(conn, replace(span, tenant_id=tenant_id, ids=named)) if check else []
        if not still:
            settled.append((tenant_id, name))
        for one in still:
            ids = residue.setdefault(name, {}).setdefault(one.tenant_id, [])
            if one.id not in ids:
                ids.append(one.id)
    return settled


def _tell(conn: Connection[Any], residue: dict[str, dict[UUID, list[UUID]]], settled: list[tuple[UUID | None, str]]) -> None:
    with worker_transaction(conn):
        for tenant_id, name in settled:
            admin_system_events.resolve(conn, tenant_id, event_type=EVENT, subject=name)
        for name, found in residue.items():
            for owner, ids in found.items():
                admin_system_events.raise_once(
                    conn,
                    event_type=EVENT,
                    severity="high",
                    subject=name,
                    description=f"The books do not balance: {BY_NAME[name].meaning}.",
                    details={"count": len(ids), "ids": [str(one) for one in ids[:MOST_IDS]]},
                    tenant_id=owner,
                )
