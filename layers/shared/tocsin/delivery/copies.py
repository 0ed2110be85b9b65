"""Copies: who else gets an email, without those who must not be written to."""

from dataclasses import replace
from typing import Any

from psycopg import Connection

from tocsin.delivery.prepare import Ready
from tocsin.store import suppressions
from tocsin.store.suppressions import Copy


def with_copies(conn: Connection[Any], ready: list[Ready]) -> list[Ready]:
    """One look for a whole batch, and none where nobody gets a copy."""
    wanted = {(one.delivery.work.id, address): _copy(one, address) for one in ready for address in _addresses(one)}
    if not wanted:
        return ready
    suppressed = suppressions.find_copies(conn, sorted(set(wanted.values())))
    return [_with(one, wanted, suppressed) for one in ready]


def _with(one: Ready, wanted: dict[tuple[Any, str], Copy], suppressed: set[Copy]) -> Ready:
    asked = _addresses(one)
    if not asked:
        return one
    kept = tuple(address for address in asked if wanted[one.delivery.work.id, address] not in suppressed)
    return replace(one, cc=kept, copies_left_out=len(asked) - len(kept))


def _copy(one: Ready, address: str) -> Copy:
    return Copy(one.delivery.work.tenant_id, one.delivery.record.notification_type, address)


def _addresses(one: Ready) -> list[str]:
    """Whom a copy was asked for, but for the one it goes to anyway."""
    if one.delivery.route.channel != "email":
        return []
    asked: list[str] = (one.delivery.record.email_options or {}).get("cc") or []
    return [address for address in asked if address.lower() != one.delivery.route.email.lower()]
