"""A worker in a process of its own: fans out what waits, then says how much memory that took. `python -m bench.alone <url>`."""

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from psycopg import Connection

from bench.deliveries import worker
from tocsin.audience.fan_out import fan_out
from tocsin.foundation import connecting
from tocsin.foundation.settings import Settings
from tocsin.outbox.dispatch import dispatch


def tell_everyone(conn: Connection[Any]) -> None:
    """Until the cursor has passed every event (a transaction elsewhere may keep one unreadable for a moment) and the pages of
    large audiences are told."""
    while fan_out(conn, has_time=lambda: True).look_again:
        time.sleep(0.001)
    dispatch(conn, [], replace(worker(100), queue="plan"))


def _peak() -> int:
    """In kB, of this program alone: what getrusage tells begins with the parent's peak."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


if __name__ == "__main__":
    with connecting.connect(Settings(tocsin_database_url=sys.argv[1])) as conn:
        tell_everyone(conn)
    print(_peak())
