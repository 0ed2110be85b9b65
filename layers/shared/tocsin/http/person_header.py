"""Who sits before the key, as the caller says: a name in percents, so that it can be of any language. Pure."""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from tocsin.foundation.text import percent_decoded
from tocsin.http.problems import Problem

HEADER = "Tocsin-Person"
MOST_CHARACTERS = 100
# For the documentation of the calls that read it.
PARAMETER: dict[str, Any] = {
    "name": HEADER,
    "in": "header",
    "description": f"The person who acts with this key, for the audit log: up to {MOST_CHARACTERS} characters, UTF-8 in percents",
    "schema": {"type": "string", "examples": ["Jane%20Doe"]},
}
_IN_PERCENTS = re.compile(r"(?:[\x20-\x24\x26-\x7e]|%[0-9A-Fa-f]{2})*")
_TURNS_TEXT_AROUND = re.compile("[\u202a-\u202e\u2066-\u2069]")  # one name would be read as another
_CONTROLS = ("Cc", "Zl", "Zp")  # line breaks among them


def read(headers: Mapping[str, str]) -> str | None:
    """The name that the header holds; None without the header. A Problem says what is wrong with it, and not what it
    holds."""
    written = headers.get(HEADER.lower())
    if written is None:
        return None
    if not _IN_PERCENTS.fullmatch(written):
        raise _invalid("must be written in percents, such as Jane%20Doe")
    try:
        name = percent_decoded(written).strip()
    except ValueError:
        raise _invalid("is not text in UTF-8, or holds U+0000") from None
    if not name:
        raise _invalid("names nobody; leave it out instead")
    if len(name) > MOST_CHARACTERS:
        raise _invalid(f"has more than {MOST_CHARACTERS} characters")
    if any(unicodedata.category(one) in _CONTROLS for one in name) or _TURNS_TEXT_AROUND.search(name):
        raise _invalid("must be one line, without control characters")
    return name


def _invalid(message: str) -> Problem:
    errors = [{"pointer": HEADER, "message": message}]
    return Problem(422, "invalid-person", "The person's name is not valid", f"The header `{HEADER}` {message}.", errors)
