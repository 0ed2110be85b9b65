"""Preview a template: what it would say with a payload, in the locale nearest to the one asked for."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.content import render
from tocsin.content.plain import Content
from tocsin.foundation.database import tenant_transaction
from tocsin.store import templates
from tocsin.store.templates import TemplateRow


@dataclass(frozen=True, slots=True)
class Preview:
    template: TemplateRow
    content: Content


class LacksVariables(Exception):
    """The payload has not all that the template declares required. Whoever asked adds these."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(", ".join(names))
        self.names = names


def preview(
    conn: Connection[Any], tenant_id: UUID, name: str, *, channel: str, locale: str, payload: dict[str, Any]
) -> Preview | None:
    """None: no template of this name is active on the channel. Raises LacksVariables and Unrenderable."""
    with tenant_transaction(conn, tenant_id):
        rows = templates.find_active(conn, [(tenant_id, name)], channel=channel)
    if not rows:
        return None
    row = min(rows, key=lambda row: render.distance(row.locale, locale))
    if missing := [variable for variable in row.variables if variable not in payload]:
        raise LacksVariables(missing)
    return Preview(row, render.of_row(row, payload))
