"""Plan: turn records into routes, their deliveries and their inbox rows."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin import rendering, wordings
from tocsin.store import routes, templates
from tocsin.store.outbox import Claimed
from tocsin.store.routes import InboxWords
from tocsin.store.templates import TemplateRow

PAGE_SIZE = 1_000
DEFAULT_CHANNELS = ["email", "in_app"]

InboxTemplates = dict[tuple[UUID, str], list[TemplateRow]]


def plan(conn: Connection[Any], claimed: list[Claimed], *, lease_token: UUID) -> routes.Planned:
    """Plan these records in one statement. What it returns is committed; the caller may deliver it at once or hint at it."""
    inbox = _inbox_templates(conn, claimed)
    plans = [routes.Plan(one.outbox_id, channels_of(one), _inbox_words(one, inbox)) for one in claimed]
    return routes.plan(conn, plans, lease_token=lease_token, page_size=PAGE_SIZE)


def channels_of(claimed: Claimed) -> list[str]:
    """The record's own channels (the intent's, its type's, its template's); for an address those it has; else the default."""
    if claimed.channels:
        return claimed.channels
    if claimed.audience_kind == "address" and claimed.audience:
        reachable = {"email": claimed.audience.get("email"), "sms": claimed.audience.get("phone")}
        return [channel for channel, address in reachable.items() if address]
    return DEFAULT_CHANNELS


def _inbox_templates(conn: Connection[Any], claimed: list[Claimed]) -> InboxTemplates:
    names = {(one.tenant_id, one.template) for one in claimed if one.template and "in_app" in channels_of(one)}
    found: InboxTemplates = {}
    if names:
        for row in templates.find_active(conn, sorted(names), channel="in_app"):
            found.setdefault((row.tenant_id, row.name), []).append(row)
    return found


def _inbox_words(claimed: Claimed, inbox: InboxTemplates) -> list[InboxWords]:
    """The inbox row's words in each locale there is; its recipients' locales pick among them."""
    rows = inbox.get((claimed.tenant_id, claimed.template or ""), [])
    if rows:
        return [_words(claimed, row.locale, partial(wordings.of_row, row, claimed.payload)) for row in rows]
    return [_words(claimed, "default", partial(rendering.render, claimed.notification_type, claimed.payload))]


def _words(claimed: Claimed, locale: str, render: Callable[[], rendering.Content]) -> InboxWords:
    try:
        content = render()
    except rendering.Unrenderable as error:
        return InboxWords(locale, claimed.notification_type, f"This notification cannot be shown: {error}.")
    return InboxWords(locale, content.title, content.text)
