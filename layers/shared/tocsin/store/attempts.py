"""One row per try, opened before the provider is called."""

from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from tocsin.store.rows import Evidence

CUT_OFF = "the worker ended before the provider's answer was recorded"


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


def list_of_route(
    conn: Connection[Any], tenant_id: UUID, notification_id: UUID, route_id: str, *, generation: int
) -> list[dict[str, Any]]:
    """The tries of one generation, in order."""
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            SELECT generation, attempt_no, provider, started_at, finished_at, outcome, error_classification, error_message,
                   provider_message_id, note
            FROM attempts
            WHERE tenant_id = %(tenant_id)s AND notification_id = %(notification_id)s AND route_id = %(route_id)s
              AND generation = %(generation)s
            ORDER BY attempt_no
            """,
            {"tenant_id": tenant_id, "notification_id": notification_id, "route_id": route_id, "generation": generation},
        )
        .fetchall()
    )


def find_lately(
    conn: Connection[Any], tenant_id: UUID, since: datetime, until: datetime, *, limit: int | None
) -> list[dict[str, Any]]:
    """The tries that began or ended in this time."""
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            WITH found AS MATERIALIZED (  -- planned as if all were wanted
                SELECT notification_id, route_id, generation, attempt_no, provider, started_at, finished_at, outcome,
                       error_message, note
                FROM attempts
                WHERE tenant_id = %(tenant_id)s
                  AND (started_at >= %(since)s AND started_at < %(until)s OR finished_at >= %(since)s AND finished_at < %(until)s)
            )
            SELECT * FROM found LIMIT %(limit)s
            """,
            {"tenant_id": tenant_id, "since": since, "until": until, "limit": limit},
            prepare=False,  # seconds, or minutes
        )
        .fetchall()
    )


def list_of(conn: Connection[Any], tenant_id: UUID, notification_id: UUID, *, limit: int) -> list[dict[str, Any]]:
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            SELECT route_id, generation, attempt_no, provider, started_at, finished_at, outcome, error_classification,
                   error_message, provider_message_id, note
            FROM attempts
            WHERE tenant_id = %(tenant_id)s AND notification_id = %(notification_id)s
            ORDER BY started_at, route_id, attempt_no
            LIMIT %(limit)s
            """,
            {"tenant_id": tenant_id, "notification_id": notification_id, "limit": limit},
        )
        .fetchall()
    )
