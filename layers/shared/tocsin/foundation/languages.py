"""The languages that pages and mails of the service itself are written in, and which of them a reader gets. Pure."""

import re

SHIPPED = ("en", "de", "fr", "es")
_RANGE = re.compile(r"\s*([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*|\*)\s*(?:;\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*)?", re.ASCII)
_MOST_RANGES = 20


def language_of(locale: str | None) -> str:
    """The shipped language of a locale such as pt-BR or de_AT; English where there is none."""
    return _shipped(locale or "") or "en"


def from_header(accept_language: str | None) -> str | None:
    """The shipped language that a browser asks for first (Accept-Language, RFC 9110); None where it asks for none of them."""
    wanted = []
    for n, part in enumerate((accept_language or "").split(",")[:_MOST_RANGES]):
        found = _RANGE.fullmatch(part)
        language = _shipped(found[1]) if found else None
        quality = float(found[2] or 1) if found else 0.0
        if language and quality > 0:
            wanted.append((-quality, n, language))
    return min(wanted)[2] if wanted else None


def _shipped(locale: str) -> str | None:
    language = re.split(r"[-_]", locale.strip().lower(), maxsplit=1)[0]
    return language if language in SHIPPED else None
