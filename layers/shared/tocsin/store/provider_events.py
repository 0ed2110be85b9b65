"""What providers told us later: each event once, matched to the attempt it names."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row, dict_row
from psycopg.types.json import Jsonb

from tocsin.store.rows import ProviderEvent


@dataclass(frozen=True, slots=True)
class Matched:
    """An event that names an attempt of ours, with what its route knows; new, or told before."""

    event_key: bytes
    tenant_id: UUID
    notification_id: UUID
    route_id: str
    generation: int
    attempt_no: int
    channel: str
    address: str
    feedback: str
    provider_message_id: str
    is_new: bool
    copies: list[str] | None  # those of its cc whom it is about
    is_of_copies: bool  # and of nobody else: it says nothing of the route


def insert_new(conn: Connection[Any], events: list[ProviderEvent]) -> list[Matched]:
    """Store events not seen before; return all that name an attempt of ours. The tenant is the route's, never the event's."""
    return (
        conn.cursor(row_factory=class_row(Matched))
        .execute(
            """
            WITH event AS (
                SELECT DISTINCT ON (event_key) *, decode(event_key, 'hex') AS key
                FROM jsonb_to_recordset(%(events)s) AS event (
                    event_key text, provider text, kind text, feedback text, notification_id uuid, route_id text,
                    generation smallint, attempt_no smallint, provider_message_id text, detail text, occurred_at timestamptz,
                    recipients text[])
                ORDER BY event_key
            ), matched AS (
                SELECT event.*, routes.tenant_id, routes.channel,
                       CASE routes.channel WHEN 'sms' THEN routes.resolved_phone ELSE routes.resolved_email END AS address,
                       copy.addresses AS copies,
                       copy.addresses IS NOT NULL AND lower(routes.resolved_email) <> ALL(event.recipients) AS is_of_copies
                FROM event
                JOIN attempts USING (notification_id, route_id, generation, attempt_no, provider)
                JOIN routes USING (notification_id, route_id)
                LEFT JOIN LATERAL (
                    -- only of whom the record itself says so
                    SELECT array_agg(cc.address) AS addresses
                    FROM records CROSS JOIN LATERAL jsonb_array_elements_text(records.email_options -> 'cc') AS cc (address)
                    WHERE records.notification_id = routes.notification_id AND lower(cc.address) = ANY(event.recipients)
                ) AS copy ON routes.channel = 'email' AND cardinality(event.recipients) > 0
            ), stored AS (
                INSERT INTO provider_events (
                    event_key, tenant_id, provider, kind, feedback, notification_id, route_id, generation, attempt_no,
                    provider_message_id, address_hash, detail, occurred_at, received_at)
                SELECT event.key, matched.tenant_id, event.provider, event.kind, event.feedback, matched.notification_id,
                       matched.route_id, matched.generation, matched.attempt_no, event.provider_message_id,
                       CASE WHEN matched.is_of_copies
                            THEN tocsin_address_hash(matched.tenant_id, matched.channel, matched.copies[1])
                            WHEN matched.address <> ''
                            THEN tocsin_address_hash(matched.tenant_id, matched.channel, matched.address) END,
                       CASE WHEN matched.is_of_copies THEN rtrim('of a copy: ' || event.detail, ' :') ELSE event.detail END,
                       event.occurred_at, tocsin_now()
                FROM event LEFT JOIN matched USING (event_key)
                ON CONFLICT (event_key) DO NOTHING
                RETURNING event_key
            )
            SELECT matched.key AS event_key, matched.tenant_id, matched.notification_id, matched.route_id, matched.generation,
                   matched.attempt_no, matched.channel, matched.address, matched.feedback, matched.provider_message_id,
                   stored.event_key IS NOT NULL AS is_new, matched.copies, matched.is_of_copies
            FROM matched LEFT JOIN stored ON stored.event_key = matched.key
            """,
            {
                "events": Jsonb(
                    [
                        {
                            "event_key": event.key.hex(),
                            "provider": event.provider,
                            "kind": event.kind,
                            "feedback": event.feedback,
                            "notification_id": str(event.named.notification_id) if event.named else None,
                            "route_id": event.named.route_id if event.named else None,
                            "generation": event.named.generation if event.named else None,
                            "attempt_no": event.named.attempt_no if event.named else None,
                            "provider_message_id": event.provider_message_id,
                            "detail": event.detail,
                            "occurred_at": event.occurred_at.isoformat(),
                            "recipients": list(event.recipients),
                        }
                        for event in events
                    ]
                )
            },
        )
        .fetchall()
    )


def count_soft_bounces(conn: Connection[Any], tenant_id: UUID, channel: str, address: str, *, within: timedelta) -> int:
    row = conn.execute(
        """
        SELECT count(*)
        FROM provider_events
        WHERE tenant_id = %(tenant_id)s AND address_hash = tocsin_address_hash(%(tenant_id)s, %(channel)s, %(address)s)
          AND feedback = 'soft_bounced' AND occurred_at > tocsin_now() - %(within)s
        """,
        {"tenant_id": tenant_id, "channel": channel, "address": address, "within": within},
    ).fetchone()
    return row[0] if row else 0


def list_of(conn: Connection[Any], tenant_id: UUID, notification_id: UUID, *, limit: int) -> list[dict[str, Any]]:
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            SELECT route_id, provider, kind, feedback, attempt_no, detail, occurred_at, received_at
            FROM provider_events
            WHERE tenant_id = %(tenant_id)s AND notification_id = %(notification_id)s
            ORDER BY occurred_at, received_at
            LIMIT %(limit)s
            """,
            {"tenant_id": tenant_id, "notification_id": notification_id, "limit": limit},
        )
        .fetchall()
    )


def find_lately(
    conn: Connection[Any], tenant_id: UUID, since: datetime, until: datetime, *, limit: int | None
) -> list[dict[str, Any]]:
    """What was heard in this time, whenever it happened."""
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            WITH found AS MATERIALIZED (  -- planned as if all were wanted
                SELECT notification_id, route_id, provider, kind, detail, occurred_at, received_at
                FROM provider_events
                WHERE tenant_id = %(tenant_id)s AND received_at >= %(since)s AND received_at < %(until)s
            )
            SELECT * FROM found LIMIT %(limit)s
            """,
            {"tenant_id": tenant_id, "since": since, "until": until, "limit": limit},
            prepare=False,  # seconds, or minutes
        )
        .fetchall()
    )


def delete_expired(conn: Connection[Any], *, age: timedelta, limit: int) -> int:
    return conn.execute(
        """
        WITH expired AS (
            SELECT event_key FROM provider_events
            WHERE received_at < tocsin_now() - %(age)s
            ORDER BY received_at
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM provider_events USING expired WHERE provider_events.event_key = expired.event_key
        """,
        {"age": age, "limit": limit},
    ).rowcount


def delete_orphans(conn: Connection[Any], *, age: timedelta, limit: int) -> int:
    """Forget sooner what belonged to nothing of ours."""
    return conn.execute(
        """
        WITH expired AS (
            SELECT event_key FROM provider_events
            WHERE tenant_id IS NULL AND received_at < tocsin_now() - %(age)s
            ORDER BY received_at
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM provider_events USING expired WHERE provider_events.event_key = expired.event_key
        """,
        {"age": age, "limit": limit},
    ).rowcount
