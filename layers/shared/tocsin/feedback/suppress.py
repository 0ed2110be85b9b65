"""Suppress an address by hand, and lift a suppression; each with its audit row."""

from enum import Enum
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit
from tocsin.access.audit import Actor
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.people import addresses
from tocsin.store import suppressions
from tocsin.store.suppressions import Suppression


class NotAnAddress(ValueError):
    """The channel has no such addresses; says what it has. Whoever asked writes it as the channel does."""


class NotLifted(Enum):
    """Why a suppression stays."""

    UNKNOWN = "there is none"
    OPERATORS_ONLY = "a complaint was a person's word: lifting it takes an operator"
    NO_REASON = "a complaint was a person's word: lifting it takes a reason"


def suppress(conn: Connection[Any], actor: Actor, channel: str, address: str, notification_type: str | None) -> Suppression:
    """Write to this address no more; with a type, of that type alone. What is suppressed more strongly stays so."""
    try:
        written = addresses.email(address) if channel == "email" else addresses.phone(address)
    except ValueError as error:
        raise NotAnAddress(str(error)) from None
    kind = notification_type or ""
    with tenant_transaction(conn, actor.tenant_id):
        suppressions.insert_or_strengthen(
            conn,
            suppression_id=uuid7(),
            tenant_id=actor.tenant_id,
            channel=channel,
            address=written,
            notification_type=kind,
            reason="manual",
        )
        row = suppressions.find_by_address(conn, actor.tenant_id, channel=channel, address=written, notification_type=kind)
        assert row is not None  # noqa: S101 - inserted in the same transaction, or there before
        changes = {"new": {"channel": row.channel, "reason": row.reason}}
        audit.record(conn, actor, "suppress", "suppression", str(row.id), changes)
    return row


def lift(conn: Connection[Any], actor: Actor, suppression_id: UUID, *, reason: str, is_operator: bool) -> NotLifted | None:
    """None: it is lifted."""
    with tenant_transaction(conn, actor.tenant_id):
        row = suppressions.find(conn, actor.tenant_id, suppression_id)
        if row is None:
            return NotLifted.UNKNOWN
        if row.reason == "complaint" and not is_operator:
            return NotLifted.OPERATORS_ONLY
        if row.reason == "complaint" and not reason:
            return NotLifted.NO_REASON
        suppressions.delete(conn, actor.tenant_id, row.id)
        old = {"channel": row.channel, "reason": row.reason, "notification_type": row.notification_type}
        audit.record(conn, actor, "lift", "suppression", str(row.id), {"old": old, "reason": reason[:500]})
    return None
