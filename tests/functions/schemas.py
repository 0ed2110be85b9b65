"""The schemas that the OpenAPI document promises, compiled once: every answer of a door is held to its own."""

import json
import re
from functools import cache
from typing import Any
from uuid import UUID

from jsonschema import Draft202012Validator, FormatChecker

from tocsin.api import about

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z", re.ASCII)
FORMATS = FormatChecker(formats=())


class Unpromised(AssertionError):
    """An answer is not what the document says."""


@FORMATS.checks("date-time")
def _is_moment(value: object) -> bool:
    return not isinstance(value, str) or _MOMENT.fullmatch(value) is not None


@FORMATS.checks("uuid", raises=ValueError)
def _is_id(value: object) -> bool:
    return not isinstance(value, str) or str(UUID(value)) == value


def check(route: str, status: int, headers: dict[str, str], text: str) -> None:
    """Nothing, if the answer has the shape that is promised for this route and status, with no field more."""
    if not 200 <= status < 400 or route == "$default":
        return
    kinds = promised(route).get(status)
    if kinds is None:
        raise Unpromised(f"{route} answered {status}, which is not in the document")
    kind = headers.get("Content-Type", "").partition(";")[0]
    if not kinds or not text:
        if bool(kinds) != bool(text):
            raise Unpromised(f"{route} answered {status} {'with' if text else 'without'} a body")
        return
    if kind not in kinds:
        raise Unpromised(f"{route} answered {status} with {kind}, which is not in the document")
    if kind == "application/json":
        for error in kinds[kind].iter_errors(json.loads(text)):
            raise Unpromised(f"{route} {status}: {error.json_path}: {error.message[:300]}")


@cache
def promised(route: str) -> dict[int, dict[str, Draft202012Validator]]:
    """For each status of a route, the media types of its answer with their schemas."""
    method, path = route.split(" ", 1)
    told = _document()["paths"][path][method.lower()]["responses"]
    return {
        int(status): {kind: validator(content["schema"]) for kind, content in one.get("content", {}).items()}
        for status, one in told.items()
        if int(status) < 400
    }


def validator(schema: dict[str, Any]) -> Draft202012Validator:
    whole = _plain(schema) | {"$defs": _closed_components()}
    return Draft202012Validator(whole, format_checker=FORMATS)


@cache
def _document() -> dict[str, Any]:
    return about._described()


@cache
def _closed_components() -> dict[str, Any]:
    return {name: _plain(schema) for name, schema in _document()["components"]["schemas"].items()}


def _plain(part: Any) -> Any:
    """The same schema, closed to fields that it does not name, and quicker to check."""
    if isinstance(part, list):
        return [_plain(one) for one in part]
    if not isinstance(part, dict):
        return part
    if isinstance(part.get("$ref"), str):
        return {"$ref": part["$ref"].replace("#/components/schemas/", "#/$defs/")}
    made = {
        key: {name: _plain(one) for name, one in value.items()} if key == "properties" else _plain(value)
        for key, value in part.items()
        if key not in ("description", "discriminator", "default")
    }
    if made.get("type") == "object" and "properties" in made:
        made.setdefault("additionalProperties", False)
    match made.get("anyOf"):
        case [{"type": str(kind)} as one, {"type": "null"}] if "enum" not in one and "const" not in one:
            made = {**one, "type": [kind, "null"]}
    return made
