"""Threads: what a person said about hearing more of one."""

from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.foundation.database import tenant_transaction
from tocsin.store import notification_threads
from tocsin.store.notification_threads import Subscription


def choose(conn: Connection[Any], tenant_id: UUID, user_id: UUID, kind: str, thread_id: str, *, subscribed: bool) -> Subscription:
    """Subscribe to a thread, or mute it, in place of whatever was there."""
    with tenant_transaction(conn, tenant_id):
        return notification_threads.choose(conn, tenant_id, user_id, kind, thread_id, subscribed=subscribed)


def forget_choice(conn: Connection[Any], tenant_id: UUID, user_id: UUID, kind: str, thread_id: str) -> None:
    """Back to what the watch says."""
    with tenant_transaction(conn, tenant_id):
        notification_threads.forget(conn, tenant_id, user_id, kind, thread_id)
