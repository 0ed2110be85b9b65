"""Open: count and record the attempts that are about to be made, before a provider is called."""

from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from tocsin.store.attempts import CUT_OFF
from tocsin.store.rows import Opened, Opening


def open_attempts(conn: Connection[Any], openings: list[Opening], *, lease_token: UUID) -> Cursor[Opened]:
    """Count and record the tries that are about to be made. What is not returned is not ours any more: do not send it.

    A try that follows one in doubt may be a second copy: that is on record before it is sent. What is to be opened is found by
    its id in the parameter, not joined to it: however few rows the planner believed the outbox to have, it is not read whole."""
    return conn.cursor(row_factory=class_row(Opened)).execute(
        """
            WITH opened AS (
                UPDATE outbox
                SET attempt_count = attempt_count + 1, last_attempt_no = last_attempt_no + 1, attempt_open = true
                WHERE outbox.id = ANY(%(ids)s)
                  AND outbox.lease_token = %(lease_token)s AND outbox.leased_until > tocsin_now()
                  AND (NOT outbox.attempt_open
                       OR outbox.last_attempt_no = (%(openings)s -> outbox.id::text ->> 'supersedes')::smallint)
                RETURNING outbox.id, outbox.tenant_id, outbox.notification_id, outbox.route_id, outbox.generation,
                          outbox.last_attempt_no, outbox.attempt_count,
                          %(openings)s -> outbox.id::text ->> 'provider' AS provider,
                          (%(openings)s -> outbox.id::text ->> 'supersedes')::smallint AS supersedes
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
                UPDATE routes SET duplicate_suspected = true, updated_at = tocsin_now()
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
            "ids": [one.outbox_id for one in openings],
            "openings": Jsonb({str(one.outbox_id): {"provider": one.provider, "supersedes": one.supersedes} for one in openings}),
            "lease_token": lease_token,
            "cut_off": CUT_OFF,
        },
    )
