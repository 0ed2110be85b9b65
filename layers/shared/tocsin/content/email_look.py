"""How the default email looks: its colours by light and by night, and the styles of its parts. Pure."""

from dataclasses import dataclass
from functools import lru_cache

from tocsin.content.brand import Brand, color_of, ink_on, readable_on

FONT = "'Segoe UI',-apple-system,BlinkMacSystemFont,Roboto,Helvetica,Arial,sans-serif"
WIDTH = 560
PAPER, CARD, LINE, INK, SOFT = "#f3f4f6", "#ffffff", "#e4e7ec", "#1b212d", "#5d6675"
NIGHT, NIGHT_CARD, NIGHT_LINE, NIGHT_INK, NIGHT_SOFT = "#0f1116", "#191c23", "#2d323d", "#e8eaef", "#a1a9b8"
_SEEN, _SEEN_BY_NIGHT = 1.2, 1.6  # the contrast by which a button stands out from its card
_BREAK = "overflow-wrap:anywhere;word-break:break-word"

COLUMN = f"max-width:{WIDTH}px;text-align:start"
ABOVE = "padding:0 4px 16px;text-align:start"
ACCENT = "height:4px;font-size:0;line-height:0;border-radius:10px 10px 0 0"
CARD_STYLE = f"padding:32px;background:{CARD};border:1px solid {LINE};border-top:0;border-radius:0 0 10px 10px;text-align:start"
BELOW = "padding:20px 4px 0;text-align:start"
LOGO = f"display:block;height:36px;max-width:220px;border:0;border-radius:6px;font:600 16px/36px {FONT};color:{INK}"
NAME = f"font:600 16px/1.4 {FONT};color:{INK};{_BREAK}"
ICON = f"margin:0 0 12px;font:36px/44px {FONT}"
IMAGE = "display:block;width:44px;height:44px;border-radius:8px;border:0"
PILL = f"display:inline-block;margin:0 0 12px;padding:2px 10px;border-radius:99px;font:600 13px/20px {FONT}"
TITLE = f"margin:0;font:600 22px/1.35 {FONT};color:{INK};{_BREAK}"
LED = f"color:{INK};text-decoration:none"
TEXT = f"margin:14px 0 0;font:16px/1.6 {FONT};color:{INK};{_BREAK}"
BUTTONS = "padding-top:16px"
BUTTON = {"ltr": "display:inline-table;margin:8px 12px 0 0", "rtl": "display:inline-table;margin:8px 0 0 12px"}
LABEL = f"display:inline-block;padding:11px 22px;border-radius:8px;font:600 16px/22px {FONT};text-decoration:none;{_BREAK}"
SECOND = f"color:{INK};border:1px solid #c9ced8"
FOOT = f"margin:0 0 8px;font:13px/1.6 {FONT};color:{SOFT};{_BREAK}"
FOOT_LINK = f"color:{SOFT};text-decoration:underline"


@dataclass(frozen=True, slots=True)
class Palette:
    """What of the look is the brand's."""

    link: str
    button: str
    first: str  # the first button's own style
    css: str  # for narrow screens, and for the night


@lru_cache(256)
def palette(brand: Brand) -> Palette:
    color = color_of(brand)
    by_day, by_night = readable_on(color, CARD, _SEEN), readable_on(color, NIGHT_CARD, _SEEN_BY_NIGHT)
    return Palette(
        link=f"color:{readable_on(color, CARD)};text-decoration:underline;{_BREAK}",
        button=by_day,
        first=f"color:{ink_on(by_day)};border:1px solid {by_day}",
        css=_css(by_night, ink_on(by_night), readable_on(color, NIGHT_CARD)),
    )


@dataclass(frozen=True, slots=True)
class Accent:
    """How grave something is, in colours: of the line above it, and of the word for it and what that stands on."""

    line: str
    ink: str
    ground: str


ACCENTS = {"warning": Accent("#d98a06", "#7a4b00", "#fff3d6"), "critical": Accent("#d92d20", "#9b1c12", "#fde8e6")}


def _css(button: str, ink: str, link: str) -> str:
    """Mail programs that keep a style sheet let it overrule what stands at each part, which is what others are left with."""
    return (
        ":root{color-scheme:light dark;supported-color-schemes:light dark}"
        "@media(max-width:480px){.edge{padding:16px 12px!important}.card{padding:24px 20px!important}"
        ".b,.b tbody,.b tr,.b td,.b a{display:block!important;width:auto!important;text-align:center!important}"
        ".b{margin:8px 0 0!important}}"
        f"@media(prefers-color-scheme:dark){{.paper{{background:{NIGHT}!important}}"
        f".card{{background:{NIGHT_CARD}!important;border-color:{NIGHT_LINE}!important}}"
        f".ink{{color:{NIGHT_INK}!important}}.soft{{color:{NIGHT_SOFT}!important}}.link{{color:{link}!important}}"
        f".b1{{background:{button}!important;border-color:{button}!important;color:{ink}!important}}"
        f".b2{{border-color:#4a5160!important;color:{NIGHT_INK}!important}}"
        ".logo{background:#fff!important;padding:6px 10px!important}"
        ".warning{background:#3b2c0a!important;color:#fcd26a!important}"
        ".critical{background:#44191a!important;color:#ffb0a8!important}}"
    )
