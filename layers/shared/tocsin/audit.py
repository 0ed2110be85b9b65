"""Audit: a row for every change an operator or administrator makes, in the transaction of the change."""

import ipaddress
from typing import Any

from tocsin.http import Call
from tocsin.ids import uuid7
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
        user_agent=call.request.headers.get("user-agent", "")[:500],
        changes=changes,
    )


def _address(text: str) -> str | None:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None
