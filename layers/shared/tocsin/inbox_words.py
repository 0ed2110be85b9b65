"""The words of an inbox row in each locale there is; its recipients' locales pick among them."""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin import rendering, wordings
from tocsin.store import templates
from tocsin.store.domain_events import Event
from tocsin.store.outbox import Claimed
from tocsin.store.templates import TemplateRow

Words = list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class _Words:
    locale: str
    title: str
    message: str


def of_records(conn: Connection[Any], claimed: list[Claimed]) -> list[Words]:
    """For each record that is planned, in order."""
    found = _find(conn, ((one.tenant_id, one.template) for one in claimed))
    return [
        _all(found.get((one.tenant_id, one.template or ""), []), one.notification_type, one.payload, rendering.render)
        for one in claimed
    ]


def of_events(conn: Connection[Any], events: list[Event]) -> dict[int, Words]:
    """For each event, by its id."""
    found = _find(conn, ((one.tenant_id, one.template) for one in events))
    return {
        one.id: _all(found.get((one.tenant_id, one.template or ""), []), one.type, one.data, rendering.event) for one in events
    }


def _find(conn: Connection[Any], wanted: Iterable[tuple[UUID, str | None]]) -> dict[tuple[UUID, str], list[TemplateRow]]:
    names = sorted({(tenant_id, name) for tenant_id, name in wanted if name})
    found: dict[tuple[UUID, str], list[TemplateRow]] = {}
    if names:
        for row in templates.find_active(conn, names, channel="in_app"):
            found.setdefault((row.tenant_id, row.name), []).append(row)
    return found


def _all(
    rows: list[TemplateRow],
    notification_type: str,
    payload: dict[str, Any],
    plain: Callable[[str, dict[str, Any]], rendering.Content],
) -> Words:
    if rows:
        words = [_words(notification_type, row.locale, partial(wordings.of_row, row, payload)) for row in rows]
    else:
        words = [_words(notification_type, "default", lambda: _once(plain(notification_type, payload)))]
    return [asdict(one) for one in words]


def _once(content: rendering.Content) -> rendering.Content:
    """A title alone is one line: the row shows it, and no message that repeats it."""
    return replace(content, text="") if content.text == content.title else content


def _words(notification_type: str, locale: str, render: Callable[[], rendering.Content]) -> _Words:
    try:
        content = render()
    except rendering.Unrenderable as error:
        return _Words(locale, notification_type, f"This notification cannot be shown: {error}.")
    return _Words(locale, content.title, content.text)
