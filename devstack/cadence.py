"""When a schedule fires: EventBridge's rate() and cron() expressions."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from devstack.intrinsics import TemplateError

_RATE = re.compile(r"rate\((\d+) (minute|hour|day)(s?)\)")
_CRON = re.compile(r"cron\((.+)\)")
_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
_FIELDS: tuple[tuple[str, int, int, list[str]], ...] = (
    ("minute", 0, 59, []),
    ("hour", 0, 23, []),
    ("day of the month", 1, 31, []),
    ("month", 1, 12, _MONTHS),
    ("day of the week", 1, 7, _DAYS),
    ("year", 1970, 2199, []),
)


class Cadence(Protocol):
    def next_after(self, moment: datetime) -> datetime: ...


@dataclass(frozen=True, slots=True)
class Rate:
    every: timedelta

    def next_after(self, moment: datetime) -> datetime:
        return moment + self.every


@dataclass(frozen=True, slots=True)
class Cron:
    """Six sets of allowed values; None is every value. Sunday is the first day of the week, as EventBridge counts."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    years: frozenset[int]

    def next_after(self, moment: datetime) -> datetime:
        at = moment.astimezone(UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)
        last = max(self.years)
        while at.year <= last:
            if at.month not in self.months or at.year not in self.years or not self._is_day(at):
                at = at.replace(hour=0, minute=0) + timedelta(days=1)
            elif at.hour not in self.hours:
                at = at.replace(minute=0) + timedelta(hours=1)
            elif at.minute not in self.minutes:
                at += timedelta(minutes=1)
            else:
                return at
        return datetime.max.replace(tzinfo=UTC)

    def _is_day(self, at: datetime) -> bool:
        return at.day in self.days and at.isoweekday() % 7 + 1 in self.weekdays


def read(expression: str) -> Cadence:
    """The cadence of a schedule expression, refused where EventBridge would refuse it."""
    if match := _RATE.fullmatch(expression):
        number, unit, plural = int(match[1]), match[2], match[3]
        if number < 1 or (number == 1) == bool(plural):
            raise TemplateError(f"{expression} is not valid: a rate of one is singular, any other plural")
        return Rate(timedelta(**{f"{unit}s": number}))
    if match := _CRON.fullmatch(expression):
        fields = match[1].split()
        if len(fields) != len(_FIELDS):
            raise TemplateError(f"{expression} is not valid: cron has six fields")
        return Cron(*(_values(field, *spec) for field, spec in zip(fields, _FIELDS, strict=True)))
    raise TemplateError(f"the local stack does not know the schedule {expression}")


def _values(field: str, what: str, lowest: int, highest: int, names: list[str]) -> frozenset[int]:
    found: set[int] = set()
    try:
        for part in field.split(","):
            span, _, step = part.partition("/")
            first, _, last = span.partition("-")
            if first in {"*", "?"}:
                start, end = lowest, highest
            else:
                start = _number(first, lowest, names)
                end = _number(last, lowest, names) if last else highest if step else start
            found |= set(range(start, end + 1, int(step or 1)))
    except ValueError:
        raise TemplateError(f"{field} is not a {what} that the local stack knows") from None
    if not found or min(found) < lowest or max(found) > highest:
        raise TemplateError(f"{field} is not a {what}")
    return frozenset(found)


def _number(text: str, lowest: int, names: list[str]) -> int:
    return names.index(text.upper()) + lowest if text.upper() in names else int(text)
