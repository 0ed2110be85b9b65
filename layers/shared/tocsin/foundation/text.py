"""Text that Postgres can hold, and text that is written in percents. Pure."""

from urllib.parse import unquote_to_bytes


def is_storable(text: str) -> bool:
    """Whether Postgres can hold this text: no U+0000, and no half of a surrogate pair."""
    if "\x00" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def percent_decoded(text: str) -> str:
    """The text that is written in percents; ValueError when it is no UTF-8 or nothing that can be stored."""
    decoded = unquote_to_bytes(text).decode()
    if not is_storable(decoded):
        raise ValueError("holds U+0000")
    return decoded
