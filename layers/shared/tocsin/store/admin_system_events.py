"""What an operator should see: one open row per condition, resolved when the condition passes."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.types.json import Jsonb


def raise_once(
    conn: Connection[Any], *, event_type: str, severity: str, subject: str, description: str, details: dict[str, Any]
) -> None:
    """Open an event unless one for this condition is open already."""
    conn.execute(
        """
        INSERT INTO admin_system_events (event_type, severity, subject, description, details)
        VALUES (%(event_type)s, %(severity)s, %(subject)s, %(description)s, %(details)s)
        ON CONFLICT (event_type, subject, tenant_id) WHERE NOT is_resolved DO NOTHING
        """,
        {
            "event_type": event_type,
            "severity": severity,
            "subject": subject,
            "description": description,
            "details": Jsonb(details),
        },
    )


def resolve_reopened(conn: Connection[Any]) -> None:
    """The trouble of lanes that are open is over, whoever opened them."""
    conn.execute(
        """
        UPDATE admin_system_events SET is_resolved = true, resolved_at = tocsin_now()
        WHERE event_type IN ('lane_stopped', 'quota_reached', 'breaker_opened') AND NOT is_resolved
          AND NOT EXISTS (SELECT FROM lanes WHERE lanes.lane = admin_system_events.subject)
        """
    )


def resolve(conn: Connection[Any], tenant_id: UUID, *, event_type: str, subject: str) -> None:
    """A tenant's own condition has passed."""
    conn.execute(
        """
        UPDATE admin_system_events SET is_resolved = true, resolved_at = tocsin_now()
        WHERE tenant_id = %(tenant_id)s AND event_type = %(event_type)s AND subject = %(subject)s AND NOT is_resolved
        """,
        {"tenant_id": tenant_id, "event_type": event_type, "subject": subject},
    )


def delete_expired(conn: Connection[Any], *, age: timedelta, limit: int) -> int:
    return conn.execute(
        """
        WITH expired AS (
            SELECT id FROM admin_system_events
            WHERE is_resolved AND created_at < tocsin_now() - %(age)s
            LIMIT %(limit)s
            FOR UPDATE SKIP LOCKED
        )
        DELETE FROM admin_system_events USING expired WHERE admin_system_events.id = expired.id
        """,
        {"age": age, "limit": limit},
    ).rowcount
