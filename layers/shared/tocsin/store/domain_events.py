"""Facts from the producers' domain: taken once, read in the order of their commits."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import class_row, dict_row
from psycopg.types.json import Jsonb

from tocsin.store.domain_events_processed import CONSUMER


@dataclass(frozen=True, slots=True)
class Recorded:
    """The answer to one event, in the order of the request. recorded_at None: it was known before."""

    n: int
    recorded_at: datetime | None
    rate_used: int


@dataclass(frozen=True, slots=True)
class Known:
    source: str
    event_id: str
    notification_id: UUID
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Event:
    """An event as the fan-out reads it, with the template its type names for the inbox."""

    id: int
    tenant_id: UUID
    type: str
    template: str | None
    data: dict[str, Any]


def insert_unless_known(
    conn: Connection[Any],
    events: list[dict[str, Any]],
    *,
    tenant_id: UUID,
    mode: str,
    request_id: str,
    trace_id: str,
    rate_subject: str,
    rate_limit: int,
) -> Cursor[Recorded]:
    """Take each event that is new to its source, and count them all; read the cursor after the commit."""
    return conn.cursor(row_factory=class_row(Recorded)).execute(
        """
        WITH event AS (
            SELECT *
            FROM jsonb_to_recordset(%(events)s) AS event (
                n integer, notification_id uuid, event_id text, source text, type text, scope text, thread_kind text,
                thread_id text, actor text, data jsonb, occurred_at timestamptz)
        ), taken AS (
            INSERT INTO domain_events (
                tenant_id, event_id, type, source, scope, thread_kind, thread_id, actor_user_id, data, notification_id, mode,
                request_id, trace_id, occurred_at, recorded_at)
            SELECT %(tenant_id)s, event_id, type, source, scope, thread_kind, thread_id, actor.id, data, notification_id,
                   %(mode)s, %(request_id)s, %(trace_id)s, COALESCE(occurred_at, tocsin_now()), tocsin_now()
            FROM event
            LEFT JOIN LATERAL (
                -- LIMIT: one probe of the index each; as a join it would read the whole table
                SELECT id FROM users WHERE tenant_id = %(tenant_id)s AND external_id = event.actor LIMIT 1
            ) AS actor ON true
            ORDER BY n
            ON CONFLICT (tenant_id, source, event_id) DO NOTHING
            RETURNING notification_id, recorded_at
        ), counted AS (
            INSERT INTO rate_limits (tenant_id, subject, limit_type, window_start, request_count, max_count)
            SELECT %(tenant_id)s, %(rate_subject)s, 'events', date_trunc('minute', tocsin_now()), %(cost)s, %(rate_limit)s
            FROM (SELECT count(*) FROM taken) AS after_the_events
            ON CONFLICT (tenant_id, subject, limit_type, window_start) DO UPDATE
                SET request_count = rate_limits.request_count + EXCLUDED.request_count, max_count = EXCLUDED.max_count
            RETURNING request_count
        )
        SELECT event.n, taken.recorded_at, (SELECT request_count FROM counted) AS rate_used
        FROM event LEFT JOIN taken USING (notification_id)
        ORDER BY event.n
        """,
        {
            "events": Jsonb(events),
            "tenant_id": tenant_id,
            "mode": mode,
            "request_id": request_id,
            "trace_id": trace_id,
            "rate_subject": rate_subject,
            "rate_limit": rate_limit,
            "cost": len(events),
        },
    )


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
            SELECT event.id, event.tenant_id, event.type, kind.template, event.data
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


@dataclass(frozen=True, slots=True)
class FannedOut:
    """Whether the cursor was still ours and moved, the deliveries that are now due, and how many events are finished."""

    moved: bool
    deliveries: list[UUID]
    finished: int


def fan_out(
    conn: Connection[Any],
    events: list[dict[str, Any]],
    *,
    after_user_id: UUID | None,
    most: int,
    lease_token: UUID,
    lease: timedelta,
) -> FannedOut:
    """Tell everyone who cares, and move the cursor: inbox rows, subscriptions, records, routes and work in one statement.

    Each event has at most `most` recipients looked at. The first of the batch that has more is told page by page (the cursor
    remembers the last user); a later one stops the batch before it. `events` are in order, numbered by `place` from 1."""
    rows = conn.execute(
        """
        WITH held AS (
            SELECT consumer
            FROM domain_events_processed
            WHERE consumer = %(consumer)s AND lease_token = %(lease_token)s
            FOR UPDATE
        ), batch AS (
            SELECT given.place, given.inbox, domain_events.*,
                   jsonb_strip_nulls(jsonb_build_object(
                       'mention', domain_events.data -> 'mentions', 'review_requested', domain_events.data -> 'reviewers',
                       'assign', domain_events.data -> 'assignees',
                       'author', CASE WHEN jsonb_typeof(domain_events.data -> 'author') = 'string'
                                      THEN jsonb_build_array(domain_events.data -> 'author') END)) AS named,
                   jsonb_strip_nulls(jsonb_build_object('url', domain_events.data -> 'url')) AS summary,
                   routing.rules, routing.overrides, routing.subscribe_actor,
                   kind.template, COALESCE(kind.priority, 'normal') AS priority,
                   domain_events.recorded_at + kind.expires_after_seconds * interval '1 second' AS expires_at
            FROM held
            CROSS JOIN jsonb_to_recordset(%(events)s) AS given (place integer, id bigint, inbox jsonb)
            JOIN domain_events USING (id)
            LEFT JOIN LATERAL (
                -- the type itself, else the longest beginning of it
                SELECT event_routing.rules, event_routing.overrides, event_routing.subscribe_actor
                FROM event_routing
                WHERE event_routing.tenant_id = domain_events.tenant_id
                  AND (event_routing.event_type = domain_events.type
                       OR right(event_routing.event_type, 1) = '*'
                          AND starts_with(domain_events.type, left(event_routing.event_type, -1)))
                ORDER BY event_routing.event_type = domain_events.type DESC, length(event_routing.event_type) DESC
                LIMIT 1
            ) AS routing ON true
            LEFT JOIN notification_types AS kind
                ON kind.tenant_id = domain_events.tenant_id AND kind.name = domain_events.type
        ), candidate AS MATERIALIZED (
            SELECT batch.place, audience.user_id, audience.reason, audience.is_muted
            FROM batch CROSS JOIN LATERAL tocsin_audience(
                batch.tenant_id, batch.scope, batch.thread_kind, batch.thread_id, batch.named,
                ARRAY(SELECT jsonb_object_keys(batch.rules)), %(after_user_id)s::uuid, %(most)s::integer) AS audience
            WHERE batch.rules IS NOT NULL AND batch.expires_at <= tocsin_now() IS NOT TRUE
        ), part AS MATERIALIZED (
            -- who is named or acts takes part from now on
            SELECT batch.place, batch.tenant_id, batch.thread_kind, batch.thread_id, part.user_id, part.reason, part.rank
            FROM batch CROSS JOIN LATERAL (
                SELECT named.id AS user_id, role.reason,
                       array_position(ARRAY['mention', 'review_requested', 'assign', 'author'], role.reason) AS rank
                FROM jsonb_each(batch.named) AS role (reason, members)
                CROSS JOIN LATERAL jsonb_array_elements_text(role.members) AS member (external_id)
                CROSS JOIN LATERAL (
                    -- LIMIT, here and below: one probe of the index each; as a join it would read the whole table
                    SELECT id FROM users WHERE tenant_id = batch.tenant_id AND external_id = member.external_id LIMIT 1
                ) AS named
                UNION ALL
                SELECT batch.actor_user_id, 'comment', 5
                WHERE batch.actor_user_id IS NOT NULL AND batch.subscribe_actor
            ) AS part
            LEFT JOIN LATERAL (
                SELECT true AS is_there
                FROM notification_threads AS thread
                WHERE thread.tenant_id = batch.tenant_id AND thread.user_id = part.user_id
                  AND thread.thread_kind = batch.thread_kind AND thread.thread_id = batch.thread_id
                LIMIT 1
            ) AS known ON true
            WHERE batch.thread_id IS NOT NULL AND batch.rules IS NOT NULL AND known.is_there IS NULL
        ), progress AS (
            SELECT place, count(*) AS candidates, (array_agg(user_id ORDER BY user_id DESC))[1] AS last_user_id
            FROM candidate
            GROUP BY place
        ), reach AS (
            SELECT COALESCE(min(place) FILTER (WHERE candidates = %(most)s), 2147483647) AS unfinished,
                   -- an event whose thread has new participants since this batch began is for the next one, which knows them
                   COALESCE((SELECT min(batch.place)
                             FROM batch JOIN part USING (tenant_id, thread_kind, thread_id)
                             WHERE part.place < batch.place), 2147483647) AS stale
            FROM progress
        ), event AS (
            SELECT batch.*, batch.place < reach.unfinished AS is_finished
            FROM batch CROSS JOIN reach
            WHERE batch.place < LEAST(reach.unfinished, reach.stale) OR batch.place = 1
        ), rule AS MATERIALIZED (
            SELECT event.place, rule.reason,
                   ARRAY(SELECT jsonb_array_elements_text(rule.channels)) AS channels
            FROM event CROSS JOIN LATERAL jsonb_each(event.rules) AS rule (reason, channels)
        ), recipient AS MATERIALIZED (
            SELECT event.place, candidate.user_id, candidate.reason, rule.channels, users.external_id, users.email, users.phone,
                   users.locale
            FROM event
            JOIN candidate USING (place)
            JOIN rule ON rule.place = event.place AND rule.reason = candidate.reason AND cardinality(rule.channels) > 0
            JOIN users ON users.tenant_id = event.tenant_id AND users.id = candidate.user_id
            WHERE candidate.user_id IS DISTINCT FROM event.actor_user_id
              AND (NOT candidate.is_muted OR candidate.reason = ANY(event.overrides))
        ), taking_part AS (
            -- a row that is there already, a choice above all, is never overwritten
            INSERT INTO notification_threads (tenant_id, user_id, thread_kind, thread_id, subscribed, reason, updated_at)
            SELECT DISTINCT ON (part.tenant_id, part.user_id, part.thread_kind, part.thread_id)
                   part.tenant_id, part.user_id, part.thread_kind, part.thread_id, true, part.reason, tocsin_now()
            FROM part JOIN event USING (place)
            ORDER BY part.tenant_id, part.user_id, part.thread_kind, part.thread_id, part.rank, part.place
            ON CONFLICT (tenant_id, user_id, thread_kind, thread_id) DO NOTHING
        ), words AS MATERIALIZED (
            SELECT event.place, words.locale, words.title, words.message
            FROM event CROSS JOIN LATERAL jsonb_to_recordset(event.inbox) AS words (locale text, title text, message text)
        ), arrival AS (
            SELECT DISTINCT ON (event.tenant_id, recipient.user_id, fold)
                   event.tenant_id, recipient.user_id, event.type, recipient.reason, event.scope, event.thread_kind,
                   event.thread_id, event.id AS event_id, words.title, words.message, event.summary, event.actor_user_id,
                   event.expires_at, fold, count(*) OVER (PARTITION BY event.tenant_id, recipient.user_id, fold) AS events
            FROM recipient
            JOIN event USING (place)
            CROSS JOIN LATERAL (SELECT COALESCE(event.thread_kind || chr(31) || event.thread_id, event.id::text))
                AS folding (fold)
            CROSS JOIN LATERAL (
                SELECT words.title, words.message
                FROM words
                WHERE words.place = recipient.place
                ORDER BY tocsin_locale_distance(words.locale, recipient.locale)
                LIMIT 1
            ) AS words
            LEFT JOIN LATERAL (
                SELECT preferences.enabled
                FROM preferences
                WHERE preferences.tenant_id = event.tenant_id AND preferences.user_id = recipient.user_id
                  AND preferences.channel = 'in_app' AND preferences.notification_type IN ('', event.type)
                  AND preferences.enabled IS NOT NULL
                ORDER BY preferences.notification_type DESC
                LIMIT 1
            ) AS preference ON true
            WHERE 'in_app' = ANY(recipient.channels) AND COALESCE(preference.enabled, true)
            ORDER BY event.tenant_id, recipient.user_id, fold, event.place DESC
        ), inbox AS (
            INSERT INTO notifications (
                id, tenant_id, user_id, kind, reason, scope, thread_kind, thread_id, source_event_id, title, message, summary,
                event_count, last_event_at, shown_at, last_actor_user_id, created_at, updated_at, expires_at)
            SELECT tocsin_uuid7(), tenant_id, user_id, type, reason, scope, thread_kind, thread_id, event_id, title, message,
                   summary, events, clock.now, clock.now, actor_user_id, clock.now, clock.now, expires_at
            FROM arrival CROSS JOIN (SELECT tocsin_now() AS now OFFSET 0) AS clock
            ORDER BY tenant_id, user_id, fold  -- as planning does, so that the two never wait for each other in a ring
            ON CONFLICT (tenant_id, user_id, thread_kind, thread_id) WHERE thread_id IS NOT NULL DO UPDATE
                SET kind = EXCLUDED.kind, reason = EXCLUDED.reason, scope = EXCLUDED.scope, title = EXCLUDED.title,
                    message = EXCLUDED.message, summary = EXCLUDED.summary, source_event_id = EXCLUDED.source_event_id,
                    source_notification_id = NULL, unread = true, read_at = NULL,
                    event_count = notifications.event_count + EXCLUDED.event_count,
                    deleted_at = NULL, done_at = NULL, last_event_at = EXCLUDED.last_event_at, shown_at = EXCLUDED.shown_at,
                    last_actor_user_id = EXCLUDED.last_actor_user_id, updated_at = EXCLUDED.updated_at,
                    expires_at = EXCLUDED.expires_at
        ), target AS (
            SELECT event.notification_id, event.tenant_id, event.template, recipient.*, way.channel, devices.id AS device_id,
                   wording.id AS template_id,
                   CASE
                       WHEN event.template IS NOT NULL AND wording.id IS NULL THEN 'no_template'
                       WHEN way.channel = 'email' AND recipient.email IS NULL THEN 'no_address'
                       WHEN way.channel = 'sms' AND recipient.phone IS NULL THEN 'no_address'
                       WHEN way.channel = 'push' AND devices.id IS NULL THEN 'no_address'
                       ELSE ''
                   END AS obstacle
            FROM recipient
            JOIN event USING (place)
            CROSS JOIN LATERAL unnest(recipient.channels) AS way (channel)
            LEFT JOIN LATERAL (
                SELECT id
                FROM devices
                WHERE way.channel = 'push' AND tenant_id = event.tenant_id AND user_id = recipient.user_id AND enabled
                OFFSET 0
            ) AS devices ON true
            LEFT JOIN LATERAL (
                SELECT templates.id
                FROM templates
                WHERE templates.tenant_id = event.tenant_id AND templates.name = event.template
                  AND templates.channel = way.channel AND templates.is_active
                ORDER BY tocsin_locale_distance(templates.locale, recipient.locale), templates.created_at
                LIMIT 1
            ) AS wording ON event.template IS NOT NULL
            WHERE way.channel <> 'in_app'
        ), record AS (
            INSERT INTO records (
                notification_id, tenant_id, notification_type, producer, mode, audience_kind, payload_json, idempotency_key,
                request_fingerprint, holds_key, request_id, trace_id, template, priority, thread_kind, thread_id, occurred_at,
                accepted_at, expires_at, updated_at, idempotency_expires_at)
            SELECT notification_id, tenant_id, type, source, mode, 'event', data, event_id, '', false, request_id, trace_id,
                   template, priority, thread_kind, thread_id, occurred_at, recorded_at, expires_at, tocsin_now(), tocsin_now()
            FROM event
            WHERE EXISTS (SELECT FROM target WHERE target.notification_id = event.notification_id)
            ON CONFLICT (notification_id) DO NOTHING
        ), route AS (
            INSERT INTO routes (
                notification_id, route_id, tenant_id, channel, recipient_ref, user_id, device_id, status, reason,
                audience_reason, outbox_id, max_attempts, resolved_email, resolved_phone, resolved_locale, created_at,
                updated_at, skipped_at, template_id)
            SELECT notification_id, channel || '-' || COALESCE(device_id, user_id), tenant_id, channel,
                   'user:' || external_id, user_id, device_id, CASE WHEN obstacle = '' THEN 'pending' ELSE 'skipped' END,
                   obstacle, reason, CASE WHEN obstacle = '' THEN tocsin_uuid7() END, 5, COALESCE(email, ''),
                   COALESCE(phone, ''), COALESCE(locale, ''), tocsin_now(), tocsin_now(),
                   CASE WHEN obstacle <> '' THEN tocsin_now() END, template_id
            FROM target
            ORDER BY place, user_id
            ON CONFLICT (notification_id, route_id) DO NOTHING
            RETURNING notification_id, route_id, tenant_id, outbox_id
        ), work AS (
            INSERT INTO outbox (id, tenant_id, source_kind, notification_id, route_id, due_at, max_attempts, retry_backoff,
                                retry_base_ms)
            SELECT outbox_id, tenant_id, 'deliver', notification_id, route_id, tocsin_now(), 5, 'exponential', 5000
            FROM route
            WHERE outbox_id IS NOT NULL
        ), told AS (
            SELECT event.id, count(recipient.user_id)::integer AS recipients
            FROM event LEFT JOIN recipient USING (place)
            GROUP BY event.id
        ), outcome AS (
            UPDATE domain_events
            SET recipient_count = domain_events.recipient_count + told.recipients,
                outcome = CASE
                    WHEN NOT event.is_finished THEN 'waiting'
                    WHEN event.rules IS NULL THEN 'not_routed'
                    WHEN event.expires_at <= tocsin_now() THEN 'expired'
                    WHEN domain_events.recipient_count + told.recipients > 0 THEN 'notified'
                    ELSE 'nobody'
                END
            FROM event JOIN told USING (id)
            WHERE domain_events.id = event.id
        ), finish AS (
            SELECT txid, id FROM event WHERE is_finished ORDER BY place DESC LIMIT 1
        ), moved AS (
            UPDATE domain_events_processed AS processed
            SET last_txid = COALESCE((SELECT txid FROM finish), processed.last_txid),
                last_event_id = COALESCE((SELECT id FROM finish), processed.last_event_id),
                current_event_id = (SELECT id FROM event WHERE NOT is_finished),
                after_user_id = (SELECT progress.last_user_id FROM event JOIN progress USING (place) WHERE NOT is_finished),
                claim_count = 0, leased_until = tocsin_now() + %(lease)s, updated_at = tocsin_now()
            FROM held
            WHERE processed.consumer = held.consumer
            RETURNING processed.consumer
        )
        SELECT NULL::uuid, (SELECT count(*) FROM event WHERE is_finished) FROM moved
        UNION ALL
        SELECT outbox_id, 0 FROM route WHERE outbox_id IS NOT NULL
        """,
        {
            "events": Jsonb(events),
            "after_user_id": after_user_id,
            "most": most,
            "consumer": CONSUMER,
            "lease_token": lease_token,
            "lease": lease,
        },
    ).fetchall()
    deliveries = [row[0] for row in rows if row[0] is not None]
    return FannedOut(len(deliveries) < len(rows), deliveries, sum(row[1] for row in rows))


def delete_expired(conn: Connection[Any], *, age: timedelta, limit: int) -> int:
    """Forget events that are old and that every consumer has passed."""
    return conn.execute(
        """
        WITH expired AS (
            SELECT domain_events.id
            FROM domain_events
            WHERE domain_events.recorded_at < tocsin_now() - %(age)s
              AND NOT EXISTS (
                  SELECT FROM domain_events_processed AS processed
                  WHERE (domain_events.txid, domain_events.id) > (processed.last_txid, processed.last_event_id))
            ORDER BY domain_events.recorded_at
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM domain_events USING expired WHERE domain_events.id = expired.id
        """,
        {"age": age, "limit": limit},
    ).rowcount
