"""Note that a person looked at their inbox: what was shown until then is seen, and as unread as before."""

from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.foundation.database import tenant_round_trip
from tocsin.store import inbox_visits, notifications


def see(conn: Connection[Any], tenant_id: UUID, user_id: UUID, *, before: datetime | None) -> int:
    """Returns how many unread ones are unseen then: what came in since the given time."""
    with tenant_round_trip(conn, tenant_id):
        inbox_visits.upsert(conn, tenant_id, user_id, before=before)
        count = notifications.count_unread(conn, tenant_id, user_id)
    found = count.fetchone()
    return found[1] if found else 0
