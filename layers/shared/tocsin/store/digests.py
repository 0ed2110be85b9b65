"""The digest being collected for a person and a thread: a record of its own that counts what was held back."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.types.json import Jsonb

MOST_TITLES = 20


@dataclass(frozen=True, slots=True)
class Holding:
    """What one digest gets more of. `opens_at`: when it is due, if it is new; its email then goes where the held route would."""

    digest_id: UUID
    outbox_id: UUID
    notification_id: UUID
    route_id: str
    titles: list[str]
    opens_at: datetime | None


def hold(conn: Connection[Any], holdings: list[Holding]) -> None:
    """Count what is held back in its digest: a new one, with a route and work of its own, or one that is there."""
    conn.execute(
        """
        WITH holding AS (
            SELECT *
            FROM jsonb_to_recordset(%(holdings)s) AS holding (
                digest_id uuid, outbox_id uuid, notification_id uuid, route_id text, titles jsonb, opens_at timestamptz)
        ), grown AS (
            UPDATE records
            SET payload_json = records.payload_json || jsonb_build_object(
                    'count', (records.payload_json ->> 'count')::integer + jsonb_array_length(holding.titles),
                    'missed', (
                        SELECT jsonb_agg(title ORDER BY place)
                        FROM jsonb_array_elements(records.payload_json -> 'missed' || holding.titles)
                            WITH ORDINALITY AS missed (title, place)
                        WHERE place <= %(most_titles)s)),
                updated_at = tocsin_now()
            FROM holding
            WHERE records.notification_id = holding.digest_id AND holding.opens_at IS NULL
        ), source AS (
            SELECT holding.digest_id, holding.outbox_id AS digest_outbox_id, holding.titles, holding.opens_at, routes.*,
                   records.notification_type, records.mode, records.priority, records.thread_kind, records.thread_id,
                   records.retry_max_attempts, records.retry_backoff, records.retry_base_ms
            FROM holding
            JOIN records ON records.notification_id = holding.notification_id
            JOIN routes ON routes.notification_id = holding.notification_id AND routes.route_id = holding.route_id
            WHERE holding.opens_at IS NOT NULL
        ), record AS (
            INSERT INTO records (
                notification_id, tenant_id, notification_type, producer, mode, audience_kind, payload_json, idempotency_key,
                request_fingerprint, holds_key, channels, priority, thread_kind, thread_id, occurred_at, accepted_at,
                send_at, updated_at, idempotency_expires_at)
            SELECT digest_id, tenant_id, notification_type, 'tocsin', mode, 'digest',
                   jsonb_build_object('count', jsonb_array_length(titles),
                                      'missed', (SELECT jsonb_agg(title ORDER BY place)
                                                 FROM jsonb_array_elements(titles) WITH ORDINALITY AS missed (title, place)
                                                 WHERE place <= %(most_titles)s),
                                      'thread', jsonb_build_object('kind', thread_kind, 'id', thread_id)),
                   digest_id::text, '', false, '{email}', priority, thread_kind, thread_id, tocsin_now(), tocsin_now(), opens_at,
                   tocsin_now(), tocsin_now()
            FROM source
        ), route AS (
            INSERT INTO routes (
                notification_id, route_id, tenant_id, channel, recipient_ref, user_id, status, audience_reason, outbox_id,
                max_attempts, next_attempt_at, resolved_email, resolved_locale, created_at, updated_at, accepted_at, template_id)
            SELECT digest_id, 'email-' || user_id, tenant_id, 'email', recipient_ref, user_id, 'pending', audience_reason,
                   digest_outbox_id, retry_max_attempts, opens_at, resolved_email, resolved_locale, tocsin_now(), tocsin_now(),
                   tocsin_now(),
                   (SELECT templates.id
                    FROM templates
                    WHERE templates.tenant_id = source.tenant_id AND templates.name = 'digest'
                      AND templates.channel = 'email' AND templates.is_active
                    ORDER BY tocsin_locale_distance(templates.locale, source.resolved_locale), templates.created_at
                    LIMIT 1)
            FROM source
        ), work AS (
            INSERT INTO outbox (id, tenant_id, source_kind, queue, priority, notification_id, route_id, due_at, max_attempts,
                                retry_backoff, retry_base_ms, nudged_at)
            SELECT digest_outbox_id, tenant_id, 'deliver', 'email', tocsin_priority(priority), digest_id, 'email-' || user_id,
                   opens_at, retry_max_attempts, retry_backoff, retry_base_ms, opens_at
            FROM source
        )
        INSERT INTO digests (tenant_id, user_id, thread_kind, thread_id, notification_id, outbox_id)
        SELECT tenant_id, user_id, thread_kind, thread_id, digest_id, digest_outbox_id
        FROM source
        ON CONFLICT (tenant_id, user_id, thread_kind, thread_id) DO UPDATE
            SET notification_id = EXCLUDED.notification_id, outbox_id = EXCLUDED.outbox_id, created_at = tocsin_now()
        """,
        {
            "holdings": Jsonb(
                [
                    {
                        "digest_id": str(one.digest_id),
                        "outbox_id": str(one.outbox_id),
                        "notification_id": str(one.notification_id),
                        "route_id": one.route_id,
                        "titles": one.titles,
                        "opens_at": one.opens_at.isoformat() if one.opens_at else None,
                    }
                    for one in holdings
                ]
            ),
            "most_titles": MOST_TITLES,
        },
    )


def close(conn: Connection[Any], digest_ids: list[UUID]) -> dict[UUID, dict[str, Any]]:
    """These go out now (or need not any more): what is held back from here on is the next one's. Returns what each holds."""
    rows = conn.execute(
        """
        DELETE FROM digests USING records
        WHERE digests.notification_id = ANY(%(digest_ids)s) AND records.notification_id = digests.notification_id
        RETURNING digests.notification_id, records.payload_json
        """,
        {"digest_ids": digest_ids},
    ).fetchall()
    return dict(rows)


def delete_expired(conn: Connection[Any], *, age: timedelta, limit: int) -> int:
    """Forget digests whose email ended in another way than by going out."""
    return conn.execute(
        """
        WITH expired AS (
            SELECT digests.notification_id
            FROM digests
            WHERE digests.created_at < tocsin_now() - %(age)s
              AND NOT EXISTS (SELECT FROM outbox WHERE outbox.id = digests.outbox_id)
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM digests USING expired WHERE digests.notification_id = expired.notification_id
        """,
        {"age": age, "limit": limit},
    ).rowcount
