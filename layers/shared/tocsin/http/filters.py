"""The filters of a list, read from the query, and how its documentation names them."""

import re
from datetime import datetime
from typing import Any

from tocsin.foundation.fields import NO_MOMENT, NO_ZONE
from tocsin.http import problems
from tocsin.http.door import Request

_LOST_PLUS = re.compile(r"\d \d\d:\d\d$")  # in a query a + is a space
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
        is_plus_lost = _LOST_PLUS.search(value) is not None
        raise problems.invalid_parameter(name, "has a + that must be written as %2B" if is_plus_lost else NO_MOMENT) from None
    if moment.tzinfo is None:
        raise problems.invalid_parameter(name, NO_ZONE if "T" in value else NO_MOMENT)
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
