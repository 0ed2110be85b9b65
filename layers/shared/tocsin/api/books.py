"""Books: whether all that the tables promise of each other holds, for one tenant and right now."""

import time
from datetime import datetime, timedelta
from uuid import UUID

from typing_extensions import TypedDict

from tocsin.api.words import RunOutcome
from tocsin.foundation.database import tenant_transaction
from tocsin.http import problems
from tocsin.http.door import Call, Endpoint, Request, Response
from tocsin.store import job_runs
from tocsin.upkeep import balance

MOST_HOURS = 24
TIME_TO_LOOK = 4.0  # seconds: the last look may take as long again


class BookCheck(TypedDict):
    """One promise of the tables: what breaks it, and the ids of what does."""

    check: str
    breach: str
    count: int
    ids: list[UUID]


class BooksRun(TypedDict):
    """When the installation looked at everything, and whether it came to the end."""

    started_at: datetime
    finished_at: datetime | None
    outcome: RunOutcome


class Books(TypedDict):
    """Whether the books balance."""

    balance: bool
    is_complete: bool
    checks: list[BookCheck]
    last_run: BooksRun | None


def get_books(call: Call) -> Response:
    past = timedelta(hours=_hours(call.request))
    ends_at = time.monotonic() + TIME_TO_LOOK
    with tenant_transaction(call.conn, call.tenant_id):
        books = balance.balance_of(call.conn, call.tenant_id, past=past, has_time=lambda: time.monotonic() < ends_at)
        runs = job_runs.latest(call.conn, [balance.JOB])
    shown: Books = {
        "balance": books.count == 0 and books.is_complete,
        "is_complete": books.is_complete,
        "checks": [
            _shown(check, books.residue[check.name].get(call.tenant_id, []))
            for check in balance.CHECKS
            if check.name in books.residue
        ],
        "last_run": _run(runs[0]) if runs else None,
    }
    return Response(200, shown)


def _shown(check: balance.Check, ids: list[UUID]) -> BookCheck:
    return {"check": check.name, "breach": check.meaning, "count": len(ids), "ids": ids[: balance.MOST_IDS]}


def _run(run: job_runs.JobRun) -> BooksRun:
    """Of the installation: when, and whether it looked at everything. What it found is told to each tenant as a system event."""
    return {"started_at": run.started_at, "finished_at": run.finished_at, "outcome": run.outcome}


def _hours(request: Request) -> int:
    text = request.query.get("hours", "1")
    if not text.isascii() or not text.isdigit() or len(text) > 2 or not 1 <= int(text) <= MOST_HOURS:
        raise problems.invalid_parameter("hours", f"must be a number from 1 to {MOST_HOURS}")
    return int(text)


ENDPOINTS = [
    Endpoint(
        "GET /v1/books",
        "operate",
        get_books,
        "Do the books balance? Looks at what was accepted lately",
        parameters=[
            {
                "name": "hours",
                "in": "query",
                "schema": {"type": "integer", "minimum": 1, "maximum": MOST_HOURS, "default": 1},
                "description": "how far back",
            }
        ],
        answer=Books,
    ),
]
