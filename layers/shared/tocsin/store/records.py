"""What was asked: one durable record per accepted intent, which is also its idempotency reservation."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import class_row, dict_row
from psycopg.types.json import Jsonb

from tocsin.store import routes

_CHANNELS = ["email", "sms", "push", "in_app", "webhook"]


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

    @property
    def is_refused(self) -> bool:
        return bool(self.unknown_user_ids or self.unknown_template or self.missing_variables or self.says_nothing)


@dataclass(frozen=True, slots=True)
class Reservation:
    notification_id: UUID
    idempotency_key: str
    request_fingerprint: bytes
    accepted_at: datetime
    is_expired: bool
    is_fresh: bool  # of this minute: its first hint may not have been sent


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
) -> Cursor[Reserved]:
    """Write record and outbox row of each intent whose key is free and whose recipients exist; read the cursor after the commit.

    A key in flight elsewhere makes this wait (up to lock_timeout), then that one counts. Users must exist, by their own ids."""
    return conn.cursor(row_factory=class_row(Reserved)).execute(
        """
        WITH intent AS (
            SELECT *
            FROM jsonb_to_recordset(%(intents)s) AS intent (
                n integer, notification_id uuid, idempotency_key text, request_fingerprint text,
                notification_type text, audience_kind text, recipient_user_ids jsonb, audience jsonb, payload jsonb,
                template text, channels text[], priority text, thread_kind text, thread_id text, trigger_depth smallint,
                retry_max_attempts smallint, retry_backoff text, retry_base_ms integer,
                occurred_at timestamptz, send_at timestamptz, expires_at timestamptz, has_words boolean)
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
        ), unknown_user AS (
            SELECT intent.n, wanted.external_id
            FROM intent
            CROSS JOIN LATERAL jsonb_array_elements_text(intent.recipient_user_ids) AS wanted (external_id)
            LEFT JOIN LATERAL (
                SELECT id FROM users WHERE tenant_id = %(tenant_id)s AND external_id = wanted.external_id LIMIT 1
            ) AS known ON true
            WHERE known.id IS NULL
        ), record AS (
            INSERT INTO records (
                notification_id, tenant_id, notification_type, producer, mode, audience_kind, recipient_user_ids, audience,
                payload_json, idempotency_key, request_fingerprint, request_id, trace_id, template, channels, priority,
                thread_kind, thread_id, trigger_depth, retry_max_attempts, retry_backoff, retry_base_ms, occurred_at,
                accepted_at, send_at, expires_at, updated_at, idempotency_expires_at)
            SELECT
                notification_id, %(tenant_id)s, notification_type, %(producer)s, %(mode)s, audience_kind,
                recipient_user_ids, audience, payload, idempotency_key, decode(request_fingerprint, 'hex'),
                %(request_id)s, %(trace_id)s, resolved.template, COALESCE(resolved.channels, wording.channels),
                resolved.priority, thread_kind, thread_id, trigger_depth, retry_max_attempts, retry_backoff, retry_base_ms,
                COALESCE(occurred_at, tocsin_now()), tocsin_now(), send_at, resolved.expires_at, tocsin_now(),
                tocsin_now() + %(window)s
            FROM intent
            JOIN resolved USING (n)
            LEFT JOIN wording USING (n)
            WHERE NOT EXISTS (SELECT FROM unknown_user WHERE unknown_user.n = intent.n)
              AND CASE WHEN resolved.template IS NULL THEN intent.has_words
                       ELSE wording.n IS NOT NULL AND wording.missing IS NULL END
            ORDER BY n
            ON CONFLICT (tenant_id, producer, idempotency_key) WHERE holds_key DO NOTHING
            RETURNING notification_id, accepted_at, priority,
                      COALESCE(GREATEST(send_at, accepted_at), accepted_at) AS due_at
        ), work AS (
            INSERT INTO outbox (
                id, tenant_id, source_kind, queue, priority, notification_id, due_at, max_attempts, retry_backoff,
                retry_base_ms, trigger_depth)
            SELECT record.notification_id, %(tenant_id)s, 'plan', 'plan', tocsin_priority(record.priority),
                   record.notification_id, record.due_at, intent.retry_max_attempts, intent.retry_backoff,
                   intent.retry_base_ms, intent.trigger_depth
            FROM record JOIN intent USING (notification_id)
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
               (SELECT array_agg(external_id ORDER BY external_id) FROM unknown_user WHERE unknown_user.n = intent.n)
                   AS unknown_user_ids,
               (SELECT request_count FROM counted) AS rate_used,
               CASE WHEN wording.n IS NULL THEN resolved.template END AS unknown_template,
               wording.missing AS missing_variables,
               resolved.template IS NULL AND NOT intent.has_words AS says_nothing
        FROM intent
        JOIN resolved USING (n)
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
            "cost": len(intents),
        },
    )


def find_reservations(conn: Connection[Any], *, tenant_id: UUID, producer: str, keys: list[str]) -> Cursor[Reservation]:
    return conn.cursor(row_factory=class_row(Reservation)).execute(
        """
        SELECT notification_id, idempotency_key, request_fingerprint, accepted_at,
               idempotency_expires_at <= tocsin_now() AS is_expired,
               accepted_at > tocsin_now() - interval '1 minute' AS is_fresh
        FROM records
        WHERE tenant_id = %(tenant_id)s AND producer = %(producer)s AND idempotency_key = ANY(%(keys)s) AND holds_key
        """,
        {"tenant_id": tenant_id, "producer": producer, "keys": keys},
    )


def release_keys(conn: Connection[Any], *, tenant_id: UUID, producer: str, keys: list[str]) -> None:
    """Let go of keys whose window has ended, so that they can be used anew before retention comes by."""
    conn.execute(
        """
        UPDATE records SET holds_key = false, updated_at = tocsin_now()
        WHERE tenant_id = %(tenant_id)s AND producer = %(producer)s AND idempotency_key = ANY(%(keys)s) AND holds_key
          AND idempotency_expires_at <= tocsin_now()
        """,
        {"tenant_id": tenant_id, "producer": producer, "keys": keys},
    )


def find(conn: Connection[Any], tenant_id: UUID, notification_id: UUID) -> dict[str, Any] | None:
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            SELECT notification_id, notification_type, producer, mode, audience_kind, recipient_user_ids,
                   audience ->> 'scope' AS scope, payload_json,
                   idempotency_key, request_id, trace_id, template, channels, priority, thread_kind, thread_id,
                   occurred_at, accepted_at, send_at, expires_at, cancelled_at
            FROM records
            WHERE tenant_id = %(tenant_id)s AND notification_id = %(notification_id)s
            """,
            {"tenant_id": tenant_id, "notification_id": notification_id},
        )
        .fetchone()
    )


def list_page(
    conn: Connection[Any], tenant_id: UUID, *, filters: dict[str, Any], limit: int, after: tuple[datetime, UUID] | None
) -> list[dict[str, Any]]:
    """Newest first. Filters that are None do not filter; those on routes ask for one route that matches them all."""
    before = after or (datetime.max.replace(tzinfo=UTC), UUID(int=2**128 - 1))
    if filters["until"]:
        before = min(before, (filters["until"], UUID(int=0)))
    wanted = filters | {
        "tenant_id": tenant_id,
        "channels": [filters["channel"]] if filters["channel"] else _CHANNELS,
        "since": filters["since"] or "-infinity",
        "before_at": before[0],
        "before_id": before[1],
        "limit": limit,
    }
    ids = _find_page(conn, wanted)
    return _show(conn, tenant_id, ids) if ids else []


def _find_page(conn: Connection[Any], wanted: dict[str, Any]) -> list[UUID]:
    """By the narrowest way there is; what was published (nearly all), or is unfinished in great number, is met soon anyway."""
    if wanted["recipient"] is not None:
        return routes.find_newest_to(conn, wanted)
    if wanted["status"] in ("dead_letter", "skipped", "cancelled"):
        return routes.find_newest_ended(conn, wanted)
    if wanted["status"] in ("pending", "failed"):
        unfinished = routes.find_newest_unfinished(conn, wanted)
        return _find_newest(conn, wanted, is_near=True) if unfinished is None else unfinished
    if wanted["channel"] and not wanted["type"] and not wanted["producer"]:
        return routes.find_newest_by(conn, wanted)
    return _find_newest(conn, wanted, is_near=not wanted["channel"])


def _find_newest(conn: Connection[Any], wanted: dict[str, Any], *, is_near: bool) -> list[UUID]:
    """Along the records. `is_near`: their routes match so often that looking at those of each is quickest; else the planner may
    read all that match at once."""
    rows = conn.execute(
        """
        SELECT notification_id
        FROM records
        WHERE tenant_id = %(tenant_id)s
          AND (accepted_at, notification_id) < (%(before_at)s, %(before_id)s) AND accepted_at >= %(since)s
          AND (%(type)s::text IS NULL OR notification_type = %(type)s)
          AND (%(producer)s::text IS NULL OR producer = %(producer)s)
          AND (NOT %(is_near)s OR %(status)s::text IS NULL OR (
              SELECT true
              FROM routes
              WHERE routes.tenant_id = %(tenant_id)s AND routes.notification_id = records.notification_id
                AND routes.status = %(status)s AND routes.channel = ANY(%(channels)s)
              LIMIT 1))
          AND (%(is_near)s OR EXISTS (
              SELECT
              FROM routes
              WHERE routes.tenant_id = %(tenant_id)s AND routes.notification_id = records.notification_id
                AND (%(status)s::text IS NULL OR routes.status = %(status)s) AND routes.channel = ANY(%(channels)s)))
        ORDER BY accepted_at DESC, notification_id DESC
        LIMIT %(limit)s
        """,
        wanted | {"is_near": is_near},
    ).fetchall()
    return [row[0] for row in rows]


def _show(conn: Connection[Any], tenant_id: UUID, ids: list[UUID]) -> list[dict[str, Any]]:
    """One that retention takes meanwhile is missing; what would come after it is as old."""
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            SELECT notification_id, notification_type, producer, mode, audience_kind, audience ->> 'scope' AS scope, template,
                   priority, thread_kind,
                   thread_id, occurred_at, accepted_at, send_at, expires_at, cancelled_at,
                   (SELECT jsonb_object_agg(counted.status, counted.routes)
                    FROM (SELECT status, count(*) AS routes FROM routes
                          WHERE routes.notification_id = records.notification_id AND routes.tenant_id = %(tenant_id)s
                          GROUP BY status) AS counted) AS routes
            FROM records
            WHERE tenant_id = %(tenant_id)s AND notification_id = ANY(%(ids)s)
            ORDER BY accepted_at DESC, notification_id DESC
            """,
            {"tenant_id": tenant_id, "ids": ids},
        )
        .fetchall()
    )


def mark_cancelled(conn: Connection[Any], tenant_id: UUID, notification_id: UUID) -> bool:
    """Note the wish; what is planned from now on is planned as cancelled. False when there is no such record."""
    marked = conn.execute(
        """
        UPDATE records SET cancelled_at = COALESCE(cancelled_at, tocsin_now()), updated_at = tocsin_now()
        WHERE tenant_id = %(tenant_id)s AND notification_id = %(notification_id)s
        RETURNING true
        """,
        {"tenant_id": tenant_id, "notification_id": notification_id},
    ).fetchone()
    return marked is not None


def release_expired_keys(conn: Connection[Any], *, limit: int) -> int:
    """Give up reservations whose window has ended; the record itself stays for its own time."""
    return conn.execute(
        """
        WITH expired AS (
            SELECT notification_id FROM records
            WHERE holds_key AND idempotency_expires_at <= tocsin_now()
            ORDER BY idempotency_expires_at
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        UPDATE records SET holds_key = false, updated_at = tocsin_now()
        FROM expired
        WHERE records.notification_id = expired.notification_id
        """,
        {"limit": limit},
    ).rowcount


def delete_expired(
    conn: Connection[Any], *, age: timedelta, limit: int, only: UUID | None = None, except_for: list[UUID] | None = None
) -> int:
    """Forget old records with their routes, attempts and dead letters; never one that is unplanned or has a live route."""
    return conn.execute(
        """
        WITH candidate AS (
            SELECT notification_id
            FROM records
            WHERE accepted_at < tocsin_now() - %(age)s
              AND (%(only)s::uuid IS NULL OR tenant_id = %(only)s)
              AND tenant_id <> ALL(%(except_for)s)
              AND NOT EXISTS (SELECT FROM outbox WHERE outbox.id = records.notification_id)
              AND NOT EXISTS (
                  SELECT FROM routes
                  WHERE routes.notification_id = records.notification_id AND routes.status IN ('pending', 'failed'))
            ORDER BY accepted_at
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        ), free_route AS (
            SELECT routes.notification_id
            FROM routes JOIN candidate USING (notification_id)
            FOR UPDATE OF routes SKIP LOCKED
        ), expired AS (
            -- a record whose route someone holds just now stays for the next run
            SELECT notification_id
            FROM candidate
            WHERE (SELECT count(*) FROM routes WHERE routes.notification_id = candidate.notification_id)
                = (SELECT count(*) FROM free_route WHERE free_route.notification_id = candidate.notification_id)
        )
        DELETE FROM records USING expired WHERE records.notification_id = expired.notification_id
        """,
        {"age": age, "limit": limit, "only": only, "except_for": except_for or []},
    ).rowcount
