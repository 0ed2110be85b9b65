"""What was decided lately, over all notifications of a tenant: the steps of their timelines, oldest first.

A step is found by when we learned of it. Whoever reads on is never sent further than to a few seconds ago, because a transaction
may commit after others that began later; so a step may be read twice, under the same id, and none is passed over."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.delivery import timeline
from tocsin.delivery.timeline import TimelineEntry
from tocsin.foundation.database import tenant_transaction
from tocsin.store import attempts, clock, dead_letters, provider_events, records, routes

OVERLAP = timedelta(seconds=10)  # as long as a transaction may take to commit
LATELY = timedelta(minutes=1)  # without being told since when
FURTHEST = timedelta(hours=24)
_FIRST_STRETCH = timedelta(seconds=20)
_LONGEST_STRETCH = timedelta(minutes=10)
_SHORTEST_STRETCH = timedelta(milliseconds=100)  # is read whatever it holds
_MOST_STRETCHES = 8  # in one call: a quiet hour, or a busy minute
_MOST_ROWS = 2_000  # of a table in one stretch; one that holds more is read in parts
_MOST_YOUNG = 1_000  # steps of the last seconds, told beyond the limit
_MADE_LATER = ("event", "digest")  # records that work makes, with the time of what they are about


class TooFarBack(Exception):
    """Nobody keeps what was decided so long ago in order. Whoever asked begins later, or lists notifications."""


@dataclass(frozen=True, slots=True)
class Wish:
    """Which decisions: what is None does not matter. The last three are of a route, as it is now."""

    type: str | None = None
    producer: str | None = None
    channel: str | None = None
    recipient: str | None = None
    status: str | None = None

    @property
    def is_of_route(self) -> bool:
        return (self.channel, self.recipient, self.status) != (None, None, None)


@dataclass(frozen=True, slots=True)
class ToldStep:
    id: str
    record: dict[str, Any]
    route: dict[str, Any] | None
    entry: TimelineEntry


@dataclass(frozen=True, slots=True)
class Decisions:
    """`more`: there is more already, from `next_since` on."""

    data: list[ToldStep]
    next_since: datetime
    more: bool


def decisions(conn: Connection[Any], tenant_id: UUID, wish: Wish, *, since: datetime | None, limit: int) -> Decisions:
    """About `limit` of them: what was learned in one instant is never parted, nor is what others may still join, unless it is
    a lot. Raises TooFarBack."""
    with tenant_transaction(conn, tenant_id):
        now = clock.now(conn)
        start = begin = min(since or now - LATELY, now)
        if begin < now - FURTHEST:
            raise TooFarBack
        settled = max(begin, now - OVERLAP)  # whatever was learned before is here to be read
        by_id: dict[str, ToldStep] = {}
        width = _FIRST_STRETCH
        for _ in range(_MOST_STRETCHES):
            until = start + width if start + width < settled else now
            steps = _stretch(conn, tenant_id, wish, start, until)
            while steps is None:
                until = start + max(_SHORTEST_STRETCH, (until - start) / 8)
                steps = _stretch(conn, tenant_id, wish, start, until)
            for one in steps:
                by_id.setdefault(one.id, one)
            start, width = until, min(4 * (until - start), _LONGEST_STRETCH)
            if until >= now or len(by_id) >= limit:
                break
    found = list(by_id.values())
    page = found[:limit]
    page += [one for one in found[limit:] if one.entry["learned_at"] == page[-1].entry["learned_at"]]
    told_until = found[len(page)].entry["learned_at"] if len(page) < len(found) else start
    if told_until < settled:
        return Decisions(page, told_until, more=True)
    return Decisions(found[: max(len(page), _MOST_YOUNG)], settled, more=False)


def _stretch(conn: Connection[Any], tenant_id: UUID, wish: Wish, since: datetime, until: datetime) -> list[ToldStep] | None:
    """What was learned in this time, in order. None: it is too much to be read at once."""
    limit = _MOST_ROWS if until - since > _SHORTEST_STRETCH else None
    tries = attempts.find_lately(conn, tenant_id, since, until, limit=limit)
    heard = provider_events.find_lately(conn, tenant_id, since, until, limit=limit)
    letters = dead_letters.find_lately(conn, tenant_id, since, until, limit=limit)
    changed = routes.find_lately(conn, tenant_id, since, until, limit=limit)
    asked = records.find_lately(conn, tenant_id, since, until, limit=limit)
    read: tuple[Sized, ...] = (tries, heard, letters, changed, asked)
    if any(len(rows) == limit for rows in read):
        return None
    its_attempts, its_events, its_letters = _by_notification(tries), _by_notification(heard), _by_notification(letters)
    places = set(changed)
    for row in _rows(its_attempts, its_events, its_letters):
        if row["route_id"]:
            places.add((row["notification_id"], row["route_id"]))
    ids = {*asked, *(one[0] for one in places), *its_letters}
    its_routes = _by_notification(routes.find_some(conn, tenant_id, sorted(places)) if places else [])
    found: list[ToldStep] = []
    for record in records.find_some(conn, tenant_id, sorted(ids)) if ids else []:
        if wish.type not in (None, record["notification_type"]) or wish.producer not in (None, record["producer"]):
            continue
        name = record["notification_id"]
        entries = timeline.timeline(record, its_routes[name], its_attempts[name], its_events[name], its_letters[name])
        of_route = {route["route_id"]: route for route in its_routes[name]}
        for entry in _learned(record, entries, since, until):
            route = of_route.get(entry["route_id"])
            if _is_wanted(wish, route):
                found.append(ToldStep(_id(name, entry), record, route, entry))
    return sorted(found, key=_place)


def _learned(record: dict[str, Any], entries: list[TimelineEntry], since: datetime, until: datetime) -> Iterator[TimelineEntry]:
    """Those of this time. A record that work has made says when its cause was accepted: that is learned with its first route."""
    planned = [entry["learned_at"] for entry in entries if entry["what"] == "planned" and since <= entry["learned_at"] < until]
    for entry in entries:
        if entry["what"] == "accepted" and record["audience_kind"] in _MADE_LATER and planned:
            yield entry | {"learned_at": min(planned)}
        elif since <= entry["learned_at"] < until:
            yield entry


def _is_wanted(wish: Wish, route: dict[str, Any] | None) -> bool:
    if route is None:
        return not wish.is_of_route
    return (
        wish.channel in (None, route["channel"])
        and wish.recipient in (None, route["recipient_ref"])
        and wish.status in (None, route["status"])
    )


def _by_notification(rows: Iterable[dict[str, Any]]) -> defaultdict[UUID, list[dict[str, Any]]]:
    found: defaultdict[UUID, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[row["notification_id"]].append(row)
    return found


def _rows(*grouped: dict[UUID, list[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    return (row for group in grouped for rows in group.values() for row in rows)


def _place(one: ToldStep) -> tuple[datetime, datetime, UUID, int, str]:
    entry = one.entry
    return entry["learned_at"], entry["at"], one.record["notification_id"], entry["order"], one.id


def _id(notification_id: UUID, entry: TimelineEntry) -> str:
    """The same whenever it is read, and however its reason is worded by then."""
    parts = (notification_id, entry["route_id"] or "", entry["what"], entry["order"], entry["at"].timestamp())
    return hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()[:32]
