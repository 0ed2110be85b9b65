"""After a restore: what a database that came from another server needs before events may come in again."""

from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from tocsin.store.flow import renumber_events


@dataclass(frozen=True, slots=True)
class Restored:
    """How many events there are that were told, and that wait to be told."""

    told_events: int
    waiting_events: int


def bring_in_order(conn: Connection[Any]) -> Restored:
    """Renumber the events: a dump, or a switch to a logical replica, brings transaction ids of the old server, while this one
    counts from its own. Safe to repeat, and harmless where nothing was restored. Needs the owner's connection, and that nobody
    records or tells events meanwhile."""
    with conn.transaction():
        told, waiting = renumber_events.renumber(conn)
    return Restored(told, waiting)
