"""What is wrong with the fields of a body: where, as JSON pointers, and in our own words, without echoing the values. Pure."""

from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

MOST = 20
_TAGS = ("users", "address", "tenant", "thread", "scope")  # of an audience: pydantic names the chosen shape, the sender does not
ONE_OF = ("an id", "a user")  # likewise of a recipient


class FieldError(ValueError):
    """Something is wrong between fields; the one named here (a path of names) is where to look."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def errors_of(error: ValidationError) -> list[dict[str, str]]:
    """The first twenty."""
    return [{"pointer": _pointer(item), "message": _message(item)} for item in error.errors(include_url=False)[:MOST]]


def first_of(errors: list[dict[str, str]]) -> str:
    """The first cause as a sentence, and how many more there are."""
    first, more = errors[0], len(errors) - 1
    rest = f" There {'is one' if more == 1 else f'are {more}'} more." if more else ""
    return f"`{first['pointer'] or '/'}` {first['message']}.{rest}"


def _pointer(item: Any) -> str:
    parts = list(item["loc"])
    if len(parts) > 1 and parts[0] == "audience" and parts[1] in _TAGS:
        del parts[1]
    parts = [part for n, part in enumerate(parts) if not (part in ONE_OF and n and isinstance(parts[n - 1], int))]
    if item["type"].startswith("union_tag"):
        parts.append(item["ctx"]["discriminator"].strip("'"))
    cause = item.get("ctx", {}).get("error")
    if isinstance(cause, FieldError):
        parts += cause.field.split("/")
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def _message(item: Any) -> str:
    words = _WORDS.get(item["type"], "is not valid")
    return words if isinstance(words, str) else words(item.get("ctx", {}))


def _chosen(expected: str) -> str:
    """'a', 'b' or 'c', as pydantic lists them."""
    options = [each.strip(" '") for each in expected.replace("' or '", "', '").split("', '")]
    return f"must be {options[0]}" if len(options) == 1 else f"must be one of {', '.join(options)}"


def _at_least(least: int, of: str) -> str:
    return "must not be empty" if least == 1 else f"must have at least {least} {of}"


_WORDS: dict[str, str | Callable[[dict[str, Any]], str]] = {
    "missing": "is required",
    "extra_forbidden": "is not a known field",
    "value_error": lambda ctx: str(ctx["error"]),
    "literal_error": lambda ctx: _chosen(ctx["expected"]),
    "union_tag_invalid": lambda ctx: _chosen(ctx["expected_tags"]),
    "union_tag_not_found": "is required",
    "recipient": "must be a user's id, or a user with an id",
    "string_type": "must be text",
    "string_unicode": "must be text in UTF-8",
    "string_too_short": lambda ctx: _at_least(ctx["min_length"], "characters"),
    "string_too_long": lambda ctx: f"must have at most {ctx['max_length']} characters",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "is too large a number",
    "float_type": "must be a number",
    "greater_than_equal": lambda ctx: f"must be at least {ctx['ge']}",
    "less_than_equal": lambda ctx: f"must be at most {ctx['le']}",
    "bool_type": "must be true or false",
    "none_required": "must be null or left out",
    "list_type": "must be a list",
    "too_short": lambda ctx: _at_least(ctx["min_length"], "entries"),
    "too_long": lambda ctx: f"must have at most {ctx['max_length']} entries",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
}
