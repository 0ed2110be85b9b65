"""Run jobs: a job and the work that carries it out begin, go on and end together."""

from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.types.json import Jsonb

from tocsin.foundation.due import Due


def enqueue(
    conn: Connection[Any], tenant_id: UUID, job_id: UUID, *, kind: str, arguments: dict[str, Any], by: UUID
) -> Due | None:
    """None: it is there already, from a call whose answer was lost."""
    row = conn.execute(
        """
        WITH job AS (
            INSERT INTO jobs (id, tenant_id, kind, arguments, created_by)
            VALUES (%(job_id)s, %(tenant_id)s, %(kind)s, %(arguments)s, %(by)s)
            ON CONFLICT (id) DO NOTHING
            RETURNING id, tenant_id, kind
        )
        INSERT INTO outbox (
            id, tenant_id, source_kind, queue, due_at, max_attempts, retry_backoff, retry_base_ms, principal_id)
        SELECT id, tenant_id, kind, 'plan', tocsin_now(), 3, 'exponential', 5000, %(by)s FROM job
        RETURNING id, queue, tenant_id
        """,
        {"tenant_id": tenant_id, "job_id": job_id, "kind": kind, "arguments": Jsonb(arguments), "by": by},
    ).fetchone()
    return Due(*row) if row else None


def hold(conn: Connection[Any], job_id: UUID, *, lease_token: UUID) -> bool:
    """Keep others from the job's work until the end of the transaction. False: it is not ours any more, or was cancelled."""
    held = conn.execute(
        "SELECT true FROM outbox WHERE id = %(job_id)s AND lease_token = %(lease_token)s FOR UPDATE",
        {"job_id": job_id, "lease_token": lease_token},
    ).fetchone()
    return held is not None


def go_on(conn: Connection[Any], job_id: UUID, *, lease_token: UUID, payload: dict[str, Any]) -> Due | None:
    """The next page is work for whoever comes: behind what was due before, so that others get their turn."""
    row = conn.execute(
        """
        UPDATE outbox
        SET payload = %(payload)s, due_at = tocsin_now(), claim_count = 0, lease_token = NULL, leased_until = NULL,
            nudged_at = tocsin_now()
        WHERE id = %(job_id)s AND lease_token = %(lease_token)s
        RETURNING id, queue, tenant_id
        """,
        {"job_id": job_id, "lease_token": lease_token, "payload": Jsonb(payload)},
    ).fetchone()
    return Due(*row) if row else None


def finish(conn: Connection[Any], job_id: UUID, *, lease_token: UUID) -> None:
    conn.execute(
        """
        WITH ended AS (
            DELETE FROM outbox WHERE id = %(job_id)s AND lease_token = %(lease_token)s RETURNING id
        )
        UPDATE jobs SET status = 'complete', finished_at = tocsin_now(), updated_at = tocsin_now()
        FROM ended
        WHERE jobs.id = ended.id AND jobs.finished_at IS NULL
        """,
        {"job_id": job_id, "lease_token": lease_token},
    )


def cancel(conn: Connection[Any], tenant_id: UUID, job_id: UUID) -> bool:
    """Stop it after the page that is under way, if any. False: there is no such job, or it has ended."""
    conn.execute(
        "DELETE FROM outbox WHERE tenant_id = %(tenant_id)s AND id = %(job_id)s AND source_kind = 'replay'",
        {"tenant_id": tenant_id, "job_id": job_id},
    )
    cancelled = conn.execute(
        """
        UPDATE jobs SET status = 'cancelled', finished_at = tocsin_now(), updated_at = tocsin_now()
        WHERE tenant_id = %(tenant_id)s AND id = %(job_id)s AND finished_at IS NULL
        RETURNING true
        """,
        {"tenant_id": tenant_id, "job_id": job_id},
    ).fetchone()
    return cancelled is not None


def fail(conn: Connection[Any], ids: list[UUID]) -> None:
    """Of what was buried just now, in the same transaction."""
    conn.execute(
        """
        UPDATE jobs SET status = 'failed', finished_at = tocsin_now(), updated_at = tocsin_now()
        WHERE id = ANY(%(ids)s) AND finished_at IS NULL AND NOT EXISTS (SELECT FROM outbox WHERE outbox.id = jobs.id)
        """,
        {"ids": ids},
    )
