"""Text that Postgres can hold, text of one line, and text that is written in percents. Pure."""

import re
from urllib.parse import unquote_to_bytes

_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")


def is_storable(text: str) -> bool:
    """Whether Postgres can hold this text: no U+0000, and no half of a surrogate pair."""
    if "\x00" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def one_line(text: str) -> str:
    """Fit for a header: every run of control characters, line breaks among them, becomes one space."""
    return _CONTROL.sub(" ", text).strip()


def percent_decoded(text: str) -> str:
    """The text that is written in percents; ValueError when it is no UTF-8 or nothing that can be stored."""
    decoded = unquote_to_bytes(text).decode()
    if not is_storable(decoded):
        raise ValueError("holds U+0000")
    return decoded
