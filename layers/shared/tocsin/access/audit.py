"""Audit: a row for every change that somebody makes, in the transaction of the change."""

import ipaddress
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit_size
from tocsin.foundation.ids import uuid7
from tocsin.foundation.text import one_line
from tocsin.store import audit_logs

MASK = "***"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who makes a change, for which tenant, and from where: however they came.

    `name` is `key:<id>`, `user:<id>`, `job:<name>`, `deployment` …; `user_id` the person behind it, or who owns the key;
    `person_name` whom the caller says to be, which proves nothing."""

    tenant_id: UUID
    name: str
    ip_address: str = ""
    user_agent: str = ""
    user_id: UUID | None = None
    person_name: str | None = None

    @classmethod
    def person(cls, tenant_id: UUID, user_id: UUID, ip_address: str = "", user_agent: str = "") -> "Actor":
        """Somebody who acts for themselves. Of where from only the network is kept: the row outlives them, and is to tell nothing
        of them."""
        return cls(tenant_id, f"user:{user_id}", network_of(ip_address), user_agent, user_id)


def network_of(ip_address: str) -> str:
    """The /24 or /48 of an address: enough to tell a company from a café, too little to tell who."""
    known = _address(ip_address)
    if known is None:
        return ""
    return str(ipaddress.ip_network((known, 24 if ipaddress.ip_address(known).version == 4 else 48), strict=False))


def record(
    conn: Connection[Any], actor: Actor, action: str, resource_type: str, resource_id: str, changes: dict[str, Any]
) -> None:
    """The last statement of its transaction: until the commit nobody else of the tenant writes theirs.

    `changes` has old and new values; the caller leaves secrets out, and what tells who somebody is (`difference` masks both). A
    person is named by our own id, never by one that says who they are."""
    audit_logs.insert(
        conn,
        entry_id=uuid7(),
        tenant_id=actor.tenant_id,
        action=action,
        resource_type=resource_type,
        resource_id=resource_id,
        changes=audit_size.bounded(changes),
        **columns_of(actor),
    )


def columns_of(actor: Actor) -> dict[str, Any]:
    """For a statement that writes the row itself, because it alone knows whether anything is changed."""
    return {
        "actor": actor.name,
        "user_id": actor.user_id,
        "ip_address": _network(actor.ip_address) if "/" in actor.ip_address else _address(actor.ip_address),
        "user_agent": _words(actor.user_agent),
        "person": _words(actor.person_name or "")[:100] or None,
    }


def difference(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None, *, masked: Collection[str] = ()) -> dict[str, Any]:
    """The changes between two states: of something new or gone all of it, else what differs. Masked values say only whether there
    is one."""
    if old is not None and new is not None:
        names = [name for name in new if name not in old or old[name] != new[name]]
        old, new = {name: old[name] for name in names if name in old}, {name: new[name] for name in names}
    said = {"old": old, "new": new}
    return {side: _masked(values, masked) for side, values in said.items() if values is not None}


def _masked(values: Mapping[str, Any], masked: Collection[str]) -> dict[str, Any]:
    return {name: MASK if name in masked and value else value for name, value in values.items()}


def _words(text: str) -> str:
    """What only informs is kept as well as it can be: one line, without what Postgres cannot hold."""
    return one_line(text.encode("utf-8", "replace").decode())[:500]


def _address(text: str) -> str | None:
    try:
        return str(ipaddress.ip_address(text)).partition("%")[0]  # inet has no zones
    except ValueError:
        return None


def _network(text: str) -> str | None:
    try:
        return str(ipaddress.ip_network(text))
    except ValueError:
        return None
