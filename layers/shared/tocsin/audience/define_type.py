"""Define a notification type: what an intent or event of it does unless it says so itself; or forget it. Each is audited."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.foundation.database import tenant_transaction
from tocsin.store import notification_types
from tocsin.store.notification_types import NotificationType


@dataclass(frozen=True, slots=True)
class Meaning:
    channels: list[str] | None = None
    template: str | None = None
    priority: str = "normal"
    ambiguous_policy: str | None = None
    transactional: bool = True
    expires_after_seconds: int | None = None
    over_sending_limit: int | None = None
    over_sending_window_seconds: int | None = None
    title: str | None = None
    description: str | None = None


def define(conn: Connection[Any], actor: Actor, name: str, meaning: Meaning) -> NotificationType:
    new = asdict(meaning)
    with tenant_transaction(conn, actor.tenant_id):
        before = notification_types.find_all(conn, actor.tenant_id, name)
        kind = notification_types.upsert(conn, tenant_id=actor.tenant_id, name=name, **new)
        old = {field: getattr(before[0], field) for field in new} if before else None
        audit.record(conn, actor, "put", "notification_type", kind.name, {"old": old, "new": new})
    return kind


def forget(conn: Connection[Any], actor: Actor, name: str) -> bool:
    """False: there is no such type."""
    with tenant_transaction(conn, actor.tenant_id):
        before = notification_types.find_all(conn, actor.tenant_id, name)
        if not before or not notification_types.delete(conn, actor.tenant_id, name):
            return False
        old = {one.name: getattr(before[0], one.name) for one in fields(Meaning)}
        audit.record(conn, actor, "delete", "notification_type", name, {"old": old})
    return True
