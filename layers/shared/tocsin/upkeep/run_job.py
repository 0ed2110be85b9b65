"""Run a scheduled job, and record that it ran: whoever operates the service sees when, for how long, and what came of it."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from psycopg import Connection

from tocsin.foundation import database
from tocsin.foundation.ids import uuid7
from tocsin.foundation.outages import DatabaseUnavailable
from tocsin.store import admin_system_events, job_runs

FAILED = "job_failed"


class Done(Protocol):
    """What a job returns: whether it came to its end, and what to keep of it. A report names no tenant."""

    @property
    def is_complete(self) -> bool: ...

    def report(self) -> dict[str, Any]: ...


Result = TypeVar("Result", bound=Done)


def run_job(job: str, work: Callable[[Connection[Any]], Result]) -> Result:
    """A failure is recorded with a system event, which the next success resolves, and goes on to the caller; so does an outage of
    the database, of which nothing can be recorded: its run stays `running`."""
    run_id = uuid7()
    database.run(lambda conn: job_runs.start(conn, run_id, job))
    try:
        done = database.run(work)
    except DatabaseUnavailable:
        raise
    except Exception as error:
        kind = type(error).__name__
        database.run(lambda conn: _failed(conn, run_id, job, kind))
        raise
    database.run(lambda conn: _succeeded(conn, run_id, job, done))
    return done


def run_in_turn(jobs: dict[str, Callable[[Connection[Any]], Done]]) -> dict[str, Done]:
    """Several of them, each whatever becomes of the others. The first failure goes on to the caller when all have had their turn;
    an outage of the database at once."""
    done: dict[str, Done] = {}
    failures = []
    for job, work in jobs.items():
        try:
            done[job] = run_job(job, work)
        except DatabaseUnavailable:
            raise
        except Exception as error:
            failures.append(error)
    if failures:
        raise failures[0]
    return done


def _failed(conn: Connection[Any], run_id: Any, job: str, error: str) -> None:
    with database.worker_transaction(conn):
        job_runs.finish(conn, run_id, outcome="failed", report={}, error=error)
        admin_system_events.raise_once(
            conn,
            event_type=FAILED,
            severity="high",
            subject=job,
            description=f"The job {job} failed: {error}. It runs again on schedule; its log says more.",
            details={"run_id": str(run_id), "error": error},
        )


def _succeeded(conn: Connection[Any], run_id: Any, job: str, done: Done) -> None:
    with database.worker_transaction(conn):
        job_runs.finish(conn, run_id, outcome="complete" if done.is_complete else "partial", report=done.report())
        admin_system_events.resolve(conn, None, event_type=FAILED, subject=job)
