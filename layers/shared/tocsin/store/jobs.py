"""What an operator asked for and a worker carries out, page by page: how far it has come."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import args_row, class_row
from psycopg.types.json import Jsonb


@dataclass(frozen=True, slots=True)
class Job:
    """`done` counts what was carried out, `skipped` what was left out, with the reasons, `failed` what could not be tried."""

    id: UUID
    kind: str
    status: str
    arguments: dict[str, Any]
    total: int | None
    done: int
    skipped: int
    failed: int
    skipped_reasons: dict[str, int]
    created_by: UUID
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    updated_at: datetime


def find(conn: Connection[Any], tenant_id: UUID, job_id: UUID) -> Job | None:
    return (
        conn.cursor(row_factory=class_row(Job))
        .execute(
            """
            SELECT id, kind, status, arguments, total, done, skipped, failed, skipped_reasons, created_by, created_at, started_at,
                   finished_at, updated_at
            FROM jobs
            WHERE tenant_id = %(tenant_id)s AND id = %(job_id)s
            """,
            {"tenant_id": tenant_id, "job_id": job_id},
        )
        .fetchone()
    )


def list_page(
    conn: Connection[Any], tenant_id: UUID, *, status: str | None, limit: int, after: tuple[datetime, UUID] | None
) -> list[Job]:
    return (
        conn.cursor(row_factory=class_row(Job))
        .execute(
            """
            SELECT id, kind, status, arguments, total, done, skipped, failed, skipped_reasons, created_by, created_at, started_at,
                   finished_at, updated_at
            FROM jobs
            WHERE tenant_id = %(tenant_id)s
              AND (%(status)s::text IS NULL OR status = %(status)s)
              AND (%(after_at)s::timestamptz IS NULL OR (created_at, id) < (%(after_at)s, %(after_id)s))
            ORDER BY created_at DESC, id DESC
            LIMIT %(limit)s
            """,
            {
                "tenant_id": tenant_id,
                "status": status,
                "after_at": after[0] if after else None,
                "after_id": after[1] if after else None,
                "limit": limit,
            },
        )
        .fetchall()
    )


def load(conn: Connection[Any], ids: list[UUID], *, lease_token: UUID) -> Cursor[tuple[UUID, Job]]:
    """The jobs of the work among these that is under this lease."""
    return conn.cursor(row_factory=args_row(_loaded)).execute(
        """
        SELECT jobs.id, jobs.kind, jobs.status, jobs.arguments, jobs.total, jobs.done, jobs.skipped, jobs.failed,
               jobs.skipped_reasons, jobs.created_by, jobs.created_at, jobs.started_at, jobs.finished_at, jobs.updated_at
        FROM outbox JOIN jobs ON jobs.id = outbox.id AND jobs.tenant_id = outbox.tenant_id
        WHERE outbox.id = ANY(%(ids)s) AND outbox.lease_token = %(lease_token)s AND outbox.source_kind = 'replay'
        """,
        {"ids": ids, "lease_token": lease_token},
    )


def _loaded(*columns: Any) -> tuple[UUID, Job]:
    return columns[0], Job(*columns)


def tenants_of(conn: Connection[Any], ids: list[UUID]) -> list[tuple[UUID, UUID]]:
    """Whose these are: tenant and job."""
    return conn.execute("SELECT tenant_id, id FROM jobs WHERE id = ANY(%(ids)s)", {"ids": ids}).fetchall()


def start(conn: Connection[Any], job_id: UUID, *, total: int) -> None:
    conn.execute(
        """
        UPDATE jobs SET status = 'running', total = COALESCE(total, %(total)s), started_at = COALESCE(started_at, tocsin_now()),
               updated_at = tocsin_now()
        WHERE id = %(job_id)s AND status = 'queued'
        """,
        {"job_id": job_id, "total": total},
    )


def count(conn: Connection[Any], job_id: UUID, *, done: int, failed: int, skipped_reasons: dict[str, int]) -> None:
    """Add what a page came to."""
    conn.execute(
        """
        UPDATE jobs
        SET done = done + %(done)s, failed = failed + %(failed)s, skipped = skipped + %(skipped)s, updated_at = tocsin_now(),
            skipped_reasons = skipped_reasons || (
                SELECT COALESCE(jsonb_object_agg(reason, COALESCE((jobs.skipped_reasons ->> reason)::integer, 0) + n::integer),
                                '{}')
                FROM jsonb_each_text(%(skipped_reasons)s) AS added (reason, n))
        WHERE id = %(job_id)s
        """,
        {
            "job_id": job_id,
            "done": done,
            "failed": failed,
            "skipped": sum(skipped_reasons.values()),
            "skipped_reasons": Jsonb(skipped_reasons),
        },
    )


def delete_expired(conn: Connection[Any], *, age: timedelta, limit: int) -> int:
    return conn.execute(
        """
        WITH expired AS (
            SELECT id FROM jobs
            WHERE finished_at < tocsin_now() - %(age)s
            ORDER BY finished_at
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM jobs USING expired WHERE jobs.id = expired.id
        """,
        {"age": age, "limit": limit},
    ).rowcount
