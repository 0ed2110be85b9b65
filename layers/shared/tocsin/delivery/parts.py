"""The layouts and partials of a batch: read once, for the deliveries whose templates name some; others cost nothing here."""

from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.content.framing import NamedParts, frames
from tocsin.content.part_sources import PartSources
from tocsin.store.rows import Delivery, PinnedTemplate


def parts_of(conn: Connection[Any], deliveries: list[Delivery]) -> dict[UUID, PartSources]:
    """By the id of the work: the versions that were the newest when its words were chosen."""
    asked = [
        (one.work.id, named, named.wanted(one.work.tenant_id, one.template.locale, one.route.worded_at))
        for one in deliveries
        if one.template and (named := named_by(one.template))
    ]
    found = frames(conn, [(named, wanted) for _, named, wanted in asked]) if asked else []
    return {work_id: sources for (work_id, _, _), sources in zip(asked, found, strict=True)}


def named_by(template: PinnedTemplate) -> NamedParts:
    return NamedParts(template.layout, tuple(template.partials))
