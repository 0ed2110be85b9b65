"""Loops: what goes deeper than a chain of triggers may is not done, and the tenant's operators are told."""

from typing import Any
from uuid import UUID

from aws_lambda_powertools import Logger
from psycopg import Connection

from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.settings import settings
from tocsin.store import admin_system_events

log = Logger(child=True)


class TooDeep(Exception):
    """More triggers led here than may. Whoever is called by triggers or webhooks stops asking for more because of it."""


def check_depth(conn: Connection[Any], tenant_id: UUID, depth: int) -> None:
    """Raises TooDeep for a call that comes out of too long a chain, after the system event that says so."""
    if depth > settings().max_trigger_depth:
        log.error("a chain of triggers and calls is too deep; the call is refused", extra={"depth": depth})
        with tenant_transaction(conn, tenant_id):
            _raise(conn, tenant_id, "calls", "A call from outside, which webhooks or triggers led to, was refused", depth)
        raise TooDeep


def raise_for_trigger(conn: Connection[Any], tenant_id: UUID, trigger_id: UUID, depth: int) -> None:
    _raise(conn, tenant_id, f"trigger:{trigger_id}", f"The trigger {trigger_id} was not run again", depth)


def _raise(conn: Connection[Any], tenant_id: UUID, subject: str, what: str, depth: int) -> None:
    admin_system_events.raise_once(
        conn,
        event_type="trigger_depth_exceeded",
        severity="high",
        subject=subject,
        tenant_id=tenant_id,
        description=f"{what}: more than {settings().max_trigger_depth} followed each other in a row.",
        details={"subject": subject, "depth": depth},
    )
