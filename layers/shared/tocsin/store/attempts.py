"""One row per try, opened before the provider is called."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import class_row, dict_row
from psycopg.types.json import Jsonb

CUT_OFF = "the worker ended before the provider's answer was recorded"


@dataclass(frozen=True, slots=True)
class Opening:
    outbox_id: UUID
    provider: str
    supersedes: int | None  # an earlier attempt without an answer, given up for this one


@dataclass(frozen=True, slots=True)
class Opened:
    outbox_id: UUID
    attempt_no: int
    attempt_count: int
    started_at: datetime


def open_all(conn: Connection[Any], openings: list[Opening], *, lease_token: UUID) -> Cursor[Opened]:
    """Count and record the tries that are about to be made. What is not returned is not ours any more: do not send it.

    A try that follows one in doubt may be a second copy: that is on record before it is sent."""
    return conn.cursor(row_factory=class_row(Opened)).execute(
        """
            WITH opening AS (
                SELECT * FROM jsonb_to_recordset(%(openings)s) AS opening (
                    outbox_id uuid, provider text, supersedes smallint)
            ), opened AS (
                UPDATE outbox
                SET attempt_count = attempt_count + 1, last_attempt_no = last_attempt_no + 1, attempt_open = true
                FROM opening
                WHERE outbox.id = opening.outbox_id
                  AND outbox.lease_token = %(lease_token)s AND outbox.leased_until > tocsin_now()
                  AND (NOT outbox.attempt_open OR outbox.last_attempt_no = opening.supersedes)
                RETURNING outbox.id, outbox.tenant_id, outbox.notification_id, outbox.route_id, outbox.generation,
                          outbox.last_attempt_no, outbox.attempt_count, opening.provider, opening.supersedes
            ), superseded AS (
                UPDATE attempts
                SET outcome = 'unknown', finished_at = COALESCE(finished_at, tocsin_now()),
                    error_classification = 'ambiguous', error_message = %(cut_off)s
                FROM opened
                WHERE opened.supersedes IS NOT NULL
                  AND attempts.notification_id = opened.notification_id AND attempts.route_id = opened.route_id
                  AND attempts.generation = opened.generation AND attempts.attempt_no = opened.supersedes
                  AND attempts.outcome IS NULL
            ), doubted AS (
                UPDATE routes SET duplicate_suspected = true
                FROM opened
                WHERE opened.supersedes IS NOT NULL
                  AND routes.notification_id = opened.notification_id AND routes.route_id = opened.route_id
            ), attempt AS (
                INSERT INTO attempts (
                    notification_id, route_id, generation, attempt_no, tenant_id, provider, started_at)
                SELECT notification_id, route_id, generation, last_attempt_no, tenant_id, provider, tocsin_now()
                FROM opened
            )
            SELECT id AS outbox_id, last_attempt_no AS attempt_no, attempt_count, tocsin_now() AS started_at FROM opened
            """,
        {
            "openings": Jsonb(
                [{"outbox_id": str(one.outbox_id), "provider": one.provider, "supersedes": one.supersedes} for one in openings]
            ),
            "lease_token": lease_token,
            "cut_off": CUT_OFF,
        },
    )


@dataclass(frozen=True, slots=True)
class Evidence:
    """Proof that an attempt was accepted, from whoever learned it too late to settle the route."""

    notification_id: UUID
    route_id: str
    generation: int
    attempt_no: int
    provider_message_id: str


def record_evidence(conn: Connection[Any], evidence: list[Evidence]) -> int:
    """Note acceptances on attempts whose answer is still missing. Whoever handles the route next finds them there."""
    return conn.execute(
        """
        UPDATE attempts
        SET outcome = 'accepted', finished_at = COALESCE(finished_at, tocsin_now()),
            provider_message_id = evidence.provider_message_id
        FROM jsonb_to_recordset(%(evidence)s) AS evidence (
            notification_id uuid, route_id text, generation smallint, attempt_no smallint, provider_message_id text)
        WHERE attempts.notification_id = evidence.notification_id AND attempts.route_id = evidence.route_id
          AND attempts.generation = evidence.generation AND attempts.attempt_no = evidence.attempt_no
          AND (attempts.outcome IS NULL OR attempts.outcome = 'unknown')
        """,
        {
            "evidence": Jsonb(
                [
                    {
                        "notification_id": str(one.notification_id),
                        "route_id": one.route_id,
                        "generation": one.generation,
                        "attempt_no": one.attempt_no,
                        "provider_message_id": one.provider_message_id,
                    }
                    for one in evidence
                ]
            )
        },
    ).rowcount


def list_of(conn: Connection[Any], tenant_id: UUID, notification_id: UUID, *, limit: int) -> list[dict[str, Any]]:
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            SELECT route_id, generation, attempt_no, provider, started_at, finished_at, outcome, error_classification,
                   error_message, provider_message_id
            FROM attempts
            WHERE tenant_id = %(tenant_id)s AND notification_id = %(notification_id)s
            ORDER BY started_at, route_id, attempt_no
            LIMIT %(limit)s
            """,
            {"tenant_id": tenant_id, "notification_id": notification_id, "limit": limit},
        )
        .fetchall()
    )
