"""Lists, asked for page by page. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic, TypeVar

from tocsin_client.notifications import Notification, notification_of
from tocsin_client.people import User, user_of
from tocsin_client.request import Answer, Call, Request
from tocsin_client.wire import query_of

T = TypeVar("T")

_LARGEST_PAGE = 200


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    rows: list[T]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """What is left of a list: the next page, and how many rows are still wanted (None: all)."""

    path: str
    filters: Mapping[str, str]
    row: Callable[[dict[str, Any]], T]
    left: int | None
    cursor: str | None = None

    def call(self) -> Call[Page[T]]:
        size = _LARGEST_PAGE if self.left is None else max(1, min(self.left, _LARGEST_PAGE))
        query = {**self.filters, "limit": str(size)} | ({"cursor": self.cursor} if self.cursor else {})
        return Call(Request("GET", self.path, query=query, is_repeatable=True), self._read)

    def after(self, page: Page[T]) -> "Listing[T] | None":
        left = None if self.left is None else self.left - len(page.rows)
        if page.next_cursor is None or left == 0:
            return None
        return replace(self, left=left, cursor=page.next_cursor)

    def _read(self, answer: Answer) -> Page[T]:
        return Page([self.row(row) for row in answer.json["data"]], answer.json["next_cursor"])


def list_users(*, query: str | None = None, limit: int | None = None) -> Listing[User]:
    """Users, the newest first; with `query` those whose id, email, username or phone number begins so. Scope `manage`.

    The pages are asked for as they are needed, up to `limit` rows."""
    return Listing("/v1/users", query_of({"query": query}), user_of, _checked(limit))


def list_notifications(
    *,
    type: str | None = None,
    producer: str | None = None,
    status: str | None = None,
    channel: str | None = None,
    user_id: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int | None = None,
) -> Listing[Notification]:
    """Notifications, the newest first; scope `read`. The pages are asked for as they are needed, up to `limit` rows."""
    named = {"type": type, "producer": producer, "status": status, "channel": channel, "user_id": user_id}
    filters = query_of({**named, "since": since, "until": until})
    return Listing("/v1/notifications", filters, notification_of, _checked(limit))


def _checked(limit: int | None) -> int | None:
    if limit is not None and limit < 1:
        raise ValueError("`limit` is how many rows are wanted, from 1")
    return limit
