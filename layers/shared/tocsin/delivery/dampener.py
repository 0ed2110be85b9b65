"""The dampener: how much one person is told, and one address. Decided on what the log says while their locks are held, in order.
Pure."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from tocsin.delivery.over_sending import Guard, guard_of
from tocsin.store.rows import Delivery, State

HOUR = timedelta(hours=1)
_USUAL_GUARD = Guard(5, HOUR)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is too much, unless a tenant or a type says otherwise."""

    thread_window: timedelta = timedelta(minutes=10)
    hourly_limit: int = 100
    guard: Guard = _USUAL_GUARD


USUAL = Limits()


@dataclass(frozen=True, slots=True)
class Granted:
    pass


@dataclass(frozen=True, slots=True)
class Skipped:
    reason: str
    is_told: bool = False  # in another way


@dataclass(frozen=True, slots=True)
class Later:
    reason: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Held:
    """Not lost: a digest tells of it after the window. `opens_at`: when the digest is due, if this is its first."""

    opens_at: datetime | None


@dataclass(frozen=True, slots=True)
class OverSent:
    """The address has had enough of this type."""

    guard: Guard


Verdict = Granted | Skipped | Later | Held | OverSent


class Ledger:
    """Decides delivery by delivery, and remembers what it granted in this batch."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._hour: Counter[UUID | None] = Counter()
        self._day: Counter[tuple[UUID | None, str | None, str]] = Counter()
        self._threads: dict[tuple[UUID | None, str | None, str | None], datetime] = {}
        self._digests: set[tuple[UUID | None, str | None, str | None]] = set()
        self._addresses: Counter[tuple[bytes | None, str]] = Counter()

    def decide(self, one: Delivery, state: State) -> Verdict:
        if state.is_reserved:
            return Granted()
        if one.record.audience_kind == "digest" and state.is_read:
            return Skipped("read_meanwhile", is_told=True)
        verdict = self._capped(one, state) or self._over_sent(one, state) or self._dampened(one, state) or Granted()
        if isinstance(verdict, Granted):
            self._note(one, state)
        return verdict

    def _capped(self, one: Delivery, state: State) -> Verdict | None:
        if one.wishes.frequency_cap is None:
            return None
        sent = state.sent_today + self._day[_day_key(one)]
        return Skipped(f"frequency_cap: {one.wishes.frequency_cap} a day") if sent >= one.wishes.frequency_cap else None

    def _over_sent(self, one: Delivery, state: State) -> Verdict | None:
        guard = guard_of(one, self._limits.guard)
        if guard is None:
            return None
        sent = state.sent_to_address + self._addresses[_address_key(one, state)]
        return OverSent(guard) if sent >= guard.limit else None

    def _dampened(self, one: Delivery, state: State) -> Verdict | None:
        if one.route.channel != "email" or one.route.user_id is None:
            return None
        if one.record.thread_id is not None:
            key = _thread_key(one)
            told_at = self._threads.get(key) or state.thread_told_at
            free_at = told_at + self._limits.thread_window if told_at else state.now
            if one.record.audience_kind == "digest":
                if free_at > state.now:
                    return Later("dampened: thread", free_at)
            elif state.digest_id or key in self._digests:
                return Held(None)
            elif free_at > state.now:
                self._digests.add(key)
                return Held(free_at)
        if state.emails_this_hour + self._hour[one.route.user_id] >= state.hourly_limit:
            return Later("dampened: hourly", state.hour_is_full_until or state.now + HOUR)
        return None

    def _note(self, one: Delivery, state: State) -> None:
        """What an earlier try has a row for in the log is counted there."""
        self._addresses[_address_key(one, state)] += not state.is_in_guard
        self._day[one.route.user_id, one.route.channel, ""] += not state.is_in_day
        self._day[one.route.user_id, one.route.channel, one.record.notification_type] += not state.is_in_day
        if one.route.channel == "email":
            self._hour[one.route.user_id] += not state.is_in_hour
            if one.record.thread_id is not None:
                self._threads[_thread_key(one)] = state.now


def concerns(one: Delivery, limits: Limits) -> bool:
    """Whether a delivery is counted at all: every email to a person, what a cap counts, and what is guarded against over-sending.
    The sandbox reaches nobody."""
    is_personal = one.route.user_id is not None and (one.route.channel == "email" or one.wishes.frequency_cap is not None)
    return one.record.mode == "live" and (is_personal or guard_of(one, limits.guard) is not None)


def _address_key(one: Delivery, state: State) -> tuple[bytes | None, str]:
    """The hash says of which tenant and channel the address is."""
    return state.address_hash, one.record.notification_type


def _thread_key(one: Delivery) -> tuple[UUID | None, str | None, str | None]:
    return one.route.user_id, one.record.thread_kind, one.record.thread_id


def _day_key(one: Delivery) -> tuple[UUID | None, str | None, str]:
    return one.route.user_id, one.route.channel, one.record.notification_type if one.wishes.cap_is_of_type else ""
