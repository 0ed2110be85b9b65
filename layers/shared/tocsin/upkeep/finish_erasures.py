"""Go on with what there was no time for when somebody asked for a person to be erased."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from psycopg import Connection

from tocsin.people import erase
from tocsin.store import erasures

AT_REST = timedelta(minutes=1)  # longer than a request: whoever began it is at it no more


@dataclass(frozen=True, slots=True)
class Finished:
    people: int
    is_complete: bool

    def report(self) -> dict[str, Any]:
        return {"people": self.people}


def finish_erasures(conn: Connection[Any], *, has_time: Callable[[], bool]) -> Finished:
    done = 0
    for receipt in erasures.find_unfinished(conn, kind="user", age=AT_REST, limit=100):
        if not erase.go_on(conn, receipt, has_time=has_time):
            return Finished(done, is_complete=False)
        done += 1
    return Finished(done, is_complete=True)
