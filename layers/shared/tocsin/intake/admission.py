"""Admission: on whose behalf something comes in, how much of it may, and what Postgres refuses, in our words."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

from psycopg import errors

from tocsin.access.audit import Actor
from tocsin.access.authenticate import Principal
from tocsin.access.rate_limits import is_exhausted, note_exhausted, subject_of
from tocsin.foundation.settings import settings
from tocsin.store import rate_limits


@dataclass(frozen=True, slots=True)
class Sender:
    """On whose behalf, and how many intents that one may send in a minute."""

    tenant_id: UUID
    producer: str
    mode: str
    rate_subject: str
    rate_limit: int
    actor: Actor | None = None  # who changes users on the way, where the sender may


class KeyInFlight(Exception):
    """Another request with the same key has not finished. The producer tries again in a second."""


class RateExceeded(Exception):
    """The sender is above its limit; nothing was stored. The producer waits for the next minute."""


def context() -> dict[str, bool]:
    """What reading an intent asks of the installation: whether addresses of one's own network may be named."""
    return {"allow_private": settings().allow_private_destinations}


def may_give_users(principal: Principal) -> bool:
    """Whether what this key sends may bring its users along: that makes them known, or changes them."""
    return "manage" in principal.scopes


def sender_of(principal: Principal, *, usual_limit: int, actor: Actor | None = None) -> Sender:
    """The sender behind a key, with its own limit or the usual one."""
    return Sender(
        principal.tenant_id,
        principal.producer,
        principal.mode,
        rate_subject=subject_of(principal),
        rate_limit=principal.rate_limit or usual_limit,
        actor=actor if may_give_users(principal) else None,
    )


@contextmanager
def admitted(sender: Sender, what: str, size: int) -> Iterator[None]:
    """Refuse who is known to be above the limit before the database is asked, and remember who turns out to be.

    A batch that does not fit says nothing of the next: a smaller one may."""
    if is_exhausted(sender.rate_subject, what):
        raise RateExceeded
    try:
        yield
    except RateExceeded:
        if size == 1:
            note_exhausted(sender.rate_subject, what)
        raise


@contextmanager
def refusals(table: str) -> Iterator[None]:
    """What Postgres refuses while this table takes something in, in our words: it is in flight, or the rate is exceeded.

    Whoever waits for a rival's row waits inside the unique index of its table, and Postgres names that. Any other wait, for a
    whole table or for the counter of the rate, says nothing of the key: then the database is unavailable."""
    try:
        yield
    except errors.LockNotAvailable as error:
        if not re.search(rf"\b{table}\b", error.diag.context or ""):
            raise
        raise KeyInFlight from None
    except errors.CheckViolation as error:
        if error.diag.constraint_name != rate_limits.CONSTRAINT:
            raise
        raise RateExceeded from None
