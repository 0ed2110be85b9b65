"""Erase a person everywhere, in batches, and say what was erased. What there is no time for, the next one who comes goes on with.

First nobody finds them any more; then whoever may have seen them has ended; then what is left of them is looked for, once."""

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access import audit, standing
from tocsin.access.audit import Actor
from tocsin.foundation.database import tenant_transaction
from tocsin.foundation.ids import uuid7
from tocsin.people import masking, users
from tocsin.people.masking import Identity
from tocsin.store import erasures
from tocsin.store.erasures import Erasure
from tocsin.store.flow import erase as steps
from tocsin.store.flow.cancel import cancel_unsent

BATCH = 500
STRETCH = 10_000  # events that one statement looks at
_LOOK_EVERY = 0.05  # seconds


def erase(conn: Connection[Any], actor: Actor, external_id: str, *, has_time: Callable[[], bool]) -> Erasure:
    """The receipt: finished, or if the time was up, running. Raises UnknownUser."""
    tenant_id = actor.tenant_id
    with tenant_transaction(conn, tenant_id):
        receipt = erasures.find_running(conn, tenant_id, kind="user", told_apart=external_id)
        if receipt is None:
            user = users.known(conn, tenant_id, external_id)
            subject = Identity(user.id, external_id, user.email, user.phone, user.username)
            receipt = erasures.begin(
                conn,
                erasure_id=uuid7(),
                tenant_id=tenant_id,
                kind="user",
                told_apart=external_id,
                subject=asdict(subject) | {"user_id": str(user.id)},
                by=actor.name,
            )
            audit.record(conn, actor, "erase", "user", str(user.id), {"new": {"erasure_id": str(receipt.id)}})
    go_on(conn, receipt, has_time=has_time)
    standing.forget()
    with tenant_transaction(conn, tenant_id):
        return erasures.find(conn, tenant_id, receipt.id) or receipt


def go_on(conn: Connection[Any], receipt: Erasure, *, has_time: Callable[[], bool]) -> bool:
    """Whether it came to its end. Whatever is repeated finds nothing more to do."""
    subject = _subject(receipt)
    tenant_id = receipt.tenant_id

    def repeat(step: Callable[[], dict[str, int]]) -> bool:
        """The step until it finds nothing, each time in a transaction that also counts it."""
        while has_time():
            with tenant_transaction(conn, tenant_id):
                done = step()
                erasures.note(conn, receipt, done)
            if not any(done.values()):
                return True
        return False

    if not repeat(lambda: steps.delete_history(conn, tenant_id, subject.user_id, limit=10 * BATCH)):
        return False
    with tenant_transaction(conn, tenant_id):
        erasures.note(conn, receipt, steps.delete_user(conn, tenant_id, subject.user_id))
    with tenant_transaction(conn, tenant_id):  # a later moment than any at which they could still be found
        erasures.mark_gone(conn, tenant_id, receipt.id)
    if not _nobody_knows(conn, tenant_id, has_time):
        return False
    with tenant_transaction(conn, tenant_id):
        receipt = erasures.find(conn, tenant_id, receipt.id) or receipt
    if receipt.gone_at is None:
        return True  # somebody else has finished it
    return _forget(conn, receipt, subject, repeat, has_time)


def _forget(
    conn: Connection[Any],
    receipt: Erasure,
    subject: Identity,
    repeat: Callable[[Callable[[], dict[str, int]]], bool],
    has_time: Callable[[], bool],
) -> bool:
    tenant_id, until, stand_in = receipt.tenant_id, receipt.gone_at, f"erased_{receipt.id.hex}"
    assert until is not None  # noqa: S101 - whoever calls has looked
    pattern, words, keys = masking.in_json(subject), masking.in_words(subject), masking.in_keys(subject)
    likely = masking.likely(subject)
    hers: dict[str, Any] = {"recipient": subject.recipient, "until": until}

    def cancel() -> dict[str, int]:
        return steps.cancel_unsent(conn, tenant_id, **hers, limit=BATCH)

    def routes() -> dict[str, int]:
        return steps.forget_routes(conn, tenant_id, **hers, stand_in=stand_in, pattern=pattern, keys=keys, limit=BATCH)

    def unplanned() -> dict[str, int]:
        return steps.forget_unplanned(
            conn, tenant_id, external_id=subject.external_id, stand_in=stand_in, pattern=pattern, keys=keys, until=until
        )

    def to_address() -> dict[str, int]:
        ids = steps.find_to_address(conn, tenant_id, email=subject.email, phone=subject.phone, until=until, limit=100)
        stopped = sum(cancel_unsent(conn, tenant_id, one) for one in ids)
        return steps.forget_to_address(conn, tenant_id, ids, stand_in=stand_in, pattern=pattern, keys=keys) | {
            "cancelled": stopped
        }

    def copies() -> dict[str, int]:
        return steps.mask_copies(conn, tenant_id, likely=likely, pattern=pattern, stand_in=stand_in, until=until, limit=BATCH)

    def rest() -> dict[str, int]:
        return steps.mask_the_rest(
            conn,
            tenant_id,
            subject.user_id,
            likely=likely,
            pattern=pattern,
            words=words,
            keys=keys,
            stand_in=stand_in,
            external_id=subject.external_id,
            email=subject.email,
            phone=subject.phone,
        )

    if not all(repeat(step) for step in (unplanned, cancel, to_address, routes, copies)):
        return False
    after: int | None = receipt.position.get("domain_events", 0)
    while after is not None:
        if not has_time():
            return False
        with tenant_transaction(conn, tenant_id):
            masked, after = steps.mask_events(
                conn, tenant_id, likely=likely, pattern=pattern, stand_in=stand_in, after=after, size=STRETCH
            )
            erasures.note(conn, receipt, masked, {"domain_events": after} if after is not None else None)
    with tenant_transaction(conn, tenant_id):
        erasures.note(conn, receipt, rest())
        erasures.finish(conn, tenant_id, receipt.id)
    return True


def _nobody_knows(conn: Connection[Any], tenant_id: UUID, has_time: Callable[[], bool]) -> bool:
    """Wait until every transaction has ended that may have seen the user, and could still write of them."""
    with tenant_transaction(conn, tenant_id):
        before = set(steps.find_who_may_know(conn))
    while before:
        if not has_time():
            return False
        time.sleep(_LOOK_EVERY)
        with tenant_transaction(conn, tenant_id):
            before &= set(steps.find_who_may_know(conn))
    return True


def _subject(receipt: Erasure) -> Identity:
    known: dict[str, Any] = receipt.subject or {}
    return Identity(**known | {"user_id": UUID(known["user_id"])})
