"""Dress: what is put around the words of deliveries whose templates name a layout or partials. Others cost nothing here."""

from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.content.frames import BARE, Dress, PartSources, reader_of
from tocsin.content.framing import NamedParts, frames
from tocsin.feedback import unsubscribe
from tocsin.store import brands
from tocsin.store.rows import Brand, Delivery, PinnedTemplate


class Wardrobe:
    """The frames and brands of a batch, read once."""

    def __init__(self, conn: Connection[Any], deliveries: list[Delivery]) -> None:
        wanted = [(one, named_by(one.template)) for one in deliveries if one.template and named_by(one.template)]
        asked = [(named, named.wanted(one.work.tenant_id, _locale(one), one.route.worded_at)) for one, named in wanted]
        found = frames(conn, asked) if asked else []
        self._frames: dict[UUID, PartSources] = {one.work.id: frame for (one, _), frame in zip(wanted, found, strict=True)}
        tenants = {one.work.tenant_id for one, named in wanted if named.layout is not None}
        self._brands: dict[UUID, Brand] = brands.find_all(conn, sorted(tenants)) if tenants else {}

    def of(self, one: Delivery) -> Dress:
        """Raises SecretUnavailable: without its links a mail does not go out."""
        frame = self._frames.get(one.work.id)
        if frame is None:
            return BARE
        if frame.layout_name is None:
            return Dress(frame)
        brand = self._brands.get(one.work.tenant_id, Brand())
        links = unsubscribe.links_for(one)
        return Dress(
            frame,
            reader_of(brand, why="", unsubscribe_url=links.unsubscribe_url, preferences_url=links.preferences_url),
        )


def named_by(template: PinnedTemplate) -> NamedParts:
    return NamedParts(template.layout, tuple(template.partials))


def _locale(one: Delivery) -> str:
    return one.template.locale if one.template else "default"
