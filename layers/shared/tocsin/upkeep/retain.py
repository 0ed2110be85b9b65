"""Retain: forget on schedule, in small batches, rule by rule in turn, and say what was forgotten."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from psycopg import Connection, errors

from tocsin.foundation.database import worker_transaction
from tocsin.store import admin_system_events, job_runs
from tocsin.upkeep.archive import ArchiveUnavailable
from tocsin.upkeep.retention_rules import Rule

JOB = "retention"
BATCH = 1_000
ARCHIVE_FAILED = "archive_failed"
_SMALLER = 10  # a batch that takes too long is tried with so much less
_REST = 1.0  # after each batch, times what it took: intake keeps four fifths of its rate (bench/retention.py)


@dataclass(frozen=True, slots=True)
class Report:
    """Rows forgotten per rule, and whether all rules ran to their end. `goes_on_with`: the rule whose turn it was when the time
    was up. `held_up`: rules that could not go on, and why."""

    forgotten: dict[str, int]
    is_complete: bool
    goes_on_with: str | None = None
    held_up: dict[str, str] = field(default_factory=dict)

    def report(self) -> dict[str, Any]:
        return {"forgotten": self.forgotten, "goes_on_with": self.goes_on_with, "held_up": self.held_up}


def retain(conn: Connection[Any], rules: list[Rule], *, has_time: Callable[[], bool], batch: int = BATCH) -> Report:
    """Apply the rules in turn, a batch each, until none finds anything or the time is up: a million rows of one hold up no other.
    The next run goes on with the rule whose turn it was."""
    forgotten = {rule.name: 0 for rule in rules}
    held_up: dict[str, str] = {}
    turns = deque((rule, batch) for rule in _from_where_it_stopped(conn, rules))
    while turns and has_time():
        rule, limit = turns.popleft()
        began = time.monotonic()
        try:
            count = rule.apply(conn, limit)
        except errors.QueryCanceled:
            if limit > 1:
                turns.append((rule, max(1, limit // _SMALLER)))
            else:
                held_up[rule.name] = "statement_timeout"
        except ArchiveUnavailable as error:
            held_up[rule.name] = ARCHIVE_FAILED
            _tell_of_the_archive(conn, rule.name, str(error))
        else:
            forgotten[rule.name] += count
            if count:
                turns.append((rule, limit))
                time.sleep((time.monotonic() - began) * _REST)
    _resolve_what_works_again(conn, [name for name, count in forgotten.items() if count and name not in held_up])
    goes_on_with = turns[0][0].name if turns else None
    return Report(forgotten, is_complete=not turns and not held_up, goes_on_with=goes_on_with, held_up=held_up)


def _from_where_it_stopped(conn: Connection[Any], rules: list[Rule]) -> list[Rule]:
    last = job_runs.last_finished(conn, JOB)
    places = [place for place, rule in enumerate(rules) if last and rule.name == last.report.get("goes_on_with")]
    place = places[0] if places else 0
    return rules[place:] + rules[:place]


def _tell_of_the_archive(conn: Connection[Any], rule: str, error: str) -> None:
    with worker_transaction(conn):
        admin_system_events.raise_once(
            conn,
            event_type=ARCHIVE_FAILED,
            severity="high",
            subject=rule,
            description="The archive takes nothing, so what should be archived is not forgotten. Each run tries again.",
            details={"error": error},
        )


def _resolve_what_works_again(conn: Connection[Any], rules: list[str]) -> None:
    with worker_transaction(conn):
        for rule in rules:
            admin_system_events.resolve(conn, None, event_type=ARCHIVE_FAILED, subject=rule)
