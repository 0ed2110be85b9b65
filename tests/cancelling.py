"""Cancel a notification as a key would."""

from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access.audit import Actor
from tocsin.intake import cancel as cancelling
from tocsin.intake.cancel import Cancelled


def cancel(conn: Connection[Any], tenant_id: UUID, notification_id: UUID) -> Cancelled | None:
    return cancelling.cancel(conn, Actor(tenant_id, "key:test"), notification_id)
