"""Accept intents: the durable row is the promise, and it is also the idempotency reservation."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access.rate_limits import Allowance
from tocsin.content import plain
from tocsin.foundation import work_queue
from tocsin.foundation.database import tenant_round_trip
from tocsin.foundation.due import Due
from tocsin.foundation.ids import uuid7
from tocsin.intake.admission import Sender, refusals
from tocsin.intake.intents import AddressAudience, Intent, ScopeAudience
from tocsin.store import records
from tocsin.store.flow import accept_intents as statements

FARTHEST_SEND = timedelta(days=365)


@dataclass(frozen=True, slots=True)
class Asked:
    """One intent as it came in: its key, what was said, the fingerprint of the words, and the id it will have.

    The id is made here, once, so that a repeated try recognises its own first one. `trigger_depth` says how many triggers led
    to it."""

    idempotency_key: str
    intent: Intent
    fingerprint: bytes
    notification_id: UUID = field(default_factory=uuid7)
    trigger_depth: int = 0


@dataclass(frozen=True, slots=True)
class Admitted:
    notification_id: UUID
    accepted_at: datetime
    is_replay: bool


@dataclass(frozen=True, slots=True)
class KeyReused:
    """The key belongs to another request."""


@dataclass(frozen=True, slots=True)
class UnknownUsers:
    user_ids: list[str]


@dataclass(frozen=True, slots=True)
class UnknownTemplate:
    """There is no active template of this name for any of the channels."""

    name: str


@dataclass(frozen=True, slots=True)
class MissingVariables:
    """The template declares variables that the payload does not have."""

    names: list[str]


@dataclass(frozen=True, slots=True)
class NothingToSay:
    """There is no template, and no word in the payload that could stand for one."""


Refusal = KeyReused | UnknownUsers | UnknownTemplate | MissingVariables | NothingToSay
IntakeEnd = Admitted | Refusal


def send_at_is_too_far(intent: Intent) -> bool:
    return intent.send_at is not None and intent.send_at > datetime.now(UTC) + FARTHEST_SEND


def asks_for_more(intent: Intent, mode: str) -> bool:
    """Whether it is to go out live, and whoever sends it may only test."""
    return intent.mode == "live" and mode != "live"


def accept(
    conn: Connection[Any],
    asked: list[Asked],
    *,
    sender: Sender,
    request_id: str,
    trace_id: str,
    window: timedelta,
    reply_within: timedelta | None = None,
    nudges: bool = True,
) -> tuple[list[IntakeEnd], Allowance]:
    """Accept each intent or say why not, in order; then nudge the workers. One round trip when every key is new.

    `reply_within`: somebody waits so long for the outcomes, and nothing is tried twice. `nudges`: not where the caller's own
    transaction is still open; the caller nudges when it has ended."""
    rows = [_row(n, one, reply_within) for n, one in enumerate(asked)]
    known: dict[str, records.Reservation] = {}
    reserved = _reserve(conn, rows, sender, request_id, trace_id, window)
    while missed := [asked[one.n].idempotency_key for one in reserved if one.accepted_at is None]:
        known = _find(conn, sender, missed)
        free = [one.n for one in reserved if one.accepted_at is None and _is_free(one, known.get(asked[one.n].idempotency_key))]
        if not free:
            break
        keys = [asked[n].idempotency_key for n in free]
        again = _reserve(conn, [rows[n] for n in free], sender, request_id, trace_id, window, release=keys)
        fresh = {one.n: one for one in again}
        reserved = [fresh.get(one.n, one) for one in reserved]
    if nudges:
        _nudge(sender.tenant_id, asked, reserved, known)
    used = max(one.rate_used for one in reserved)
    return [_end(asked[one.n], one, known) for one in reserved], Allowance(used, sender.rate_limit)


def _reserve(
    conn: Connection[Any],
    rows: list[dict[str, Any]],
    sender: Sender,
    request_id: str,
    trace_id: str,
    window: timedelta,
    *,
    release: list[str] | None = None,
) -> list[statements.Reserved]:
    """One round trip: reserve what is free and count it, after releasing keys whose reservations have run out."""
    with refusals("records"), tenant_round_trip(conn, sender.tenant_id):
        if release:
            records.release_keys(conn, tenant_id=sender.tenant_id, producer=sender.producer, keys=release)
        reserved = statements.reserve(
            conn,
            rows,
            tenant_id=sender.tenant_id,
            producer=sender.producer,
            mode=sender.mode,
            request_id=request_id,
            trace_id=trace_id,
            window=window,
            rate_subject=sender.rate_subject,
            rate_limit=sender.rate_limit,
        )
    return reserved.fetchall()


def _is_free(reserved: statements.Reserved, holder: records.Reservation | None) -> bool:
    """Whether what stood in the way has run out, or has been released since."""
    return holder.is_expired if holder else not reserved.is_refused


def _find(conn: Connection[Any], sender: Sender, keys: list[str]) -> dict[str, records.Reservation]:
    with tenant_round_trip(conn, sender.tenant_id):
        found = records.find_reservations(conn, tenant_id=sender.tenant_id, producer=sender.producer, keys=keys)
    return {one.idempotency_key: one for one in found}


def _end(asked: Asked, reserved: statements.Reserved, known: dict[str, records.Reservation]) -> IntakeEnd:
    if reserved.accepted_at is not None:
        return Admitted(asked.notification_id, reserved.accepted_at, is_replay=False)
    first = known.get(asked.idempotency_key)
    if first is None:
        return _refusal(reserved)
    if first.request_fingerprint != asked.fingerprint:
        return KeyReused()
    # Our own id means that our first try had committed and only its answer was lost.
    return Admitted(first.notification_id, first.accepted_at, is_replay=first.notification_id != asked.notification_id)


def _refusal(reserved: statements.Reserved) -> Refusal:
    if reserved.unknown_user_ids:
        return UnknownUsers(reserved.unknown_user_ids)
    if reserved.unknown_template:
        return UnknownTemplate(reserved.unknown_template)
    if reserved.says_nothing:
        return NothingToSay()
    return MissingVariables(reserved.missing_variables or [])


def _nudge(
    tenant_id: UUID, asked: list[Asked], reserved: list[statements.Reserved], known: dict[str, records.Reservation]
) -> None:
    """Nudge for what was taken; for a repetition too, where the first try may have ended between its commit and its nudge."""
    due: dict[timedelta, list[UUID]] = {}
    for one in reserved:
        if one.due_in_seconds is not None:
            due.setdefault(timedelta(seconds=one.due_in_seconds), []).append(asked[one.n].notification_id)
    if again := [one.notification_id for one in known.values() if one.is_fresh]:
        due.setdefault(timedelta(0), []).extend(again)
    if due:
        work_queue.nudge_each([(delay, [Due(one, "plan", tenant_id) for one in ids]) for delay, ids in due.items()])


def _row(n: int, asked: Asked, reply_within: timedelta | None = None) -> dict[str, Any]:
    intent = asked.intent
    audience = intent.audience
    return {
        "n": n,
        "notification_id": str(asked.notification_id),
        "idempotency_key": asked.idempotency_key,
        "request_fingerprint": asked.fingerprint.hex(),
        "notification_type": intent.type,
        "audience_kind": audience.kind,
        "recipient_user_ids": list(dict.fromkeys(audience.user_ids)) if audience.kind == "users" else [],
        "audience": _audience(intent),
        "payload": intent.payload,
        "has_words": plain.has_words(intent.payload),
        "template": intent.template,
        "channels": intent.channels,
        "priority": intent.priority,
        "thread_kind": intent.about.kind if intent.about else None,
        "thread_id": intent.about.id if intent.about else None,
        "trigger_depth": asked.trigger_depth,
        "mode": "test" if intent.mode == "test" else None,  # the sender's; an intent can only ask for less
        "retry_max_attempts": intent.retry.max_attempts,
        "retry_backoff": intent.retry.backoff,
        "retry_base_ms": intent.retry.base_ms,
        "occurred_at": _text(intent.occurred_at),
        "send_at": _text(intent.send_at),
        "expires_at": _text(intent.expires_at),
        "reply_within_seconds": None if reply_within is None else reply_within.total_seconds(),
    }


def _audience(intent: Intent) -> dict[str, Any] | None:
    match intent.audience:
        case AddressAudience(email=email, phone=phone):
            return {"email": email, "phone": phone}
        case ScopeAudience(scope=scope):
            return {"scope": scope}
        case _:
            return None


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
