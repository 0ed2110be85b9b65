"""A JSON value as the text that a reader expects, and how long that text would be, counted without writing it. Pure.

A list that holds another list twice counts it twice, as its text would. Counting ends soon after the limit is passed, so it
takes no longer for a value that stands for gigabytes than for one that just fits.
"""

import json

from liquid.undefined import is_undefined
from markupsafe import Markup

_LISTS = (list, tuple)  # a union would be made anew at each step
_NUMBERS = (int, float)
_SHORT = 50  # what is neither JSON nor long: a range, an undefined name, the word `empty`
_TWO = "\b\t\n\f\r"  # JSON writes them with a backslash
_SIX = "".join(chr(code) for code in range(32) if chr(code) not in _TWO)  # and these as \u0001


def shown(value: object) -> str:
    """Nothing for null, true and false in lower case, lists without a separator, objects as JSON."""
    if isinstance(value, str):
        return value
    if value is None or is_undefined(value):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list | tuple):
        parts = [shown(item) for item in value]
        return Markup("").join(parts) if any(isinstance(part, Markup) for part in parts) else "".join(parts)
    if isinstance(value, range):
        return f"{value.start}..{value.stop - 1}"
    return str(value)


def size_of(value: object, limit: int) -> int:
    """The characters of its text, and one more for each item of a list. Above `limit` it is only known to be above."""
    if isinstance(value, str):
        return len(value)
    size, waiting, objects = 0, [value], list[object]()
    while waiting and size <= limit:
        one = waiting.pop()
        if isinstance(one, str):
            size += len(one)
        elif isinstance(one, _LISTS):
            size += len(one)
            if size <= limit:
                waiting.extend(one)
        elif isinstance(one, dict):
            objects.append(one)
        elif one is not None:
            size += _of_scalar(one)
    return size + _of_json(objects, limit - size) if objects and size <= limit else size


def escaped_size(text: str) -> int:
    """The characters of a text once it is escaped for HTML."""
    return len(text) + 4 * sum(map(text.count, "&'\"")) + 3 * sum(map(text.count, "<>"))


def _of_json(waiting: list[object], limit: int) -> int:
    size = 0
    while waiting and size <= limit:
        one = waiting.pop()
        if isinstance(one, str):
            size += 2 + _escaped(one)
        elif isinstance(one, dict):
            size += 2 + 6 * len(one)  # quotes around the key, a colon and a comma with their spaces
            if size <= limit:
                size += sum(map(_escaped, one))
                waiting.extend(one.values())
        elif isinstance(one, _LISTS):
            size += 2 + 2 * len(one)
            if size <= limit:
                waiting.extend(one)
        else:
            size += 4 if one is None else _of_scalar(one)
    return size


def _escaped(text: str) -> int:
    if text.isalnum():
        return len(text)
    size = len(text) + text.count('"') + text.count("\\")
    if text.isprintable():
        return size
    return size + sum(map(text.count, _TWO)) + 5 * sum(map(text.count, _SIX))


def _of_scalar(value: object) -> int:
    if isinstance(value, int) and value.bit_length() > 64:
        return value.bit_length() // 3 + 2
    return len(str(value)) if isinstance(value, _NUMBERS) else _SHORT
