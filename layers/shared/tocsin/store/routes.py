"""One row per recipient and channel, and how it ends."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import args_row, class_row, dict_row
from psycopg.types.json import Jsonb

from tocsin.store.rows import RANKS, PinnedTemplate, Wording


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


def count_since(conn: Connection[Any], tenant_id: UUID, *, window: timedelta, mode: str) -> list[tuple[str, str, str, int]]:
    """What became of the routes of records that were accepted lately: channel, provider, status, how many."""
    return conn.execute(
        """
        SELECT routes.channel, routes.provider, routes.status, count(*)
        FROM records JOIN routes USING (notification_id)
        WHERE records.tenant_id = %(tenant_id)s AND records.accepted_at >= tocsin_now() - %(window)s
          AND records.mode = %(mode)s AND routes.tenant_id = %(tenant_id)s
        GROUP BY routes.channel, routes.provider, routes.status
        ORDER BY routes.channel, routes.provider, routes.status
        """,
        {"tenant_id": tenant_id, "window": window, "mode": mode},
        prepare=False,  # a minute, or a day
    ).fetchall()


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


@dataclass(frozen=True, slots=True)
class Worded:
    """A route with all that its words are made of, and what became of it."""

    wording: Wording
    recipient_ref: str
    user_id: UUID | None
    status: str
    reason: str
    provider: str
    may_have_arrived: bool
    published_at: datetime | None
    follows_thread: bool
    is_transactional: bool
    template_id: UUID | None  # that it was planned with; its version may have been forgotten since
    template_name: str | None  # that was asked for
    has_audience: bool  # an address that it was for is still known
    now: datetime
    worded_at: datetime  # when its words were chosen
    email_options: dict[str, Any] | None


def find_worded(conn: Connection[Any], tenant_id: UUID, notification_id: UUID, route_id: str) -> Worded | None:
    return (
        conn.cursor(row_factory=args_row(_worded))
        .execute(
            """
            SELECT routes.channel, routes.audience_reason, records.notification_type, records.audience_kind, records.payload_json,
                   templates.id, templates.name, templates.version, templates.locale, templates.subject, templates.body,
                   templates.text, templates.layout, templates.partials, routes.resolved_locale, routes.user_id IS NOT NULL,
                   routes.recipient_ref, routes.user_id, routes.status, routes.reason, routes.provider, routes.may_have_arrived,
                   routes.published_at,
                   routes.audience_reason <> '' AND routes.user_id IS NOT NULL AND records.thread_kind IS NOT NULL,
                   COALESCE(kind.transactional, true), routes.template_id, records.template,
                   records.audience_kind <> 'address' OR records.audience IS NOT NULL, tocsin_now(),
                   COALESCE(routes.worded_at, routes.created_at), records.email_options
            FROM routes
            JOIN records ON records.notification_id = routes.notification_id AND records.tenant_id = %(tenant_id)s
            LEFT JOIN templates ON templates.id = routes.template_id AND templates.tenant_id = %(tenant_id)s
            LEFT JOIN notification_types AS kind
                ON kind.tenant_id = %(tenant_id)s AND kind.name = records.notification_type
            WHERE routes.tenant_id = %(tenant_id)s AND routes.notification_id = %(notification_id)s
              AND routes.route_id = %(route_id)s
            """,
            {"tenant_id": tenant_id, "notification_id": notification_id, "route_id": route_id},
        )
        .fetchone()
    )


def _worded(*columns: Any) -> Worded:
    template = PinnedTemplate(*columns[5:14]) if columns[5] else None
    channel, reason, notification_type, audience_kind, payload = columns[:5]
    locale, is_known = columns[14:16]
    return Worded(Wording(channel, reason, notification_type, audience_kind, payload, template, locale, is_known), *columns[16:])


@dataclass(frozen=True, slots=True)
class SentRoute:
    """A route that a provider knows."""

    notification_id: UUID
    route_id: str
    channel: str
    recipient_ref: str


def find_by_message_id(conn: Connection[Any], tenant_id: UUID, message_ids: list[str], *, limit: int) -> list[SentRoute]:
    """The routes to which a provider gave one of these ids, newest first."""
    return (
        conn.cursor(row_factory=class_row(SentRoute))
        .execute(
            """
            SELECT notification_id, route_id, channel, recipient_ref
            FROM routes
            WHERE tenant_id = %(tenant_id)s AND provider_message_id = ANY(%(message_ids)s)
              AND created_at > '-infinity'  -- always so: of times the planner knows that they are close together
            ORDER BY accepted_at DESC, notification_id DESC, route_id
            LIMIT %(limit)s
            """,
            {"tenant_id": tenant_id, "message_ids": message_ids, "limit": limit},
        )
        .fetchall()
    )


def find_lately(
    conn: Connection[Any], tenant_id: UUID, since: datetime, until: datetime, *, limit: int | None
) -> list[tuple[UUID, str]]:
    """The routes of which something was decided in this time: planned before its end, and changed after its beginning."""
    rows = conn.execute(
        """
        WITH found AS MATERIALIZED (  -- planned as if all were wanted
            SELECT notification_id, route_id
            FROM routes
            WHERE tenant_id = %(tenant_id)s AND created_at < %(until)s AND updated_at >= %(since)s
              AND (created_at >= %(since)s OR updated_at < %(until)s
                   OR deferred_at >= %(since)s AND deferred_at < %(until)s
                   OR COALESCE(published_at, dead_lettered_at, skipped_at, cancelled_at) >= %(since)s
                      AND COALESCE(published_at, dead_lettered_at, skipped_at, cancelled_at) < %(until)s)
        )
        SELECT * FROM found LIMIT %(limit)s
        """,
        {"tenant_id": tenant_id, "since": since, "until": until, "limit": limit},
        prepare=False,  # seconds, or minutes
    ).fetchall()
    return [(row[0], row[1]) for row in rows]


def find_some(conn: Connection[Any], tenant_id: UUID, places: list[tuple[UUID, str]]) -> list[dict[str, Any]]:
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            SELECT route.*
            FROM unnest(%(ids)s::uuid[], %(route_ids)s::text[]) AS wanted (notification_id, route_id)
            CROSS JOIN LATERAL (
                -- LIMIT: one probe of the index each; as a join it would read the whole table
                SELECT routes.notification_id, routes.route_id, channel, recipient_ref, status, reason, audience_reason,
                       generation, provider, deferral_count, deferred_reason, deferred_at, next_attempt_at, may_have_arrived,
                       duplicate_suspected, last_error_message, created_at, updated_at, published_at, dead_lettered_at,
                       skipped_at, cancelled_at
                FROM routes
                WHERE routes.tenant_id = %(tenant_id)s AND routes.notification_id = wanted.notification_id
                  AND routes.route_id = wanted.route_id
                LIMIT 1
            ) AS route
            """,
            {"tenant_id": tenant_id, "ids": [one[0] for one in places], "route_ids": [one[1] for one in places]},
        )
        .fetchall()
    )


def find_newest_to(conn: Connection[Any], wanted: dict[str, Any]) -> list[UUID]:
    """The notifications with such a route to a recipient, newest first. Finished: no route of theirs is pending or failed."""
    rows = conn.execute(
        """
        SELECT DISTINCT accepted_at, notification_id
        FROM routes
        WHERE tenant_id = %(tenant_id)s AND recipient_ref = %(recipient)s AND channel = ANY(%(channels)s)
          AND (accepted_at, notification_id) < (%(before_at)s, %(before_id)s) AND accepted_at >= %(since)s
          AND (%(statuses)s::text[] IS NULL OR status = ANY(%(statuses)s))
          AND (%(own)s::text IS DISTINCT FROM 'finished' OR (
              SELECT true
              FROM routes AS other
              WHERE other.tenant_id = %(tenant_id)s AND other.notification_id = routes.notification_id
                AND other.status IN ('pending', 'failed')
              LIMIT 1) IS NULL)
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
          AND (%(statuses)s::text[] IS NULL OR status = ANY(%(statuses)s))
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


def find_newest_finished_by(conn: Connection[Any], wanted: dict[str, Any]) -> list[UUID]:
    """The notifications with a route on a channel and none that is pending or failed, newest first.

    From each to the next along the index: it may have very many routes, and all of them are looked at once."""
    rows = conn.execute(
        """
        WITH RECURSIVE found AS (
            (SELECT accepted_at, notification_id
             FROM routes
             WHERE tenant_id = %(tenant_id)s AND channel = %(channel)s AND status NOT IN ('pending', 'failed')
               AND (accepted_at, notification_id) < (%(before_at)s, %(before_id)s) AND accepted_at >= %(since)s
             ORDER BY accepted_at DESC, notification_id DESC
             LIMIT 1)
            UNION ALL
            SELECT older.accepted_at, older.notification_id
            FROM found CROSS JOIN LATERAL (
                SELECT accepted_at, notification_id
                FROM routes
                WHERE tenant_id = %(tenant_id)s AND channel = %(channel)s AND status NOT IN ('pending', 'failed')
                  AND (accepted_at, notification_id) < (found.accepted_at, found.notification_id) AND accepted_at >= %(since)s
                ORDER BY accepted_at DESC, notification_id DESC
                LIMIT 1
            ) AS older
        ), finished AS (
            SELECT accepted_at, notification_id
            FROM found
            WHERE (
                SELECT true
                FROM routes
                WHERE routes.tenant_id = %(tenant_id)s AND routes.notification_id = found.notification_id
                  AND routes.status IN ('pending', 'failed')
                LIMIT 1) IS NULL
              AND (%(type)s::text IS NULL AND %(producer)s::text IS NULL OR (
                  SELECT (%(type)s::text IS NULL OR records.notification_type = %(type)s)
                         AND (%(producer)s::text IS NULL OR records.producer = %(producer)s)
                  FROM records
                  WHERE records.tenant_id = %(tenant_id)s AND records.notification_id = found.notification_id))
            LIMIT %(limit)s
        )
        SELECT accepted_at, notification_id FROM finished ORDER BY accepted_at DESC, notification_id DESC
        """,
        wanted,
    ).fetchall()
    return [row[1] for row in rows]


def find_newest_ended(conn: Connection[Any], wanted: dict[str, Any]) -> list[tuple[datetime, UUID]]:
    """The same with such a route that ended unpublished, with when they were accepted. Each channel is a stretch of the index."""
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
    return [(row[0], row[1]) for row in rows]


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
                  AND routes.tenant_id = %(tenant_id)s AND routes.status = ANY(%(statuses)s)
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
        wanted,
    ).fetchone()
    return row[1] if row and row[0] else None


def raise_feedback(conn: Connection[Any], raised: list[tuple[UUID, str, str]]) -> None:
    """Join routes' feedback registers with what was heard of them: the highest rank stays, in whatever order it comes."""
    conn.execute(
        """
        UPDATE routes
        SET feedback = event.feedback, feedback_at = tocsin_now(), updated_at = tocsin_now()
        FROM (
            SELECT DISTINCT ON (notification_id, route_id) notification_id, route_id, feedback
            FROM jsonb_to_recordset(%(events)s) AS event (notification_id uuid, route_id text, feedback text)
            ORDER BY notification_id, route_id, array_position(%(ranks)s::text[], feedback) DESC
        ) AS event
        WHERE routes.notification_id = event.notification_id AND routes.route_id = event.route_id
          AND array_position(%(ranks)s::text[], event.feedback) > array_position(%(ranks)s::text[], routes.feedback)
        """,
        {
            "ranks": list(RANKS),
            "events": Jsonb(
                [
                    {"notification_id": str(notification_id), "route_id": route_id, "feedback": feedback}
                    for notification_id, route_id, feedback in raised
                ]
            ),
        },
    )
