"""Plan: turn records into routes, their deliveries and their inbox rows."""

from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.content import inbox_text
from tocsin.store import outbox
from tocsin.store.flow import plan as statements
from tocsin.store.rows import Claimed, Plan, Planned

PAGE_SIZE = 1_000
MOST_ROUTES = 2_000  # in one statement, about
DEFAULT_CHANNELS = ["email", "in_app"]


def plan(conn: Connection[Any], claimed: list[Claimed], *, lease_token: UUID) -> Planned:
    """Plan these records in one statement. What it returns is committed; the caller may deliver it at once or hint at it.

    Records for whose words the round has no time any more are given back."""
    rows = [one for one in claimed if "in_app" in channels_of(one)]
    inbox = dict(zip((one.outbox_id for one in rows), inbox_text.of_records(conn, rows), strict=False))
    later = {one.outbox_id for one in rows}.difference(inbox)
    if later:
        outbox.release(conn, list(later), lease_token=lease_token)
    planned = [one for one in claimed if one.outbox_id not in later]
    plans = [Plan(one.outbox_id, channels_of(one), inbox.get(one.outbox_id, [])) for one in planned]
    return statements.plan(conn, plans, lease_token=lease_token, page_size=PAGE_SIZE)


def portions(claimed: list[Claimed]) -> list[list[Claimed]]:
    """These plans in portions of about as many routes as one statement should write. Pure."""
    found: list[list[Claimed]] = []
    room = 0
    for one in claimed:
        size = _size(one)
        if size > room:
            found.append([])
            room = MOST_ROUTES
        found[-1].append(one)
        room -= size
    return found


def _size(claimed: Claimed) -> int:
    listed = {"users": claimed.listed_recipients, "address": 1}
    return listed.get(claimed.audience_kind, PAGE_SIZE) * len(channels_of(claimed))


def channels_of(claimed: Claimed) -> list[str]:
    """The record's own channels (the intent's, its type's, its template's); for an address those it has; else the default."""
    if claimed.channels:
        return claimed.channels
    if claimed.audience_kind == "address" and claimed.audience:
        reachable = {"email": claimed.audience.get("email"), "sms": claimed.audience.get("phone")}
        return [channel for channel, address in reachable.items() if address]
    return DEFAULT_CHANNELS
