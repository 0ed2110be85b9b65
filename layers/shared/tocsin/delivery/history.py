"""The history of a notification: its record, routes, attempts and what providers said, as they were at one moment."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.foundation.database import tenant_transaction
from tocsin.store import attempts, dead_letters, provider_events, records, routes

MOST_ROUTES = 1_000


@dataclass(frozen=True, slots=True)
class History:
    """`counts` is by status over all routes, also those beyond the ones that are listed."""

    record: dict[str, Any]
    routes: list[dict[str, Any]]
    attempts: list[dict[str, Any]]
    events: list[dict[str, Any]]
    counts: dict[str, int]
    letters: list[dict[str, Any]] = field(default_factory=list)

    @property
    def dead(self) -> dict[str, Any] | None:
        """The letter of its plan, or of the rest of its audience, that stands: nobody carries on with it."""
        return standing(self.letters)


def standing(letters: list[dict[str, Any]]) -> dict[str, Any] | None:
    whole = [one for one in letters if one["source_kind"] in ("plan", "fanout") and one["resolution"] != "replayed"]
    return whole[-1] if whole else None


def history(conn: Connection[Any], tenant_id: UUID, notification_id: UUID) -> History | None:
    """None: there is no such notification."""
    with tenant_transaction(conn, tenant_id):
        record = records.find(conn, tenant_id, notification_id)
        if record is None:
            return None
        its_routes = routes.list_of(conn, tenant_id, notification_id, limit=MOST_ROUTES)
        its_attempts = attempts.list_of(conn, tenant_id, notification_id, limit=MOST_ROUTES * 5)
        its_events = provider_events.list_of(conn, tenant_id, notification_id, limit=MOST_ROUTES * 5)
        its_letters = dead_letters.list_of(conn, tenant_id, notification_id, limit=MOST_ROUTES)
        counts: dict[str, int] = (
            Counter(route["status"] for route in its_routes)  # of the routes as they were read, so that the two agree
            if len(its_routes) < MOST_ROUTES
            else routes.count_by_status(conn, tenant_id, notification_id)
        )
    return History(record, its_routes, its_attempts, its_events, counts, its_letters)
