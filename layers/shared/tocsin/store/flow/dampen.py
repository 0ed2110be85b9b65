"""Dampen: what the log knows of a delivery's recipient, and the digest that counts what is held back."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from tocsin.store import notification_email_log
from tocsin.store.rows import Delivery, State

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


class CountedDelivery(NamedTuple):
    """A delivery with the day that its recipient's cap counts and the window that its address's guard counts."""

    delivery: Delivery
    day_start: datetime | None
    day_end: datetime | None
    guard_window: timedelta | None


def lock_addresses(conn: Connection[Any], guarded: list[Delivery]) -> None:
    """Until the end of the transaction nobody else decides what these addresses get of these types. In one order."""
    conn.execute(
        """
        SELECT pg_advisory_xact_lock(key)
        FROM (
            SELECT DISTINCT hashtextextended(encode(tocsin_address_hash(routes.tenant_id, routes.channel,
                CASE routes.channel WHEN 'email' THEN routes.resolved_email ELSE routes.resolved_phone END), 'hex')
                || wanted.notification_type, 0) AS key
            FROM unnest(%(notifications)s::uuid[], %(routes)s::text[], %(types)s::text[])
                AS wanted (notification_id, route_id, notification_type)
            JOIN routes USING (notification_id, route_id)
            ORDER BY key
        ) AS address
        """,
        {
            "notifications": [one.record.notification_id for one in guarded],
            "routes": [one.route.route_id for one in guarded],
            "types": [one.record.notification_type for one in guarded],
        },
    )


def read_states(
    conn: Connection[Any],
    wanted: list[CountedDelivery],
    *,
    lease_token: UUID,
    thread_window: timedelta,
    hour: timedelta,
    hourly_limit: int,
) -> list[State]:
    """What the log knows for each delivery that is still under our lease, oldest first.

    Each table is probed by its key, delivery by delivery, and only where the delivery has such a question: a plan that was made
    while the tables were small, and kept, reads no more of them when they are not."""
    return (
        conn.cursor(row_factory=class_row(State))
        .execute(
            """
            WITH wanted AS (
                SELECT *
                FROM jsonb_to_recordset(%(wanted)s) AS wanted (
                    outbox_id uuid, tenant_id uuid, user_id uuid, notification_id uuid, route_id text, generation smallint,
                    channel text, notification_type text, thread_kind text, thread_id text, cap_is_of_type boolean,
                    day_start timestamptz, day_end timestamptz, is_digest boolean, guard_seconds float8)
                ORDER BY wanted.notification_id, wanted.outbox_id  -- locked in one order
            )
            SELECT wanted.outbox_id, tocsin_now() AS now,
                   -- a reservation of another window or another day is none: others may have been told since
                   COALESCE(own.sent_at > tocsin_now() - %(thread_window)s
                            AND own.sent_at >= COALESCE(wanted.day_start, own.sent_at)
                            AND (own.sent_at > tocsin_now() - wanted.guard_seconds * interval '1 second') IS NOT FALSE,
                            false) AS is_reserved,
                   COALESCE(own.sent_at > tocsin_now() - %(hour)s, false) AS is_in_hour,
                   COALESCE(own.sent_at >= wanted.day_start, false) AS is_in_day,
                   COALESCE(own.sent_at > tocsin_now() - wanted.guard_seconds * interval '1 second', false) AS is_in_guard,
                   hour.emails AS emails_this_hour, allowed.hourly_limit,
                   CASE WHEN hour.emails = allowed.hourly_limit THEN hour.oldest + %(hour)s END AS hour_is_full_until,
                   today.sent AS sent_today, thread.sent_at AS thread_told_at,
                   digest.notification_id AS digest_id, digest.outbox_id AS digest_outbox_id,
                   COALESCE(NOT inbox.unread, false) AS is_read, record.payload_json AS payload,
                   guarded.address_hash, told.sent AS sent_to_address
            FROM wanted
            CROSS JOIN LATERAL (
                SELECT FROM outbox WHERE outbox.id = wanted.outbox_id AND outbox.lease_token = %(lease_token)s FOR UPDATE
            ) AS held
            CROSS JOIN LATERAL (
                SELECT records.payload_json FROM records WHERE records.notification_id = wanted.notification_id LIMIT 1
            ) AS record
            LEFT JOIN LATERAL (
                SELECT log.id, log.sent_at
                FROM notification_email_log AS log
                WHERE log.notification_id = wanted.notification_id AND log.route_id = wanted.route_id
                  AND log.generation = wanted.generation
                LIMIT 1
            ) AS own ON true
            CROSS JOIN LATERAL (
                SELECT COALESCE((SELECT tocsin_cap(tenants.settings, 'emails_per_user_per_hour')
                                 FROM tenants WHERE tenants.id = wanted.tenant_id), %(hourly_limit)s) AS hourly_limit
                LIMIT 1  -- so that it is looked up once
            ) AS allowed
            CROSS JOIN LATERAL (
                SELECT count(*) AS emails, min(recent.sent_at) AS oldest
                FROM (
                    SELECT log.sent_at
                    FROM notification_email_log AS log
                    WHERE wanted.channel = 'email'
                      AND log.tenant_id = wanted.tenant_id AND log.recipient_user_id = wanted.user_id
                      AND log.channel = 'email' AND log.sent_at > tocsin_now() - %(hour)s
                      AND log.id IS DISTINCT FROM own.id
                    ORDER BY log.sent_at DESC
                    LIMIT allowed.hourly_limit
                ) AS recent
            ) AS hour
            CROSS JOIN LATERAL (
                SELECT count(*) AS sent
                FROM notification_email_log AS log
                WHERE wanted.day_start IS NOT NULL
                  AND log.tenant_id = wanted.tenant_id AND log.recipient_user_id = wanted.user_id
                  AND log.channel = wanted.channel AND log.sent_at >= wanted.day_start AND log.sent_at < wanted.day_end
                  AND (NOT wanted.cap_is_of_type OR log.notification_type = wanted.notification_type)
                  AND log.id IS DISTINCT FROM own.id
            ) AS today
            LEFT JOIN LATERAL (
                SELECT log.sent_at
                FROM notification_email_log AS log
                WHERE wanted.thread_id IS NOT NULL
                  AND log.tenant_id = wanted.tenant_id AND log.recipient_user_id = wanted.user_id
                  AND log.thread_kind = wanted.thread_kind AND log.thread_id = wanted.thread_id AND log.channel = 'email'
                  AND log.id IS DISTINCT FROM own.id
                ORDER BY log.sent_at DESC
                LIMIT 1
            ) AS thread ON true
            LEFT JOIN LATERAL (
                -- one whose email is over, however it ended, collects no more
                SELECT digests.notification_id, digests.outbox_id
                FROM digests
                CROSS JOIN LATERAL (SELECT FROM outbox WHERE outbox.id = digests.outbox_id LIMIT 1) AS waiting
                WHERE wanted.thread_id IS NOT NULL
                  AND digests.tenant_id = wanted.tenant_id AND digests.user_id = wanted.user_id
                  AND digests.thread_kind = wanted.thread_kind AND digests.thread_id = wanted.thread_id
                LIMIT 1
            ) AS digest ON true
            LEFT JOIN LATERAL (
                SELECT tocsin_address_hash(routes.tenant_id, routes.channel,
                    CASE routes.channel WHEN 'email' THEN routes.resolved_email ELSE routes.resolved_phone END) AS address_hash
                FROM routes
                WHERE wanted.guard_seconds IS NOT NULL
                  AND routes.notification_id = wanted.notification_id AND routes.route_id = wanted.route_id
                LIMIT 1
            ) AS guarded ON true
            CROSS JOIN LATERAL (
                SELECT count(*) AS sent
                FROM notification_email_log AS log
                WHERE wanted.guard_seconds IS NOT NULL
                  AND log.tenant_id = wanted.tenant_id AND log.address_hash = guarded.address_hash
                  AND log.notification_type = wanted.notification_type
                  AND log.sent_at > tocsin_now() - wanted.guard_seconds * interval '1 second'
                  AND log.id IS DISTINCT FROM own.id
            ) AS told
            LEFT JOIN LATERAL (
                SELECT notifications.unread
                FROM notifications
                WHERE wanted.is_digest
                  AND notifications.tenant_id = wanted.tenant_id AND notifications.user_id = wanted.user_id
                  AND notifications.thread_kind = wanted.thread_kind AND notifications.thread_id = wanted.thread_id
                LIMIT 1
            ) AS inbox ON true
            ORDER BY wanted.notification_id, wanted.outbox_id
            """,
            {
                "wanted": Jsonb([_wanted(*one) for one in wanted]),
                "hourly_limit": hourly_limit,
                "hour": hour,
                "thread_window": thread_window,
                "lease_token": lease_token,
            },
        )
        .fetchall()
    )


def hold(conn: Connection[Any], holdings: list[Holding]) -> None:
    """Count what is held back in its digest: a new one, with a route and work of its own, or one that is there."""
    conn.execute(
        """
        WITH holding AS (
            SELECT holding.*, records.trigger_depth
            FROM jsonb_to_recordset(%(holdings)s) AS holding (
                digest_id uuid, outbox_id uuid, notification_id uuid, route_id text, titles jsonb, opens_at timestamptz)
            JOIN records USING (notification_id)
        ), grown AS (
            UPDATE records
            SET updated_at = tocsin_now(), trigger_depth = GREATEST(records.trigger_depth, holding.trigger_depth),
                payload_json = records.payload_json || jsonb_build_object(
                    'count', (records.payload_json ->> 'count')::integer + jsonb_array_length(holding.titles),
                    'missed', (
                        SELECT jsonb_agg(title ORDER BY place)
                        FROM jsonb_array_elements(records.payload_json -> 'missed' || holding.titles)
                            WITH ORDINALITY AS missed (title, place)
                        WHERE place <= %(most_titles)s))
            FROM holding
            WHERE records.notification_id = holding.digest_id AND holding.opens_at IS NULL
        ), deepened AS (
            -- of what it collects, the deepest counts
            UPDATE outbox SET trigger_depth = holding.trigger_depth
            FROM holding
            WHERE outbox.id = holding.outbox_id AND outbox.id = ANY(%(ids)s)
              AND holding.opens_at IS NULL AND outbox.trigger_depth < holding.trigger_depth
        ), source AS (
            SELECT holding.digest_id, holding.outbox_id AS digest_outbox_id, holding.titles, holding.opens_at, routes.*,
                   records.notification_type, records.mode, records.priority, records.thread_kind, records.thread_id,
                   records.retry_max_attempts, records.retry_backoff, records.retry_base_ms, records.trigger_depth
            FROM holding
            JOIN records ON records.notification_id = holding.notification_id
            JOIN routes ON routes.notification_id = holding.notification_id AND routes.route_id = holding.route_id
            WHERE holding.opens_at IS NOT NULL
        ), record AS (
            INSERT INTO records (
                notification_id, tenant_id, notification_type, producer, mode, audience_kind, payload_json, idempotency_key,
                request_fingerprint, holds_key, channels, priority, thread_kind, thread_id, trigger_depth, occurred_at,
                accepted_at, send_at, updated_at, idempotency_expires_at)
            SELECT digest_id, tenant_id, notification_type, 'tocsin', mode, 'digest',
                   jsonb_build_object('count', jsonb_array_length(titles),
                                      'missed', (SELECT jsonb_agg(title ORDER BY place)
                                                 FROM jsonb_array_elements(titles) WITH ORDINALITY AS missed (title, place)
                                                 WHERE place <= %(most_titles)s),
                                      'thread', jsonb_build_object('kind', thread_kind, 'id', thread_id)),
                   digest_id::text, '', false, '{email}', priority, thread_kind, thread_id, trigger_depth, tocsin_now(),
                   tocsin_now(), opens_at, tocsin_now(), tocsin_now()
            FROM source
        ), route AS (
            INSERT INTO routes (
                notification_id, route_id, tenant_id, channel, recipient_ref, user_id, status, audience_reason, outbox_id,
                max_attempts, next_attempt_at, resolved_email, resolved_locale, created_at, updated_at, accepted_at, template_id)
            SELECT digest_id, 'email-' || user_id, tenant_id, 'email', recipient_ref, user_id, 'pending', audience_reason,
                   digest_outbox_id, retry_max_attempts, opens_at, resolved_email, resolved_locale, tocsin_now(), tocsin_now(),
                   tocsin_now(),
                   (SELECT template_id FROM tocsin_wording(source.tenant_id, 'digest', 'email', source.resolved_locale))
            FROM source
        ), work AS (
            INSERT INTO outbox (id, tenant_id, source_kind, queue, priority, notification_id, route_id, due_at, max_attempts,
                                retry_backoff, retry_base_ms, trigger_depth, nudged_at)
            SELECT digest_outbox_id, tenant_id, 'deliver', 'email', tocsin_priority(priority), digest_id, 'email-' || user_id,
                   opens_at, retry_max_attempts, retry_backoff, retry_base_ms, trigger_depth, opens_at
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
            "ids": [one.outbox_id for one in holdings],
            "most_titles": MOST_TITLES,
        },
    )


def _wanted(one: Delivery, day_start: datetime | None, day_end: datetime | None, guard: timedelta | None) -> dict[str, Any]:
    return notification_email_log.entry(one) | {
        "outbox_id": str(one.work.id),
        "cap_is_of_type": one.wishes.cap_is_of_type,
        "day_start": day_start.isoformat() if day_start else None,
        "day_end": day_end.isoformat() if day_end else None,
        "is_digest": one.record.audience_kind == "digest",
        "guard_seconds": guard.total_seconds() if guard else None,
    }
