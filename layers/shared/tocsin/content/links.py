"""Web addresses within a text become links, and everything else is shown as it is written. Pure."""

import re
from html import escape

from tocsin.foundation.text import bidi_closed
from tocsin.people import addresses

# What cannot be seen, or turns the line around, belongs to no address.
_ADDRESS = re.compile(r"\bhttps?://[^\s<>\"\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]+", re.IGNORECASE)
_AFTER = frozenset(".,;:!?'*_~…»”’„“‘。、，；：！？）」』】》")  # noqa: RUF001 - the sentence's, not the address's
_PAIRS = {")": "(", "]": "[", "}": "{"}


def linked(text: str, style: str, of_class: str) -> str:
    """The text as HTML, each address of it a link. Lines that turn the direction of writing turn their own alone."""
    text = "\n".join(map(bidi_closed, text.split("\n")))
    if "://" not in text:
        return escape(text)
    parts, told = [], 0
    for found in _ADDRESS.finditer(text):
        url = _without_punctuation(found[0])
        try:
            addresses.web(url)
        except ValueError:
            continue
        shown = escape(url)
        parts.append(escape(text[told : found.start()]))
        parts.append(f'<a href="{shown}" dir="ltr" class="{of_class}" style="{style}">{shown}</a>')
        told = found.start() + len(url)
    return "".join([*parts, escape(text[told:])])


def _without_punctuation(url: str) -> str:
    """`(see https://example.com/a_(b).)` leads to `https://example.com/a_(b)`."""
    while url and (url[-1] in _AFTER or (url[-1] in _PAIRS and url.count(url[-1]) > url.count(_PAIRS[url[-1]]))):
        url = url[:-1]
    return url
