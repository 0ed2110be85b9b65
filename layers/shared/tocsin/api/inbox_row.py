"""A row of the inbox, as the API shows it."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from typing_extensions import TypedDict

from tocsin.api.words import ThreadRef
from tocsin.content import display
from tocsin.content.display import Display
from tocsin.http.answers import one_of


class SourceEvent(TypedDict):
    """The domain event that an inbox row came of."""

    source: str
    id: str


class ShownAction(TypedDict):
    """A button: its words, and where it leads."""

    label: str
    url: str


class ShownActor(TypedDict):
    """Whoever did it last: your id, the name people read, and a picture."""

    id: str
    name: str
    avatar_url: str | None


class InboxRow(TypedDict):
    """A notification as its reader sees it. `seen`: it was shown before they last looked, read or not."""

    id: UUID
    kind: str
    type_title: str | None
    reason: str | None
    scope: str | None
    title: str
    message: str
    summary: dict[str, Any] | None
    url: str | None
    actions: list[ShownAction]
    severity: Annotated[str, one_of(*display.SEVERITIES)]
    icon: str | None
    event_count: int
    unread: bool
    seen: bool
    read_at: datetime | None
    last_event_at: datetime | None
    last_actor: str | None
    actor: ShownActor | None
    created_at: datetime
    updated_at: datetime
    done_at: datetime | None
    saved_at: datetime | None
    snoozed_until: datetime | None
    for_everyone: bool
    source_notification_id: UUID | None
    thread: ThreadRef | None
    source_event: SourceEvent | None


def shown(row: dict[str, Any]) -> InboxRow:
    beside = _beside(row["summary"] or {})
    return {
        "id": row["id"],
        "kind": row["kind"],
        "type_title": row["type_title"],
        "reason": row["reason"],
        "scope": row["scope"],
        "title": row["title"],
        "message": row["message"],
        "summary": row["summary"],
        "url": beside.url or None,
        "actions": [{"label": one.label, "url": one.url} for one in beside.actions],
        "severity": beside.severity,
        "icon": beside.icon or None,
        "event_count": row["event_count"],
        "unread": row["unread"],
        "seen": row["seen"],
        "read_at": row["read_at"],
        "last_event_at": row["last_event_at"],
        "last_actor": row["last_actor"],
        "actor": _actor(row),
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
        "done_at": row["done_at"],
        "saved_at": row["saved_at"],
        "snoozed_until": row["snoozed_until"],
        "for_everyone": row["for_everyone"],
        "source_notification_id": row["source_notification_id"],
        "thread": {"kind": row["thread_kind"], "id": row["thread_id"]} if row["thread_kind"] else None,
        "source_event": {"source": row["event_source"], "id": row["event_id"]} if row["event_id"] else None,
    }


def _beside(summary: dict[str, Any]) -> Display:
    """Most rows have a link at most, and it was checked when it came in: taking it apart again took a tenth of the time."""
    url = summary.get("url", "")
    if isinstance(url, str) and url.startswith(("http://", "https://")) and len(summary) == 1:
        return Display(url)
    return display.of(summary)


def _actor(row: dict[str, Any]) -> ShownActor | None:
    if row["last_actor"] is None:
        return None
    return {"id": row["last_actor"], "name": row["actor_name"], "avatar_url": row["avatar_url"]}
