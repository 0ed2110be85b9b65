"""Read whole records, with all that belongs to them, as the archive keeps them."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from psycopg import Connection


def read(conn: Connection[Any], ids: list[UUID]) -> Iterator[str]:
    """A line of JSON for each record, route, attempt and dead letter, as they come: one record may have a million routes."""
    rows = conn.cursor().stream(
        """
        SELECT jsonb_build_object('table', 'records', 'row', to_jsonb(records) - 'request_fingerprint')::text
        FROM records
        WHERE records.notification_id = ANY(%(ids)s)
        UNION ALL
        SELECT jsonb_build_object('table', 'routes', 'row', to_jsonb(routes))::text
        FROM routes
        WHERE routes.notification_id = ANY(%(ids)s)
        UNION ALL
        SELECT jsonb_build_object('table', 'attempts', 'row', to_jsonb(attempts))::text
        FROM attempts
        WHERE attempts.notification_id = ANY(%(ids)s)
        UNION ALL
        SELECT jsonb_build_object('table', 'dead_letters', 'row', to_jsonb(dead_letters))::text
        FROM dead_letters
        WHERE dead_letters.notification_id = ANY(%(ids)s)
        """,
        {"ids": ids},
    )
    return (line for (line,) in rows)
