"""The filters of the template language: an allow-list, each bounded in what it takes and makes."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Any

from liquid.builtin.filters import array, math, misc, string
from liquid.filter import with_environment
from liquid.undefined import is_undefined
from markupsafe import Markup

from tocsin.template_limits import MAX_ITEMS, MAX_NUMBER, MAX_OUTPUT, Refused

_UNKNOWN_DIRECTIVE = re.compile(r"%(?!-?[aAbBdeHIjmMpSyYzZ%])")


def shown(value: object) -> str:
    """A JSON value as a reader expects it: nothing for null, true and false in lower case, objects as JSON."""
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
    return str(value)


def date(value: object, form: object = "%Y-%m-%d") -> object:
    """A time in ISO 8601, in its own offset, or in seconds since 1970, in UTC. Anything else is shown as it is."""
    form = shown(form)
    if len(form) > 100 or _UNKNOWN_DIRECTIVE.search(form):
        raise Refused("date: the format has a directive that is not available")
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC).strftime(form)
        return datetime.fromisoformat(shown(value).strip()).strftime(form)
    except (ValueError, OverflowError, OSError):
        return value


def replace(value: str, old: object, new: object = "") -> str:
    if len(value) + value.count(shown(old)) * len(shown(new)) > MAX_OUTPUT:
        raise _too_long()
    return str_or_markup(string.replace(value, old, new))


@with_environment
def join(value: object, separator: object = " ", **environment: Any) -> str:
    if isinstance(value, list | tuple) and len(value) * len(shown(separator)) > MAX_OUTPUT:
        raise _too_long()
    items = [shown(item) for item in value] if isinstance(value, list | tuple) else value
    return str_or_markup(array.join(items, shown(separator), **environment))


def str_or_markup(value: object) -> str:
    assert isinstance(value, str)  # noqa: S101  for the type checker: the library's filters are untyped
    return value


def _bounded(function: Callable[..., object], *, takes_text: bool) -> Callable[..., object]:
    @wraps(function)  # keeps the library's mark on filters that want the environment
    def call(value: object, *arguments: object, **kwargs: object) -> object:
        for one in (value, *arguments, *kwargs.values()):
            _check(one)
        # Markup that has been cut or changed is markup no more: it is escaped like any other value.
        value, *args = (
            str(one) if isinstance(one, Markup) and function is not misc.default else one for one in (value, *arguments)
        )
        if takes_text:
            value, args = shown(value), [shown(one) if one is None or isinstance(one, bool) else one for one in args]
        result = function(value, *args, **kwargs)
        _check(result)
        return result

    return call


def _check(value: object) -> None:
    if isinstance(value, str) and len(value) > MAX_OUTPUT:
        raise _too_long()
    if isinstance(value, list | tuple) and len(value) > MAX_ITEMS:
        raise Refused(f"a list of more than {MAX_ITEMS} items meets a filter")
    if isinstance(value, int) and abs(value) > MAX_NUMBER:
        raise Refused("a number beyond ±2^63 meets a filter")
    if isinstance(value, range):
        raise Refused("a range can be looped over, not filtered")


def _too_long() -> Refused:
    return Refused(f"a filter makes a text of more than {MAX_OUTPUT} characters")


# Left out: `safe`, which would switch escaping off; decoders, which would bring back what was encoded; `strip_html`,
# which looks like a defence and is none; `uniq`, whose time is quadratic.
_OF_TEXT: dict[str, Callable[..., object]] = {
    "append": string.append,
    "capitalize": string.capitalize,
    "downcase": string.downcase,
    "escape": string.escape,
    "lstrip": string.lstrip,
    "newline_to_br": string.newline_to_br,
    "prepend": string.prepend,
    "remove": string.remove,
    "remove_first": string.remove_first,
    "replace": replace,
    "replace_first": string.replace_first,
    "rstrip": string.rstrip,
    "split": string.split,
    "strip": string.strip,
    "strip_newlines": string.strip_newlines,
    "truncate": string.truncate,
    "truncatewords": string.truncatewords,
    "upcase": string.upcase,
    "url_encode": string.url_encode,
}
_OF_ANYTHING: dict[str, Callable[..., object]] = {
    "abs": math.abs_,
    "at_least": math.at_least,
    "at_most": math.at_most,
    "ceil": math.ceil,
    "compact": array.compact,
    "concat": array.concat,
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
    "slice": string.slice_,
    "sort": array.sort,
    "sum": array.sum_,
    "times": math.times,
    "where": array.where,
}
FILTERS = {
    **{name: _bounded(function, takes_text=True) for name, function in _OF_TEXT.items()},
    **{name: _bounded(function, takes_text=False) for name, function in _OF_ANYTHING.items()},
}
