"""Cancel: take back what surely was not sent."""

from typing import Any
from uuid import UUID

from psycopg import Connection


def cancel_unsent(conn: Connection[Any], tenant_id: UUID, notification_id: UUID) -> int:
    """End the routes of a notification that surely were not sent, with their work and what they had reserved. How many?

    An attempt being opened right now wins or loses on the row lock of its work: its route is then not among these, or it finds
    no row."""
    ended = conn.execute(
        """
        WITH taken_back AS (
            DELETE FROM outbox
            USING routes
            WHERE routes.tenant_id = %(tenant_id)s AND routes.notification_id = %(notification_id)s
              AND routes.status IN ('pending', 'failed')
              AND outbox.tenant_id = %(tenant_id)s AND outbox.id = routes.outbox_id
              AND NOT outbox.attempt_open AND NOT routes.duplicate_suspected
            RETURNING routes.route_id
        ), given_up AS (
            DELETE FROM notification_email_log AS log
            USING taken_back
            WHERE log.tenant_id = %(tenant_id)s AND log.notification_id = %(notification_id)s
              AND log.route_id = taken_back.route_id
        )
        UPDATE routes
        SET status = 'cancelled', reason = 'cancelled', next_attempt_at = NULL, cancelled_at = tocsin_now(),
            updated_at = tocsin_now()
        FROM taken_back
        WHERE routes.tenant_id = %(tenant_id)s AND routes.notification_id = %(notification_id)s
          AND routes.route_id = taken_back.route_id AND routes.status IN ('pending', 'failed')
        RETURNING routes.route_id
        """,
        {"tenant_id": tenant_id, "notification_id": notification_id},
    ).fetchall()
    return len(ended)
