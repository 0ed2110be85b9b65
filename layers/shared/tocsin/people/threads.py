"""Threads: what a person said about hearing more of one."""

from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.foundation.database import tenant_transaction
from tocsin.store import notification_threads
from tocsin.store.notification_threads import Subscription


def choose(conn: Connection[Any], actor: Actor, user_id: UUID, kind: str, thread_id: str, *, subscribed: bool) -> Subscription:
    """Subscribe to a thread, or mute it, in place of whatever was there."""
    tenant_id = actor.tenant_id
    with tenant_transaction(conn, tenant_id):
        old = notification_threads.lock(conn, tenant_id, user_id, kind, thread_id)
        new = notification_threads.choose(conn, tenant_id, user_id, kind, thread_id, subscribed=subscribed)
        changes = audit.difference(_audited(old) if old else None, _audited(new))
        if changes["new"]:
            audit.record(conn, actor, "put", "thread", f"{user_id}/{kind}:{thread_id}", changes)
    return new


def unmute(conn: Connection[Any], actor: Actor, user_id: UUID, kind: str, thread_id: str) -> None:
    """Take back that it was muted; what was not is left as it is."""
    tenant_id = actor.tenant_id
    with tenant_transaction(conn, tenant_id):
        old = notification_threads.lock(conn, tenant_id, user_id, kind, thread_id)
        if old is None or old.subscribed:
            return
        new = notification_threads.choose(conn, tenant_id, user_id, kind, thread_id, subscribed=True)
        changes = audit.difference(_audited(old), _audited(new))
        audit.record(conn, actor, "put", "thread", f"{user_id}/{kind}:{thread_id}", changes)


def forget_choice(conn: Connection[Any], actor: Actor, user_id: UUID, kind: str, thread_id: str) -> None:
    """Back to what the watch says."""
    tenant_id = actor.tenant_id
    with tenant_transaction(conn, tenant_id):
        old = notification_threads.lock(conn, tenant_id, user_id, kind, thread_id)
        if old is None:
            return
        notification_threads.forget(conn, tenant_id, user_id, kind, thread_id)
        audit.record(conn, actor, "delete", "thread", f"{user_id}/{kind}:{thread_id}", {"old": _audited(old)})


def _audited(one: Subscription) -> dict[str, Any]:
    return {"subscribed": one.subscribed, "reason": one.reason}
