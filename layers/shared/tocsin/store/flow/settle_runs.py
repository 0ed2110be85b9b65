"""Settle runs: record how the runs of triggers end or go on, and what that means for the letters that caused them."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import args_row
from psycopg.types.json import Jsonb

from tocsin.store.rows import RunEnd


@dataclass(frozen=True, slots=True)
class SettledRun:
    """`is_awaited`: further work waits for the endpoint of its handler."""

    id: UUID
    queue: str
    tenant_id: UUID
    is_awaited: bool


def settle_runs(conn: Connection[Any], ends: list[tuple[RunEnd, UUID]]) -> Cursor[SettledRun]:
    """Record each end, if its run is still under the lease that is named with it: the cursor has those.

    What failed becomes a dead letter; unless a letter caused the run: that one is then marked, and no other is written."""
    return conn.cursor(row_factory=args_row(SettledRun)).execute(
        """
        WITH settlement AS (
            SELECT * FROM jsonb_to_recordset(%(ends)s) AS settlement (
                outbox_id uuid, lease_token uuid, outcome text, is_tried boolean, delay_ms float8,
                classification text, code text, message text, hint text, is_nudged boolean)
        ), ended AS (
            DELETE FROM outbox USING settlement
            WHERE outbox.id = settlement.outbox_id AND outbox.lease_token = settlement.lease_token
              AND settlement.outcome <> 'again'
            RETURNING outbox.*, settlement.outcome, settlement.is_tried, settlement.classification, settlement.code,
                      settlement.message, settlement.hint, tocsin_id_in(outbox.payload, 'trigger_id') AS trigger_id,
                      tocsin_id_in(outbox.payload, 'dead_letter_id') AS dead_letter_id
        ), kept AS (
            UPDATE outbox
            SET due_at = tocsin_now() + settlement.delay_ms * interval '1 millisecond', waits_for = NULL,
                attempt_count = outbox.attempt_count + settlement.is_tried::integer, claim_count = 0, lease_token = NULL,
                leased_until = NULL,
                nudged_at = CASE WHEN settlement.is_nudged
                    THEN tocsin_now() + settlement.delay_ms * interval '1 millisecond' END
            FROM settlement
            WHERE outbox.id = settlement.outbox_id AND outbox.lease_token = settlement.lease_token
              AND settlement.outcome = 'again'
            RETURNING outbox.*, tocsin_id_in(outbox.payload, 'trigger_id') AS trigger_id
        ), handled AS (
            -- of several that ran for one letter, one that succeeds is enough
            SELECT DISTINCT ON (dead_letter_id) dead_letter_id, tenant_id, principal_id, outcome
            FROM ended
            WHERE dead_letter_id IS NOT NULL AND outcome <> 'dropped'
            ORDER BY dead_letter_id, outcome = 'done' DESC
        ), locked AS (
            SELECT dead_letters.id
            FROM dead_letters JOIN handled ON handled.dead_letter_id = dead_letters.id
            ORDER BY dead_letters.id  -- no ring of waiters
            FOR UPDATE OF dead_letters
        ), marked AS (
            UPDATE dead_letters
            SET resolution = CASE handled.outcome WHEN 'done' THEN 'handled_by_script' ELSE 'handler_failed' END,
                resolved_at = tocsin_now(), resolved_by = handled.principal_id
            FROM handled JOIN locked ON locked.id = handled.dead_letter_id
            WHERE dead_letters.id = handled.dead_letter_id AND dead_letters.tenant_id = handled.tenant_id
              AND (dead_letters.resolution IS NULL
                   OR dead_letters.resolution = 'handler_failed' AND handled.outcome = 'done')
        ), letter AS (
            INSERT INTO dead_letters (
                id, tenant_id, source_kind, outbox_id, generation, queue, priority, payload, final_attempt_count, max_attempts,
                retry_backoff, retry_base_ms, principal_id, trigger_depth, trigger_id, handler_id, provider_code,
                first_attempt_at, last_attempt_at, failure_classification, failure_message, recovery_hint, created_at)
            SELECT tocsin_uuid7(), ended.tenant_id, ended.source_kind, ended.id, ended.generation, ended.queue, ended.priority,
                   ended.payload, ended.attempt_count + ended.is_tried::integer, ended.max_attempts, ended.retry_backoff,
                   ended.retry_base_ms, ended.principal_id, ended.trigger_depth, ended.trigger_id, triggers.handler_id,
                   ended.code, ended.first_claimed_at, tocsin_now(), ended.classification, ended.message, ended.hint,
                   tocsin_now()
            FROM ended
            LEFT JOIN triggers ON triggers.id = ended.trigger_id AND triggers.tenant_id = ended.tenant_id
            WHERE ended.outcome = 'failed' AND ended.dead_letter_id IS NULL
        )
        SELECT settled.id, settled.queue, settled.tenant_id, EXISTS (
                   SELECT FROM outbox JOIN triggers ON outbox.waits_for = 'handler:' || triggers.handler_id
                   WHERE triggers.id = settled.trigger_id)
        FROM (
            SELECT id, queue, tenant_id, trigger_id FROM ended
            UNION ALL
            SELECT id, queue, tenant_id, trigger_id FROM kept
        ) AS settled
        """,
        {"ends": Jsonb([_as_json(end, token) for end, token in ends])},
    )


def _as_json(end: RunEnd, lease_token: UUID) -> dict[str, Any]:
    return {
        "outbox_id": str(end.outbox_id),
        "lease_token": str(lease_token),
        "outcome": end.outcome,
        "is_tried": end.is_tried,
        "delay_ms": None if end.delay is None else end.delay.total_seconds() * 1000,
        "is_nudged": end.is_nudged,
        "classification": end.classification,
        "code": end.code[:200],
        "message": end.message[:1000],
        "hint": end.hint,
    }
