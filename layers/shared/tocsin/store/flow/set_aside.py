"""Set aside: an event that cannot be told becomes a dead letter, and the cursor goes on."""

from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.store.domain_events_processed import CONSUMER


def set_aside(conn: Connection[Any], event_id: int, *, lease_token: UUID, tries: int, message: str, hint: str) -> bool:
    """Bury an event as a dead letter and move the cursor past it, in one statement. False: the cursor is not ours any more."""
    row = conn.execute(
        """
        WITH moved AS (
            UPDATE domain_events_processed
            SET last_event_id = domain_events.id, last_txid = domain_events.txid, claim_count = 0, updated_at = tocsin_now()
            FROM domain_events
            WHERE consumer = %(consumer)s AND lease_token = %(lease_token)s AND domain_events.id = %(event_id)s
            RETURNING domain_events.*
        ), outcome AS (
            UPDATE domain_events SET outcome = 'dead_letter' FROM moved WHERE domain_events.id = moved.id
        ), letter AS (
            INSERT INTO dead_letters (
                id, tenant_id, source_kind, outbox_id, notification_id, queue, payload, final_attempt_count, max_attempts,
                trigger_depth, last_attempt_at, failure_classification, failure_message, recovery_hint, created_at,
                notification_type)
            SELECT tocsin_uuid7(), tenant_id, 'fanout', notification_id, notification_id, 'plan',
                   jsonb_build_object('event', id), %(tries)s, %(tries)s, trigger_depth, tocsin_now(), 'poison', %(message)s,
                   %(hint)s, tocsin_now(), type
            FROM moved
        )
        SELECT id FROM moved
        """,
        {
            "consumer": CONSUMER,
            "lease_token": lease_token,
            "event_id": event_id,
            "tries": tries,
            "message": message,
            "hint": hint,
        },
    ).fetchone()
    return row is not None
