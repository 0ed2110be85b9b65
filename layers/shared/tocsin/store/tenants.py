"""The tenants: who shares this installation."""

from typing import Any
from uuid import UUID

from psycopg import Connection


def insert_unless_known(conn: Connection[Any], tenant_id: UUID, name: str) -> None:
    conn.execute(
        "INSERT INTO tenants (id, name) VALUES (%(tenant_id)s, %(name)s) ON CONFLICT (id) DO NOTHING",
        {"tenant_id": tenant_id, "name": name},
    )


def exists(conn: Connection[Any], tenant_id: UUID) -> bool:
    row = conn.execute("SELECT FROM tenants WHERE id = %(tenant_id)s", {"tenant_id": tenant_id}).fetchone()
    return row is not None


def own_retention(conn: Connection[Any], rule: str) -> dict[UUID, int]:
    """The tenants that keep something for their own number of days (settings: {"retention": {rule: days}}).

    A number that makes no sense does not count: the general rule then holds."""
    rows = conn.execute(
        """
        SELECT id, days::integer
        FROM (
            SELECT id, CASE WHEN jsonb_typeof(settings -> 'retention' -> %(rule)s) = 'number'
                            THEN (settings -> 'retention' ->> %(rule)s)::numeric END AS days
            FROM tenants
        ) AS own
        WHERE days BETWEEN 1 AND 36500 AND days = trunc(days)
        """,
        {"rule": rule},
    ).fetchall()
    return dict(rows)
