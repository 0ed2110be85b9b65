"""Settle: record how claimed deliveries end or go on."""

from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.types.json import Jsonb

from tocsin.store.rows import Settlement


def settle(conn: Connection[Any], settlements: list[Settlement], *, lease_token: UUID) -> Cursor[tuple[UUID]]:
    """Record how claimed deliveries end or go on: routes, attempts, dead letters and outbox in one statement.

    Fenced: only what is still under our lease is touched. The cursor has those outbox ids; a missing one means we are late. The
    outbox is told by id which rows these are: joined alone, it is read whole by a plan that was made while it was small."""
    return conn.execute(
        """
        WITH settlement AS (
            SELECT *, CASE WHEN NOT ends
                THEN LEAST(COALESCE(due_at, tocsin_now() + delay_ms * interval '1 millisecond'), expires_at) END AS next_at
            FROM jsonb_to_recordset(%(settlements)s) AS settlement (
                outbox_id uuid, status text, reason text, attempt_no smallint, attempt_outcome text, uncounted smallint,
                provider text, provider_message_id text, error_classification text, error_message text, provider_code text,
                provider_response text, attempt_error text, note text, ends boolean, delay_ms float8, due_at timestamptz,
                expires_at timestamptz, waits_for text, is_nudged boolean, awaits_evidence boolean, is_deferral boolean,
                may_have_arrived boolean, recovery_hint text)
        ), ended AS (
            DELETE FROM outbox
            WHERE outbox.id = ANY(%(ending)s) AND outbox.lease_token = %(lease_token)s
            RETURNING outbox.*
        ), kept AS (
            UPDATE outbox
            SET due_at = settlement.next_at, waits_for = settlement.waits_for,
                attempt_count = outbox.attempt_count - settlement.uncounted,
                reply_to = CASE WHEN NOT settlement.is_deferral THEN outbox.reply_to END,  -- to put it off is a reply
                attempt_open = settlement.awaits_evidence, claim_count = 0, leased_until = NULL, lease_token = NULL,
                nudged_at = CASE WHEN settlement.is_nudged THEN settlement.next_at END
            FROM settlement
            WHERE outbox.id = ANY(%(going_on)s) AND outbox.id = settlement.outbox_id AND outbox.lease_token = %(lease_token)s
            RETURNING outbox.id, outbox.notification_id, outbox.route_id, outbox.generation, outbox.attempt_count
        ), settled AS (
            SELECT held.*, settlement.*
            FROM (
                SELECT id, notification_id, route_id, generation, attempt_count FROM ended
                UNION ALL
                SELECT * FROM kept
            ) AS held
            JOIN settlement ON settlement.outbox_id = held.id
        ), attempt AS (
            UPDATE attempts
            SET finished_at = COALESCE(attempts.finished_at, tocsin_now()),
                -- what its own worker had to say stays
                error_classification = COALESCE(NULLIF(attempts.error_classification, ''), CASE settled.attempt_outcome
                    WHEN 'unknown' THEN 'ambiguous' ELSE settled.error_classification END),
                error_message = COALESCE(NULLIF(attempts.error_message, ''), settled.attempt_error),
                -- proof that came before our own doubt stays
                outcome = CASE WHEN attempts.outcome = 'accepted' THEN 'accepted' ELSE settled.attempt_outcome END,
                provider_message_id = COALESCE(NULLIF(settled.provider_message_id, ''), attempts.provider_message_id),
                note = COALESCE(NULLIF(settled.note, ''), attempts.note)
            FROM settled
            WHERE settled.attempt_no IS NOT NULL
              AND attempts.notification_id = settled.notification_id AND attempts.route_id = settled.route_id
              AND attempts.generation = settled.generation AND attempts.attempt_no = settled.attempt_no
        ), route AS (
            UPDATE routes
            SET status = settled.status, reason = settled.reason, attempt_count = settled.attempt_count,
                next_attempt_at = settled.next_at,
                provider = COALESCE(NULLIF(settled.provider, ''), routes.provider),
                provider_message_id = COALESCE(NULLIF(settled.provider_message_id, ''), routes.provider_message_id),
                provider_response = COALESCE(NULLIF(settled.provider_response, ''), routes.provider_response),
                may_have_arrived = settled.may_have_arrived,
                deferral_count = routes.deferral_count + settled.is_deferral::integer,
                deferred_reason = CASE WHEN settled.is_deferral THEN settled.reason ELSE routes.deferred_reason END,
                deferred_at = CASE WHEN settled.is_deferral THEN tocsin_now() ELSE routes.deferred_at END,
                last_error_classification = COALESCE(NULLIF(settled.error_classification, ''),
                                                     routes.last_error_classification),
                last_error_message = COALESCE(NULLIF(settled.error_message, ''), routes.last_error_message),
                last_error_at = CASE WHEN settled.error_message <> '' THEN tocsin_now() ELSE routes.last_error_at END,
                updated_at = tocsin_now(),
                published_at = CASE WHEN settled.status = 'published' THEN tocsin_now() END,
                dead_lettered_at = CASE WHEN settled.status = 'dead_letter' THEN tocsin_now() END,
                skipped_at = CASE WHEN settled.status = 'skipped' THEN tocsin_now() END,
                cancelled_at = CASE WHEN settled.status = 'cancelled' THEN tocsin_now() END
            FROM settled
            WHERE routes.notification_id = settled.notification_id AND routes.route_id = settled.route_id
            RETURNING routes.channel, routes.recipient_ref, routes.provider, routes.template_id, routes.accepted_at,
                      settled.id AS outbox_id
        ), sent AS (
            -- the reservation becomes evidence; the window starts anew where the answer came much later
            UPDATE notification_email_log AS log
            SET message_id = settled.provider_message_id,
                sent_at = CASE WHEN log.sent_at < tocsin_now() - interval '1 minute' THEN tocsin_now() ELSE log.sent_at END
            FROM settled
            WHERE settled.status = 'published' AND log.notification_id = settled.notification_id
              AND log.route_id = settled.route_id AND log.generation = settled.generation
        ), given_up AS (
            DELETE FROM notification_email_log AS log
            USING settled
            WHERE settled.ends AND settled.status <> 'published' AND NOT settled.may_have_arrived
              AND log.notification_id = settled.notification_id
              AND log.route_id = settled.route_id AND log.generation = settled.generation
        ), letter AS (
            INSERT INTO dead_letters (
                id, tenant_id, source_kind, outbox_id, notification_id, route_id, generation, queue, priority, payload, channel,
                recipient_ref, final_attempt_count, max_attempts, retry_backoff, retry_base_ms, principal_id, trigger_depth,
                provider, provider_code, first_attempt_at, last_attempt_at, failure_classification, failure_message,
                recovery_hint, created_at, notification_type, template_id, accepted_at)
            SELECT tocsin_uuid7(), ended.tenant_id, ended.source_kind, ended.id, ended.notification_id, ended.route_id,
                   ended.generation, ended.queue, ended.priority, ended.payload, route.channel, route.recipient_ref,
                   ended.attempt_count, ended.max_attempts, ended.retry_backoff, ended.retry_base_ms, ended.principal_id,
                   ended.trigger_depth, route.provider, settlement.provider_code, tried.first_at, tried.last_at,
                   settlement.reason, settlement.error_message, settlement.recovery_hint, tocsin_now(),
                   records.notification_type, route.template_id, route.accepted_at
            FROM ended
            JOIN records ON records.notification_id = ended.notification_id
            JOIN settlement ON settlement.outbox_id = ended.id
            JOIN route ON route.outbox_id = ended.id
            CROSS JOIN LATERAL (
                SELECT min(attempts.started_at) AS first_at, max(attempts.started_at) AS last_at
                FROM attempts
                WHERE attempts.notification_id = ended.notification_id AND attempts.route_id = ended.route_id
                  AND attempts.generation = ended.generation
            ) AS tried
            WHERE settlement.status = 'dead_letter'
        )
        SELECT id FROM settled
        """,
        {
            "settlements": Jsonb([one.as_json() for one in settlements]),
            "ending": [one.outbox_id for one in settlements if one.ends],
            "going_on": [one.outbox_id for one in settlements if not one.ends],
            "lease_token": lease_token,
        },
    )
