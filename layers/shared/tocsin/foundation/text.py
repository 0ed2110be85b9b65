"""Text that Postgres can hold, of one line, of a length, written in percents, or that reverses nothing after it. Pure."""

import re
import unicodedata
from typing import Literal
from urllib.parse import unquote_to_bytes

_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")
_JOINER = "\u200d"
_JOINING = {_JOINER, *map(chr, range(0x1F3FB, 0x1F400)), *map(chr, range(0xE0020, 0xE0080))}  # tones of skin, tags of flags
_REGIONAL = "".join(map(chr, range(0x1F1E6, 0x1F200)))  # two of these are a flag
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_END_OF_EMBEDDING, _END_OF_ISOLATE = "\u202c", "\u2069"
_CLOSES = dict.fromkeys("\u202a\u202b\u202d\u202e", _END_OF_EMBEDDING) | dict.fromkeys("\u2066\u2067\u2068", _END_OF_ISOLATE)


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


def shortened(text: str, limit: int) -> str:
    """At most so many characters, with an ellipsis where something is missing: cut between two words if there is a place for it,
    and never within what is read as one character."""
    if len(text) <= limit:
        return text
    end = limit - 1
    space = next((place for place in range(end, end // 2 - 1, -1) if text[place].isspace()), None)
    if space is None:
        while end > 0 and _continues(text, end):
            end -= 1
    return text[: end if space is None else space].rstrip() + "…"


def _continues(text: str, place: int) -> bool:
    """Whether the character here belongs to the one before: an accent, a tone of skin, the second half of a flag."""
    character = text[place]
    if unicodedata.category(character) in ("Mn", "Me", "Mc") or character in _JOINING or text[place - 1] == _JOINER:
        return True
    flags = len(text[:place]) - len(text[:place].rstrip(_REGIONAL))
    return character in _REGIONAL and flags % 2 == 1


def direction_of(text: str) -> Literal["ltr", "rtl"]:
    """In which direction it is read: that of its first letter."""
    if text.isascii():
        return "ltr"
    kinds = (unicodedata.bidirectional(character) for character in text)
    return "rtl" if next((kind for kind in kinds if kind in ("L", "R", "AL")), "L") != "L" else "ltr"


def bidi_closed(text: str) -> str:
    """The text with every bidirectional control that it opens closed at its end, and none that closes another's: what stands
    after it is read in its own direction."""
    if not _BIDI.search(text):
        return text
    kept, opened = [], []
    for character in text:
        if character in _CLOSES:
            opened.append(_CLOSES[character])
        elif character == _END_OF_ISOLATE:
            if _END_OF_ISOLATE not in opened:
                continue
            while opened.pop() != _END_OF_ISOLATE:
                pass
        elif character == _END_OF_EMBEDDING:
            if not opened or opened[-1] != _END_OF_EMBEDDING:
                continue
            opened.pop()
        kept.append(character)
    return "".join([*kept, *reversed(opened)])
