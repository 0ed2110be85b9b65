"""The default email: a page for words that have no template, and the same words as plain text. Pure."""

from dataclasses import dataclass, replace
from html import escape

from tocsin.content import email_look as look
from tocsin.content import email_parts as parts
from tocsin.content.brand import Brand
from tocsin.content.display import Action
from tocsin.content.email_words import WORDS, colon
from tocsin.content.plain import Content
from tocsin.foundation.text import bidi_closed, direction_of
from tocsin.people import addresses

_START = {"ltr": "left", "rtl": "right"}


@dataclass(frozen=True, slots=True)
class Footer:
    """Why they got it, in words, and the ways out; empty where there is none."""

    why: str = ""
    unsubscribe_url: str = ""
    preferences_url: str = ""


def complete(content: Content, brand: Brand, footer: Footer, language: str) -> Content:
    """The words as an email has them: the page, and the plain part with the links that the page has."""
    words = WORDS[language]
    opening = Action(words.open.format(host=addresses.host_of(content.url)), content.url)
    actions = content.actions or ((opening,) if content.url else ())
    told = actions if not content.url or content.url in [one.url for one in actions] else (*actions, opening)
    ways = [(words.unsubscribe, footer.unsubscribe_url), (words.preferences, footer.preferences_url)]
    links = [(label, url) for label, url in ways if url]
    page = _page(content, actions, brand, footer.why, links, language)
    return replace(content, html=page, text=_plain_part(content, told, brand, footer.why, links, colon(language)))


def _page(
    content: Content, actions: tuple[Action, ...], brand: Brand, why: str, links: list[tuple[str, str]], language: str
) -> str:
    colors = look.palette(brand)
    accent = look.ACCENTS.get(content.severity)
    line = f'bgcolor="{accent.line}"' if accent else f'bgcolor="{colors.button}" class="b1"'
    title, direction = escape(bidi_closed(content.title)), direction_of(content.title)
    heading = parts.led(title, content.url) if content.actions and content.url else title  # the buttons lead elsewhere
    return (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">'
        f"<title>{title}</title><style>{colors.css}</style></head>"
        f'<body class="paper" style="margin:0;padding:0;background:{look.PAPER}">{parts.preheader(content)}'
        f'<table {parts.TABLE} width="100%" class="paper" lang="{language}" style="background:{look.PAPER}"><tr>'
        '<td align="center" class="edge" style="padding:32px 16px">'
        f'<!--[if mso]><table {parts.TABLE} width="{look.WIDTH}"><tr><td><![endif]-->'
        f'<table {parts.TABLE} width="100%" style="{look.COLUMN}">'
        f'<tr><td align="left" style="{look.ABOVE}">{parts.sender(brand)}</td></tr>'
        f'<tr><td {line} height="4" style="{look.ACCENT}"></td></tr>'
        f'<tr><td align="{_START[direction]}" dir="{direction}" class="card" style="{look.CARD_STYLE}">'
        f'{parts.head(content, language)}<h1 dir="auto" class="ink" style="{look.TITLE}">{heading}</h1>'
        f"{parts.text(content, colors.link)}{parts.buttons(actions, colors, direction)}</td></tr>"
        f'<tr><td align="left" style="{look.BELOW}">{parts.foot(brand, why, links)}</td></tr>'
        "</table><!--[if mso]></td></tr></table><![endif]--></td></tr></table></body></html>"
    )


def _plain_part(
    content: Content, actions: tuple[Action, ...], brand: Brand, why: str, links: list[tuple[str, str]], mark: str
) -> str:
    """The words, each link on a line of its own under its label, and a short footer."""
    said = content.text.split()
    buttons = [f"{bidi_closed(one.label)}{mark}\n{one.url}" for one in actions if one.url not in said]
    ways = [f"{label}{mark} {url}" for label, url in links]
    footer = [line for line in (why, *ways, bidi_closed(brand.postal_address)) if line]
    return "\n\n".join([content.text, *buttons, *(["-- \n" + "\n".join(footer)] if footer else [])])
