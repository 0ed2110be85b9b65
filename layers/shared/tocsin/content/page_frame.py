"""What the pages that people reach from a mail have in common: the sender's brand, and one look in light and dark. Pure."""

import re
from dataclasses import dataclass
from html import escape
from urllib.parse import urlsplit

from tocsin.content.brand import Brand, color_of, ink_on, readable_on
from tocsin.content.page_style import STYLE

_CARD, _DARK_CARD = "#ffffff", "#1b2029"  # as the style has them
_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)*")
_NOBODY = Brand()


@dataclass(frozen=True, slots=True)
class ReaderPage:
    """A page as `html_page` takes it: everything in it is HTML."""

    title: str
    heading: str
    content: str
    top: str
    style: str
    language: str
    image_origin: str


def framed(
    content: str, *, heading: str, language: str, brand: Brand | None, is_news: bool = False, is_wide: bool = False
) -> ReaderPage:
    """`content` is HTML, `heading` plain. `is_news`: it answers what the reader did, so it is where reading begins."""
    sender, shown = brand or _NOBODY, escape(heading)
    title = f"{shown} · {escape(sender.name)}" if sender.name else shown
    first = ' tabindex="-1" autofocus' if is_news else ""
    origin = _origin_of(sender.logo_url)
    top = f'<header class="{"wide " if is_wide else ""}brand">{_mark(sender, has_logo=bool(origin))}</header>'
    return ReaderPage(title, f"<h1{first}>{shown}</h1>", content, top, _style(sender), language, origin)


def named(text: str) -> str:
    """Somebody's words inside ours: their direction is their own."""
    return f"<bdi>{escape(text)}</bdi>"


def _mark(brand: Brand, *, has_logo: bool) -> str:
    if has_logo:
        return f'<img src="{escape(brand.logo_url)}" alt="{escape(brand.name)}">'
    return f"<span>{named(brand.name)}</span>" if brand.name else ""


def _origin_of(url: str) -> str:
    """Where the logo comes from, as a policy may say it; empty for one that is not shown."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").encode("idna").decode(), parts.port
    except ValueError:
        return ""
    if parts.scheme != "https" or not _HOST.fullmatch(host):
        return ""
    return f"https://{host}{f':{port}' if port else ''}"


def _style(brand: Brand) -> str:
    color = color_of(brand)
    light, dark = readable_on(color, _CARD), readable_on(color, _DARK_CARD)
    return (
        f":root {{ --brand: {color}; --on-brand: {ink_on(color)}; --accent: {light} }} {STYLE} "
        f"@media (prefers-color-scheme: dark) {{ :root {{ --accent: {dark} }} }}"
    )
