"""What the database says on the connection that caused it: what it has made due, and what became of system events.

A nudge is a hint, so a notice may carry it."""

import re
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from psycopg import Connection
from psycopg.errors import Diagnostic

from tocsin.foundation import system_events
from tocsin.foundation.due import Due

MOST_KEPT = 1_000  # enough to start workers, who go on by themselves
_DUE = re.compile(r"tocsin due: (\w+) ([0-9a-f-]{36}) ([0-9a-f-]{36})")

_heard: WeakKeyDictionary[Connection[Any], list[Due]] = WeakKeyDictionary()


def listen(conn: Connection[Any]) -> None:
    """Keep what this connection is told of work from now on, and mirror what it is told of system events."""
    heard = _heard.setdefault(conn, [])

    def keep(said: Diagnostic) -> None:
        system_events.hear(said.message_primary or "")
        match = _DUE.fullmatch(said.message_primary or "")
        if match and len(heard) < MOST_KEPT:
            heard.append(Due(UUID(match[2]), match[1], UUID(match[3])))

    conn.add_notice_handler(keep)


def heard(conn: Connection[Any]) -> list[Due]:
    """What was made due since this was last asked. Of a transaction that was undone too: such a nudge finds nothing."""
    kept = _heard.get(conn, [])
    due = kept.copy()
    kept.clear()
    return due
