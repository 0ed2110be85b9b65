"""Facts from the producers' domain: taken once, read in the order of their commits."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import class_row, dict_row

from tocsin.store.domain_events_processed import CONSUMER
from tocsin.store.rows import Event


@dataclass(frozen=True, slots=True)
class Known:
    source: str
    event_id: str
    notification_id: UUID
    recorded_at: datetime


def find_known(conn: Connection[Any], tenant_id: UUID, names: list[tuple[str, str]]) -> Cursor[Known]:
    """Those of these (source, id) pairs that were taken."""
    return conn.cursor(row_factory=class_row(Known)).execute(
        """
        SELECT source, event_id, notification_id, recorded_at
        FROM domain_events
        JOIN unnest(%(sources)s::text[], %(event_ids)s::text[]) AS wanted (source, event_id) USING (source, event_id)
        WHERE tenant_id = %(tenant_id)s
        """,
        {"tenant_id": tenant_id, "sources": [one[0] for one in names], "event_ids": [one[1] for one in names]},
    )


def find(conn: Connection[Any], tenant_id: UUID, notification_id: UUID) -> dict[str, Any] | None:
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            SELECT domain_events.notification_id, source, event_id, type, scope, thread_kind, thread_id,
                   users.external_id AS actor, data, mode, occurred_at, recorded_at, outcome, recipient_count
            FROM domain_events
            LEFT JOIN users ON users.tenant_id = domain_events.tenant_id AND users.id = domain_events.actor_user_id
            WHERE domain_events.tenant_id = %(tenant_id)s AND domain_events.notification_id = %(notification_id)s
            """,
            {"tenant_id": tenant_id, "notification_id": notification_id},
        )
        .fetchone()
    )


def read_next(conn: Connection[Any], *, limit: int) -> list[Event]:
    """The events after the cursor, in order, up to the first transaction that is still open: what comes before it is final."""
    return (
        conn.cursor(row_factory=class_row(Event))
        .execute(
            """
            SELECT event.id, event.tenant_id, event.type, kind.template, event.data, event.thread_kind, event.thread_id
            FROM domain_events_processed AS processed
            CROSS JOIN LATERAL (
                SELECT *
                FROM domain_events
                WHERE (domain_events.txid, domain_events.id) > (processed.last_txid, processed.last_event_id)
                  AND domain_events.txid < pg_snapshot_xmin(pg_current_snapshot())
                ORDER BY domain_events.txid, domain_events.id
                LIMIT %(limit)s
            ) AS event
            LEFT JOIN notification_types AS kind ON kind.tenant_id = event.tenant_id AND kind.name = event.type
            WHERE processed.consumer = %(consumer)s
            ORDER BY event.txid, event.id
            """,
            {"consumer": CONSUMER, "limit": limit},
        )
        .fetchall()
    )


def read_one(conn: Connection[Any], event_id: int) -> list[Event]:
    """One event that the cursor has passed; it is kept as long as there is work for it."""
    return (
        conn.cursor(row_factory=class_row(Event))
        .execute(
            """
            SELECT domain_events.id, domain_events.tenant_id, domain_events.type, kind.template, domain_events.data,
                   domain_events.thread_kind, domain_events.thread_id
            FROM domain_events
            LEFT JOIN notification_types AS kind
                ON kind.tenant_id = domain_events.tenant_id AND kind.name = domain_events.type
            WHERE domain_events.id = %(event_id)s
            """,
            {"event_id": event_id},
        )
        .fetchall()
    )


def delete_expired(conn: Connection[Any], *, age: timedelta, least: timedelta, limit: int) -> int:
    """Forget events that are old and that every consumer has passed."""
    return conn.execute(
        """
        WITH expired AS (
            SELECT old.id
            FROM tocsin_kept('domain_events_days', %(age)s, %(least)s) AS kept
            CROSS JOIN LATERAL (
                SELECT domain_events.id FROM domain_events
                WHERE domain_events.tenant_id = kept.tenant_id AND domain_events.recorded_at < tocsin_now() - kept.age
                  AND NOT EXISTS (
                      SELECT FROM domain_events_processed AS processed
                      WHERE (domain_events.txid, domain_events.id) > (processed.last_txid, processed.last_event_id))
                  AND NOT EXISTS (SELECT FROM outbox WHERE outbox.id = domain_events.notification_id)
                ORDER BY domain_events.recorded_at
                LIMIT %(limit)s
                FOR UPDATE SKIP LOCKED
            ) AS old
            LIMIT %(limit)s
        )
        DELETE FROM domain_events USING expired WHERE domain_events.id = expired.id
        """,
        {"age": age, "least": least, "limit": limit},
    ).rowcount
