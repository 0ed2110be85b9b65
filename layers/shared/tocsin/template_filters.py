"""The filters of the template language: an allow-list, each of which measures what it would make before it makes it."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps

from liquid.builtin.filters import array, math, misc, string
from liquid.exceptions import FilterArgumentError
from liquid.expression import Expression
from liquid.limits import to_int
from liquid.undefined import Undefined
from markupsafe import Markup

from tocsin.template_limits import MAX_ITEMS, MAX_NUMBER, MAX_OUTPUT, Refused
from tocsin.template_values import shown, size_of

_UNKNOWN_DIRECTIVE = re.compile(r"%(?!-?[aAbBdeHIjmMpSyYzZ%])")
_SLICE = 4096


def append(value: str, more: object) -> str:
    more = _text(more)
    _check_text(len(value) + len(more))
    return value + more


def prepend(value: str, more: object) -> str:
    return append(_text(more), value)


def replace(value: str, old: object, new: object = "") -> str:
    old, new = _text(old), _text(new)
    _check_text(len(value) + value.count(old) * (len(new) - len(old)))
    return value.replace(old, new)


def replace_first(value: str, old: object, new: object = "") -> str:
    old, new = _text(old), _text(new)
    _check_text(len(value) + len(new))
    return value.replace(old, new, 1)


def remove(value: str, old: object) -> str:
    return value.replace(_text(old), "")


def remove_first(value: str, old: object) -> str:
    return value.replace(_text(old), "", 1)


def split(value: str, separator: object) -> list[str]:
    separator = _text(separator)
    _check_items(value.count(separator) + 1 if separator else len(value))
    return value.split(separator) if separator else list(value)


def truncate(value: str, length: object = 50, end: object = "...") -> str:
    """At most `length` characters with the end, and the end alone where it is longer than that."""
    most, end = _whole(length), _text(end)
    return value if len(value) <= most else value[: max(most - len(end), 0)] + end


def truncatewords(value: str, count: object = 15, end: object = "...") -> str:
    most, end = max(_whole(count), 1), _text(end)
    words = value.split(None, min(most, MAX_ITEMS))
    if len(words) <= most:
        _check_items(len(words))
        return " ".join(words)
    kept = " ".join(words[:most])
    _check_text(len(kept) + len(end))
    return kept + end


def join(value: object, separator: object = " ") -> str:
    items, separator = value if isinstance(value, list | tuple) else [value], _text(separator)
    _check_text(size_of(items, MAX_OUTPUT) + len(items) * len(separator))
    return separator.join(map(shown, items))


def concat(value: object, more: object) -> object:
    if size_of(value, MAX_OUTPUT) + size_of(more, MAX_OUTPUT) > MAX_OUTPUT:
        raise Refused(f"it would make a list of more than {MAX_OUTPUT} characters")
    return array.concat(value, more)


def slice_(value: object, *place: object) -> object:
    return string.slice_(value if isinstance(value, list | tuple) else _text(value), *place)


def date(value: object, form: object = "%Y-%m-%d") -> object:
    """A time in ISO 8601, in its own offset, or in seconds since 1970, in UTC. Anything else is shown as it is."""
    form = shown(form)
    if len(form) > 100 or _UNKNOWN_DIRECTIVE.search(form):
        raise Refused("the format has a directive that is not available")
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC).strftime(form)
        return datetime.fromisoformat(shown(value).strip()).strftime(form)
    except (ValueError, OverflowError, OSError):
        return value


def _grows(function: Callable[..., object], times: int) -> Callable[..., object]:
    """A filter that changes character by character, each into so many at most. Where all of them could be too many, it is
    tried on a slice after the other."""

    @wraps(function)
    def call(value: str, **options: object) -> object:
        if len(value) * times > MAX_OUTPUT:
            length = 0
            for at in range(0, len(value), _SLICE):
                length += len(str(function(value[at : at + _SLICE], **options)))
                _check_text(length)
        return function(value, **options)

    return call


def _bounded(name: str, function: Callable[..., object], *, takes_text: bool) -> Callable[..., object]:
    @wraps(function)  # keeps the library's mark on filters that want the environment
    def call(value: object, *arguments: object, **options: object) -> object:
        try:
            for one in (value, *arguments, *(options[key] for key in options if key != "environment")):
                _check_kind(one)
            # Markup that has been cut or changed is markup no more: it is escaped like any other value.
            value, *rest = (str(one) if isinstance(one, Markup) and name != "default" else one for one in (value, *arguments))
            made = function(_text(value) if takes_text else value, *rest, **options)
            _check_kind(made)
        except Refused as refused:
            raise Refused(f"the filter '{name}': {refused}") from None
        return made

    return call


def _check_kind(value: object) -> None:
    if isinstance(value, str):
        _check_text(len(value))
    elif isinstance(value, list | tuple):
        _check_items(len(value))
    elif isinstance(value, int):
        if abs(value) > MAX_NUMBER:
            raise Refused("a number is beyond ±2^63")
    elif isinstance(value, range):
        raise Refused("a range can be looped over, not filtered")
    elif not isinstance(value, float | dict | Undefined | Expression | None):
        raise Refused("it takes only values, and no forloop")


def _check_text(length: int) -> None:
    if length > MAX_OUTPUT:
        raise Refused(f"it would make a text of more than {MAX_OUTPUT} characters")


def _check_items(count: int) -> None:
    if count > MAX_ITEMS:
        raise Refused(f"a list has more than {MAX_ITEMS} items")


def _text(value: object) -> str:
    _check_text(size_of(value, MAX_OUTPUT))
    return shown(value)


def _whole(number: object) -> int:
    try:
        return to_int(number if isinstance(number, int | float) else _text(number))
    except (ValueError, OverflowError):
        raise FilterArgumentError("expected a whole number") from None


# Left out: `safe`, which would switch escaping off; decoders, which would bring back what was encoded; `strip_html`,
# which looks like a defence and is none; `uniq`, whose time is quadratic.
_OF_TEXT: dict[str, Callable[..., object]] = {
    "append": append,
    "capitalize": _grows(string.capitalize, 3),
    "downcase": _grows(string.downcase, 3),
    "escape": _grows(string.escape, 6),
    "lstrip": string.lstrip,
    "newline_to_br": _grows(string.newline_to_br, 7),
    "prepend": prepend,
    "remove": remove,
    "remove_first": remove_first,
    "replace": replace,
    "replace_first": replace_first,
    "rstrip": string.rstrip,
    "split": split,
    "strip": string.strip,
    "strip_newlines": _grows(string.strip_newlines, 6),
    "truncate": truncate,
    "truncatewords": truncatewords,
    "upcase": _grows(string.upcase, 3),
    "url_encode": _grows(string.url_encode, 12),
}
_OF_ANYTHING: dict[str, Callable[..., object]] = {
    "abs": math.abs_,
    "at_least": math.at_least,
    "at_most": math.at_most,
    "ceil": math.ceil,
    "compact": array.compact,
    "concat": concat,
    "date": date,
    "default": misc.default,
    "divided_by": math.divided_by,
    "first": array.first,
    "floor": math.floor,
    "join": join,
    "last": array.last,
    "map": array.map_,
    "minus": math.minus,
    "modulo": math.modulo,
    "plus": math.plus,
    "reverse": array.reverse,
    "round": math.round_,
    "size": misc.size,
    "slice": slice_,
    "sort": array.sort,
    "sum": array.sum_,
    "times": math.times,
    "where": array.where,
}
FILTERS = {
    **{name: _bounded(name, function, takes_text=True) for name, function in _OF_TEXT.items()},
    **{name: _bounded(name, function, takes_text=False) for name, function in _OF_ANYTHING.items()},
}
