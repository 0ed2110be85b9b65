"""The colours of a brand, so that what is written on them can be read: on white paper and on black. Pure."""

from functools import lru_cache

from tocsin.store.rows import Brand

__all__ = ["COLOR", "Brand", "color_of", "contrast", "ink_on", "readable_on"]

COLOR = "#2456a6"  # of whoever has named none
_INKS = ("#ffffff", "#000000")
READABLE = 4.5  # WCAG AA, of the contrast between letters and what they stand on
_STEPS = 20


def color_of(brand: Brand) -> str:
    return brand.color or COLOR


@lru_cache(256)
def ink_on(color: str) -> str:
    """Black or white, whichever is better to read on this colour."""
    return max(_INKS, key=lambda ink: contrast(ink, color))


@lru_cache(256)
def readable_on(color: str, ground: str, least: float = READABLE) -> str:
    """The colour on this ground: as it is, or as little lighter or darker as it takes to have that much contrast."""
    ink = ink_on(ground)
    tints = (_mixed(color, ink, step / _STEPS) for step in range(_STEPS + 1))
    return next((tint for tint in tints if contrast(tint, ground) >= least), ink)


def contrast(one: str, other: str) -> float:
    """As WCAG 2 has it, from 1 to 21."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: str) -> float:
    red, green, blue = (_linear(part / 255) for part in _parts(color))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def _mixed(color: str, ink: str, share: float) -> str:
    parts = zip(_parts(color), _parts(ink), strict=True)
    return "#" + "".join(f"{round(one + (other - one) * share):02x}" for one, other in parts)


def _parts(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)
