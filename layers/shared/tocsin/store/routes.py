"""One row per recipient and channel: how each is planned, and how it ends."""

from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from tocsin.foundation.due import Due
from tocsin.store.rows import Plan, Planned, Settlement


def plan(conn: Connection[Any], plans: list[Plan], *, lease_token: UUID, page_size: int) -> Planned:
    """Write the routes of these plans, their outbox rows and inbox rows, and finish (or advance) the plans: one statement.

    An audience without an end (everyone, a thread, a scope) is walked page by page; the plan's row remembers the last user."""
    rows = conn.execute(
        """
        WITH plan AS (
            SELECT * FROM jsonb_to_recordset(%(plans)s) AS plan (
                outbox_id uuid, plan_channels text[], inbox jsonb)
        ), leased AS (
            SELECT outbox.id AS plan_id, (outbox.payload ->> 'after')::uuid AS after_user_id,
                   plan.plan_channels, plan.inbox, records.*
            FROM outbox
            JOIN plan ON plan.outbox_id = outbox.id
            JOIN records ON records.notification_id = outbox.notification_id
            WHERE outbox.lease_token = %(lease_token)s
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
            SELECT recipient.*, way.channel, devices.id AS device_id, wording.id AS template_id,
                   CASE
                       WHEN recipient.obstacle <> '' THEN recipient.obstacle
                       WHEN leased.template IS NOT NULL AND way.channel <> 'in_app' AND wording.id IS NULL THEN 'no_template'
                       WHEN way.channel = 'email' AND recipient.email IS NULL THEN 'no_address'
                       WHEN way.channel = 'sms' AND recipient.phone IS NULL THEN 'no_address'
                       WHEN way.channel = 'push' AND devices.id IS NULL THEN 'no_address'
                       WHEN way.channel = 'in_app' AND recipient.user_id IS NULL THEN 'no_address'
                       WHEN NOT preference.enabled THEN 'preference: in_app off'
                       ELSE ''
                   END AS skip_reason
            FROM recipient
            JOIN leased USING (plan_id)
            CROSS JOIN LATERAL unnest(leased.plan_channels) AS way (channel)
            LEFT JOIN LATERAL (
                SELECT id
                FROM devices
                WHERE way.channel = 'push' AND tenant_id = leased.tenant_id AND user_id = recipient.user_id AND enabled
                OFFSET 0
            ) AS devices ON true
            LEFT JOIN LATERAL (
                SELECT templates.id
                FROM templates
                WHERE templates.tenant_id = leased.tenant_id AND templates.name = leased.template
                  AND templates.channel = way.channel AND templates.is_active
                ORDER BY tocsin_locale_distance(templates.locale, recipient.locale), templates.created_at
                LIMIT 1
            ) AS wording ON leased.template IS NOT NULL
            LEFT JOIN LATERAL (
                -- the other channels' preferences are for the gate, at the time of sending; the inbox has no other time than now
                SELECT preferences.enabled
                FROM preferences
                WHERE preferences.tenant_id = leased.tenant_id AND preferences.user_id = recipient.user_id
                  AND preferences.channel = 'in_app' AND preferences.notification_type IN ('', leased.notification_type)
                  AND preferences.enabled IS NOT NULL
                ORDER BY preferences.notification_type DESC
                LIMIT 1
            ) AS preference ON way.channel = 'in_app'
            WHERE NOT (leased.audience_kind = 'tenant' AND way.channel = 'in_app')
            UNION ALL
            SELECT leased.plan_id, 'everyone', 'tenant', NULL, NULL, NULL, NULL, '', '', 'in_app', NULL, NULL, ''
            FROM leased
            WHERE leased.audience_kind = 'tenant' AND leased.after_user_id IS NULL AND 'in_app' = ANY(leased.plan_channels)
        ), verdict AS (
            SELECT target.*, leased.notification_id, leased.tenant_id, leased.retry_max_attempts, leased.retry_backoff,
                   leased.retry_base_ms, leased.trigger_depth, leased.send_at, leased.accepted_at,
                   CASE
                       WHEN leased.cancelled_at IS NOT NULL THEN 'cancelled'
                       WHEN leased.expires_at <= tocsin_now() OR target.skip_reason <> '' THEN 'skipped'
                       WHEN target.channel = 'in_app' THEN 'published'
                       ELSE 'pending'
                   END AS status,
                   CASE
                       WHEN leased.cancelled_at IS NOT NULL THEN 'cancelled'
                       WHEN leased.expires_at <= tocsin_now() THEN 'expired'
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
                retry_base_ms, trigger_depth)
            SELECT route.outbox_id, route.tenant_id, 'deliver', route.channel, tocsin_priority(leased.priority),
                   route.notification_id, route.route_id, tocsin_now(), leased.retry_max_attempts, leased.retry_backoff,
                   leased.retry_base_ms, leased.trigger_depth
            FROM route JOIN leased USING (notification_id)
            WHERE route.status = 'pending'
        ), arrival AS (
            SELECT DISTINCT ON (tenant_id, user_id, fold)
                   route.tenant_id, route.user_id, leased.notification_type,
                   COALESCE(NULLIF(route.audience_reason, ''), 'intent') AS reason, leased.audience ->> 'scope' AS scope,
                   leased.thread_kind, leased.thread_id, leased.notification_id, words.title, words.message,
                   leased.expires_at, GREATEST(leased.accepted_at, leased.send_at) AS told_at, fold,
                   jsonb_strip_nulls(jsonb_build_object('url', NULLIF(leased.payload_json ->> 'url', ''))) AS summary,
                   count(*) OVER (PARTITION BY route.tenant_id, route.user_id, fold) AS events
            FROM route
            JOIN leased USING (notification_id)
            CROSS JOIN LATERAL (SELECT COALESCE(leased.thread_kind || chr(0x1f) || leased.thread_id,
                                                leased.notification_id::text)) AS folding (fold)
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
        ), finished AS (
            DELETE FROM outbox
            USING leased LEFT JOIN progress USING (plan_id)
            WHERE outbox.id = leased.plan_id AND COALESCE(progress.members, 0) < %(page_size)s
        ), advanced AS (
            UPDATE outbox
            SET payload = jsonb_build_object('after', progress.last_user_id), claim_count = 0, leased_until = NULL,
                lease_token = NULL, nudged_at = tocsin_now(), due_at = tocsin_now()
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
            "lease_token": lease_token,
            "page_size": page_size,
        },
    ).fetchall()
    return Planned([Due(*row[:3]) for row in rows if not row[3]], [Due(*row[:3]) for row in rows if row[3]])


def settle(conn: Connection[Any], settlements: list[Settlement], *, lease_token: UUID) -> Cursor[tuple[UUID]]:
    """Record how claimed deliveries end or go on: routes, attempts, dead letters and outbox in one statement.

    Fenced: only what is still under our lease is touched. The cursor has those outbox ids; a missing one means we are late."""
    return conn.execute(
        """
        WITH settlement AS (
            SELECT *, CASE WHEN NOT ends
                THEN LEAST(COALESCE(due_at, tocsin_now() + delay_ms * interval '1 millisecond'), expires_at) END AS next_at
            FROM jsonb_to_recordset(%(settlements)s) AS settlement (
                outbox_id uuid, status text, reason text, attempt_no smallint, attempt_outcome text, uncounted smallint,
                provider text, provider_message_id text, error_classification text, error_message text, attempt_error text,
                ends boolean, delay_ms float8, due_at timestamptz, expires_at timestamptz, waits_for text,
                is_announced boolean, awaits_evidence boolean, is_deferral boolean, may_have_arrived boolean, recovery_hint text)
        ), ended AS (
            DELETE FROM outbox
            USING settlement
            WHERE outbox.id = settlement.outbox_id AND outbox.lease_token = %(lease_token)s AND settlement.ends
            RETURNING outbox.id, outbox.tenant_id, outbox.notification_id, outbox.route_id, outbox.generation,
                      outbox.attempt_count, outbox.max_attempts
        ), kept AS (
            UPDATE outbox
            SET due_at = settlement.next_at, waits_for = settlement.waits_for,
                attempt_count = outbox.attempt_count - settlement.uncounted,
                attempt_open = settlement.awaits_evidence, claim_count = 0, leased_until = NULL, lease_token = NULL,
                nudged_at = CASE WHEN settlement.is_announced THEN settlement.next_at END
            FROM settlement
            WHERE outbox.id = settlement.outbox_id AND outbox.lease_token = %(lease_token)s AND NOT settlement.ends
            RETURNING outbox.id, outbox.tenant_id, outbox.notification_id, outbox.route_id, outbox.generation,
                      outbox.attempt_count, outbox.max_attempts
        ), settled AS (
            SELECT held.*, settlement.*
            FROM (SELECT * FROM ended UNION ALL SELECT * FROM kept) AS held
            JOIN settlement ON settlement.outbox_id = held.id
        ), attempt AS (
            UPDATE attempts
            SET finished_at = COALESCE(attempts.finished_at, tocsin_now()),
                -- what its own worker had to say stays
                error_classification = COALESCE(NULLIF(attempts.error_classification, ''), CASE settled.attempt_outcome
                    WHEN 'unknown' THEN 'ambiguous' ELSE settled.error_classification END),
                error_message = COALESCE(NULLIF(attempts.error_message, ''), settled.attempt_error),
                -- proof that came before our own doubt stays
                outcome = CASE WHEN attempts.outcome = 'accepted' THEN 'accepted' ELSE settled.attempt_outcome END,
                provider_message_id = COALESCE(NULLIF(settled.provider_message_id, ''), attempts.provider_message_id)
            FROM settled
            WHERE settled.attempt_no IS NOT NULL
              AND attempts.notification_id = settled.notification_id AND attempts.route_id = settled.route_id
              AND attempts.generation = settled.generation AND attempts.attempt_no = settled.attempt_no
        ), route AS (
            UPDATE routes
            SET status = settled.status, reason = settled.reason, attempt_count = settled.attempt_count,
                next_attempt_at = settled.next_at,
                provider = COALESCE(NULLIF(settled.provider, ''), routes.provider),
                provider_message_id = COALESCE(NULLIF(settled.provider_message_id, ''), routes.provider_message_id),
                may_have_arrived = settled.may_have_arrived,
                deferral_count = routes.deferral_count + settled.is_deferral::integer,
                deferred_reason = CASE WHEN settled.is_deferral THEN settled.reason ELSE routes.deferred_reason END,
                deferred_at = CASE WHEN settled.is_deferral THEN tocsin_now() ELSE routes.deferred_at END,
                last_error_classification = COALESCE(NULLIF(settled.error_classification, ''),
                                                     routes.last_error_classification),
                last_error_message = COALESCE(NULLIF(settled.error_message, ''), routes.last_error_message),
                last_error_at = CASE WHEN settled.error_message <> '' THEN tocsin_now() ELSE routes.last_error_at END,
                updated_at = tocsin_now(),
                published_at = CASE WHEN settled.status = 'published' THEN tocsin_now() END,
                dead_lettered_at = CASE WHEN settled.status = 'dead_letter' THEN tocsin_now() END,
                skipped_at = CASE WHEN settled.status = 'skipped' THEN tocsin_now() END,
                cancelled_at = CASE WHEN settled.status = 'cancelled' THEN tocsin_now() END
            FROM settled
            WHERE routes.notification_id = settled.notification_id AND routes.route_id = settled.route_id
            RETURNING routes.notification_id, routes.route_id, routes.channel, routes.recipient_ref, settled.id AS outbox_id
        ), sent AS (
            -- the reservation becomes evidence; the window starts anew where the answer came much later
            UPDATE notification_email_log AS log
            SET message_id = settled.provider_message_id,
                sent_at = CASE WHEN log.sent_at < tocsin_now() - interval '1 minute' THEN tocsin_now() ELSE log.sent_at END
            FROM settled
            WHERE settled.status = 'published' AND log.notification_id = settled.notification_id
              AND log.route_id = settled.route_id AND log.generation = settled.generation
        ), given_up AS (
            DELETE FROM notification_email_log AS log
            USING settled
            WHERE settled.ends AND settled.status <> 'published' AND NOT settled.may_have_arrived
              AND log.notification_id = settled.notification_id
              AND log.route_id = settled.route_id AND log.generation = settled.generation
        ), letter AS (
            INSERT INTO dead_letters (
                id, tenant_id, source_kind, outbox_id, notification_id, route_id, generation, channel, recipient_ref,
                final_attempt_count, max_attempts, failure_classification, failure_message, recovery_hint, created_at)
            SELECT tocsin_uuid7(), settled.tenant_id, 'deliver', settled.id, settled.notification_id, settled.route_id,
                   settled.generation, route.channel, route.recipient_ref, settled.attempt_count, settled.max_attempts,
                   settled.reason, settled.error_message, settled.recovery_hint, tocsin_now()
            FROM settled JOIN route ON route.outbox_id = settled.id
            WHERE settled.status = 'dead_letter'
        )
        SELECT id FROM settled
        """,
        {"settlements": Jsonb([one.as_json() for one in settlements]), "lease_token": lease_token},
    )


def cancel(conn: Connection[Any], tenant_id: UUID, notification_id: UUID, route_ids: list[str]) -> None:
    conn.execute(
        """
        WITH given_up AS (
            DELETE FROM notification_email_log
            WHERE tenant_id = %(tenant_id)s AND notification_id = %(notification_id)s AND route_id = ANY(%(route_ids)s)
        )
        UPDATE routes
        SET status = 'cancelled', reason = 'cancelled', next_attempt_at = NULL, cancelled_at = tocsin_now(),
            updated_at = tocsin_now()
        WHERE tenant_id = %(tenant_id)s AND notification_id = %(notification_id)s AND route_id = ANY(%(route_ids)s)
          AND status IN ('pending', 'failed')
        """,
        {"tenant_id": tenant_id, "notification_id": notification_id, "route_ids": route_ids},
    )


def count_by_status(conn: Connection[Any], tenant_id: UUID, notification_id: UUID) -> dict[str, int]:
    rows = conn.execute(
        """
        SELECT status, count(*)
        FROM routes
        WHERE tenant_id = %(tenant_id)s AND notification_id = %(notification_id)s
        GROUP BY status
        """,
        {"tenant_id": tenant_id, "notification_id": notification_id},
    ).fetchall()
    return dict(rows)


def list_of(conn: Connection[Any], tenant_id: UUID, notification_id: UUID, *, limit: int) -> list[dict[str, Any]]:
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            SELECT routes.*, outbox.attempt_open, templates.name AS template_name, templates.version AS template_version,
                   dead_letters.id AS dead_letter_id, dead_letters.recovery_hint, dead_letters.resolution
            FROM routes
            LEFT JOIN outbox ON outbox.id = routes.outbox_id
            LEFT JOIN templates ON templates.id = routes.template_id
            LEFT JOIN dead_letters ON dead_letters.notification_id = routes.notification_id
                AND dead_letters.route_id = routes.route_id AND dead_letters.generation = routes.generation
            WHERE routes.tenant_id = %(tenant_id)s AND routes.notification_id = %(notification_id)s
            ORDER BY routes.created_at, routes.route_id
            LIMIT %(limit)s
            """,
            {"tenant_id": tenant_id, "notification_id": notification_id, "limit": limit},
        )
        .fetchall()
    )


def find_newest_to(conn: Connection[Any], wanted: dict[str, Any]) -> list[UUID]:
    """The notifications with such a route to a recipient, newest first."""
    rows = conn.execute(
        """
        SELECT DISTINCT accepted_at, notification_id
        FROM routes
        WHERE tenant_id = %(tenant_id)s AND recipient_ref = %(recipient)s AND channel = ANY(%(channels)s)
          AND (accepted_at, notification_id) < (%(before_at)s, %(before_id)s) AND accepted_at >= %(since)s
          AND (%(status)s::text IS NULL OR status = %(status)s)
          AND (%(type)s::text IS NULL AND %(producer)s::text IS NULL OR (
              SELECT (%(type)s::text IS NULL OR records.notification_type = %(type)s)
                     AND (%(producer)s::text IS NULL OR records.producer = %(producer)s)
              FROM records
              WHERE records.tenant_id = %(tenant_id)s AND records.notification_id = routes.notification_id))
        ORDER BY accepted_at DESC, notification_id DESC
        LIMIT %(limit)s
        """,
        wanted,
    ).fetchall()
    return [row[1] for row in rows]


def find_newest_by(conn: Connection[Any], wanted: dict[str, Any]) -> list[UUID]:
    """The same with such a route on a channel."""
    rows = conn.execute(
        """
        SELECT DISTINCT accepted_at, notification_id
        FROM routes
        WHERE tenant_id = %(tenant_id)s AND channel = %(channel)s
          AND (accepted_at, notification_id) < (%(before_at)s, %(before_id)s) AND accepted_at >= %(since)s
          AND (%(status)s::text IS NULL OR status = %(status)s)
          AND (%(type)s::text IS NULL AND %(producer)s::text IS NULL OR (
              SELECT (%(type)s::text IS NULL OR records.notification_type = %(type)s)
                     AND (%(producer)s::text IS NULL OR records.producer = %(producer)s)
              FROM records
              WHERE records.tenant_id = %(tenant_id)s AND records.notification_id = routes.notification_id))
        ORDER BY accepted_at DESC, notification_id DESC
        LIMIT %(limit)s
        """,
        wanted,
    ).fetchall()
    return [row[1] for row in rows]


def find_newest_ended(conn: Connection[Any], wanted: dict[str, Any]) -> list[UUID]:
    """The same with such a route that ended unpublished. Each channel is a stretch of the index."""
    rows = conn.execute(
        """
        SELECT DISTINCT newest.accepted_at, newest.notification_id
        FROM unnest(%(channels)s::text[]) AS wanted (channel) CROSS JOIN LATERAL (
            SELECT DISTINCT accepted_at, notification_id
            FROM routes
            WHERE tenant_id = %(tenant_id)s AND channel = wanted.channel
              -- as the index has it
              AND CASE WHEN dead_lettered_at IS NOT NULL THEN 'dead_letter' WHEN skipped_at IS NOT NULL THEN 'skipped'
                       WHEN cancelled_at IS NOT NULL THEN 'cancelled' END = %(status)s
              AND (accepted_at, notification_id) < (%(before_at)s, %(before_id)s) AND accepted_at >= %(since)s
              AND (%(type)s::text IS NULL AND %(producer)s::text IS NULL OR (
                  SELECT (%(type)s::text IS NULL OR records.notification_type = %(type)s)
                         AND (%(producer)s::text IS NULL OR records.producer = %(producer)s)
                  FROM records
                  WHERE records.tenant_id = %(tenant_id)s AND records.notification_id = routes.notification_id))
            ORDER BY accepted_at DESC, notification_id DESC
            LIMIT %(limit)s
        ) AS newest
        ORDER BY newest.accepted_at DESC, newest.notification_id DESC
        LIMIT %(limit)s
        """,
        wanted,
    ).fetchall()
    return [row[1] for row in rows]


_MOST_SORTED = 10_000


def find_newest_unfinished(conn: Connection[Any], wanted: dict[str, Any]) -> list[UUID] | None:
    """The notifications with such a route that is pending or failed, newest first. None: so much is unfinished that sorting
    it takes longer than meeting it among the newest."""
    row = conn.execute(
        """
        WITH backlog AS MATERIALIZED (
            SELECT outbox.notification_id, outbox.route_id
            FROM outbox
            WHERE outbox.tenant_id = %(tenant_id)s AND outbox.queue = ANY(%(channels)s)
            LIMIT %(most_sorted)s
        ), listed AS (
            SELECT DISTINCT route.accepted_at, route.notification_id
            FROM backlog
            CROSS JOIN LATERAL (
                -- LIMIT: one probe of the index each; as a join it would read the whole table
                SELECT routes.accepted_at, routes.notification_id
                FROM routes
                WHERE routes.notification_id = backlog.notification_id AND routes.route_id = backlog.route_id
                  AND routes.tenant_id = %(tenant_id)s AND routes.status = %(status)s
                  AND (routes.accepted_at, routes.notification_id) < (%(before_at)s, %(before_id)s)
                  AND routes.accepted_at >= %(since)s
                LIMIT 1
            ) AS route
            WHERE (SELECT count(*) FROM backlog) < %(most_sorted)s
              AND (%(type)s::text IS NULL AND %(producer)s::text IS NULL OR (
                  SELECT (%(type)s::text IS NULL OR records.notification_type = %(type)s)
                         AND (%(producer)s::text IS NULL OR records.producer = %(producer)s)
                  FROM records
                  WHERE records.tenant_id = %(tenant_id)s AND records.notification_id = route.notification_id))
            ORDER BY route.accepted_at DESC, route.notification_id DESC
            LIMIT %(limit)s
        )
        SELECT (SELECT count(*) FROM backlog) < %(most_sorted)s,
               ARRAY(SELECT notification_id FROM listed ORDER BY accepted_at DESC, notification_id DESC)
        """,
        wanted | {"most_sorted": _MOST_SORTED},
    ).fetchone()
    return row[1] if row and row[0] else None
