"""What automation gave up on."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row, dict_row

MOST_GROUPED = 100_000  # of the newest unresolved letters: what is older is of the same causes, or forgotten soon
LetterPlace = tuple[datetime, UUID]
NEWEST: LetterPlace = (datetime.max.replace(tzinfo=UTC), UUID(int=2**128 - 1))


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which letters: what is None does not matter. `state` is a resolution, or unresolved, resolved, all."""

    state: str = "unresolved"
    source_kind: str | None = None
    channel: str | None = None
    classification: str | None = None
    provider: str | None = None
    provider_code: str | None = None
    notification_id: UUID | None = None
    recipient: str | None = None
    type: str | None = None
    template: str | None = None
    template_version: int | None = None
    trigger_id: UUID | None = None
    since: datetime | None = None
    until: datetime | None = None


def find_page(
    conn: Connection[Any], tenant_id: UUID, wanted: Wanted, *, limit: int, before: LetterPlace | None = None
) -> list[LetterPlace]:
    """Where the next letters stand, newest first.

    Planned anew each time, with these values: each filter has its index, and what is not asked for is not in the plan."""
    place = before or NEWEST
    if wanted.until:
        place = min(place, (wanted.until, UUID(int=0)))
    rows = conn.execute(
        """
        SELECT created_at, id
        FROM dead_letters
        WHERE tenant_id = %(tenant_id)s
          AND (created_at, id) < (%(before_at)s, %(before_id)s)
          AND (%(since)s::timestamptz IS NULL OR created_at >= %(since)s)
          AND CASE %(state)s::text WHEN 'all' THEN true WHEN 'unresolved' THEN resolution IS NULL
                  WHEN 'resolved' THEN resolution IS NOT NULL ELSE resolution = %(state)s END
          AND (%(source_kind)s::text IS NULL OR source_kind = %(source_kind)s)
          AND (%(channel)s::text IS NULL OR channel = %(channel)s)
          AND (%(classification)s::text IS NULL OR failure_classification = %(classification)s)
          AND (%(provider)s::text IS NULL OR provider = %(provider)s)
          AND (%(provider_code)s::text IS NULL OR provider_code = %(provider_code)s)
          AND (%(notification_id)s::uuid IS NULL OR notification_id = %(notification_id)s)
          AND (%(recipient)s::text IS NULL OR recipient_ref = %(recipient)s AND recipient_ref <> '')
          AND (%(type)s::text IS NULL OR notification_type = %(type)s AND notification_type <> '')
          AND (%(trigger_id)s::uuid IS NULL OR trigger_id = %(trigger_id)s)
          AND (%(template)s::text IS NULL OR template_id IN (
              SELECT templates.id
              FROM templates
              WHERE templates.tenant_id = %(tenant_id)s AND templates.name = %(template)s
                AND (%(template_version)s::integer IS NULL OR templates.version = %(template_version)s)))
        ORDER BY created_at DESC, id DESC
        LIMIT %(limit)s
        """,
        asdict(wanted) | {"tenant_id": tenant_id, "before_at": place[0], "before_id": place[1], "limit": limit},
        prepare=False,
    ).fetchall()
    return [(row[0], row[1]) for row in rows]


def find(conn: Connection[Any], tenant_id: UUID, ids: list[UUID]) -> list[dict[str, Any]]:
    """Everything of these letters, newest first."""
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            SELECT letter.id, letter.source_kind, letter.notification_id, letter.notification_type, letter.route_id,
                   letter.generation, letter.channel, letter.recipient_ref, letter.final_attempt_count, letter.max_attempts,
                   letter.failure_classification, letter.failure_message, letter.recovery_hint, letter.provider,
                   letter.provider_code, letter.outbox_id, letter.queue, letter.priority, letter.payload, letter.retry_backoff,
                   letter.retry_base_ms, letter.principal_id, letter.trigger_depth, letter.trigger_id, letter.handler_id,
                   letter.first_attempt_at, letter.last_attempt_at, letter.created_at, letter.resolution, letter.resolved_at,
                   letter.resolved_by, letter.resolution_reason, letter.replayed_as, letter.template_id,
                   templates.name AS template_name, templates.version AS template_version
            FROM dead_letters AS letter
            LEFT JOIN templates ON templates.tenant_id = letter.tenant_id AND templates.id = letter.template_id
            WHERE letter.tenant_id = %(tenant_id)s AND letter.id = ANY(%(ids)s)
            ORDER BY letter.created_at DESC, letter.id DESC
            """,
            {"tenant_id": tenant_id, "ids": ids},
        )
        .fetchall()
    )


def count_unresolved(conn: Connection[Any], tenant_id: UUID) -> int:
    row = conn.execute(
        "SELECT count(*) FROM dead_letters WHERE tenant_id = %(tenant_id)s AND resolution IS NULL", {"tenant_id": tenant_id}
    ).fetchone()
    return int(row[0]) if row else 0


def count_matching(conn: Connection[Any], tenant_id: UUID, wanted: Wanted, *, most: int) -> int:
    """How many such letters there are, up to about as many; counted along the list, so that the two agree."""
    found, before = 0, None
    while found < most and (page := find_page(conn, tenant_id, wanted, limit=10_000, before=before)):
        found += len(page)
        before = page[-1]
    return found


@dataclass(frozen=True, slots=True)
class Cause:
    """Unresolved letters that died of the same."""

    source_kind: str
    channel: str
    classification: str
    provider: str
    provider_code: str
    template: str | None
    template_version: int | None
    count: int
    first_seen_at: datetime
    last_seen_at: datetime
    example_id: UUID
    recovery_hint: str


def group_by_cause(conn: Connection[Any], tenant_id: UUID, *, limit: int) -> list[Cause]:
    """The commonest causes of the newest unresolved letters first."""
    return (
        conn.cursor(row_factory=class_row(Cause))
        .execute(
            """
            WITH newest AS MATERIALIZED (
                SELECT id, created_at, source_kind, channel, failure_classification, provider, provider_code, template_id
                FROM dead_letters
                WHERE tenant_id = %(tenant_id)s AND resolution IS NULL
                ORDER BY created_at DESC, id DESC
                LIMIT %(most)s
            ), cause AS (
                SELECT source_kind, channel, failure_classification, provider, provider_code, template_id, count(*) AS count,
                       min(created_at) AS first_seen_at, max(created_at) AS last_seen_at,
                       (array_agg(id ORDER BY created_at DESC, id DESC))[1] AS example_id
                FROM newest
                GROUP BY source_kind, channel, failure_classification, provider, provider_code, template_id
                ORDER BY count(*) DESC, max(created_at) DESC
                LIMIT %(limit)s
            )
            SELECT cause.source_kind, cause.channel, cause.failure_classification AS classification, cause.provider,
                   cause.provider_code, templates.name AS template, templates.version AS template_version, cause.count,
                   cause.first_seen_at, cause.last_seen_at, cause.example_id, example.recovery_hint
            FROM cause
            JOIN dead_letters AS example ON example.id = cause.example_id AND example.tenant_id = %(tenant_id)s
            LEFT JOIN templates ON templates.tenant_id = %(tenant_id)s AND templates.id = cause.template_id
            ORDER BY cause.count DESC, cause.last_seen_at DESC
            """,
            {"tenant_id": tenant_id, "most": MOST_GROUPED, "limit": limit},
        )
        .fetchall()
    )


def list_of(conn: Connection[Any], tenant_id: UUID, notification_id: UUID, *, limit: int) -> list[dict[str, Any]]:
    """What died of a notification, oldest first: its plan, the rest of its audience, its routes in each generation."""
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            SELECT id, source_kind, route_id, generation, failure_classification, failure_message, recovery_hint, created_at,
                   resolution, resolved_at, resolved_by
            FROM dead_letters
            WHERE tenant_id = %(tenant_id)s AND notification_id = %(notification_id)s
              AND source_kind IN ('plan', 'fanout', 'deliver')
            ORDER BY created_at, id
            LIMIT %(limit)s
            """,
            {"tenant_id": tenant_id, "notification_id": notification_id, "limit": limit},
        )
        .fetchall()
    )


def find_lately(
    conn: Connection[Any], tenant_id: UUID, since: datetime, until: datetime, *, limit: int | None
) -> list[dict[str, Any]]:
    """What of notifications died in this time, or was seen to."""
    return (
        conn.cursor(row_factory=dict_row)
        .execute(
            """
            WITH found AS MATERIALIZED (  -- planned as if all were wanted
                SELECT notification_id, source_kind, route_id, generation, failure_classification, failure_message, created_at,
                       resolution, resolved_at, resolved_by
                FROM dead_letters
                WHERE tenant_id = %(tenant_id)s AND source_kind IN ('plan', 'fanout', 'deliver') AND notification_id IS NOT NULL
                  AND (created_at >= %(since)s AND created_at < %(until)s OR resolved_at >= %(since)s AND resolved_at < %(until)s)
            )
            SELECT * FROM found LIMIT %(limit)s
            """,
            {"tenant_id": tenant_id, "since": since, "until": until, "limit": limit},
            prepare=False,  # seconds, or minutes
        )
        .fetchall()
    )


def find_of_plan(conn: Connection[Any], tenant_id: UUID, notification_id: UUID) -> str | None:
    """Why the planning of a notification was given up, whatever became of the letter; None: it was not."""
    row = conn.execute(
        """
        SELECT failure_classification
        FROM dead_letters
        WHERE tenant_id = %(tenant_id)s AND notification_id = %(notification_id)s AND source_kind = 'plan'
        ORDER BY created_at DESC
        LIMIT 1
        """,
        {"tenant_id": tenant_id, "notification_id": notification_id},
    ).fetchone()
    return row[0] if row else None


def find_newest_unplanned(conn: Connection[Any], wanted: dict[str, Any]) -> list[tuple[datetime, UUID]]:
    """The notifications whose plan, or the rest of whose audience, died and was not replayed: when they were accepted, newest
    first."""
    rows = conn.execute(
        """
        SELECT DISTINCT accepted_at, notification_id
        FROM dead_letters
        WHERE tenant_id = %(tenant_id)s AND source_kind IN ('plan', 'fanout') AND accepted_at IS NOT NULL
          AND resolution IS DISTINCT FROM 'replayed'
          AND (accepted_at, notification_id) < (%(before_at)s, %(before_id)s) AND accepted_at >= %(since)s
          AND (%(type)s::text IS NULL OR notification_type = %(type)s)
          AND (%(producer)s::text IS NULL OR (
              SELECT records.producer = %(producer)s
              FROM records
              WHERE records.tenant_id = %(tenant_id)s AND records.notification_id = dead_letters.notification_id))
        ORDER BY accepted_at DESC, notification_id DESC
        LIMIT %(limit)s
        """,
        wanted,
    ).fetchall()
    return [(row[0], row[1]) for row in rows]


def resolve(conn: Connection[Any], tenant_id: UUID, letter_id: UUID, *, resolution: str, reason: str, by: UUID) -> bool:
    """False: there is no such letter, or somebody has seen to it. One whose handler failed still waits for a person."""
    marked = conn.execute(
        """
        UPDATE dead_letters
        SET resolution = %(resolution)s, resolved_at = tocsin_now(), resolved_by = %(by)s, resolution_reason = %(reason)s
        WHERE tenant_id = %(tenant_id)s AND id = %(letter_id)s AND (resolution IS NULL OR resolution = 'handler_failed')
        RETURNING true
        """,
        {"tenant_id": tenant_id, "letter_id": letter_id, "resolution": resolution, "reason": reason, "by": by},
    ).fetchone()
    return marked is not None


def delete_expired(conn: Connection[Any], *, age: timedelta, least: timedelta, limit: int) -> int:
    """Forget what nobody has resolved."""
    return conn.execute(
        """
        WITH expired AS (
            SELECT old.id
            FROM tocsin_kept('dead_letters_days', %(age)s, %(least)s) AS kept
            CROSS JOIN LATERAL (
                SELECT dead_letters.id FROM dead_letters
                WHERE dead_letters.tenant_id = kept.tenant_id
                  AND dead_letters.created_at < tocsin_now() - kept.age
                  AND dead_letters.resolution IS NULL
                ORDER BY dead_letters.created_at
                LIMIT %(limit)s
                FOR UPDATE SKIP LOCKED
            ) AS old
            LIMIT %(limit)s
        )
        DELETE FROM dead_letters USING expired WHERE dead_letters.id = expired.id
        """,
        {"age": age, "least": least, "limit": limit},
    ).rowcount


def delete_resolved(conn: Connection[Any], *, age: timedelta, least: timedelta, limit: int) -> int:
    """The same for what was resolved, from then on."""
    return conn.execute(
        """
        WITH expired AS (
            SELECT old.id
            FROM tocsin_kept('resolved_dead_letters_days', %(age)s, %(least)s) AS kept
            CROSS JOIN LATERAL (
                SELECT dead_letters.id FROM dead_letters
                WHERE dead_letters.tenant_id = kept.tenant_id AND dead_letters.resolved_at < tocsin_now() - kept.age
                ORDER BY dead_letters.resolved_at
                LIMIT %(limit)s
                FOR UPDATE SKIP LOCKED
            ) AS old
            LIMIT %(limit)s
        )
        DELETE FROM dead_letters USING expired WHERE dead_letters.id = expired.id
        """,
        {"age": age, "least": least, "limit": limit},
    ).rowcount
