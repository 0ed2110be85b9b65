"""Facts from the producers' domain: taken once, read in the order of their commits."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import class_row, dict_row
from psycopg.types.json import Jsonb

from tocsin.foundation.due import Due
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


def read_one(conn: Connection[Any], event_id: int) -> list[Event]:
    """One event that the cursor has passed; it is kept as long as there is work for it."""
    return (
        conn.cursor(row_factory=class_row(Event))
        .execute(
            """
            SELECT domain_events.id, domain_events.tenant_id, domain_events.type, kind.template, domain_events.data
            FROM domain_events
            LEFT JOIN notification_types AS kind
                ON kind.tenant_id = domain_events.tenant_id AND kind.name = domain_events.type
            WHERE domain_events.id = %(event_id)s
            """,
            {"event_id": event_id},
        )
        .fetchall()
    )


@dataclass(frozen=True, slots=True)
class FannedOut:
    """Whether what we held was still ours and moved, the work that is now due, and how many events the cursor passed."""

    moved: bool
    due: list[Due]
    finished: int


def fan_out(
    conn: Connection[Any],
    events: list[dict[str, Any]],
    *,
    most: int,
    lease_token: UUID,
    lease: timedelta = timedelta(0),
    page_of: UUID | None = None,
    after_user_id: UUID | None = None,
) -> FannedOut:
    """Tell everyone who cares, and move on: inbox rows, subscriptions, records, routes and work in one statement.

    At the cursor, an event with `most` recipients or more tells nobody yet: it becomes work of its own, and the cursor goes on.
    As that work (`page_of`), the next `most` recipients of the one event are told; its row remembers the last of them.
    `events` are in order, numbered by `place` from 1."""
    rows = conn.execute(
        """
        WITH held AS (
            SELECT consumer
            FROM domain_events_processed
            WHERE consumer = %(consumer)s AND lease_token = %(lease_token)s AND %(page_of)s::uuid IS NULL
            FOR UPDATE
        ), page AS (
            SELECT id
            FROM outbox
            WHERE id = %(page_of)s AND lease_token = %(lease_token)s
            FOR UPDATE
        ), batch AS (
            SELECT given.place, given.inbox, domain_events.*,
                   jsonb_strip_nulls(jsonb_build_object(
                       'mention', domain_events.data -> 'mentions', 'review_requested', domain_events.data -> 'reviewers',
                       'assign', domain_events.data -> 'assignees',
                       'author', CASE WHEN jsonb_typeof(domain_events.data -> 'author') = 'string'
                                      THEN jsonb_build_array(domain_events.data -> 'author') END)) AS named,
                   jsonb_strip_nulls(jsonb_build_object('url', NULLIF(domain_events.data ->> 'url', ''))) AS summary,
                   routing.rules, routing.overrides, routing.subscribe_actor,
                   kind.template, COALESCE(kind.priority, 'normal') AS priority,
                   domain_events.recorded_at + kind.expires_after_seconds * interval '1 second' AS expires_at
            FROM (SELECT FROM held UNION ALL SELECT FROM page) AS ours
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
            -- an event whose thread has new participants since this batch began is for the next one, which knows them
            SELECT COALESCE(min(batch.place), 2147483647) AS stale
            FROM batch JOIN part USING (tenant_id, thread_kind, thread_id)
            WHERE part.place < batch.place
        ), event AS (
            SELECT batch.*, COALESCE(progress.candidates, 0) < %(most)s AS is_whole
            FROM batch CROSS JOIN reach LEFT JOIN progress USING (place)
            WHERE batch.place < reach.stale
        ), rule AS MATERIALIZED (
            SELECT event.place, rule.reason,
                   ARRAY(SELECT jsonb_array_elements_text(rule.channels)) AS channels
            FROM event CROSS JOIN LATERAL jsonb_each(event.rules) AS rule (reason, channels)
            WHERE event.is_whole OR %(page_of)s::uuid IS NOT NULL
        ), recipient AS MATERIALIZED (
            SELECT event.place, candidate.user_id, candidate.reason, rule.channels, person.external_id, person.email,
                   person.phone, person.locale
            FROM event
            JOIN candidate USING (place)
            JOIN rule ON rule.place = event.place AND rule.reason = candidate.reason AND cardinality(rule.channels) > 0
            CROSS JOIN LATERAL (
                SELECT users.external_id, users.email, users.phone, users.locale
                FROM users
                WHERE users.tenant_id = event.tenant_id AND users.id = candidate.user_id
                OFFSET 0  -- each by the index; as a join it may read all people of the tenant
            ) AS person
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
                   event.expires_at, event.recorded_at, fold,
                   count(*) OVER (PARTITION BY event.tenant_id, recipient.user_id, fold) AS events
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
            ORDER BY event.tenant_id, recipient.user_id, fold, event.recorded_at DESC, event.id DESC
        ), inbox AS (
            INSERT INTO notifications (
                id, tenant_id, user_id, kind, reason, scope, thread_kind, thread_id, source_event_id, title, message, summary,
                event_count, told_at, last_event_at, shown_at, last_actor_user_id, created_at, updated_at, expires_at)
            SELECT tocsin_uuid7(), tenant_id, user_id, type, reason, scope, thread_kind, thread_id, event_id, title, message,
                   summary, events, recorded_at, clock.now, clock.now, actor_user_id, clock.now, clock.now, expires_at
            FROM arrival CROSS JOIN (SELECT tocsin_now() AS now OFFSET 0) AS clock
            ORDER BY tenant_id, user_id, fold  -- as planning does, so that the two never wait for each other in a ring
            ON CONFLICT (tenant_id, user_id, thread_kind, thread_id) WHERE thread_id IS NOT NULL DO UPDATE
                SET event_count = notifications.event_count + EXCLUDED.event_count, unread = true, read_at = NULL,
                    deleted_at = NULL, done_at = NULL, last_event_at = EXCLUDED.last_event_at, shown_at = EXCLUDED.shown_at,
                    updated_at = EXCLUDED.updated_at,
                    (kind, reason, scope, title, message, summary, source_event_id, source_notification_id,
                     last_actor_user_id, expires_at, told_at) = (
                        SELECT EXCLUDED.kind, EXCLUDED.reason, EXCLUDED.scope, EXCLUDED.title, EXCLUDED.message,
                               EXCLUDED.summary, EXCLUDED.source_event_id, EXCLUDED.source_notification_id,
                               EXCLUDED.last_actor_user_id, EXCLUDED.expires_at, EXCLUDED.told_at
                        WHERE tocsin_is_later(EXCLUDED.told_at, EXCLUDED.source_event_id, notifications.told_at,
                                              notifications.source_event_id)
                        UNION ALL
                        SELECT notifications.kind, notifications.reason, notifications.scope, notifications.title,
                               notifications.message, notifications.summary, notifications.source_event_id,
                               notifications.source_notification_id, notifications.last_actor_user_id,
                               notifications.expires_at, notifications.told_at
                        WHERE NOT tocsin_is_later(EXCLUDED.told_at, EXCLUDED.source_event_id, notifications.told_at,
                                                  notifications.source_event_id))
        ), target AS (
            SELECT event.notification_id, event.tenant_id, event.template, recipient.*, way.channel, devices.id AS device_id,
                   wording.id AS template_id, event.recorded_at,
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
                updated_at, skipped_at, template_id, accepted_at)
            SELECT notification_id, channel || '-' || COALESCE(device_id, user_id), tenant_id, channel,
                   'user:' || external_id, user_id, device_id, CASE WHEN obstacle = '' THEN 'pending' ELSE 'skipped' END,
                   obstacle, reason, CASE WHEN obstacle = '' THEN tocsin_uuid7() END, 5, COALESCE(email, ''),
                   COALESCE(phone, ''), COALESCE(locale, ''), tocsin_now(), tocsin_now(),
                   CASE WHEN obstacle <> '' THEN tocsin_now() END, template_id, recorded_at
            FROM target
            ORDER BY place, user_id
            ON CONFLICT (notification_id, route_id) DO NOTHING
            RETURNING notification_id, route_id, tenant_id, channel, outbox_id
        ), work AS (
            INSERT INTO outbox (id, tenant_id, source_kind, queue, priority, notification_id, route_id, due_at, max_attempts,
                                retry_backoff, retry_base_ms)
            SELECT route.outbox_id, route.tenant_id, 'deliver', route.channel, tocsin_priority(event.priority),
                   route.notification_id, route.route_id, tocsin_now(), 5, 'exponential', 5000
            FROM route JOIN event USING (notification_id)
            WHERE route.outbox_id IS NOT NULL
        ), large AS (
            INSERT INTO outbox (id, tenant_id, source_kind, queue, priority, notification_id, payload, due_at, max_attempts,
                                retry_backoff, retry_base_ms)
            SELECT notification_id, tenant_id, 'fanout', 'plan', tocsin_priority(priority), notification_id,
                   jsonb_build_object('event', id), tocsin_now(), 5, 'exponential', 5000
            FROM event
            WHERE NOT is_whole AND %(page_of)s::uuid IS NULL
            ON CONFLICT (id) DO NOTHING  -- after a restore the cursor may pass it once more
            RETURNING id, tenant_id
        ), told AS (
            SELECT event.id, count(recipient.user_id)::integer AS recipients
            FROM event LEFT JOIN recipient USING (place)
            GROUP BY event.id
        ), outcome AS (
            UPDATE domain_events
            SET recipient_count = domain_events.recipient_count + told.recipients,
                outcome = CASE
                    WHEN NOT event.is_whole THEN 'waiting'
                    WHEN domain_events.recipient_count + told.recipients > 0 THEN 'notified'
                    WHEN event.rules IS NULL THEN 'not_routed'
                    WHEN event.expires_at <= tocsin_now() THEN 'expired'
                    ELSE 'nobody'
                END
            FROM event JOIN told USING (id)
            WHERE domain_events.id = event.id
        ), finish AS (
            SELECT txid, id FROM event ORDER BY place DESC LIMIT 1
        ), moved AS (
            UPDATE domain_events_processed AS processed
            SET last_txid = finish.txid, last_event_id = finish.id, claim_count = 0, leased_until = tocsin_now() + %(lease)s,
                updated_at = tocsin_now()
            FROM held CROSS JOIN finish
            WHERE processed.consumer = held.consumer
            RETURNING processed.consumer
        ), walked AS (
            DELETE FROM outbox
            USING page, event
            WHERE outbox.id = page.id AND event.is_whole
            RETURNING outbox.id
        ), walking AS (
            UPDATE outbox
            SET payload = outbox.payload || jsonb_build_object('after', progress.last_user_id), claim_count = 0,
                lease_token = NULL, leased_until = NULL, nudged_at = tocsin_now(),
                due_at = tocsin_now()  -- behind what was due before: pages of several audiences take turns
            FROM page, event JOIN progress USING (place)
            WHERE outbox.id = page.id AND NOT event.is_whole
            RETURNING outbox.id, outbox.tenant_id
        )
        SELECT NULL::uuid, '', NULL::uuid, (SELECT count(*) FROM event) FROM moved
        UNION ALL
        SELECT NULL, '', NULL, 0 FROM walked
        UNION ALL
        SELECT outbox_id, channel, tenant_id, 0 FROM route WHERE outbox_id IS NOT NULL
        UNION ALL
        SELECT id, 'plan', tenant_id, 0 FROM large
        UNION ALL
        SELECT id, 'plan', tenant_id, 0 FROM walking
        """,
        {
            "events": Jsonb(events),
            "after_user_id": after_user_id,
            "most": most,
            "page_of": page_of,
            "consumer": CONSUMER,
            "lease_token": lease_token,
            "lease": lease,
        },
    ).fetchall()
    due = [Due(*row[:3]) for row in rows if row[0] is not None]
    return FannedOut(bool(rows), due, sum(row[3] for row in rows))


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
              AND NOT EXISTS (SELECT FROM outbox WHERE outbox.id = domain_events.notification_id)
            ORDER BY domain_events.recorded_at
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM domain_events USING expired WHERE domain_events.id = expired.id
        """,
        {"age": age, "limit": limit},
    ).rowcount
