"""Accept intents: the durable row is the promise, and it is also the idempotency reservation."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from psycopg import Connection

from tocsin.access.rate_limits import Allowance
from tocsin.content import plain
from tocsin.foundation import work_queue
from tocsin.foundation.channel_names import DEFAULT_CHANNELS
from tocsin.foundation.database import tenant_round_trip
from tocsin.foundation.due import Due
from tocsin.foundation.ids import uuid7
from tocsin.intake.admission import Sender
from tocsin.intake.intents import AddressAudience, GivenUser, Intent, ScopeAudience, UsersAudience
from tocsin.intake.reserve import Arrival, Given, Row, reserve, reserve_with_users
from tocsin.store import records
from tocsin.store.flow.accept_intents import Reserved

FARTHEST_SEND = timedelta(days=365)
MOST_WARNINGS = 20


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
class Unreachable:
    """A recipient whom a channel cannot reach as things are: by the place of their id in the audience, or '' for the address."""

    place: str
    name: str
    channel: str


@dataclass(frozen=True, slots=True)
class Admitted:
    notification_id: UUID
    accepted_at: datetime
    is_replay: bool
    unreachable: list[Unreachable] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class KeyReused:
    """The key belongs to another request."""


@dataclass(frozen=True, slots=True)
class UnknownUsers:
    """By their places in the audience."""

    user_ids: dict[str, str]


@dataclass(frozen=True, slots=True)
class TakenByAnother:
    """A given user wants an email or username (`field`) that another user has."""

    place: str
    user_id: str
    field: str


@dataclass(frozen=True, slots=True)
class AttributesTooLarge:
    """A given user's attributes would be too many, with those they have."""

    place: str
    user_id: str


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


Refusal = KeyReused | UnknownUsers | TakenByAnother | AttributesTooLarge | UnknownTemplate | MissingVariables | NothingToSay
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
    arrival = Arrival(sender, request_id, trace_id, window)
    rows = [_row(n, one, reply_within) for n, one in enumerate(asked)]
    given = {n: {user.id: user.patch for user in one.intent.given_users} for n, one in enumerate(asked) if one.intent.given_users}
    known: dict[str, records.Reservation] = {}
    reserved = _reserve(conn, rows, given, arrival)
    while missed := [asked[one.n].idempotency_key for one in reserved if one.accepted_at is None]:
        known = _find(conn, sender, missed)
        free = [one.n for one in reserved if one.accepted_at is None and _is_free(one, known.get(asked[one.n].idempotency_key))]
        if not free:
            break
        keys = [asked[n].idempotency_key for n in free]
        fresh = {one.n: one for one in _reserve(conn, [rows[n] for n in free], given, arrival, release=keys)}
        reserved = [fresh.get(one.n, one) for one in reserved]
    if nudges:
        _nudge(sender.tenant_id, asked, reserved, known)
    used = max(one.rate_used for one in reserved)
    return [_end(asked[one.n], one, known) for one in reserved], Allowance(used, sender.rate_limit)


def _reserve(
    conn: Connection[Any], rows: list[Row], given: dict[int, Given], arrival: Arrival, *, release: list[str] | None = None
) -> list[Reserved]:
    theirs = {row["n"]: given[row["n"]] for row in rows if row["n"] in given}
    if theirs:
        return reserve_with_users(conn, rows, theirs, arrival, release=release)
    return reserve(conn, rows, arrival, release=release)


def _is_free(reserved: Reserved, holder: records.Reservation | None) -> bool:
    """Whether what stood in the way has run out, or has been released since."""
    return holder.is_expired if holder else not reserved.is_refused


def _find(conn: Connection[Any], sender: Sender, keys: list[str]) -> dict[str, records.Reservation]:
    with tenant_round_trip(conn, sender.tenant_id):
        found = records.find_reservations(conn, tenant_id=sender.tenant_id, producer=sender.producer, keys=keys)
    return {one.idempotency_key: one for one in found}


def _end(asked: Asked, reserved: Reserved, known: dict[str, records.Reservation]) -> IntakeEnd:
    if reserved.accepted_at is not None:
        warned = _unreachable(asked.intent, reserved)
        return Admitted(asked.notification_id, reserved.accepted_at, is_replay=False, unreachable=warned)
    first = known.get(asked.idempotency_key)
    if first is None:
        return _refusal(asked.intent, reserved)
    if first.request_fingerprint != asked.fingerprint:
        return KeyReused()
    # Our own id means that our first try had committed and only its answer was lost.
    is_replay = first.notification_id != asked.notification_id
    return Admitted(first.notification_id, first.accepted_at, is_replay, unreachable=_unreachable(asked.intent, reserved))


def _refusal(intent: Intent, reserved: Reserved) -> Refusal:
    if reserved.clash:
        name, field = reserved.clash
        place = _given_place(intent, name)
        return AttributesTooLarge(place, name) if field == "attributes" else TakenByAnother(place, name, field)
    if reserved.unknown_user_ids:
        places = _places(intent)
        return UnknownUsers({places[name]: name for name in reserved.unknown_user_ids})
    if reserved.unknown_template:
        return UnknownTemplate(reserved.unknown_template)
    if reserved.says_nothing:
        return NothingToSay()
    return MissingVariables(reserved.missing_variables or [])


def _unreachable(intent: Intent, reserved: Reserved) -> list[Unreachable]:
    """By the channels it will go by, whoever said so; what an address does not have was refused where the intent asked for it."""
    if isinstance(intent.audience, AddressAudience):
        return [Unreachable("", "", one) for one in reserved.channels or () if not intent.audience.has(one)]
    if not isinstance(intent.audience, UsersAudience):
        return []
    lacking = {"email": reserved.no_email, "sms": reserved.no_phone, "push": reserved.no_device}
    found = [(name, one) for one in reserved.channels or DEFAULT_CHANNELS for name in lacking.get(one) or ()]
    places = _places(intent) if found else {}
    return [Unreachable(places[name], name, channel) for name, channel in found[:MOST_WARNINGS]]


def _places(intent: Intent) -> dict[str, str]:
    """Where each user stands in the audience, first."""
    if not isinstance(intent.audience, UsersAudience):
        return {}
    written = (user if isinstance(user, str) else user.id for user in intent.audience.user_ids)
    places: dict[str, str] = {}
    for n, name in enumerate(written):
        places.setdefault(name, str(n))
    return places


def _given_place(intent: Intent, name: str) -> str:
    """Where they are given, which need not be where their id stands first."""
    recipients = intent.audience.user_ids if isinstance(intent.audience, UsersAudience) else []
    return next(str(n) for n, user in enumerate(recipients) if isinstance(user, GivenUser) and user.id == name)


def _nudge(tenant_id: UUID, asked: list[Asked], reserved: list[Reserved], known: dict[str, records.Reservation]) -> None:
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
        "recipient_user_ids": audience.ids if audience.kind == "users" else [],
        "audience": _audience(intent),
        "payload": intent.payload,
        "has_words": plain.has_words(intent.payload),
        "template": intent.template,
        "channels": intent.channels,
        "priority": intent.priority,
        "thread_kind": intent.about.kind if intent.about else None,
        "thread_id": intent.about.id if intent.about else None,
        "trigger_depth": asked.trigger_depth,
        "email_options": intent.email_options,
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
