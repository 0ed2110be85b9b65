"""What an operator should see: one open row per condition, resolved when the condition passes."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.rows import class_row
from psycopg.types.json import Jsonb

SEVERITIES = ("low", "medium", "high", "critical")
MAX_DETAILS = 8_192  # bytes, as Postgres writes them


@dataclass(frozen=True, slots=True)
class SystemEvent:
    """`user_id` is the id by which the tenant knows the person; `is_shared`: it is the installation's."""

    id: int
    event_type: str
    severity: str
    subject: str
    description: str
    details: dict[str, Any] | None
    user_id: str | None
    is_shared: bool
    created_by: UUID | None
    created_at: datetime
    is_resolved: bool
    resolved_at: datetime | None
    resolved_by: UUID | None
    resolution_reason: str


@dataclass(frozen=True, slots=True)
class SystemEventFilters:
    severity: str | None = None
    event_type: str | None = None
    is_resolved: bool | None = None
    since: datetime | None = None
    until: datetime | None = None


def raise_once(
    conn: Connection[Any],
    *,
    event_type: str,
    severity: str,
    subject: str,
    description: str,
    details: dict[str, Any],
    tenant_id: UUID | None = None,
) -> None:
    """Open an event unless one for this condition is open already: of a tenant, or of the installation."""
    conn.execute(
        """
        INSERT INTO admin_system_events (event_type, severity, subject, description, details, tenant_id)
        VALUES (%(event_type)s, %(severity)s, %(subject)s, %(description)s, %(details)s, %(tenant_id)s)
        ON CONFLICT (event_type, subject, tenant_id) WHERE NOT is_resolved DO NOTHING
        """,
        {
            "event_type": event_type,
            "severity": severity,
            "subject": subject,
            "description": description,
            "details": Jsonb(details),
            "tenant_id": tenant_id,
        },
    )


def note(
    conn: Connection[Any],
    *,
    event_type: str,
    severity: str,
    subject: str,
    description: str,
    details: dict[str, Any],
    tenant_id: UUID,
    user_id: UUID | None = None,
) -> None:
    """Say what happened and asks for nothing: it is resolved from the start."""
    conn.execute(
        """
        INSERT INTO admin_system_events (
            event_type, severity, subject, description, details, tenant_id, user_id, created_at, is_resolved, resolved_at)
        VALUES (%(event_type)s, %(severity)s, %(subject)s, %(description)s, %(details)s, %(tenant_id)s, %(user_id)s, tocsin_now(),
                true, tocsin_now())
        """,
        {
            "event_type": event_type,
            "severity": severity,
            "subject": subject,
            "description": description,
            "details": Jsonb(details),
            "tenant_id": tenant_id,
            "user_id": user_id,
        },
    )


def insert_unless_open(
    conn: Connection[Any],
    tenant_id: UUID,
    *,
    event_type: str,
    severity: str,
    subject: str,
    description: str,
    details: dict[str, Any] | None,
    user_id: UUID | None,
    created_by: UUID,
) -> int | None:
    """A person's own event. None: one for this condition is open already."""
    row = conn.execute(
        """
        INSERT INTO admin_system_events (
            event_type, severity, subject, description, details, tenant_id, user_id, created_by)
        VALUES (%(event_type)s, %(severity)s, %(subject)s, %(description)s, %(details)s, %(tenant_id)s, %(user_id)s,
                %(created_by)s)
        ON CONFLICT (event_type, subject, tenant_id) WHERE NOT is_resolved DO NOTHING
        RETURNING id
        """,
        {
            "event_type": event_type,
            "severity": severity,
            "subject": subject,
            "description": description,
            "details": Jsonb(details) if details is not None else None,
            "tenant_id": tenant_id,
            "user_id": user_id,
            "created_by": created_by,
        },
    ).fetchone()
    return row[0] if row else None


def find(conn: Connection[Any], tenant_id: UUID, event_id: int) -> SystemEvent | None:
    """An event of the tenant, or of the installation."""
    return (
        conn.cursor(row_factory=class_row(SystemEvent))
        .execute(
            """
            SELECT event.id, event_type, severity, subject, description, details, users.external_id AS user_id,
                   event.tenant_id IS NULL AS is_shared, created_by, event.created_at, is_resolved, resolved_at, resolved_by,
                   resolution_reason
            FROM admin_system_events AS event
            LEFT JOIN users ON users.tenant_id = event.tenant_id AND users.id = event.user_id
            WHERE event.id = %(event_id)s AND (event.tenant_id = %(tenant_id)s OR event.tenant_id IS NULL)
            """,
            {"tenant_id": tenant_id, "event_id": event_id},
        )
        .fetchone()
    )


def list_page(
    conn: Connection[Any], tenant_id: UUID, filters: SystemEventFilters, *, limit: int, after: tuple[datetime, int] | None
) -> list[SystemEvent]:
    """The tenant's own and the installation's, newest first: each by a stretch of the index of whose they are."""
    return (
        conn.cursor(row_factory=class_row(SystemEvent))
        .execute(
            """
            WITH own AS (
                SELECT *
                FROM admin_system_events
                WHERE tenant_id = %(tenant_id)s AND (%(event_type)s::text IS NULL OR event_type = %(event_type)s)
                  AND (%(is_resolved)s::boolean IS NULL OR is_resolved = %(is_resolved)s)
                  AND created_at >= %(since)s AND created_at < %(until)s
                  AND (created_at, id) < (%(after_at)s, %(after_id)s)
                ORDER BY created_at DESC, id DESC
                LIMIT %(limit)s
            ), shared AS (
                SELECT *
                FROM admin_system_events
                WHERE tenant_id IS NULL AND (%(event_type)s::text IS NULL OR event_type = %(event_type)s)
                  AND (%(is_resolved)s::boolean IS NULL OR is_resolved = %(is_resolved)s)
                  AND created_at >= %(since)s AND created_at < %(until)s
                  AND (created_at, id) < (%(after_at)s, %(after_id)s)
                ORDER BY created_at DESC, id DESC
                LIMIT %(limit)s
            )
            SELECT event.id, event_type, severity, subject, description, details, users.external_id AS user_id,
                   event.tenant_id IS NULL AS is_shared, created_by, event.created_at, is_resolved, resolved_at, resolved_by,
                   resolution_reason
            FROM (SELECT * FROM own UNION ALL SELECT * FROM shared) AS event
            LEFT JOIN users ON users.tenant_id = event.tenant_id AND users.id = event.user_id
            ORDER BY event.created_at DESC, event.id DESC
            LIMIT %(limit)s
            """,
            _asked(tenant_id, filters, limit, after),
        )
        .fetchall()
    )


def list_page_of_severity(
    conn: Connection[Any], tenant_id: UUID, filters: SystemEventFilters, *, limit: int, after: tuple[datetime, int] | None
) -> list[SystemEvent]:
    """The same of one severity, by the index of severities: what is critical is rare, whoever it belongs to."""
    return (
        conn.cursor(row_factory=class_row(SystemEvent))
        .execute(
            """
            WITH listed AS (
                SELECT *
                FROM admin_system_events
                WHERE severity = %(severity)s AND (tenant_id = %(tenant_id)s OR tenant_id IS NULL)
                  AND (%(event_type)s::text IS NULL OR event_type = %(event_type)s)
                  AND (%(is_resolved)s::boolean IS NULL OR is_resolved = %(is_resolved)s)
                  AND created_at >= %(since)s AND created_at < %(until)s
                  AND (created_at, id) < (%(after_at)s, %(after_id)s)
                ORDER BY created_at DESC, id DESC
                LIMIT %(limit)s
            )
            SELECT event.id, event_type, severity, subject, description, details, users.external_id AS user_id,
                   event.tenant_id IS NULL AS is_shared, created_by, event.created_at, is_resolved, resolved_at, resolved_by,
                   resolution_reason
            FROM listed AS event
            LEFT JOIN users ON users.tenant_id = event.tenant_id AND users.id = event.user_id
            ORDER BY event.created_at DESC, event.id DESC
            """,
            _asked(tenant_id, filters, limit, after) | {"severity": filters.severity},
        )
        .fetchall()
    )


def _asked(tenant_id: UUID, filters: SystemEventFilters, limit: int, after: tuple[datetime, int] | None) -> dict[str, Any]:
    return {
        "tenant_id": tenant_id,
        "event_type": filters.event_type,
        "is_resolved": filters.is_resolved,
        "since": filters.since or "-infinity",
        "until": filters.until or "infinity",
        "limit": limit,
        "after_at": after[0] if after else "infinity",
        "after_id": after[1] if after else 0,
    }


def count_open(conn: Connection[Any], tenant_id: UUID) -> list[tuple[str, int, datetime]]:
    """How many are open, by severity, and since when: the tenant's and the installation's. There is one for each condition."""
    return conn.execute(
        """
        SELECT severity, count(*), min(created_at)
        FROM admin_system_events
        WHERE NOT is_resolved AND (tenant_id = %(tenant_id)s OR tenant_id IS NULL)
        GROUP BY severity
        ORDER BY array_position(ARRAY['critical', 'high', 'medium', 'low'], severity)
        """,
        {"tenant_id": tenant_id},
    ).fetchall()


def resolve_by_hand(conn: Connection[Any], tenant_id: UUID, event_id: int, *, resolved_by: UUID, reason: str) -> bool:
    """False: it is resolved already, or not this tenant's to resolve."""
    found = conn.execute(
        """
        UPDATE admin_system_events
        SET is_resolved = true, resolved_at = tocsin_now(), resolved_by = %(resolved_by)s, resolution_reason = %(reason)s
        WHERE id = %(event_id)s AND (tenant_id = %(tenant_id)s OR tenant_id IS NULL) AND NOT is_resolved
        RETURNING true
        """,
        {"tenant_id": tenant_id, "event_id": event_id, "resolved_by": resolved_by, "reason": reason},
    ).fetchone()
    return found is not None


def resolve_reopened(conn: Connection[Any]) -> None:
    """The trouble of lanes that are open is over, whoever opened them."""
    conn.execute(
        """
        UPDATE admin_system_events SET is_resolved = true, resolved_at = tocsin_now()
        WHERE event_type IN ('lane_stopped', 'quota_reached', 'breaker_opened') AND NOT is_resolved
          AND NOT EXISTS (SELECT FROM lanes WHERE lanes.lane = admin_system_events.subject)
        """
    )


def find_passed_over_sending(conn: Connection[Any]) -> list[tuple[UUID, str]]:
    """The tenants and types whose window is over in which a guard first refused something. Whoever goes on is told of anew."""
    return conn.execute(
        """
        SELECT tenant_id, subject
        FROM admin_system_events
        WHERE event_type = 'over_sending' AND NOT is_resolved
          AND created_at < tocsin_now() - (details ->> 'window_seconds')::integer * interval '1 second'
        """
    ).fetchall()


def resolve(conn: Connection[Any], tenant_id: UUID | None, *, event_type: str, subject: str) -> None:
    """A condition has passed: a tenant's own, or the installation's."""
    conn.execute(
        """
        UPDATE admin_system_events SET is_resolved = true, resolved_at = tocsin_now()
        WHERE tenant_id IS NOT DISTINCT FROM %(tenant_id)s AND event_type = %(event_type)s AND subject = %(subject)s
          AND NOT is_resolved
        """,
        {"tenant_id": tenant_id, "event_type": event_type, "subject": subject},
    )


def find_open(conn: Connection[Any], event_type: str) -> list[tuple[UUID | None, str, dict[str, Any]]]:
    """The conditions of this kind that have not passed: whose, of what, and the details."""
    return conn.execute(
        "SELECT tenant_id, subject, details FROM admin_system_events WHERE event_type = %(event_type)s AND NOT is_resolved",
        {"event_type": event_type},
    ).fetchall()


def count_all_open(conn: Connection[Any]) -> int:
    row = conn.execute("SELECT count(*) FROM admin_system_events WHERE NOT is_resolved").fetchone()
    return int(row[0]) if row else 0


def delete_expired(conn: Connection[Any], *, age: timedelta, least: timedelta, limit: int) -> int:
    """Forget conditions that have passed: a tenant's as long ago as it says, the installation's own by the general number."""
    return conn.execute(
        """
        WITH expired AS (
            SELECT id FROM admin_system_events AS event
            WHERE event.is_resolved AND event.created_at < tocsin_now() - LEAST(%(age)s, %(least)s)
              AND event.created_at < tocsin_now() - COALESCE(
                  (SELECT kept.age FROM tocsin_kept('system_events_days', %(age)s, %(least)s) AS kept
                   WHERE kept.tenant_id = event.tenant_id),
                  %(age)s)
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM admin_system_events USING expired WHERE admin_system_events.id = expired.id
        """,
        {"age": age, "least": least, "limit": limit},
    ).rowcount
