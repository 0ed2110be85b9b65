"""Audit: a row for every change an operator or administrator makes, in the transaction of the change."""

import ipaddress
from typing import Any

from tocsin.http import Call
from tocsin.ids import uuid7
from tocsin.rendering import one_line
from tocsin.store import audit_logs


def record(call: Call, action: str, resource_type: str, resource_id: str, changes: dict[str, Any]) -> None:
    """`changes` has old and new values; the caller leaves secrets out."""
    audit_logs.insert(
        call.conn,
        entry_id=uuid7(),
        tenant_id=call.tenant_id,
        actor=f"key:{call.principal.key_id}",
        action=action,
        resource_type=resource_type,
        resource_id=resource_id,
        ip_address=_address(call.request.source_ip),
        user_agent=_words(call.request.headers.get("user-agent", "")),
        changes=changes,
    )


def _words(text: str) -> str:
    """What only informs is kept as well as it can be: one line, without what Postgres cannot hold."""
    return one_line(text.encode("utf-8", "replace").decode())[:500]


def _address(text: str) -> str | None:
    try:
        return str(ipaddress.ip_address(text)).partition("%")[0]  # inet has no zones
    except ValueError:
        return None
