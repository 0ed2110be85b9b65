"""Mark rows of an inbox: as read, done or saved, put off, hidden; one at a time, or all as read or done."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.foundation.database import tenant_transaction
from tocsin.store import notification_reads, notifications
from tocsin.store.notifications import Change

FARTHEST_SNOOZE = timedelta(days=365)
READ_BATCH = 1_000
MOST_READ = 10_000  # rows that one read-all or done-all marks; it says when there is more


class BadSnooze(ValueError):
    """Nothing can be put off until then. Whoever asked names a time to come, within a year."""

    def __init__(self) -> None:
        super().__init__("must be in the future, within 365 days")


def mark(conn: Connection[Any], tenant_id: UUID, user_id: UUID, row_id: UUID, change: Change) -> dict[str, Any] | None:
    """The row as its reader sees it then. None: there is no such row, or it is hidden. Raises BadSnooze."""
    now = datetime.now(UTC)
    if change.snoozed_until is not None and not now < change.snoozed_until <= now + FARTHEST_SNOOZE:
        raise BadSnooze
    with tenant_transaction(conn, tenant_id):
        if not _change(conn, tenant_id, user_id, row_id, change):
            return None
        return notifications.find(conn, tenant_id, user_id, row_id)


def hide(conn: Connection[Any], tenant_id: UUID, user_id: UUID, row_id: UUID) -> bool:
    """False: there is no such row."""
    with tenant_transaction(conn, tenant_id):
        return _change(conn, tenant_id, user_id, row_id, Change(hide=True))


def read_all(conn: Connection[Any], tenant_id: UUID, user_id: UUID, *, before: datetime | None) -> int:
    """Mark what had its last event before the given time as read, batch by batch. Returns how many; MOST_READ: there is more."""
    person = (conn, tenant_id, user_id)
    own = partial(notifications.read_own, *person, before=before)
    return _in_batches(conn, tenant_id, own, partial(notification_reads.read_all, *person, before=before))


def finish_all(conn: Connection[Any], tenant_id: UUID, user_id: UUID, *, only_read: bool, before: datetime | None) -> int:
    """The same as done: what is in the list, or only what is read of it."""
    person = (conn, tenant_id, user_id)
    boxes = ("read",) if only_read else ("unread", "read")
    own = (partial(notifications.finish_own, *person, box, before=before) for box in boxes)
    return _in_batches(conn, tenant_id, *own, partial(notification_reads.finish_all, *person, only_read=only_read, before=before))


def _in_batches(conn: Connection[Any], tenant_id: UUID, *works: Callable[..., int]) -> int:
    """Each in a transaction of its own, so that nobody waits long for a row."""
    marked = 0
    for mark_batch in works:
        while marked < MOST_READ:
            with tenant_transaction(conn, tenant_id):
                count = mark_batch(limit=READ_BATCH)
            marked += count
            if count < READ_BATCH:
                break
    return marked


def _change(conn: Connection[Any], tenant_id: UUID, user_id: UUID, row_id: UUID, change: Change) -> bool:
    row = (conn, tenant_id, user_id, row_id)
    return notifications.change_own(*row, change) or notification_reads.change(*row, change)
