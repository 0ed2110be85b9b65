"""Sessions with Postgres that outlive a test: a new one reads the catalogue and plans everything anew, which takes longer than
most tests do. Between two tests each is made as new: settings, plans, locks and temporary tables are gone (DISCARD ALL)."""

import select
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import Connection
from psycopg.pq import PipelineStatus, TransactionStatus

from tocsin.foundation import notices

ROLES = ("postgres", "tocsin_app", "tocsin_worker", "tocsin_retention")


class Sessions:
    """One of each role, all begun while the database was as the template is: a session keeps the settings it began with."""

    def __init__(self, dsn: Callable[[str], str]) -> None:
        self._dsn = dsn
        self._kept: dict[str, Connection[Any]] = {}
        self._used: set[str] = set()

    def complete(self) -> None:
        """Begin those that are missing. To be asked before a test."""
        for role in ROLES:
            if role not in self._kept:
                self._kept[role] = begin(self._dsn(role))

    def take(self, role: str) -> Connection[Any]:
        self._used.add(role)
        return self._kept[role]

    def take_back(self) -> None:
        """Make as new what a test has used, and let go of what cannot be, or was ended by it."""
        for role, conn in list(self._kept.items()):
            if not (_is_as_new(conn) if role in self._used else _is_quiet(conn)):
                self._kept.pop(role).close()
        self._used.clear()

    @property
    def pids(self) -> list[int]:
        return [conn.info.backend_pid for conn in self._kept.values() if not conn.closed]

    def close(self) -> None:
        for conn in self._kept.values():
            conn.close()


def begin(dsn: str) -> Connection[Any]:
    conn = psycopg.connect(dsn, autocommit=True)
    notices.listen(conn)
    return conn


def _is_quiet(conn: Connection[Any]) -> bool:
    """The server says nothing to a session that asks nothing, but that it ends."""
    return not select.select([conn.fileno()], [], [], 0)[0]


def _is_as_new(conn: Connection[Any]) -> bool:
    idle = (TransactionStatus.IDLE, PipelineStatus.OFF)
    if conn.closed or (conn.info.transaction_status, conn.info.pipeline_status) != idle:
        return False
    if not conn.autocommit or len(conn._notice_handlers) != 1:  # which DISCARD ALL knows nothing of
        return False
    try:
        conn._prepared.clear()  # psycopg itself notices only the first DISCARD ALL
        conn.execute("DISCARD ALL", prepare=False)
    except psycopg.Error:  # a test has ended it, or stopped the server
        return False
    notices.heard(conn)
    return True
