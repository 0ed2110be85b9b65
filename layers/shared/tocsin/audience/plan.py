"""Plan: turn records into routes, their deliveries and their inbox rows."""

from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.content import inbox_text
from tocsin.foundation.channel_names import DEFAULT_CHANNELS
from tocsin.store import outbox
from tocsin.store.flow import plan as statements
from tocsin.store.rows import Plan, Planned, Planning, Unplanned

PAGE_SIZE = 1_000
MOST_ROUTES = 2_000  # in one statement, about


def plan(conn: Connection[Any], claimed: list[Planning], *, lease_token: UUID) -> Planned:
    """Plan these records in one statement. What it returns is committed; the caller may deliver it at once or send a nudge.

    Records for whose words the round has no time any more are given back."""
    rows = [one for one in claimed if "in_app" in channels_of(one.record)]
    inbox = dict(zip((one.work.id for one in rows), inbox_text.of_records(conn, rows), strict=False))
    later = {one.work.id for one in rows}.difference(inbox)
    if later:
        outbox.release(conn, list(later), lease_token=lease_token)
    planned = [one for one in claimed if one.work.id not in later]
    plans = [Plan(one.work.id, channels_of(one.record), inbox.get(one.work.id, [])) for one in planned]
    return statements.plan(conn, plans, lease_token=lease_token, page_size=PAGE_SIZE)


def portions(claimed: list[Planning]) -> list[list[Planning]]:
    """These plans in portions of about as many routes as one statement should write. Pure."""
    found: list[list[Planning]] = []
    room = 0
    for one in claimed:
        size = _size(one.record)
        if size > room:
            found.append([])
            room = MOST_ROUTES
        found[-1].append(one)
        room -= size
    return found


def _size(record: Unplanned) -> int:
    listed = {"users": record.listed_recipients, "address": 1}
    return listed.get(record.audience_kind, PAGE_SIZE) * len(channels_of(record))


def channels_of(record: Unplanned) -> list[str]:
    """The record's own channels (the intent's, its type's, its template's); for an address those it has; else the default."""
    if record.channels:
        return record.channels
    if record.audience_kind == "address" and record.audience:
        reachable = {"email": record.audience.get("email"), "sms": record.audience.get("phone")}
        return [channel for channel, address in reachable.items() if address]
    return DEFAULT_CHANNELS
