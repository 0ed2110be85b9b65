"""Open a lane by hand: its row goes, and with it the trouble that was told of it."""

from typing import Any
from uuid import UUID

from psycopg import Connection


def open_lane(conn: Connection[Any], lane: str, owner: UUID | None, *, opened_by: UUID | None, reason: str) -> bool:
    """False: it is open already. What waits for it is brought forward by whoever calls this, and by the sweep."""
    row = conn.execute(
        """
        WITH opened AS (
            DELETE FROM lanes WHERE lane = %(lane)s AND tenant_id IS NOT DISTINCT FROM %(owner)s RETURNING lane
        ), resolved AS (
            UPDATE admin_system_events
            SET is_resolved = true, resolved_at = tocsin_now(), resolved_by = %(opened_by)s, resolution_reason = %(reason)s
            FROM opened
            WHERE event_type IN ('lane_stopped', 'quota_reached', 'breaker_opened') AND subject = opened.lane
              AND tenant_id IS NOT DISTINCT FROM %(owner)s AND NOT is_resolved
        )
        SELECT true FROM opened
        """,
        {"lane": lane, "owner": owner, "opened_by": opened_by, "reason": reason},
    ).fetchone()
    return row is not None
