"""Event patterns, as event source mappings filter by them; what is not known here is refused when it is read. Pure."""

import json
from collections.abc import Mapping
from typing import Any

from devstack.intrinsics import TemplateError

OF_TEXTS = {"prefix", "suffix", "equals-ignore-case"}
MATCHERS = OF_TEXTS | {"anything-but", "exists", "numeric"}
_COMPARED = {
    "=": lambda found, bound: found == bound,
    "<": lambda found, bound: found < bound,
    "<=": lambda found, bound: found <= bound,
    ">": lambda found, bound: found > bound,
    ">=": lambda found, bound: found >= bound,
}
_ABSENT = object()


def check(pattern: Any, where: str = "the pattern") -> None:
    """Raise for what no event here could be compared with."""
    if not isinstance(pattern, Mapping) or not pattern:
        raise TemplateError(f"{where} is not an object with members")
    for name, wanted in pattern.items():
        if name.startswith("$"):
            raise TemplateError(f"the local stack does not know {name} in an event pattern")
        if isinstance(wanted, Mapping):
            check(wanted, f"{where}.{name}")
            continue
        if not isinstance(wanted, list):
            raise TemplateError(f"{where}.{name} is neither an object nor a list of values")
        for each in wanted:
            if isinstance(each, Mapping):
                _check_matcher(each, f"{where}.{name}")


def _check_matcher(given: Mapping[str, Any], where: str) -> None:
    matcher, operand = next(iter(given.items()), ("an empty matcher", None))
    if len(given) != 1 or matcher not in MATCHERS:
        raise TemplateError(f"{where}: the local stack does not know {', '.join(given)} in an event pattern")
    match matcher:
        case "exists":
            is_fine = isinstance(operand, bool)
        case "numeric":
            is_fine = isinstance(operand, list) and len(operand) in (2, 4) and set(operand[::2]) <= _COMPARED.keys()
        case "anything-but":
            is_fine = not isinstance(operand, Mapping) or (len(operand) == 1 and operand.keys() <= OF_TEXTS)
        case _:
            is_fine = isinstance(operand, str)
    if not is_fine:
        raise TemplateError(f"{where}: the local stack does not know {matcher} of {operand}")


def matches(pattern: Mapping[str, Any], event: Any) -> bool:
    """Every member of the pattern must be met; of the values wanted, one is enough."""
    if not isinstance(event, Mapping):
        return False
    for name, wanted in pattern.items():
        found = event.get(name, _ABSENT)
        is_met = matches(wanted, found) if isinstance(wanted, Mapping) else _meets(wanted, found)
        if not is_met:
            return False
    return True


def takes(filters: tuple[dict[str, Any], ...], record: Mapping[str, Any]) -> bool:
    """Is a queue's message for this function? Where a filter speaks of the body as JSON, one that is none is not."""
    return not filters or any(matches(each, _as_asked(each, record)) for each in filters)


def _as_asked(pattern: Mapping[str, Any], record: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(pattern.get("body"), Mapping):
        return record
    try:
        return {**record, "body": json.loads(record["body"])}
    except ValueError:
        return {**record, "body": None}


def _meets(wanted: list[Any], found: Any) -> bool:
    values = found if isinstance(found, list) else [found]
    return any(_is(each, value) for each in wanted for value in values)


def _is(wanted: Any, found: Any) -> bool:
    if not isinstance(wanted, Mapping):
        return found is not _ABSENT and type(wanted) is type(found) and bool(wanted == found)
    (matcher, operand), is_text = next(iter(wanted.items())), isinstance(found, str)
    match matcher:
        case "exists":
            return bool(operand) == (found is not _ABSENT)
        case "prefix":
            return is_text and found.startswith(operand)
        case "suffix":
            return is_text and found.endswith(operand)
        case "equals-ignore-case":
            return is_text and found.lower() == str(operand).lower()
        case "anything-but":
            return found is not _ABSENT and not _is_excluded(operand, found)
        case _:
            pairs = zip(operand[::2], operand[1::2], strict=True)
            is_number = isinstance(found, int | float) and not isinstance(found, bool)
            return is_number and all(_COMPARED[sign](found, bound) for sign, bound in pairs)


def _is_excluded(operand: Any, found: Any) -> bool:
    return any(_is(each, found) for each in (operand if isinstance(operand, list) else [operand]))
