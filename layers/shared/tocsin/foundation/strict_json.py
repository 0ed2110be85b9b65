"""JSON read strictly, and its canonical form for fingerprints. Pure."""

import hashlib
import json
from typing import Any

MAX_DEPTH = 20
MAX_INTEGER = 2**53


class InvalidJson(ValueError):
    """The text is not JSON at all. The caller answers 400 or keeps it as malformed."""


class UnsafeJson(ValueError):
    """JSON that two readers could understand differently. The caller answers 422 or keeps it as malformed."""


# What the standard library says of bad JSON, in our words: it knows single quotes and Python's own names, senders need not.
_WORDS = (
    ("Extra data", "Something follows after the JSON has ended,"),
    ("Expecting property name", "A name in double quotes is expected"),
    ("Illegal trailing comma", "A comma has nothing after it"),
    ("Expecting ':'", "A colon is expected"),
    ("Expecting ','", "A comma, or the end of the list or object, is expected"),
    ("Unterminated string", "A text is not closed that begins"),
    ("Invalid control character", "A line break or another control character stands unescaped in a text"),
    ("Invalid \\", "A backslash begins no escape of JSON"),
    ("Expecting value", "A value is expected"),
)


def parse(raw: bytes) -> Any:
    if not raw.strip():
        raise InvalidJson("There is no JSON: the body is empty")
    if raw.startswith(b"\xef\xbb\xbf"):
        raise InvalidJson("It begins with a byte order mark (BOM); send UTF-8 without it")
    try:
        text = raw.decode("utf-8")
        value = json.loads(
            text,
            object_pairs_hook=_unique,
            parse_int=_bounded,
            parse_float=_finite,
            parse_constant=_refuse_constant,
        )
    except UnicodeDecodeError as error:
        raise InvalidJson(f"It is not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        words = next((ours for theirs, ours in _WORDS if error.msg.startswith(theirs)), "It is not JSON")
        raise InvalidJson(f"{words} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise UnsafeJson(f"it is nested deeper than {MAX_DEPTH} levels") from None
    # Only an escape can smuggle in a lone surrogate or a NUL: raw ones are not valid UTF-8 or not valid JSON.
    _check(value, MAX_DEPTH, escaped="\\u" in text)
    return value


def canonical(value: Any) -> bytes:
    """One spelling per value: keys sorted, no white space."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")


def fingerprint(value: Any) -> bytes:
    return hashlib.sha256(canonical(value)).digest()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise UnsafeJson(f"the key {twice[:50]!r} stands twice in one object")
    return value


def _bounded(digits: str) -> int:
    if len(digits) > 17 or not -MAX_INTEGER <= (value := int(digits)) <= MAX_INTEGER:
        raise UnsafeJson("an integer is beyond ±2^53; send it as a string")
    return value


def _finite(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise UnsafeJson("a number is too large for a double")
    return value


def _refuse_constant(name: str) -> None:
    raise UnsafeJson(f"{name} is not a JSON number")


def _check(value: Any, depth: int, *, escaped: bool) -> None:
    if isinstance(value, str):
        if escaped:
            _check_text(value)
    elif isinstance(value, dict | list):
        if depth == 0:
            raise UnsafeJson(f"it is nested deeper than {MAX_DEPTH} levels")
        if isinstance(value, dict):
            if escaped:
                for key in value:
                    _check_text(key)
            value = value.values()
        for item in value:
            _check(item, depth - 1, escaped=escaped)


def _check_text(text: str) -> None:
    if "\x00" in text:
        raise UnsafeJson("a string holds the character U+0000")
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise UnsafeJson("a string holds half of a surrogate pair")
