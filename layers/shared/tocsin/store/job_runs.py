"""What ran on schedule, and what came of it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row
from psycopg.types.json import Jsonb


@dataclass(frozen=True, slots=True)
class JobRun:
    id: UUID
    job: str
    outcome: str
    report: dict[str, Any]
    error: str
    started_at: datetime
    finished_at: datetime | None


def start(conn: Connection[Any], run_id: UUID, job: str) -> None:
    """Safe to repeat: the run begins once."""
    conn.execute(
        "INSERT INTO job_runs (id, job) VALUES (%(run_id)s, %(job)s) ON CONFLICT (id) DO NOTHING",
        {"run_id": run_id, "job": job},
    )


def finish(conn: Connection[Any], run_id: UUID, *, outcome: str, report: dict[str, Any], error: str = "") -> None:
    conn.execute(
        """
        UPDATE job_runs SET outcome = %(outcome)s, report = %(report)s, error = %(error)s, finished_at = tocsin_now()
        WHERE id = %(run_id)s
        """,
        {"run_id": run_id, "outcome": outcome, "report": Jsonb(report), "error": error},
    )


def latest(conn: Connection[Any], jobs: list[str]) -> list[JobRun]:
    """The newest run of each of these jobs, if there is one."""
    return (
        conn.cursor(row_factory=class_row(JobRun))
        .execute(
            """
            SELECT newest.id, newest.job, newest.outcome, newest.report, newest.error, newest.started_at, newest.finished_at
            FROM unnest(%(jobs)s::text[]) AS wanted (job)
            CROSS JOIN LATERAL (
                SELECT job_runs.* FROM job_runs WHERE job_runs.job = wanted.job ORDER BY job_runs.started_at DESC LIMIT 1
            ) AS newest
            """,
            {"jobs": jobs},
        )
        .fetchall()
    )


def first_started_at(conn: Connection[Any]) -> datetime | None:
    """When the oldest run began that is still remembered."""
    row = conn.execute("SELECT min(started_at) FROM job_runs").fetchone()
    return row[0] if row else None


def last_finished(conn: Connection[Any], job: str) -> JobRun | None:
    """The newest run of a job that came to its end, or to the end of its time."""
    return (
        conn.cursor(row_factory=class_row(JobRun))
        .execute(
            """
            SELECT id, job, outcome, report, error, started_at, finished_at
            FROM job_runs
            WHERE job = %(job)s AND outcome IN ('complete', 'partial')
            ORDER BY started_at DESC
            LIMIT 1
            """,
            {"job": job},
        )
        .fetchone()
    )


def list_page(conn: Connection[Any], job: str, *, limit: int, after: tuple[datetime, UUID] | None) -> list[JobRun]:
    """Newest first."""
    return (
        conn.cursor(row_factory=class_row(JobRun))
        .execute(
            """
            SELECT id, job, outcome, report, error, started_at, finished_at
            FROM job_runs
            WHERE job = %(job)s
              AND (%(after_at)s::timestamptz IS NULL OR (started_at, id) < (%(after_at)s, %(after_id)s))
            ORDER BY started_at DESC, id DESC
            LIMIT %(limit)s
            """,
            {"job": job, "after_at": after[0] if after else None, "after_id": after[1] if after else None, "limit": limit},
        )
        .fetchall()
    )


def delete_expired(conn: Connection[Any], *, age: timedelta, limit: int) -> int:
    return conn.execute(
        """
        WITH expired AS (
            SELECT id FROM job_runs
            WHERE started_at < tocsin_now() - %(age)s
            ORDER BY started_at
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM job_runs USING expired WHERE job_runs.id = expired.id
        """,
        {"age": age, "limit": limit},
    ).rowcount
