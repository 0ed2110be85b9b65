"""A server that is there and does nothing: its processes are stopped, and the kernel still takes what TCP brings them."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil

from devstack.postgres import Postgres
from tocsin import database


@contextmanager
def frozen(*pids: int) -> Iterator[None]:
    """These processes stand still meanwhile."""
    try:
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def backend() -> int:
    """The process that serves the connection of this execution environment."""
    return database.run(lambda conn: conn.info.backend_pid)


def whole(server: Postgres) -> list[int]:
    """Every process of the server."""
    assert server.pid
    return [server.pid, *(child.pid for child in psutil.Process(server.pid).children(recursive=True))]
