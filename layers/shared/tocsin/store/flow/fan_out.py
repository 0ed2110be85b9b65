"""Fan out: what events cause, and that they are passed, in one statement."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.types.json import Jsonb

from tocsin.foundation.due import Due
from tocsin.store.domain_events_processed import CONSUMER


@dataclass(frozen=True, slots=True)
class FanOutStep:
    """Whether what we held was still ours and moved, the work that is now due, and how many events the cursor passed."""

    moved: bool
    due: list[Due]
    finished: int


def find_newcomers(conn: Connection[Any], event_ids: list[int]) -> dict[int, list[UUID]]:
    """Who takes part in a thread from each of these events on, and did not before."""
    found: dict[int, list[UUID]] = {one: [] for one in event_ids}
    rows = conn.execute(
        """
        WITH event AS MATERIALIZED (
            SELECT id, tenant_id, type, thread_kind, thread_id, actor_user_id, data
            FROM domain_events
            WHERE id = ANY(%(event_ids)s)
        ), routing AS MATERIALIZED (
            SELECT kind.tenant_id, kind.type, rule.subscribe_actor
            FROM (SELECT DISTINCT tenant_id, type FROM event) AS kind
            CROSS JOIN LATERAL tocsin_event_rule(kind.tenant_id, kind.type) AS rule
        )
        SELECT event.id, array_agg(newcomer.user_id)
        FROM event
        JOIN routing USING (tenant_id, type)
        CROSS JOIN LATERAL tocsin_newcomers(
            event.tenant_id, event.thread_kind, event.thread_id, tocsin_event_named(event.data),
            CASE WHEN routing.subscribe_actor THEN event.actor_user_id END) AS newcomer
        GROUP BY event.id
        """,
        {"event_ids": event_ids},
    ).fetchall()
    return found | dict(rows)


def fan_out(
    conn: Connection[Any],
    events: list[dict[str, Any]],
    *,
    most: int,
    lease_token: UUID,
    lease: timedelta = timedelta(0),
    page_of: UUID | None = None,
    after_user_id: UUID | None = None,
    past_expiry: bool = False,
) -> FanOutStep:
    """Tell everyone who cares, and move on: inbox rows, subscriptions, records, routes and work in one statement.

    At the cursor, an event with `most` recipients or more tells nobody yet: it becomes work of its own, and the cursor goes on.
    As that work (`page_of`), the next `most` recipients of the one event are told; its row remembers the last of them. Where
    it was replayed past its expiry, it has none.
    `events` are in order, numbered by `place` from 1, and can be told together. Of one that another of its thread follows,
    `newcomers` are those who join by it, as far as they were known: if there are more by now, what comes after it is left."""
    rows = conn.execute(
        """
        WITH held AS (
            -- Who: the events, if the cursor (or the page) is still ours, the rule of each, and the people it reaches.
            SELECT consumer
            FROM domain_events_processed
            WHERE consumer = %(consumer)s AND lease_token = %(lease_token)s AND %(page_of)s::uuid IS NULL
            FOR UPDATE
        ), page AS (
            SELECT id
            FROM outbox
            WHERE id = %(page_of)s AND lease_token = %(lease_token)s
            FOR UPDATE
        ), given AS MATERIALIZED (
            SELECT given.place, given.inbox, given.newcomers, domain_events.*
            FROM (SELECT FROM held UNION ALL SELECT FROM page) AS ours
            CROSS JOIN jsonb_to_recordset(%(events)s) AS given (place integer, id bigint, inbox jsonb, newcomers uuid[])
            JOIN domain_events USING (id)
        ), routing AS MATERIALIZED (
            -- once for each type, not for each event
            SELECT kind.tenant_id, kind.type, rule.rules, rule.overrides, rule.subscribe_actor
            FROM (SELECT DISTINCT tenant_id, type FROM given) AS kind
            CROSS JOIN LATERAL tocsin_event_rule(kind.tenant_id, kind.type) AS rule
        ), batch AS (
            SELECT given.*, tocsin_event_named(given.data) AS named, tocsin_inbox_summary(given.data) AS summary,
                   routing.rules, routing.overrides, routing.subscribe_actor,
                   kind.template, COALESCE(kind.priority, 'normal') AS priority,
                   CASE WHEN NOT %(past_expiry)s
                       THEN given.recorded_at + kind.expires_after_seconds * interval '1 second' END AS expires_at
            FROM given
            LEFT JOIN routing USING (tenant_id, type)
            LEFT JOIN notification_types AS kind ON kind.tenant_id = given.tenant_id AND kind.name = given.type
        ), candidate AS MATERIALIZED (
            SELECT batch.place, audience.user_id, audience.reason, audience.is_muted
            FROM batch CROSS JOIN LATERAL tocsin_audience(
                batch.tenant_id, batch.scope, batch.thread_kind, batch.thread_id, batch.named,
                ARRAY(SELECT jsonb_object_keys(batch.rules)), %(after_user_id)s::uuid, %(most)s::integer) AS audience
            WHERE batch.rules IS NOT NULL AND batch.expires_at <= tocsin_now() IS NOT TRUE
        ), part AS MATERIALIZED (
            -- who is named or acts takes part from now on
            SELECT batch.place, batch.tenant_id, batch.thread_kind, batch.thread_id, newcomer.*,
                   newcomer.user_id <> ALL(batch.newcomers) AS is_unforeseen
            FROM batch CROSS JOIN LATERAL tocsin_newcomers(
                batch.tenant_id, batch.thread_kind, batch.thread_id, batch.named,
                CASE WHEN batch.subscribe_actor THEN batch.actor_user_id END) AS newcomer
            WHERE batch.rules IS NOT NULL
        ), progress AS (
            SELECT place, count(*) AS candidates, (array_agg(user_id ORDER BY user_id DESC))[1] AS last_user_id
            FROM candidate
            GROUP BY place
        ), reach AS (
            -- somebody joins a thread whom the batch was not made for: what follows is for the next one, which knows them
            SELECT COALESCE(min(place) FILTER (WHERE is_unforeseen), 2147483647) AS until FROM part
        ), event AS (
            SELECT batch.*, COALESCE(progress.candidates, 0) < %(most)s AS is_whole
            FROM batch CROSS JOIN reach LEFT JOIN progress USING (place)
            WHERE batch.place <= reach.until
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
            -- What they see: one inbox row for each person and thread, in the words of the last event.
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
            CROSS JOIN LATERAL (SELECT tocsin_inbox_fold(event.thread_kind, event.thread_id, event.id::text)) AS folding (fold)
            CROSS JOIN LATERAL (
                SELECT words.title, words.message
                FROM words
                WHERE words.place = recipient.place
                ORDER BY tocsin_locale_distance(words.locale, recipient.locale)
                LIMIT 1
            ) AS words
            CROSS JOIN LATERAL tocsin_inbox_wanted(event.tenant_id, recipient.user_id, event.type) AS inbox
            WHERE 'in_app' = ANY(recipient.channels) AND inbox.is_wanted
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
                               EXCLUDED.summary, COALESCE(EXCLUDED.source_event_id, notifications.source_event_id),
                               EXCLUDED.source_notification_id, EXCLUDED.last_actor_user_id, EXCLUDED.expires_at,
                               EXCLUDED.told_at
                        WHERE tocsin_is_later(EXCLUDED.told_at, EXCLUDED.source_event_id, notifications.told_at,
                                              CASE WHEN notifications.source_notification_id IS NULL
                                                   THEN notifications.source_event_id END)
                        UNION ALL
                        -- whose words stay; where they are an intent's, the last event is remembered beside it
                        SELECT notifications.kind, notifications.reason, notifications.scope, notifications.title,
                               notifications.message, notifications.summary,
                               CASE WHEN notifications.source_notification_id IS NULL THEN notifications.source_event_id
                                    ELSE GREATEST(notifications.source_event_id, EXCLUDED.source_event_id) END,
                               notifications.source_notification_id, notifications.last_actor_user_id,
                               notifications.expires_at, notifications.told_at
                        WHERE NOT tocsin_is_later(EXCLUDED.told_at, EXCLUDED.source_event_id, notifications.told_at,
                                                  CASE WHEN notifications.source_notification_id IS NULL
                                                       THEN notifications.source_event_id END))
        ), target AS (
            -- What is owed: a record with a route for each other channel, work for each that nothing stands in the way of, and
            -- work for an audience too large to be told at once.
            SELECT event.notification_id, event.tenant_id, recipient.*, way.channel, devices.id AS device_id,
                   wording.template_id, event.recorded_at,
                   tocsin_obstacle(way.channel, event.template, wording.template_id, recipient.email, recipient.phone,
                                   devices.id, recipient.user_id) AS obstacle
            FROM recipient
            JOIN event USING (place)
            CROSS JOIN LATERAL unnest(recipient.channels) AS way (channel)
            LEFT JOIN LATERAL (
                SELECT id
                FROM devices
                WHERE way.channel = 'push' AND tenant_id = event.tenant_id AND user_id = recipient.user_id AND enabled
                OFFSET 0
            ) AS devices ON true
            LEFT JOIN LATERAL tocsin_wording(event.tenant_id, event.template, way.channel, recipient.locale) AS wording
                ON event.template IS NOT NULL
            WHERE way.channel <> 'in_app'
        ), record AS (
            INSERT INTO records (
                notification_id, tenant_id, notification_type, producer, mode, audience_kind, payload_json, idempotency_key,
                request_fingerprint, holds_key, request_id, trace_id, template, priority, thread_kind, thread_id, trigger_depth,
                occurred_at, accepted_at, expires_at, updated_at, idempotency_expires_at)
            SELECT notification_id, tenant_id, type, source, mode, 'event', data, event_id, '', false, request_id, trace_id,
                   template, priority, thread_kind, thread_id, trigger_depth, occurred_at, recorded_at, expires_at,
                   tocsin_now(), tocsin_now()
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
                                retry_backoff, retry_base_ms, trigger_depth, payload)
            SELECT route.outbox_id, route.tenant_id, 'deliver', route.channel, tocsin_priority(event.priority),
                   route.notification_id, route.route_id, tocsin_now(), 5, 'exponential', 5000, event.trigger_depth,
                   CASE WHEN %(past_expiry)s THEN jsonb_build_object('past_expiry', true) END
            FROM route JOIN event USING (notification_id)
            WHERE route.outbox_id IS NOT NULL
        ), large AS (
            INSERT INTO outbox (id, tenant_id, source_kind, queue, priority, notification_id, payload, due_at, max_attempts,
                                retry_backoff, retry_base_ms, trigger_depth)
            SELECT notification_id, tenant_id, 'fanout', 'plan', tocsin_priority(priority), notification_id,
                   jsonb_build_object('event', id), tocsin_now(), 5, 'exponential', 5000, trigger_depth
            FROM event
            WHERE NOT is_whole AND %(page_of)s::uuid IS NULL
            ON CONFLICT (id) DO NOTHING  -- after a restore the cursor may pass it once more
            RETURNING id, tenant_id
        ), told AS (
            -- Where we stand: what became of each event, and the place to go on from.
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
            "past_expiry": past_expiry,
        },
    ).fetchall()
    due = [Due(*row[:3]) for row in rows if row[0] is not None]
    return FanOutStep(bool(rows), due, sum(row[3] for row in rows))
