"""Publish a layout or a partial: its next version, checked first; or take the name out of use. Each with its audit row."""

from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.content.publish import MAX_LOCALES, TooManyLocales, UnusableTemplate
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.store import layouts
from tocsin.store.layouts import LayoutRow, WantedParts

_MOST_USERS = 5  # that are named


@dataclass(frozen=True, slots=True)
class LayoutDraft:
    kind: str
    name: str
    body: str
    locale: str = "default"


class LayoutInUse(Exception):
    """Something that is in use has it in its body. Whoever asked changes or withdraws that first."""

    def __init__(self, users: list[str]) -> None:
        super().__init__(", ".join(users))
        self.users = users


def publish(conn: Connection[Any], actor: Actor, draft: LayoutDraft, *, created_by: UUID) -> LayoutRow:
    """The new version, from now on the active one. Raises UnusableTemplate and TooManyLocales."""
    tenant_id = actor.tenant_id
    names = _rendered_names(draft)
    with tenant_transaction(conn, tenant_id):
        layouts.lock(conn, tenant_id)
        before = layouts.find_versions(conn, tenant_id, draft.name)
        if any(one.kind != draft.kind for one in before):
            raise UnusableTemplate([("/kind", f"is {before[0].kind} for this name; one name is one or the other")])
        if len({one.locale for one in before if one.is_active} - {draft.locale}) >= MAX_LOCALES:
            raise TooManyLocales
        _check(conn, tenant_id, draft, names)
        row = layouts.insert_version(
            conn, layout_id=uuid7(), tenant_id=tenant_id, partials=names, created_by=created_by, **asdict(draft)
        )
        old = [{"old": _audited(one)} for one in before if one.locale == row.locale and one.is_active]
        audit.record(conn, actor, "create", "layout", str(row.id), (old[0] if old else {}) | {"new": _audited(row)})
    return row


def withdraw(conn: Connection[Any], actor: Actor, name: str) -> bool:
    """Take a name out of use, in every locale. False: there is none in use. Raises LayoutInUse."""
    with tenant_transaction(conn, actor.tenant_id):
        layouts.lock(conn, actor.tenant_id)
        if users := layouts.find_users(conn, actor.tenant_id, name, limit=_MOST_USERS):
            raise LayoutInUse(users)
        if not layouts.deactivate(conn, actor.tenant_id, name):
            return False
        changes = {"old": {"is_active": True}, "new": {"is_active": False}}
        audit.record(conn, actor, "deactivate", "layout", name, changes)
    return True


def _rendered_names(draft: LayoutDraft) -> list[str]:
    from tocsin.content.liquid_limits import Refused  # noqa: PLC0415 - slow to import, and only this needs it
    from tocsin.content.parts import rendered_names  # noqa: PLC0415

    try:
        return rendered_names(draft.body)
    except Refused as refused:
        raise UnusableTemplate([("/body", str(refused))]) from None


def _check(conn: Connection[Any], tenant_id: UUID, draft: LayoutDraft, names: list[str]) -> None:
    from tocsin.content.templates import problem_of_shared  # noqa: PLC0415 - the same

    found = layouts.find_parts(conn, [WantedParts(tenant_id, tuple(names), draft.locale, None)]) if names else []
    partials = {part.name: part.body for part in found if part.kind == "partial" and part.is_active}
    if draft.kind == "partial":
        partials[draft.name] = draft.body  # as it will be: a ring is found whoever closes it
    if problem := problem_of_shared(draft.body, is_layout=draft.kind == "layout", partials=partials):
        raise UnusableTemplate([("/body", problem)])


def _audited(row: LayoutRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ("kind", "name", "locale", "version", "body")}
