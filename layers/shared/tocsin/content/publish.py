"""Publish a template: its next version, checked before it is anybody's; or take the name out of use. Each with its audit row."""

from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.content.framing import NamedParts, frame_now
from tocsin.content.part_sources import PartSources
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.store import layouts, templates
from tocsin.store.templates import TemplateRow

MAX_LOCALES = 50  # of one name on one channel: an inbox row is rendered in all of them


@dataclass(frozen=True, slots=True)
class Draft:
    name: str
    channel: str
    body: str
    locale: str = "default"
    subject: str | None = None
    text: str | None = None
    variables: list[str] = field(default_factory=list)
    layout: str | None = None


class UnusableTemplate(Exception):
    """The template could not be rendered safely: where (a JSON pointer) and why, for each fault. Its author corrects it."""

    def __init__(self, faults: list[tuple[str, str]]) -> None:
        super().__init__("; ".join(f"{pointer} {message}" for pointer, message in faults))
        self.faults = faults


class TooManyLocales(Exception):
    """The name has as many locales on this channel as it may. Its author does with fewer."""

    def __init__(self) -> None:
        super().__init__(f"is the template's {MAX_LOCALES + 1}st on this channel; no more are allowed")


def named_by(draft: Draft) -> NamedParts:
    """The layout and partials that it names. Raises UnusableTemplate."""
    if draft.layout is not None and draft.channel != "email":
        raise UnusableTemplate([("/layout", "is for the channel email")])
    if draft.channel != "email" or "render" not in draft.body:
        return NamedParts(draft.layout, ())
    from tocsin.content.liquid_limits import Refused  # noqa: PLC0415 - slow to import, and only this needs it
    from tocsin.content.parts import rendered_names  # noqa: PLC0415

    try:
        return NamedParts(draft.layout, tuple(rendered_names(draft.body)))
    except Refused as refused:
        raise UnusableTemplate([("/body", str(refused))]) from None


def check(draft: Draft, frame: PartSources | None) -> None:
    """Raises UnusableTemplate for what could not be rendered safely."""
    from tocsin.content.templates import problems_of  # noqa: PLC0415 - slow to import, and only this needs it

    if frame and frame.layout_name is not None and frame.layout is None:
        raise UnusableTemplate([("/layout", "is not known; make it with POST /v1/layouts")])
    if faults := problems_of(draft.channel, draft.subject, draft.body, draft.text, draft.variables, frame):
        raise UnusableTemplate(faults)


def publish(conn: Connection[Any], actor: Actor, draft: Draft, *, created_by: UUID) -> TemplateRow:
    """The new version, from now on the active one. Raises UnusableTemplate and TooManyLocales."""
    named = named_by(draft)
    if not named:
        check(draft, None)
    with tenant_transaction(conn, actor.tenant_id):
        if named:
            layouts.lock(conn, actor.tenant_id)  # what it uses stays in use
            check(draft, frame_now(conn, actor.tenant_id, named, draft.locale))
        others = templates.count_other_locales(conn, actor.tenant_id, draft.name, draft.channel, draft.locale)
        if others >= MAX_LOCALES:
            raise TooManyLocales
        before = templates.find_active(conn, [(actor.tenant_id, draft.name)], channel=draft.channel)
        row = templates.insert_version(
            conn,
            template_id=uuid7(),
            tenant_id=actor.tenant_id,
            created_by=created_by,
            partials=named.partials,
            **asdict(draft),
        )
        old = [{"old": _audited(one)} for one in before if one.locale == row.locale]
        audit.record(conn, actor, "create", "template", str(row.id), (old[0] if old else {}) | {"new": _audited(row)})
    return row


def withdraw(conn: Connection[Any], actor: Actor, name: str) -> bool:
    """Take a name out of use, in every channel and locale. False: there is no active template of this name."""
    with tenant_transaction(conn, actor.tenant_id):
        if not templates.deactivate(conn, actor.tenant_id, name):
            return False
        changes = {"old": {"is_active": True}, "new": {"is_active": False}}
        audit.record(conn, actor, "deactivate", "template", name, changes)
    return True


def _audited(row: TemplateRow) -> dict[str, Any]:
    """The words too: who said what, when, is what is asked when a mail went wrong."""
    names = ("name", "channel", "locale", "version", "subject", "body", "text", "variables", "layout")
    return {name: getattr(row, name) for name in names}
