"""Plan: turn records into routes, their deliveries and their inbox rows."""

from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin import rendering
from tocsin.store import routes
from tocsin.store.outbox import Claimed

PAGE_SIZE = 1_000
DEFAULT_CHANNELS = ["email", "in_app"]


def plan(conn: Connection[Any], claimed: list[Claimed], *, lease_token: UUID) -> routes.Planned:
    """Plan these records in one statement. What it returns is committed; the caller may deliver it at once or hint at it."""
    return routes.plan(conn, [_plan(one) for one in claimed], lease_token=lease_token, page_size=PAGE_SIZE)


def _plan(claimed: Claimed) -> routes.Plan:
    title, message = _inbox_words(claimed)
    return routes.Plan(claimed.outbox_id, channels_of(claimed), title, message)


def channels_of(claimed: Claimed) -> list[str]:
    """The intent's own channels; else, for an address, those it can be reached by; else the default."""
    if claimed.channels:
        return claimed.channels
    if claimed.audience_kind == "address" and claimed.audience:
        reachable = {"email": claimed.audience.get("email"), "sms": claimed.audience.get("phone")}
        return [channel for channel, address in reachable.items() if address]
    return DEFAULT_CHANNELS


def _inbox_words(claimed: Claimed) -> tuple[str, str]:
    try:
        content = rendering.render(claimed.notification_type, claimed.payload)
    except rendering.Unrenderable as error:
        return claimed.notification_type, f"This notification cannot be shown: {error}."
    return content.title, content.text
