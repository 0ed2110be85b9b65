"""Preview a template, or a draft of one: what it would say with a payload, given or recorded. Nothing is kept or sent."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.content import email_words, publish, render
from tocsin.content.framing import NamedParts, frame_now
from tocsin.content.masking import masked
from tocsin.content.plain import Content
from tocsin.content.publish import Draft
from tocsin.content.render import BARE, Letterhead
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.languages import language_of
from tocsin.store import brands, records, templates
from tocsin.store.templates import TemplateRow


@dataclass(frozen=True, slots=True)
class Preview:
    template: TemplateRow | None  # None: a draft's
    content: Content
    payload: dict[str, Any]  # what it was rendered with


class LacksVariables(Exception):
    """The payload has not all that the template declares required. Whoever asked adds these."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(", ".join(names))
        self.names = names


class UnknownNotification(Exception):
    """The tenant has no notification whose payload could be taken. Whoever asked names another."""


def preview(
    conn: Connection[Any],
    tenant_id: UUID,
    name: str,
    *,
    channel: str,
    locale: str,
    version: int | None,
    payload: dict[str, Any] | UUID,
) -> Preview | None:
    """The active version in the locale nearest to the one asked for, or that version, active or not.

    A payload is given, or it is a notification's as it was recorded, with its secrets masked. None: the name has no such version
    on the channel. Raises LacksVariables, UnknownNotification and Unrenderable."""
    with tenant_transaction(conn, tenant_id):
        if version is None:
            rows = templates.find_active(conn, [(tenant_id, name)], channel=channel)
        else:
            rows = templates.find_version(conn, tenant_id, name, channel=channel, version=version)
        if not rows:
            return None
        values = _values(conn, tenant_id, payload)
        row = min(rows, key=lambda row: render.distance(row.locale, locale))
        letterhead = _letterhead(conn, tenant_id, NamedParts(row.layout, tuple(row.partials)), row.locale)
    _require(row.variables, values)
    return Preview(row, render.of_row(row, values, letterhead=letterhead, why=_why(letterhead, row.locale)), values)


def preview_draft(conn: Connection[Any], tenant_id: UUID, draft: Draft, *, payload: dict[str, Any] | UUID) -> Preview:
    """A draft that nobody saved, held to the rules of those that are. Raises UnusableTemplate besides what `preview` does."""
    named = publish.named_by(draft)
    with tenant_transaction(conn, tenant_id):
        letterhead = _letterhead(conn, tenant_id, named, draft.locale)
        publish.check(draft, letterhead.sources)
        values = _values(conn, tenant_id, payload)
    _require(draft.variables, values)
    return Preview(None, _rendered(draft, values, letterhead), values)


def _letterhead(conn: Connection[Any], tenant_id: UUID, named: NamedParts, locale: str) -> Letterhead:
    """As it is now; with links that lead nowhere, for there is no reader."""
    sources = frame_now(conn, tenant_id, named, locale)
    return Letterhead(brands.find(conn, tenant_id), "…/u/…", "…/p/…", sources) if sources else BARE


def _why(letterhead: Letterhead, locale: str) -> str:
    return email_words.why("", brand=letterhead.brand.name, is_known=True, language=language_of(locale))


def _values(conn: Connection[Any], tenant_id: UUID, payload: dict[str, Any] | UUID) -> dict[str, Any]:
    if isinstance(payload, dict):
        return payload
    record = records.find(conn, tenant_id, payload)
    if record is None:
        raise UnknownNotification
    return masked(record["payload_json"])


def _rendered(draft: Draft, payload: dict[str, Any], letterhead: Letterhead) -> Content:
    from tocsin.content import templates as engine  # noqa: PLC0415 - slow to import

    nameless = UUID(int=0)
    version = engine.Template(
        nameless, draft.name, 0, draft.channel, draft.locale, draft.subject, draft.body, draft.text, letterhead.sources
    )
    return engine.render(version, payload, reader=letterhead.reader(_why(letterhead, draft.locale)))


def _require(variables: list[str], payload: dict[str, Any]) -> None:
    if missing := [variable for variable in variables if variable not in payload]:
        raise LacksVariables(missing)
