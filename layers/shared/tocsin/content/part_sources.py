"""What an email's template is put together with, and what its layout says of the reader and the sender. Pure."""

from dataclasses import dataclass
from typing import Any

from tocsin.content.brand import Brand, color_of, ink_on


@dataclass(frozen=True, slots=True)
class PartSources:
    """The source of a template's layout, if it names one, and of every partial, by name."""

    layout_name: str | None = None
    layout: str | None = None
    partials: tuple[tuple[str, str], ...] = ()


class Absent(str):
    """Empty text that `if` takes for nothing: Liquid holds "" for true, and a link that leads nowhere would stand in the mail."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return other is None or other is False or other == ""

    __hash__ = str.__hash__


ABSENT = Absent()


def reader_of(brand: Brand, *, why: str, unsubscribe_url: str, preferences_url: str) -> dict[str, Any]:
    """What a layout may say besides the payload. The colours are always colours: they may stand in a style."""
    color = color_of(brand)
    return {
        "brand": {
            "name": brand.name or ABSENT,
            "logo_url": brand.logo_url or ABSENT,
            "color": color,
            "ink": ink_on(color),
            "postal_address": brand.postal_address or ABSENT,
        },
        "why": why or ABSENT,
        "unsubscribe_url": unsubscribe_url or ABSENT,
        "preferences_url": preferences_url or ABSENT,
    }
