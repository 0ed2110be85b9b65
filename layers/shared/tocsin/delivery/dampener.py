"""The dampener: how much one person is told. Decided on what the log says while the person's lock is held, in order. Pure."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from tocsin.store.rows import Delivery, State

THREAD_WINDOW = timedelta(minutes=10)
HOURLY_LIMIT = 100
HOUR = timedelta(hours=1)


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


Verdict = Granted | Skipped | Later | Held


class Ledger:
    """Decides delivery by delivery, and remembers what it granted in this batch."""

    def __init__(self) -> None:
        self._hour: Counter[UUID | None] = Counter()
        self._day: Counter[tuple[UUID | None, str | None, str]] = Counter()
        self._threads: dict[tuple[UUID | None, str | None, str | None], datetime] = {}
        self._digests: set[tuple[UUID | None, str | None, str | None]] = set()

    def decide(self, one: Delivery, state: State) -> Verdict:
        if state.is_reserved:
            return Granted()
        if one.record.audience_kind == "digest" and state.is_read:
            return Skipped("read_meanwhile", is_told=True)
        verdict = self._capped(one, state) or (self._dampened(one, state) if one.route.channel == "email" else None) or Granted()
        if isinstance(verdict, Granted):
            self._note(one, state)
        return verdict

    def _capped(self, one: Delivery, state: State) -> Verdict | None:
        if one.wishes.frequency_cap is None:
            return None
        sent = state.sent_today + self._day[_day_key(one)]
        return Skipped(f"frequency_cap: {one.wishes.frequency_cap} a day") if sent >= one.wishes.frequency_cap else None

    def _dampened(self, one: Delivery, state: State) -> Verdict | None:
        if one.record.thread_id is not None:
            key = _thread_key(one)
            told_at = self._threads.get(key) or state.thread_told_at
            free_at = told_at + THREAD_WINDOW if told_at else state.now
            if one.record.audience_kind == "digest":
                if free_at > state.now:
                    return Later("dampened: thread", free_at)
            elif state.digest_id or key in self._digests:
                return Held(None)
            elif free_at > state.now:
                self._digests.add(key)
                return Held(free_at)
        if state.emails_this_hour + self._hour[one.route.user_id] >= HOURLY_LIMIT:
            return Later("dampened: hourly", state.hour_is_full_until or state.now + HOUR)
        return None

    def _note(self, one: Delivery, state: State) -> None:
        self._day[one.route.user_id, one.route.channel, ""] += 1
        self._day[one.route.user_id, one.route.channel, one.record.notification_type] += 1
        if one.route.channel == "email":
            self._hour[one.route.user_id] += 1
            if one.record.thread_id is not None:
                self._threads[_thread_key(one)] = state.now


def concerns(one: Delivery) -> bool:
    """Whether a delivery is counted at all: every email to a person, and what a cap counts. The sandbox reaches nobody."""
    return (
        one.route.user_id is not None
        and one.record.mode == "live"
        and (one.route.channel == "email" or one.wishes.frequency_cap is not None)
    )


def _thread_key(one: Delivery) -> tuple[UUID | None, str | None, str | None]:
    return one.route.user_id, one.record.thread_kind, one.record.thread_id


def _day_key(one: Delivery) -> tuple[UUID | None, str | None, str]:
    return one.route.user_id, one.route.channel, one.record.notification_type if one.wishes.cap_is_of_type else ""
