"""Audit: a row for every change an operator or administrator makes, in the transaction of the change."""

import ipaddress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.foundation.ids import uuid7
from tocsin.foundation.text import one_line
from tocsin.store import audit_logs


@dataclass(frozen=True, slots=True)
class Actor:
    """Who makes a change, for which tenant, and from where: however they came."""

    tenant_id: UUID
    name: str
    ip_address: str = ""
    user_agent: str = ""


def record(
    conn: Connection[Any], actor: Actor, action: str, resource_type: str, resource_id: str, changes: dict[str, Any]
) -> None:
    """`changes` has old and new values; the caller leaves secrets out."""
    audit_logs.insert(
        conn,
        entry_id=uuid7(),
        tenant_id=actor.tenant_id,
        action=action,
        resource_type=resource_type,
        resource_id=resource_id,
        changes=changes,
        **columns_of(actor),
    )


def columns_of(actor: Actor) -> dict[str, Any]:
    """For a statement that writes the row itself, because it alone knows whether anything is changed."""
    return {
        "actor": actor.name,
        "ip_address": _address(actor.ip_address),
        "user_agent": _words(actor.user_agent),
    }


def _words(text: str) -> str:
    """What only informs is kept as well as it can be: one line, without what Postgres cannot hold."""
    return one_line(text.encode("utf-8", "replace").decode())[:500]


def _address(text: str) -> str | None:
    try:
        return str(ipaddress.ip_address(text)).partition("%")[0]  # inet has no zones
    except ValueError:
        return None
