"""The parts of the default email as HTML. What strangers wrote is escaped, has its own direction and ends with its part. Pure."""

from functools import lru_cache
from html import escape

from tocsin.content import email_look as look
from tocsin.content.brand import Brand
from tocsin.content.display import Action
from tocsin.content.email_look import Palette
from tocsin.content.email_words import WORDS
from tocsin.content.links import linked
from tocsin.content.plain import Content
from tocsin.foundation.text import bidi_closed, one_line, shortened

MAX_PREHEADER = 140
TABLE = 'role="presentation" cellpadding="0" cellspacing="0" border="0"'
_HIDDEN = "display:none;max-height:0;max-width:0;overflow:hidden;opacity:0;mso-hide:all"
_FILLER = "\u034f\u2007" * 70  # so that a list of mails shows nothing of the page after the preheader


def preheader(content: Content) -> str:
    """What a list of mails shows after the subject."""
    if content.text == content.title:
        return ""
    words = escape(shortened(one_line(bidi_closed(content.text[: 2 * MAX_PREHEADER])), MAX_PREHEADER))
    return f'<div dir="auto" style="{_HIDDEN}">{words}{_FILLER}</div>'


@lru_cache(256)
def sender(brand: Brand) -> str:
    """The logo, or the name; which also stands where a mail program shows no pictures."""
    name = escape(bidi_closed(brand.name))
    if not name and not brand.logo_url:
        return ""
    if not brand.logo_url:
        return f'<div dir="auto" class="ink" style="{look.NAME}">{name}</div>'
    return f'<img src="{escape(brand.logo_url)}" alt="{name}" height="36" class="logo ink" style="{look.LOGO}">'


def head(content: Content, language: str) -> str:
    """Its icon, and how grave it is."""
    parts = []
    if content.icon.startswith(("http://", "https://")):
        parts.append(
            f'<p style="{look.ICON}"><img src="{escape(content.icon)}" alt="" width="44" height="44" style="{look.IMAGE}"></p>'
        )
    elif content.icon:
        parts.append(f'<p style="{look.ICON}">{escape(content.icon)}</p>')
    if accent := look.ACCENTS.get(content.severity):
        style = f"{look.PILL};color:{accent.ink};background:{accent.ground}"
        parts.append(
            f'<div><span class="{content.severity}" style="{style}">{WORDS[language].severity[content.severity]}</span></div>'
        )
    return "".join(parts)


def led(title: str, url: str) -> str:
    """The title, which is escaped already, as a link that looks like a title."""
    return f'<a href="{escape(url)}" class="ink" style="{look.LED}">{title}</a>'


def text(content: Content, link: str) -> str:
    """Its paragraphs; none where the text is the title alone."""
    if content.text == content.title:
        return ""
    paragraphs = (linked(part.strip("\n"), link, "link") for part in content.text.split("\n\n") if part.strip())
    return "".join(f'<p dir="auto" class="ink" style="{look.TEXT}">{one}</p>' for one in paragraphs).replace("\n", "<br>")


def buttons(actions: tuple[Action, ...], colors: Palette, direction: str) -> str:
    """The first is filled, the second has an outline. A cell with a ground of its own is a button in any mail program."""
    shown = []
    for place, one in enumerate(actions):
        own, ground = (colors.first, f' bgcolor="{colors.button}"') if place == 0 else (look.SECOND, "")
        kind = f"b{place + 1}"
        fill = f"background:{colors.button};" if place == 0 else ""
        shown.append(
            f'<table {TABLE} class="b" style="{look.BUTTON[direction]}"><tr>'
            f'<td{ground} class="{kind}" style="{fill}border-radius:8px;mso-padding-alt:11px 22px">'
            f'<a href="{escape(one.url)}" dir="auto" class="{kind}" style="{look.LABEL};{own}">'
            f"{escape(bidi_closed(one.label))}</a></td></tr></table>"
        )
    return f'<div style="{look.BUTTONS}">{"".join(shown)}</div>' if shown else ""


def foot(brand: Brand, why: str, links: list[tuple[str, str]]) -> str:
    parts = [f'<p dir="auto" class="soft" style="{look.FOOT}">{escape(words)}</p>' for words in (why,) if words]
    if links:
        ways = (f'<a href="{escape(url)}" class="soft" style="{look.FOOT_LINK}">{escape(label)}</a>' for label, url in links)
        parts.append(f'<p class="soft" style="{look.FOOT}">{" &nbsp;·&nbsp; ".join(ways)}</p>')
    if brand.postal_address:
        address = "<br>".join(escape(bidi_closed(line)) for line in brand.postal_address.splitlines())
        parts.append(f'<p dir="auto" class="soft" style="{look.FOOT}">{address}</p>')
    return "".join(parts)
