"""Wait for news of an inbox: look again and again, with no transaction open in between."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from psycopg import Connection

from tocsin.foundation.database import tenant_round_trip
from tocsin.store import notifications
from tocsin.store.notifications import View

LOOK_EVERY = 0.4  # seconds between two looks at the inbox while a browser waits
WATCHED_ROWS = 20  # changes further down do not wake anybody


@dataclass(frozen=True, slots=True)
class Glance:
    """What a person would notice: how many are unread, how many of these unseen, and the first rows."""

    unread: int
    unseen: int
    rows: list[list[Any]]


def wait(conn: Connection[Any], tenant_id: UUID, user_id: UUID, *, is_known: Callable[[Glance], bool], seconds: float) -> Glance:
    """What the inbox looks like once it is not what is known already, or when the wait is over."""
    give_up_at = time.monotonic() + seconds
    glance = look(conn, tenant_id, user_id)
    while is_known(glance) and time.monotonic() + LOOK_EVERY <= give_up_at:
        time.sleep(LOOK_EVERY)
        try:
            glance = look(conn, tenant_id, user_id)
        except psycopg.OperationalError:
            return glance  # as far as we know, nothing new; to begin again on another connection would be to wait twice
    return glance


def look(conn: Connection[Any], tenant_id: UUID, user_id: UUID) -> Glance:
    with tenant_round_trip(conn, tenant_id):
        count = notifications.count_unread(conn, tenant_id, user_id)
        rows = notifications.list_page(conn, tenant_id, user_id, View(), limit=WATCHED_ROWS, after=None)
    seen = [[row["id"], row["unread"], row["shown_at"], row["saved_at"], row["seen"]] for row in rows]
    found = count.fetchone()
    return Glance(*(found or (0, 0)), seen)
