"""The words of an inbox row in each locale there is; its recipients' locales pick among them.

A round of work has so much time and room for words. What comes after that gets none yet, and is for the next round: a tenant's
slow templates must not cost the worker its lease."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.content import plain, render
from tocsin.store import templates
from tocsin.store.rows import Event, Planning
from tocsin.store.templates import TemplateRow

ROUND_SECONDS = 2.0  # of the processor
ROUND_CHARACTERS = 16 * 1024 * 1024

Words = list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class _Words:
    locale: str
    title: str
    message: str


def of_records(conn: Connection[Any], planned: list[Planning]) -> list[Words]:
    """For each record that is planned, in order, as far as the round goes: at least for the first."""
    found = _find(conn, ((one.work.tenant_id, one.record.template) for one in planned))
    return list(
        _within_a_round(
            _all(
                found.get((one.work.tenant_id, one.record.template or ""), []),
                one.record.notification_type,
                one.record.payload,
                plain.render,
            )
            for one in planned
        )
    )


def of_events(conn: Connection[Any], events: list[Event]) -> list[Words]:
    """For each event, in order, as far as the round goes: at least for the first."""
    found = _find(conn, ((one.tenant_id, one.template) for one in events))
    return list(
        _within_a_round(
            _all(found.get((one.tenant_id, one.template or ""), []), one.type, one.data, plain.event) for one in events
        )
    )


def _within_a_round(all_words: Iterator[Words]) -> Iterator[Words]:
    began, characters = time.thread_time(), 0
    for words in all_words:
        yield words
        characters += sum(len(one["message"]) for one in words)
        if characters > ROUND_CHARACTERS or time.thread_time() - began > ROUND_SECONDS:
            return


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
    plain: Callable[[str, dict[str, Any]], plain.Content],
) -> Words:
    if rows:
        of_row = partial(_of_row, payload, time.thread_time())
        words = [_words(notification_type, row.locale, partial(of_row, row)) for row in rows]
    else:
        words = [_words(notification_type, "default", lambda: _once(plain(notification_type, payload)))]
    return [asdict(one) for one in words]


def _of_row(payload: dict[str, Any], began: float, row: TemplateRow) -> plain.Content:
    """All locales of a row have the time of one message together."""
    return render.of_row(row, payload, used_seconds=time.thread_time() - began)


def _once(content: plain.Content) -> plain.Content:
    """A title alone is one line: the row shows it, and no message that repeats it."""
    return replace(content, text="") if content.text == content.title else content


def _words(notification_type: str, locale: str, render: Callable[[], plain.Content]) -> _Words:
    try:
        content = render()
    except plain.Unrenderable as error:
        return _Words(locale, notification_type, f"This notification cannot be shown: {error}.")
    return _Words(locale, content.title, content.text)
