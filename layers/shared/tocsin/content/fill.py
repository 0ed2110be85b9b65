"""Fill: a JSON value whose every string is a template, with the values of a payload. Pure."""

from typing import Any

from liquid import BoundTemplate

from tocsin.content.liquid import compiled, marks
from tocsin.content.liquid_cache import Cache
from tocsin.content.liquid_limits import Refused, RenderAllowance
from tocsin.content.plain import Unrenderable
from tocsin.content.templates import rendered

MAX_CACHED = 256
MAX_CACHED_MARKS = 32 * 1024  # characters between {{ and }} of all that are kept


def filled(value: Any, payload: dict[str, Any]) -> Any:
    """The value with each of its strings rendered, at any depth, as plain text; names and numbers stay as they are.

    All of them share the allowance of one message. Raises Unrenderable, which names the place by its JSON pointer."""
    try:
        allowance = RenderAllowance(payload)
    except Refused as refused:
        raise Unrenderable(str(refused)) from None
    return _filled(value, payload, allowance, "")


def _filled(value: Any, payload: dict[str, Any], allowance: RenderAllowance, place: str) -> Any:
    match value:
        case str():
            return _rendered(value, payload, allowance, place) if "{{" in value or "{%" in value else value
        case dict():
            return {name: _filled(part, payload, allowance, f"{place}/{name}") for name, part in value.items()}
        case list():
            return [_filled(part, payload, allowance, f"{place}/{n}") for n, part in enumerate(value)]
        case _:
            return value


def _rendered(source: str, payload: dict[str, Any], allowance: RenderAllowance, place: str) -> str:
    try:
        template = _CACHE.get(source, _compiled)
    except Refused as refused:
        raise Unrenderable(f"{place}: {refused}") from None
    return rendered(place, template, payload, allowance)


def _compiled(source: str) -> tuple[BoundTemplate, int]:
    return compiled(source, is_html=False), sum(end - start for start, end, _ in marks(source))


_CACHE: Cache[str, BoundTemplate] = Cache(most=MAX_CACHED, most_weight=MAX_CACHED_MARKS)
