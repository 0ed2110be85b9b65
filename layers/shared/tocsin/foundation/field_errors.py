"""What is wrong with the fields of a body: where, as JSON pointers, and in our own words, without echoing the values. Pure."""

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

MOST = 20
_TAGS = ("users", "address", "tenant", "thread", "scope")  # of an audience: pydantic names the chosen shape, the sender does not
_THERE_ARE = "; there are "
ONE_OF = ("an id", "a user")  # likewise of a recipient


class FieldError(ValueError):
    """Something is wrong between fields; the one named here (a path of names) is where to look."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def errors_of(error: ValidationError, model: type[BaseModel] | None = None) -> list[dict[str, str]]:
    """The first twenty. With the body's model, a field that is not known is told which one was perhaps meant.

    Unknown fields come first: they are mostly why another one is missing."""
    found = sorted(error.errors(include_url=False), key=lambda item: item["type"] != "extra_forbidden")
    told = [_told(item, model) for item in found[:MOST]]
    listed: set[str] = set()
    for one in told:  # which fields there are is said once
        message, _, names = one["message"].partition(_THERE_ARE)
        one["message"] = message if names in listed else one["message"]
        listed.add(names)
    return told


def _told(item: Any, model: type[BaseModel] | None) -> dict[str, str]:
    parts = _parts(item)
    more = ""
    if model and item["type"] == "extra_forbidden":
        more = _meant(str(parts[-1])[:100], _models_at(model, item["loc"][:-1]))
    elif model and item["type"] == "union_tag_not_found":
        more = _one_of(_models_at(model, item["loc"]), str(parts[-1]))
    elif not parts and isinstance(item["input"], str):
        more = ", not a text: is it encoded twice?"
    pointer = "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)
    return {"pointer": pointer, "message": _message(item) + more}


def _meant(name: str, models: set[type[BaseModel]]) -> str:
    """Which field was perhaps meant: one that others call so, or that is spelt nearly so; else all there are."""
    known = sorted({field for one in models for field in one.model_fields})
    elsewhere = [getattr(one, "OFTEN_MEANT", {}).get(name) for one in models]
    near = [meant for meant in elsewhere if meant] or (get_close_matches(name, known, n=1) if len(name) > 2 else [])
    return f"; did you mean `{near[0]}`?" if near else f"{_THERE_ARE}{', '.join(known)}" if known else ""


def _one_of(models: set[type[BaseModel]], tag: str) -> str:
    options = [str(get_args(one.model_fields[tag].annotation)[0]) for one in models if tag in one.model_fields]
    return f": one of {', '.join(sorted(options))}" if len(options) > 1 else ""


def first_of(errors: list[dict[str, str]]) -> str:
    """The first cause as a sentence, and how many more there are."""
    first, more = errors[0], len(errors) - 1
    rest = f" There {'is one' if more == 1 else f'are {more}'} more." if more else ""
    end = "" if first["message"].endswith("?") else "."
    place = f"`{first['pointer']}`" if first["pointer"] else "The body"
    return f"{place} {first['message']}{end}{rest}"


def _parts(item: Any) -> list[int | str]:
    """Where it is, by the names that the sender wrote."""
    parts = list(item["loc"])
    if len(parts) > 1 and parts[0] == "audience" and parts[1] in _TAGS:
        del parts[1]
    parts = [part for n, part in enumerate(parts) if not (part in ONE_OF and n and isinstance(parts[n - 1], int))]
    if parts and parts[-1] == "[key]":  # how pydantic says that it means the name, not what stands under it
        del parts[-1]
    if item["type"].startswith("union_tag"):
        parts.append(item["ctx"]["discriminator"].strip("'"))
    cause = item.get("ctx", {}).get("error")
    if isinstance(cause, FieldError):
        parts += cause.field.split("/")
    return parts


def _models_at(model: type[BaseModel], path: tuple[int | str, ...]) -> set[type[BaseModel]]:
    """Which shapes could stand there; of several that have a kind, the one that was chosen, which pydantic names in the path."""
    models = {model}
    for part in path:
        chosen = {one for one in models if part in _kinds(one)}
        if len(models) > 1 and chosen:
            models = chosen
        elif isinstance(part, str) and part not in ONE_OF:
            fields = [one.model_fields[part] for one in models if part in one.model_fields]
            models = {found for field in fields for found in _models_in(field.annotation)}
    return models


def _kinds(model: type[BaseModel]) -> tuple[Any, ...]:
    return get_args(model.model_fields["kind"].annotation) if "kind" in model.model_fields else ()


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)


def _message(item: Any) -> str:
    # A text that was looked at first is measured like a list: of what it has too much or too little is in the input.
    is_text = item["type"] in ("too_long", "too_short") and isinstance(item["input"], str)
    kind = f"string_{item['type']}" if is_text else item["type"]
    words = _WORDS.get(kind, "is not valid")
    return words if isinstance(words, str) else words(item.get("ctx", {}))


def _chosen(expected: str) -> str:
    """'a', 'b' or 'c', as pydantic lists them."""
    options = [each.strip(" '") for each in expected.replace("' or '", "', '").split("', '")]
    if len(options) == 1:
        return f'must be "{options[0]}"' if expected.startswith("'") else f"must be {expected}"
    return f"must be one of {', '.join(options)}"


def _at_least(least: int, of: str) -> str:
    return "must not be empty" if least == 1 else f"must have at least {least} {of}"


_WORDS: dict[str, str | Callable[[dict[str, Any]], str]] = {
    "missing": "is required",
    "extra_forbidden": "is not a known field",
    "value_error": lambda ctx: str(ctx["error"]),
    "literal_error": lambda ctx: _chosen(ctx["expected"]),
    "union_tag_invalid": lambda ctx: _chosen(ctx["expected_tags"]),
    "union_tag_not_found": "is required",
    "recipient": "must be a user's id as a text, or an object with an `id`",
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
