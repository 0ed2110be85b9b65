"""How far each consumer of domain events has come: a cursor under a lease."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row

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


NEAR = 10_000  # ids around the cursor that are looked at


@dataclass(frozen=True, slots=True)
class Behind:
    """A tenant's events that wait for the fan-out. `is_cut`: there may be more, further on. `is_held`: none of them can be read
    before a transaction ends that is still open."""

    count: int
    oldest_at: datetime | None
    moved_at: datetime
    is_cut: bool
    is_held: bool


def measure_tenant(conn: Connection[Any], tenant_id: UUID) -> Behind:
    """How many events of a tenant wait behind the cursor, at a cost that does not grow with them: those whose ids are near."""
    row = (
        conn.cursor(row_factory=class_row(Behind))
        .execute(
            """
            WITH place AS MATERIALIZED (
                SELECT last_event_id, last_txid, updated_at FROM domain_events_processed WHERE consumer = %(consumer)s
            ), event AS (
                SELECT id, recorded_at, txid
                FROM domain_events
                WHERE tenant_id = %(tenant_id)s
                  AND id > (SELECT last_event_id - %(near)s FROM place) AND id <= (SELECT last_event_id + 2 * %(near)s FROM place)
                  AND (txid, id) > (SELECT last_txid, last_event_id FROM place)
            )
            SELECT count(event.id) FILTER (WHERE event.id <= place.last_event_id + %(near)s), min(event.recorded_at) AS oldest_at,
                   place.updated_at AS moved_at, COALESCE(bool_or(event.id > place.last_event_id + %(near)s), false) AS is_cut,
                   COALESCE(bool_and(event.txid >= pg_snapshot_xmin(pg_current_snapshot())), false) AS is_held
            FROM place LEFT JOIN event ON true
            GROUP BY place.updated_at
            """,
            {"consumer": CONSUMER, "tenant_id": tenant_id, "near": NEAR},
        )
        .fetchone()
    )
    assert row is not None  # noqa: S101 - a migration made it
    return row
