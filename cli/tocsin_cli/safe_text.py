"""Text that came from elsewhere cannot control a terminal: no escape sequences, no reordering, no invisible tricks. Pure."""

import json
import re
import unicodedata
from typing import Any

_KEPT = {"\u200c", "\u200d"}  # joiners: Persian, Indic scripts and emoji are written with them
_SUSPECT = re.compile(r"[^\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff]")  # all else is looked up; most text has none of it


def safe(text: object, *, lines: bool = False) -> str:
    """Without control, format and bidirectional characters; line breaks only where they are wanted."""
    return _SUSPECT.sub(lambda found: _shown(found[0], lines=lines), str(text))


def _shown(char: str, *, lines: bool) -> str:
    if char in "\n\t\r\u2028\u2029\x85":
        if lines and char in "\n\t":
            return char
        return "" if char == "\r" else " "
    return "" if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char not in _KEPT else char


def safe_json(value: Any, *, indent: int | None = 2) -> str:
    """JSON that means the same and is safe to look at: what a terminal would obey is written as an escape."""
    return re.sub(r"[^\x0a\x20-\x7e]", lambda found: _escaped(found[0]), json.dumps(value, indent=indent, ensure_ascii=False))


def _escaped(char: str) -> str:
    return char if _shown(char, lines=True) == char else json.dumps(char)[1:-1]
