"""Accept intents: each one's record, which is its idempotency reservation too, its planning, and the mailbox of who waits."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import class_row
from psycopg.types.json import Jsonb


@dataclass(frozen=True, slots=True)
class Reserved:
    """The answer to one reservation, in the order of the request."""

    n: int
    accepted_at: datetime | None
    due_in_seconds: float | None
    unknown_user_ids: list[str] | None
    rate_used: int
    unknown_template: str | None
    missing_variables: list[str] | None
    says_nothing: bool
    channels: list[str] | None  # as the intent, its type or its template say
    no_email: list[str] | None  # who has none, as they are now
    no_phone: list[str] | None
    no_device: list[str] | None
    clash: tuple[str, str] | None = None  # a given user, and what of theirs another user has, or is too much

    @property
    def is_refused(self) -> bool:
        return bool(self.unknown_user_ids or self.unknown_template or self.missing_variables or self.says_nothing or self.clash)


def reserve(
    conn: Connection[Any],
    intents: list[dict[str, Any]],
    *,
    tenant_id: UUID,
    producer: str,
    mode: str,
    request_id: str,
    trace_id: str,
    window: timedelta,
    rate_subject: str,
    rate_limit: int,
    cost: int,
) -> Cursor[Reserved]:
    """Write record and outbox row of each intent whose key is free and whose recipients exist; read the cursor after the commit.

    A key in flight elsewhere makes this wait (up to lock_timeout), then that one counts. Users must exist, by their own ids."""
    return conn.cursor(row_factory=class_row(Reserved)).execute(
        """
        WITH intent AS (
            -- What is asked, completed by its type; and what is wrong with it.
            SELECT *
            FROM jsonb_to_recordset(%(intents)s) AS intent (
                n integer, notification_id uuid, idempotency_key text, request_fingerprint text,
                notification_type text, audience_kind text, recipient_user_ids jsonb, audience jsonb, payload jsonb,
                template text, channels text[], priority text, thread_kind text, thread_id text, trigger_depth smallint,
                mode text, retry_max_attempts smallint, retry_backoff text, retry_base_ms integer,
                occurred_at timestamptz, send_at timestamptz, expires_at timestamptz, has_words boolean,
                reply_within_seconds float8, email_options jsonb)
        -- Types, templates and users are looked up one by one. The planner takes a JSON parameter for thousands of rows and would
        -- read the whole tables to join so many; LIMIT and OFFSET keep it from joining.
        ), resolved AS (
            -- what the intent does not say, its type says
            SELECT intent.n, COALESCE(intent.template, kind.template) AS template,
                   COALESCE(intent.priority, kind.priority, 'normal') AS priority,
                   COALESCE(intent.channels, kind.channels) AS channels,
                   COALESCE(intent.expires_at, GREATEST(intent.send_at, tocsin_now())
                       + kind.expires_after_seconds * interval '1 second') AS expires_at
            FROM intent
            LEFT JOIN LATERAL (
                SELECT * FROM notification_types
                WHERE tenant_id = %(tenant_id)s AND name = intent.notification_type
                LIMIT 1
            ) AS kind ON true
        ), wording AS (
            SELECT resolved.n, array_agg(DISTINCT template.channel ORDER BY template.channel) AS channels,
                   array_agg(DISTINCT variable ORDER BY variable)
                       FILTER (WHERE variable IS NOT NULL AND NOT intent.payload ? variable) AS missing
            FROM resolved
            JOIN intent USING (n)
            CROSS JOIN LATERAL (
                SELECT channel, variables
                FROM templates
                WHERE tenant_id = %(tenant_id)s AND name = resolved.template AND is_active
                  AND (resolved.channels IS NULL OR channel = ANY(resolved.channels))
                OFFSET 0
            ) AS template
            LEFT JOIN LATERAL unnest(template.variables) AS variable ON true
            GROUP BY resolved.n
        ), recipients AS (
            -- Who is not known, and of the others who lacks what: the first twenty. Where the intent's own channels have no push,
            -- devices are not looked for.
            SELECT intent.n, found.*
            FROM intent
            CROSS JOIN LATERAL (
                SELECT array_agg(wanted.external_id ORDER BY wanted.external_id) FILTER (WHERE known.id IS NULL) AS unknown,
                       (array_agg(wanted.external_id) FILTER (WHERE known.email IS NULL))[:20] AS no_email,
                       (array_agg(wanted.external_id) FILTER (WHERE known.phone IS NULL))[:20] AS no_phone,
                       (array_agg(wanted.external_id) FILTER (
                           WHERE COALESCE('push' = ANY(intent.channels), true) AND NOT EXISTS (
                               SELECT FROM devices
                               WHERE devices.tenant_id = %(tenant_id)s AND devices.user_id = known.id AND devices.enabled))
                       )[:20] AS no_device
                FROM jsonb_array_elements_text(intent.recipient_user_ids) AS wanted (external_id)
                LEFT JOIN LATERAL (
                    SELECT id, email, phone FROM users
                    WHERE tenant_id = %(tenant_id)s AND external_id = wanted.external_id
                    LIMIT 1
                ) AS known ON true
            ) AS found
        ), record AS (
            -- What is promised: the record, the work of planning it, and that it counts.
            INSERT INTO records (
                notification_id, tenant_id, notification_type, producer, mode, audience_kind, recipient_user_ids, audience,
                payload_json, idempotency_key, request_fingerprint, request_id, trace_id, template, channels, priority,
                thread_kind, thread_id, trigger_depth, retry_max_attempts, retry_backoff, retry_base_ms, occurred_at,
                accepted_at, send_at, expires_at, updated_at, idempotency_expires_at, email_options)
            SELECT
                notification_id, %(tenant_id)s, notification_type, %(producer)s, COALESCE(intent.mode, %(mode)s), audience_kind,
                recipient_user_ids, audience, payload, idempotency_key, decode(request_fingerprint, 'hex'),
                %(request_id)s, %(trace_id)s, resolved.template, COALESCE(resolved.channels, wording.channels),
                resolved.priority, thread_kind, thread_id, trigger_depth, retry_max_attempts, retry_backoff, retry_base_ms,
                COALESCE(occurred_at, tocsin_now()), tocsin_now(), send_at, resolved.expires_at, tocsin_now(),
                tocsin_now() + %(window)s, email_options
            FROM intent
            JOIN resolved USING (n)
            JOIN recipients USING (n)
            LEFT JOIN wording USING (n)
            WHERE recipients.unknown IS NULL
              AND CASE WHEN resolved.template IS NULL THEN intent.has_words
                       ELSE wording.n IS NOT NULL AND wording.missing IS NULL END
            ORDER BY n
            ON CONFLICT (tenant_id, producer, idempotency_key) WHERE holds_key DO NOTHING
            RETURNING notification_id, accepted_at, priority,
                      COALESCE(GREATEST(send_at, accepted_at), accepted_at) AS due_at
        ), work AS (
            INSERT INTO outbox (
                id, tenant_id, source_kind, queue, priority, notification_id, due_at, max_attempts, retry_backoff,
                retry_base_ms, trigger_depth, reply_to)
            SELECT record.notification_id, %(tenant_id)s, 'plan', 'plan', tocsin_priority(record.priority),
                   record.notification_id, record.due_at, intent.retry_max_attempts, intent.retry_backoff,
                   intent.retry_base_ms, intent.trigger_depth,
                   CASE WHEN intent.reply_within_seconds IS NOT NULL THEN record.notification_id END
            FROM record JOIN intent USING (notification_id)
        ), mailbox AS (
            -- where somebody waits for the outcome
            INSERT INTO reply_inboxes (id, tenant_id, created_at, expires_at)
            SELECT record.notification_id, %(tenant_id)s, record.accepted_at,
                   record.accepted_at + intent.reply_within_seconds * interval '1 second'
            FROM record JOIN intent USING (notification_id)
            WHERE intent.reply_within_seconds IS NOT NULL
        ), counted AS (
            -- After the record: the counter's row is locked only for the moment of the commit, never while waiting for a key.
            INSERT INTO rate_limits (tenant_id, subject, limit_type, window_start, request_count, max_count)
            SELECT %(tenant_id)s, %(rate_subject)s, 'intents', date_trunc('minute', tocsin_now()), %(cost)s, %(rate_limit)s
            FROM (SELECT count(*) FROM record) AS after_the_record
            ON CONFLICT (tenant_id, subject, limit_type, window_start) DO UPDATE
                SET request_count = rate_limits.request_count + EXCLUDED.request_count, max_count = EXCLUDED.max_count
            RETURNING request_count
        )
        SELECT intent.n, record.accepted_at,
               extract(epoch FROM record.due_at - record.accepted_at)::float8 AS due_in_seconds,
               recipients.unknown AS unknown_user_ids,
               (SELECT request_count FROM counted) AS rate_used,
               CASE WHEN wording.n IS NULL THEN resolved.template END AS unknown_template,
               wording.missing AS missing_variables,
               resolved.template IS NULL AND NOT intent.has_words AS says_nothing,
               COALESCE(resolved.channels, wording.channels) AS channels,
               recipients.no_email, recipients.no_phone, recipients.no_device
        FROM intent
        JOIN resolved USING (n)
        JOIN recipients USING (n)
        LEFT JOIN wording USING (n)
        LEFT JOIN record USING (notification_id)
        ORDER BY intent.n
        """,
        {
            "intents": Jsonb(intents),
            "tenant_id": tenant_id,
            "producer": producer,
            "mode": mode,
            "request_id": request_id,
            "trace_id": trace_id,
            "window": window,
            "rate_subject": rate_subject,
            "rate_limit": rate_limit,
            "cost": cost,
        },
    )
