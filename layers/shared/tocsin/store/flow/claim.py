"""Claim: lease outbox rows of any kind, and read what their handlers need of them in the same round trip."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import args_row

from tocsin.store.rows import (
    Hook,
    Lane,
    OpenAttempt,
    PinnedTemplate,
    PushDevice,
    Record,
    Route,
    Unplanned,
    WebhookMessage,
    Wishes,
    Work,
)

LoadedPlan = tuple[UUID, Unplanned]
LoadedDelivery = tuple[UUID, Record, Route, PushDevice | None, Wishes, PinnedTemplate | None, OpenAttempt | None]
LoadedWebhook = tuple[UUID, WebhookMessage | None, Hook | None, Lane | None]


def claim(
    conn: Connection[Any],
    ids: list[UUID],
    *,
    lease_token: UUID,
    lease: timedelta,
    limit: int,
    suspects: bool | None = None,
    only: list[str] | None = None,
    but: list[str] | None = None,
) -> Cursor[Work]:
    """Lease what is due among these ids and free, the longest due first: of all kinds, of some `only`, or of all `but` some.

    Suspects are rows whose last claim ended without a recorded outcome: only they, all others, or (None) either."""
    return conn.cursor(row_factory=args_row(Work)).execute(
        """
        WITH due AS (
            SELECT id
            FROM outbox
            WHERE id = ANY(%(ids)s)
              AND due_at <= tocsin_now()
              AND (leased_until IS NULL OR leased_until <= tocsin_now())
              AND ((claim_count > 0) = %(suspects)s) IS NOT FALSE
              AND (source_kind = ANY(%(only)s)) IS NOT FALSE AND (source_kind = ANY(%(but)s)) IS NOT TRUE
              -- what a suspended tenant has waits as it is
              AND tenant_id <> ALL(ARRAY(SELECT tenants.id FROM tenants WHERE tenants.status <> 'active'))
            ORDER BY due_at
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        UPDATE outbox
        SET lease_token = %(lease_token)s, leased_until = tocsin_now() + %(lease)s, claim_count = outbox.claim_count + 1,
            first_claimed_at = COALESCE(outbox.first_claimed_at, tocsin_now())
        FROM due
        WHERE outbox.id = due.id
        RETURNING outbox.id, outbox.source_kind, outbox.tenant_id, outbox.notification_id, outbox.route_id, outbox.generation,
                  outbox.payload, tocsin_now() AS claimed_at, outbox.claim_count, outbox.attempt_count, outbox.max_attempts,
                  outbox.retry_backoff, outbox.retry_base_ms, outbox.attempt_open, outbox.last_attempt_no, outbox.waits_for,
                  outbox.reply_to, outbox.principal_id, outbox.trigger_depth, outbox.created_at
        """,
        {
            "ids": ids,
            "suspects": suspects,
            "only": only,
            "but": but,
            "limit": limit,
            "lease_token": lease_token,
            "lease": lease,
        },
    )


def load_plans(conn: Connection[Any], ids: list[UUID], *, lease_token: UUID) -> Cursor[LoadedPlan]:
    """The records of the plans among these that are under this lease."""
    return conn.cursor(row_factory=args_row(_plan)).execute(
        """
        SELECT outbox.id, records.notification_type, records.audience_kind, records.audience,
               jsonb_array_length(records.recipient_user_ids) AS listed_recipients, records.payload_json AS payload,
               records.channels, records.template
        FROM outbox
        JOIN records ON records.notification_id = outbox.notification_id
        WHERE outbox.id = ANY(%(ids)s) AND outbox.lease_token = %(lease_token)s AND outbox.source_kind = 'plan'
        """,
        {"ids": ids, "lease_token": lease_token},
    )


def load_deliveries(conn: Connection[Any], ids: list[UUID], *, lease_token: UUID) -> Cursor[LoadedDelivery]:
    """What the deliveries among these that are under this lease are about, and to whom. One that was replayed past its expiry has
    none any more; others of its record still do."""
    return conn.cursor(row_factory=args_row(_delivery)).execute(
        """
        SELECT outbox.id,
               -- record
               records.notification_id, records.notification_type, records.mode, records.audience_kind,
               records.payload_json AS payload,
               CASE WHEN outbox.payload -> 'past_expiry' IS NULL THEN records.expires_at END AS expires_at,
               records.cancelled_at, records.priority,
               records.thread_kind, records.thread_id, kind.ambiguous_policy,
               COALESCE(kind.transactional, true) AS is_transactional,
               kind.over_sending_limit, kind.over_sending_window_seconds, records.email_options,
               -- route
               routes.route_id, routes.channel, routes.status, routes.user_id, routes.audience_reason,
               routes.resolved_email AS email, routes.resolved_phone AS phone, routes.resolved_locale AS locale,
               routes.duplicate_suspected,
               suppression.reason AS suppressed_by, COALESCE(routes.worded_at, routes.created_at) AS worded_at,
               -- device
               devices.id, devices.platform, devices.token, devices.endpoint_arn, devices.enabled,
               -- wishes
               tocsin_wanted(finer.enabled, plain.enabled, kind.priority) AS is_wanted,
               COALESCE(finer.frequency_cap, plain.frequency_cap) AS frequency_cap,
               finer.frequency_cap IS NOT NULL AS cap_is_of_type,
               CASE WHEN finer.frequency_cap IS NULL THEN plain.timezone ELSE finer.timezone END AS cap_timezone,
               COALESCE(finer.quiet_hours_start, plain.quiet_hours_start) AS quiet_start,
               COALESCE(finer.quiet_hours_end, plain.quiet_hours_end) AS quiet_end,
               CASE WHEN finer.quiet_hours_start IS NULL THEN plain.timezone ELSE finer.timezone END AS quiet_timezone,
               -- template
               templates.id, templates.name, templates.version, templates.locale, templates.subject, templates.body,
               templates.text, templates.layout, templates.partials,
               -- open attempt
               open_attempt.attempt_no, open_attempt.started_at, open_attempt.outcome, open_attempt.provider,
               open_attempt.provider_message_id AS message_id
        FROM outbox
        JOIN records ON records.notification_id = outbox.notification_id
        JOIN routes ON routes.notification_id = outbox.notification_id AND routes.route_id = outbox.route_id
        LEFT JOIN devices ON devices.id = routes.device_id AND devices.tenant_id = outbox.tenant_id
        LEFT JOIN templates ON templates.id = routes.template_id
        LEFT JOIN notification_types AS kind ON kind.tenant_id = outbox.tenant_id AND kind.name = records.notification_type
        LEFT JOIN LATERAL (
            SELECT preferences.*
            FROM preferences
            WHERE preferences.tenant_id = outbox.tenant_id AND preferences.user_id = routes.user_id
              AND preferences.channel = routes.channel AND preferences.notification_type = ''
            LIMIT 1
        ) AS plain ON true
        LEFT JOIN LATERAL (
            SELECT preferences.*
            FROM preferences
            WHERE preferences.tenant_id = outbox.tenant_id AND preferences.user_id = routes.user_id
              AND preferences.channel = routes.channel AND preferences.notification_type = records.notification_type
            LIMIT 1
        ) AS finer ON true
        LEFT JOIN LATERAL (
            SELECT suppressions.reason
            FROM suppressions
            WHERE suppressions.tenant_id = outbox.tenant_id AND suppressions.channel = routes.channel
              AND suppressions.address_hash = tocsin_address_hash(outbox.tenant_id, routes.channel,
                  CASE routes.channel WHEN 'email' THEN routes.resolved_email ELSE routes.resolved_phone END)
              AND suppressions.notification_type IN ('', records.notification_type)
              AND (suppressions.expires_at IS NULL OR suppressions.expires_at > tocsin_now())
            ORDER BY suppressions.notification_type
            LIMIT 1
        ) AS suppression ON routes.channel IN ('email', 'sms')
        LEFT JOIN LATERAL (
            -- an attempt that was proven since, else the last one while its answer is missing
            SELECT attempts.*
            FROM attempts
            WHERE attempts.notification_id = outbox.notification_id AND attempts.route_id = outbox.route_id
              AND attempts.generation = outbox.generation
              AND (attempts.outcome = 'accepted' OR outbox.attempt_open AND attempts.attempt_no = outbox.last_attempt_no)
            ORDER BY (attempts.outcome = 'accepted') DESC NULLS LAST
            LIMIT 1
        ) AS open_attempt ON outbox.last_attempt_no > 0
        WHERE outbox.id = ANY(%(ids)s) AND outbox.lease_token = %(lease_token)s AND outbox.source_kind = 'deliver'
        """,
        {"ids": ids, "lease_token": lease_token},
    )


def load_webhooks(conn: Connection[Any], ids: list[UUID], *, lease_token: UUID) -> Cursor[LoadedWebhook]:
    """What the webhook work among these that is under this lease has to tell, to which hook, and the trouble its endpoint is in.

    What is gone, with its hook or its notification, is not there to be told: the work has nothing beside it."""
    return conn.cursor(row_factory=args_row(_webhook)).execute(
        """
        SELECT outbox.id,
               -- message
               delivery.message_id AS id, delivery.event_type, delivery.payload, delivery.trace_id,
               -- hook
               webhooks.id, webhooks.url, webhooks.secret,
               CASE WHEN webhooks.previous_secret_expires_at > tocsin_now() THEN webhooks.previous_secret END AS previous_secret,
               webhooks.is_active, webhooks.timeout_seconds,
               -- lane
               lanes.lane, lanes.state, lanes.reason, lanes.resume_at, lanes.resume_at > tocsin_now() AS is_closed,
               lanes.updated_at, lanes.timed_out, lanes.probe_size, lanes.probe_until
        FROM outbox
        LEFT JOIN webhook_deliveries AS delivery ON delivery.id = outbox.id
        LEFT JOIN webhooks ON webhooks.id = delivery.webhook_id
        LEFT JOIN lanes ON lanes.lane = 'webhook:' || webhooks.id
        WHERE outbox.id = ANY(%(ids)s) AND outbox.lease_token = %(lease_token)s AND outbox.source_kind = 'webhook'
        """,
        {"ids": ids, "lease_token": lease_token},
    )


def _plan(outbox_id: UUID, *columns: Any) -> LoadedPlan:
    return outbox_id, Unplanned(*columns)


def _delivery(outbox_id: UUID, *columns: Any) -> LoadedDelivery:
    record, route, device = columns[:15], columns[15:26], columns[26:31]
    wishes, template, attempt = columns[31:38], columns[38:47], columns[47:]
    return (
        outbox_id,
        Record(*record),
        Route(*route),
        PushDevice(*device) if device[0] else None,
        Wishes(*wishes),
        PinnedTemplate(*template) if template[0] else None,
        OpenAttempt(*attempt) if attempt[0] else None,
    )


def _webhook(outbox_id: UUID, *columns: Any) -> LoadedWebhook:
    message, hook, lane = columns[:4], columns[4:10], columns[10:]
    return (
        outbox_id,
        WebhookMessage(*message) if message[0] else None,
        Hook(*hook) if hook[0] else None,
        Lane(*lane) if lane[0] else None,
    )
