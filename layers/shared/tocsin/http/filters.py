"""The filters of a list, read from the query, and how its documentation names them."""

from datetime import datetime
from typing import Any

from tocsin.http import problems
from tocsin.http.door import Request

SINCE_UNTIL: list[dict[str, Any]] = [
    {"name": name, "in": "query", "schema": {"type": "string", "format": "date-time"}} for name in ("since", "until")
]


def text(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "in": "query", "schema": {"type": "string"}} for name in names]


def flag(name: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": {"type": "boolean"}}


def choice(name: str, known: tuple[str, ...], description: str = "", *, default: str | None = None) -> dict[str, Any]:
    schema = {"type": "string", "enum": list(known)} | ({"default": default} if default else {})
    return {"name": name, "in": "query", "schema": schema} | ({"description": description} if description else {})


def moment_of(request: Request, name: str) -> datetime | None:
    value = request.query.get(name)
    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise problems.invalid_parameter(name, "must be a time in RFC 3339, such as 2026-11-15T10:00:00Z")
    return moment


def flag_of(request: Request, name: str) -> bool | None:
    value = request.query.get(name)
    if value not in (None, "true", "false"):
        raise problems.invalid_parameter(name, "must be true or false")
    return None if value is None else value == "true"


def choice_of(request: Request, name: str, known: tuple[str, ...]) -> str | None:
    value = request.query.get(name)
    if value is not None and value not in known:
        raise problems.invalid_parameter(name, f"must be one of {', '.join(known)}")
    return value
