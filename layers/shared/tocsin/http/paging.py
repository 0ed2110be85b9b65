"""Pages of a list: the limit and cursor that came in, and the answer that goes out."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from tocsin.http import cursors, problems
from tocsin.http.answers import PageOf
from tocsin.http.door import Request, Response

Row = TypeVar("Row")
Item = TypeVar("Item")

DEFAULT_LIMIT = 50
MAX_LIMIT = 200
CURSOR: dict[str, Any] = {
    "name": "cursor",
    "in": "query",
    "schema": {"type": "string"},
    "description": "next_cursor of the page before",
}
LIMIT: dict[str, Any] = {
    "name": "limit",
    "in": "query",
    "schema": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
}
PARAMETERS: list[dict[str, Any]] = [LIMIT, CURSOR]


def limit_of(request: Request) -> int:
    text = request.query.get("limit", str(DEFAULT_LIMIT))
    if not text.isascii() or not text.isdigit() or len(text) > 3 or not 1 <= int(text) <= MAX_LIMIT:
        raise problems.invalid_parameter("limit", f"must be a number from 1 to {MAX_LIMIT}")
    return int(text)


def cursor_of(request: Request, read: Callable[[str], Any] = UUID) -> tuple[datetime, Any] | None:
    text = request.query.get("cursor")
    return cursors.decode(text, read) if text else None


def page(rows: list[Row], limit: int, *, shown: Callable[[Row], Item], place: Callable[[Row], tuple[datetime, Any]]) -> Response:
    """Answer with at most `limit` rows; the caller fetched one more, which tells whether there is a next page."""
    there_is_more = len(rows) > limit
    rows = rows[:limit]
    next_cursor = cursors.encode(*place(rows[-1])) if there_is_more else None
    return whole([shown(row) for row in rows], next_cursor)


def whole(data: list[Item], next_cursor: str | None = None) -> Response:
    """Answer with these; without a cursor, there are no more."""
    body: PageOf[Item] = {"data": data, "next_cursor": next_cursor}
    return Response(200, body)
