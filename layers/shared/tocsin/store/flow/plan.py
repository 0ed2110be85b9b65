"""Plan: a record's routes, their deliveries and its inbox rows, in one statement."""

from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.types.json import Jsonb

from tocsin.foundation.due import Due
from tocsin.store.rows import Plan, Planned


def plan(conn: Connection[Any], plans: list[Plan], *, lease_token: UUID, page_size: int) -> Planned:
    """Write the routes of these plans, their outbox rows and inbox rows, and finish (or advance) the plans: one statement.

    An audience without an end (everyone, a thread, a scope) is walked page by page; the plan's row remembers the last user."""
    rows = conn.execute(
        """
        WITH plan AS (
            -- Who: the records under our lease, and the people (or the address, or everyone) that each is for.
            SELECT * FROM jsonb_to_recordset(%(plans)s) AS plan (
                outbox_id uuid, plan_channels text[], inbox jsonb)
        ), leased AS (
            SELECT outbox.id AS plan_id, (outbox.payload ->> 'after')::uuid AS after_user_id, outbox.reply_to,
                   outbox.payload -> 'past_expiry' AS past_expiry,  -- replayed so, and what follows from it is
                   plan.plan_channels, plan.inbox, records.*
            FROM outbox
            JOIN plan ON plan.outbox_id = outbox.id
            JOIN records ON records.notification_id = outbox.notification_id
            WHERE outbox.id = ANY(%(ids)s) AND outbox.lease_token = %(lease_token)s
            -- the record too: a cancel that comes meanwhile is waited for, and seen
            FOR UPDATE OF outbox FOR NO KEY UPDATE OF records
        ), page AS (
            SELECT leased.plan_id, member.id, ''::text AS audience_reason, false AS is_muted
            FROM leased CROSS JOIN LATERAL (
                SELECT users.id
                FROM users
                WHERE users.tenant_id = leased.tenant_id
                  AND (leased.after_user_id IS NULL OR users.id > leased.after_user_id)
                ORDER BY users.id
                LIMIT %(page_size)s
            ) AS member
            WHERE leased.audience_kind = 'tenant' AND leased.plan_channels <> ARRAY['in_app']
            UNION ALL
            SELECT leased.plan_id, member.user_id, member.reason, member.is_muted OR own.subscribed IS FALSE
            FROM leased CROSS JOIN LATERAL tocsin_audience(
                leased.tenant_id, leased.audience ->> 'scope',
                CASE WHEN leased.audience_kind = 'thread' THEN leased.thread_kind END,
                CASE WHEN leased.audience_kind = 'thread' THEN leased.thread_id END,
                '{}', ARRAY['author', 'comment', 'subscribed', 'watching'], leased.after_user_id,
                %(page_size)s::integer) AS member
            LEFT JOIN LATERAL (
                -- LIMIT, here and below: one probe of the index each; as a join it would read the whole table
                SELECT subscribed
                FROM notification_threads
                WHERE tenant_id = leased.tenant_id AND user_id = member.user_id
                  AND thread_kind = leased.thread_kind AND thread_id = leased.thread_id
                LIMIT 1
            ) AS own ON true
            WHERE leased.audience_kind IN ('thread', 'scope')
        ), progress AS (
            SELECT plan_id, count(*) AS members, (array_agg(id ORDER BY id DESC))[1] AS last_user_id
            FROM page
            GROUP BY plan_id
        ), recipient AS MATERIALIZED (
            SELECT leased.plan_id, COALESCE(person.id::text, md5(wanted.external_id)) AS ref_id,
                   'user:' || wanted.external_id AS recipient_ref, person.id AS user_id, person.email, person.phone,
                   person.locale, CASE WHEN person.id IS NULL THEN 'unknown_user' ELSE '' END AS obstacle,
                   '' AS audience_reason
            FROM leased
            CROSS JOIN LATERAL jsonb_array_elements_text(leased.recipient_user_ids) AS wanted (external_id)
            LEFT JOIN LATERAL (
                SELECT id, email, phone, locale
                FROM users
                WHERE tenant_id = leased.tenant_id AND external_id = wanted.external_id
                LIMIT 1
            ) AS person ON true
            WHERE leased.audience_kind = 'users'
            UNION ALL
            SELECT leased.plan_id, 'address', 'address', NULL, leased.audience ->> 'email', leased.audience ->> 'phone',
                   NULL, '', ''
            FROM leased
            WHERE leased.audience_kind = 'address'
            UNION ALL
            SELECT page.plan_id, page.id::text, 'user:' || users.external_id, page.id, users.email, users.phone, users.locale,
                   CASE WHEN page.is_muted THEN 'muted' ELSE '' END, page.audience_reason
            FROM page
            JOIN leased USING (plan_id)
            JOIN users ON users.tenant_id = leased.tenant_id AND users.id = page.id
            UNION ALL
            SELECT leased.plan_id, 'everyone', leased.audience_kind, NULL, NULL, NULL, NULL, 'no_recipients', ''
            FROM leased
            LEFT JOIN progress USING (plan_id)
            WHERE leased.audience_kind IN ('tenant', 'thread', 'scope') AND leased.after_user_id IS NULL
              AND progress.plan_id IS NULL
        ), target AS (
            -- What is owed: a route for each recipient and channel, and work for each that nothing stands in the way of.
            SELECT recipient.*, way.channel, devices.id AS device_id, wording.template_id,
                   COALESCE(
                       NULLIF(recipient.obstacle, ''),
                       NULLIF(tocsin_obstacle(way.channel, leased.template, wording.template_id, recipient.email,
                                              recipient.phone, devices.id, recipient.user_id), ''),
                       CASE WHEN NOT inbox.is_wanted THEN 'preference: in_app off' ELSE '' END) AS skip_reason
            FROM recipient
            JOIN leased USING (plan_id)
            CROSS JOIN LATERAL unnest(leased.plan_channels) AS way (channel)
            LEFT JOIN LATERAL (
                SELECT id
                FROM devices
                WHERE way.channel = 'push' AND tenant_id = leased.tenant_id AND user_id = recipient.user_id AND enabled
                OFFSET 0
            ) AS devices ON true
            LEFT JOIN LATERAL tocsin_wording(leased.tenant_id, leased.template, way.channel, recipient.locale) AS wording
                ON leased.template IS NOT NULL
            LEFT JOIN LATERAL tocsin_inbox_wanted(leased.tenant_id, recipient.user_id, leased.notification_type) AS inbox
                ON way.channel = 'in_app'
            WHERE NOT (leased.audience_kind = 'tenant' AND way.channel = 'in_app')
            UNION ALL
            SELECT leased.plan_id, 'everyone', 'tenant', NULL, NULL, NULL, NULL, '', '', 'in_app', NULL, NULL, ''
            FROM leased
            WHERE leased.audience_kind = 'tenant' AND leased.after_user_id IS NULL AND 'in_app' = ANY(leased.plan_channels)
        ), verdict AS (
            SELECT target.*, leased.notification_id, leased.tenant_id, leased.retry_max_attempts, leased.accepted_at,
                   CASE
                       WHEN leased.cancelled_at IS NOT NULL THEN 'cancelled'
                       WHEN leased.past_expiry IS NULL AND leased.expires_at <= tocsin_now() OR target.skip_reason <> ''
                       THEN 'skipped'
                       WHEN target.channel = 'in_app' THEN 'published'
                       ELSE 'pending'
                   END AS status,
                   CASE
                       WHEN leased.cancelled_at IS NOT NULL THEN 'cancelled'
                       WHEN leased.past_expiry IS NULL AND leased.expires_at <= tocsin_now() THEN 'expired'
                       ELSE target.skip_reason
                   END AS reason
            FROM target JOIN leased USING (plan_id)
        ), route AS (
            INSERT INTO routes (
                notification_id, route_id, tenant_id, channel, recipient_ref, user_id, device_id, status, reason, outbox_id,
                max_attempts, resolved_email, resolved_phone, resolved_locale, provider, created_at, updated_at,
                published_at, skipped_at, cancelled_at, template_id, audience_reason, accepted_at)
            SELECT notification_id, channel || '-' || COALESCE(device_id::text, ref_id), tenant_id, channel, recipient_ref,
                   user_id, device_id, status, reason, CASE WHEN status = 'pending' THEN tocsin_uuid7() END,
                   retry_max_attempts, COALESCE(email, ''), COALESCE(phone, ''), COALESCE(locale, ''),
                   CASE WHEN status = 'published' THEN 'inbox' ELSE '' END, tocsin_now(), tocsin_now(),
                   CASE WHEN status = 'published' THEN tocsin_now() END,
                   CASE WHEN status = 'skipped' THEN tocsin_now() END,
                   CASE WHEN status = 'cancelled' THEN tocsin_now() END, template_id, audience_reason, accepted_at
            FROM verdict
            ON CONFLICT (notification_id, route_id) DO NOTHING
            RETURNING notification_id, route_id, tenant_id, channel, user_id, status, outbox_id, resolved_locale,
                      audience_reason
        ), work AS (
            INSERT INTO outbox (
                id, tenant_id, source_kind, queue, priority, notification_id, route_id, due_at, max_attempts, retry_backoff,
                retry_base_ms, trigger_depth, reply_to, payload)
            SELECT route.outbox_id, route.tenant_id, 'deliver', route.channel, tocsin_priority(leased.priority),
                   route.notification_id, route.route_id, tocsin_now(), leased.retry_max_attempts, leased.retry_backoff,
                   leased.retry_base_ms, leased.trigger_depth, leased.reply_to,
                   CASE WHEN leased.past_expiry IS NOT NULL THEN jsonb_build_object('past_expiry', true) END
            FROM route JOIN leased USING (notification_id)
            WHERE route.status = 'pending'
        ), arrival AS (
            -- What they see: one inbox row for each person and thread.
            SELECT DISTINCT ON (tenant_id, user_id, fold)
                   route.tenant_id, route.user_id, leased.notification_type,
                   COALESCE(NULLIF(route.audience_reason, ''), 'intent') AS reason, leased.audience ->> 'scope' AS scope,
                   leased.thread_kind, leased.thread_id, leased.notification_id, words.title, words.message,
                   CASE WHEN leased.past_expiry IS NULL THEN leased.expires_at END AS expires_at,
                   GREATEST(leased.accepted_at, leased.send_at) AS told_at, fold,
                   tocsin_inbox_summary(leased.payload_json) AS summary,
                   count(*) OVER (PARTITION BY route.tenant_id, route.user_id, fold) AS events
            FROM route
            JOIN leased USING (notification_id)
            CROSS JOIN LATERAL (
                SELECT tocsin_inbox_fold(leased.thread_kind, leased.thread_id, leased.notification_id::text)
            ) AS folding (fold)
            CROSS JOIN LATERAL (
                SELECT words.title, words.message
                FROM jsonb_to_recordset(leased.inbox) AS words (locale text, title text, message text)
                ORDER BY tocsin_locale_distance(words.locale, route.resolved_locale)
                LIMIT 1
            ) AS words
            WHERE route.channel = 'in_app' AND route.status = 'published'
            ORDER BY tenant_id, user_id, fold, GREATEST(leased.accepted_at, leased.send_at) DESC
        ), inbox AS (
            INSERT INTO notifications (
                id, tenant_id, user_id, kind, reason, scope, thread_kind, thread_id, source_notification_id, title, message,
                summary, event_count, told_at, last_event_at, shown_at, created_at, updated_at, expires_at)
            SELECT tocsin_uuid7(), tenant_id, user_id, notification_type, reason, scope, thread_kind, thread_id,
                   notification_id, title, message, summary, events, told_at, tocsin_now(), tocsin_now(), tocsin_now(),
                   tocsin_now(), expires_at
            FROM arrival
            ORDER BY tenant_id, user_id, fold  -- as the fan-out does, so that the two never wait for each other in a ring
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
        ), finished AS (
            -- Where we stand: the plan is done, or goes on after its last recipient.
            DELETE FROM outbox
            USING leased LEFT JOIN progress USING (plan_id)
            WHERE outbox.id = leased.plan_id AND COALESCE(progress.members, 0) < %(page_size)s
        ), advanced AS (
            UPDATE outbox
            SET payload = COALESCE(outbox.payload, '{}') || jsonb_build_object('after', progress.last_user_id), claim_count = 0,
                leased_until = NULL, lease_token = NULL, nudged_at = tocsin_now(), due_at = tocsin_now()
            FROM progress
            WHERE outbox.id = progress.plan_id AND progress.members = %(page_size)s
            RETURNING outbox.id, outbox.tenant_id
        )
        SELECT outbox_id, channel, tenant_id, false FROM route WHERE status = 'pending'
        UNION ALL
        SELECT id, 'plan', tenant_id, true FROM advanced
        """,
        {
            "plans": Jsonb(
                [
                    {
                        "outbox_id": str(one.outbox_id),
                        "plan_channels": one.channels,
                        "inbox": one.inbox,
                    }
                    for one in plans
                ]
            ),
            "ids": [one.outbox_id for one in plans],
            "lease_token": lease_token,
            "page_size": page_size,
        },
    ).fetchall()
    return Planned([Due(*row[:3]) for row in rows if not row[3]], [Due(*row[:3]) for row in rows if row[3]])
