"""Framing: the layout and partials that templates name, read from the store as the versions that count."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from psycopg import Connection

from tocsin.content.part_sources import PartSources
from tocsin.store import layouts
from tocsin.store.layouts import Part, WantedParts


class NamedParts(NamedTuple):
    """A template's layout, if it names one, and the partials that its body renders."""

    layout: str | None
    partials: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.layout is not None or bool(self.partials)

    def wanted(self, tenant_id: UUID, locale: str, at: datetime | None = None) -> WantedParts:
        names = (*([self.layout] if self.layout is not None else []), *self.partials)
        return WantedParts(tenant_id, names, locale, at)


def frames(
    conn: Connection[Any], wanted: list[tuple[NamedParts, WantedParts]], *, only_active: bool = False
) -> list[PartSources]:
    """The frame of each, in order. What is not there is left out: whoever renders it says so.

    `only_active`: what was taken out of use is not there either."""
    distinct = list(dict.fromkeys(parts for _, parts in wanted))
    found: dict[int, list[Part]] = {}
    for part in layouts.find_parts(conn, distinct) if distinct else []:
        if part.is_active or not only_active:
            found.setdefault(part.n, []).append(part)
    return [_frame(named, found.get(distinct.index(parts), [])) for named, parts in wanted]


def frame_now(conn: Connection[Any], tenant_id: UUID, named: NamedParts, locale: str) -> PartSources | None:
    """What a template of now would be put together with; None where it stands alone."""
    return frames(conn, [(named, named.wanted(tenant_id, locale))], only_active=True)[0] if named else None


def _frame(named: NamedParts, parts: list[Part]) -> PartSources:
    layout = next((part.body for part in parts if part.kind == "layout" and part.name == named.layout), None)
    partials = tuple(sorted((part.name, part.body) for part in parts if part.kind == "partial"))
    return PartSources(named.layout, layout, partials)
