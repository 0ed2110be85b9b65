"""Give events that came from another server numbers that this one never hands out."""

from typing import Any

from psycopg import Connection


def renumber(conn: Connection[Any]) -> tuple[int, int]:
    """Told events go behind the cursor, waiting ones before it in the order of their ids; whatever is recorded from now on comes
    after, for no server hands out the numbers 0 and 1. Returns how many there are of each.

    Needs the owner of the tables, who becomes a member of tocsin_worker and so sees every tenant."""
    conn.execute("GRANT tocsin_worker TO CURRENT_USER")
    conn.execute(
        """
        UPDATE domain_events_processed
        SET last_txid = '0', last_event_id = 9223372036854775807, claim_count = 0, leased_until = NULL, lease_token = NULL,
            updated_at = tocsin_now()
        """
    )
    row = conn.execute(
        """
        WITH renumbered AS (
            UPDATE domain_events
            SET txid = CASE
                    WHEN outcome <> 'waiting' THEN '0'::xid8
                    -- being told, beside the cursor
                    WHEN EXISTS (SELECT FROM outbox WHERE outbox.id = domain_events.notification_id) THEN '0'::xid8
                    ELSE '1'::xid8
                END
            RETURNING txid
        )
        SELECT count(*) FILTER (WHERE txid = '0'::xid8), count(*) FILTER (WHERE txid = '1'::xid8) FROM renumbered
        """
    ).fetchone()
    return (row[0], row[1]) if row else (0, 0)
