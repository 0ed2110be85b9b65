"""Publish a template: its next version, checked before it is anybody's; or take the name out of use. Each with its audit row."""

from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.store import templates
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


class UnusableTemplate(Exception):
    """The template could not be rendered safely: where (a JSON pointer) and why, for each fault. Its author corrects it."""

    def __init__(self, faults: list[tuple[str, str]]) -> None:
        super().__init__("; ".join(f"{pointer} {message}" for pointer, message in faults))
        self.faults = faults


class TooManyLocales(Exception):
    """The name has as many locales on this channel as it may. Its author does with fewer."""

    def __init__(self) -> None:
        super().__init__(f"is the template's {MAX_LOCALES + 1}st on this channel; no more are allowed")


def check(draft: Draft) -> None:
    """Raises UnusableTemplate for what could not be rendered safely."""
    from tocsin.content.templates import problems_of  # noqa: PLC0415 - slow to import, and only this needs it

    if faults := problems_of(draft.channel, draft.subject, draft.body, draft.text, draft.variables):
        raise UnusableTemplate(faults)


def publish(conn: Connection[Any], actor: Actor, draft: Draft, *, created_by: UUID) -> TemplateRow:
    """The new version, from now on the active one. Raises UnusableTemplate and TooManyLocales."""
    check(draft)
    with tenant_transaction(conn, actor.tenant_id):
        others = templates.count_other_locales(conn, actor.tenant_id, draft.name, draft.channel, draft.locale)
        if others >= MAX_LOCALES:
            raise TooManyLocales
        before = templates.find_active(conn, [(actor.tenant_id, draft.name)], channel=draft.channel)
        row = templates.insert_version(
            conn, template_id=uuid7(), tenant_id=actor.tenant_id, created_by=created_by, **asdict(draft)
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
    names = ("name", "channel", "locale", "version", "subject", "body", "text", "variables")
    return {name: getattr(row, name) for name in names}
