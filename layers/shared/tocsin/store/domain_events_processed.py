"""How far each consumer of domain events has come: a cursor under a lease."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection

CONSUMER = "notify_fanout"


@dataclass(frozen=True, slots=True)
class Place:
    """How often the cursor was claimed since it last moved."""

    claim_count: int


def claim(conn: Connection[Any], *, lease_token: UUID, lease: timedelta) -> Place | None:
    """Take (or keep) the cursor. None while another worker has it."""
    row = conn.execute(
        """
        UPDATE domain_events_processed
        SET claim_count = claim_count + 1, lease_token = %(lease_token)s, leased_until = tocsin_now() + %(lease)s
        WHERE consumer = %(consumer)s
          AND (leased_until IS NULL OR leased_until <= tocsin_now() OR lease_token = %(lease_token)s)
        RETURNING claim_count
        """,
        {"consumer": CONSUMER, "lease_token": lease_token, "lease": lease},
    ).fetchone()
    return Place(*row) if row else None


def release(conn: Connection[Any], *, lease_token: UUID) -> None:
    """Let go of the cursor: there was nothing (more) to read."""
    conn.execute(
        """
        UPDATE domain_events_processed
        SET claim_count = 0, lease_token = NULL, leased_until = NULL
        WHERE consumer = %(consumer)s AND lease_token = %(lease_token)s
        """,
        {"consumer": CONSUMER, "lease_token": lease_token},
    )


def ask_for_another_look(conn: Connection[Any]) -> bool:
    """Whether somebody should come back soon: events wait behind the cursor, and nobody was asked in the last second."""
    row = conn.execute(
        """
        UPDATE domain_events_processed AS processed
        SET hinted_at = tocsin_now()
        WHERE consumer = %(consumer)s
          AND (hinted_at IS NULL OR hinted_at <= tocsin_now() - interval '900 milliseconds')
          AND EXISTS (
              SELECT FROM domain_events
              WHERE (domain_events.txid, domain_events.id) > (processed.last_txid, processed.last_event_id))
        RETURNING true
        """,
        {"consumer": CONSUMER},
    ).fetchone()
    return row is not None


def seconds_behind(conn: Connection[Any]) -> float | None:
    """How long the first event behind the cursor has waited, readable already or not; None when there is none."""
    row = conn.execute(
        """
        SELECT extract(epoch FROM tocsin_now() - domain_events.recorded_at)::float8
        FROM domain_events_processed AS processed
        JOIN domain_events ON (domain_events.txid, domain_events.id) > (processed.last_txid, processed.last_event_id)
        WHERE processed.consumer = %(consumer)s
        ORDER BY domain_events.txid, domain_events.id
        LIMIT 1
        """,
        {"consumer": CONSUMER},
    ).fetchone()
    return float(row[0]) if row else None


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
                id, tenant_id, source_kind, outbox_id, notification_id, final_attempt_count, max_attempts,
                failure_classification, failure_message, recovery_hint, created_at)
            SELECT tocsin_uuid7(), tenant_id, 'fanout', notification_id, notification_id, %(tries)s, %(tries)s,
                   'poison', %(message)s, %(hint)s, tocsin_now()
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
