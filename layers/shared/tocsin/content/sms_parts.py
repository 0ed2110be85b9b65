"""How many SMS parts a text takes: GSM 03.38 where its alphabet suffices, UCS-2 where not. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

MAX_PARTS = 10

# The default alphabet without its escape code; one septet each.
_BASIC = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ"
    " !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§"
    "¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
# An escape code and a second one: two septets that must stay in one part.
_EXTENSION = frozenset("\f^{}\\[~]|€")


@dataclass(frozen=True, slots=True)
class Parts:
    """`units` are septets in GSM-7 and 16-bit units in UCS-2; an emoji is two of the latter."""

    encoding: Literal["GSM-7", "UCS-2"]
    units: int
    parts: int


def count(text: str) -> Parts:
    if _BASIC.union(_EXTENSION).issuperset(text):
        units, parts = _packed((2 if character in _EXTENSION else 1 for character in text), alone=160, chained=153)
        return Parts("GSM-7", units, parts)
    units, parts = _packed((2 if character > "\uffff" else 1 for character in text), alone=70, chained=67)
    return Parts("UCS-2", units, parts)


def _packed(costs: Iterable[int], *, alone: int, chained: int) -> tuple[int, int]:
    """A long text gives up seven septets per part to a header, and no character is cut in two."""
    units, parts, used = 0, 1, 0
    for cost in costs:
        units += cost
        if used + cost > chained:
            parts, used = parts + 1, 0
        used += cost
    return units, 1 if units <= alone else parts
