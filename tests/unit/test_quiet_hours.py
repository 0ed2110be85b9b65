"""Quiet hours in every time zone there is: held against a clock on the wall, looked at moment by moment."""

from bisect import bisect_left
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from functools import cache
from itertools import takewhile
from typing import NamedTuple
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tocsin.delivery import quiet_hours

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
INSTANT = timedelta(microseconds=1)
FIRST, LAST = datetime(1990, 1, 1, tzinfo=UTC), datetime(2037, 12, 1, tzinfo=UTC)
ZONES = sorted(available_timezones())
# Changes at midnight, of half an hour, of a whole day, at one minute past midnight, and to a new standard time.
PECULIAR = ["Africa/Cairo", "America/Sao_Paulo", "Australia/Lord_Howe", "Pacific/Apia", "America/St_Johns", "America/Havana",
            "Asia/Beirut", "Asia/Pyongyang", "Pacific/Kwajalein", "Africa/Casablanca", "Antarctica/Troll"]  # fmt: skip


class Change(NamedTuple):
    """A clock is put forward or back at `at`; the offsets are those before and after."""

    at: datetime
    before: timedelta
    after: timedelta

    @property
    def size(self) -> timedelta:
        return abs(self.after - self.before)

    def concerns(self, wall: time) -> bool:
        """Whether that wall time comes twice, or not at all, by this change."""
        first = (self.at + min(self.before, self.after)).replace(tzinfo=None)
        last = (self.at + max(self.before, self.after)).replace(tzinfo=None)
        days = [first.date() + timedelta(days=n) for n in range(3)]
        return any(first <= datetime.combine(day, wall) < last for day in days)


class Case(NamedTuple):
    zone: str
    now: datetime
    start: time
    end: time


@cache
def changes_of(zone: str) -> list[Change]:
    """Found by looking at the clock every few days, and then ever closer."""
    there = ZoneInfo(zone)

    def offset(moment: datetime) -> timedelta:
        found = moment.astimezone(there).utcoffset()
        assert found is not None
        return found

    changes: list[Change] = []
    step = timedelta(days=10)
    moment, was = FIRST, offset(FIRST)
    while moment < LAST:
        low, high, then = moment, moment + step, offset(moment + step)
        if then != was:
            while high - low > timedelta(seconds=1):
                middle = (low + (high - low) // 2).replace(microsecond=0)
                low, high = (middle, high) if offset(middle) == was else (low, middle)
            changes.append(Change(high, was, offset(high)))
        moment, was = moment + step, then
    return changes


def near(zone: str, moment: datetime) -> list[Change]:
    """The clock changes of the days around."""
    changes = changes_of(zone)
    first = bisect_left(changes, moment - 4 * DAY, key=lambda one: one.at)
    return list(takewhile(lambda one: one.at <= moment + 4 * DAY, changes[first : first + 9]))


def is_between(wall: time, start: time, end: time) -> bool:
    return start <= wall < end if start < end else wall >= start or wall < end


def is_quiet_by_the_wall(moment: datetime, case: Case) -> bool:
    return is_between(moment.astimezone(ZoneInfo(case.zone)).time(), case.start, case.end)


def is_quiet_by_some_reading(moment: datetime, case: Case) -> bool:
    """By the clock on the wall; or, where an edge of the window falls into an hour that is left out, by the clock that was put
    forward too early, or not yet."""
    if is_quiet_by_the_wall(moment, case):
        return True
    for change in near(case.zone, moment):
        if change.after < change.before:
            continue
        too_early = change.at - change.size <= moment < change.at and change.concerns(case.start)
        not_yet = change.at <= moment < change.at + change.size and change.concerns(case.end)
        if too_early and is_between((moment + change.after).time(), case.start, case.end):
            return True
        if not_yet and is_between((moment + change.before).time(), case.start, case.end):
            return True
    return False


def is_widened(moment: datetime, case: Case) -> bool:
    """Whether a clock change that an edge of the window falls into is no further away than it is long."""
    return any(
        abs(moment - change.at) <= change.size and (change.concerns(case.start) or change.concerns(case.end))
        for change in near(case.zone, moment)
    )


def ends_at(moment: datetime, case: Case) -> datetime | None:
    return quiet_hours.ends_at(moment, case.start, case.end, case.zone)


def next_start(moment: datetime, case: Case) -> datetime:
    return quiet_hours.next_start(moment, case.start, case.end, case.zone)


zones = st.sampled_from(PECULIAR) | st.sampled_from(ZONES)
minutes_from_a_change = st.integers(-90, 90) | st.integers(-36 * 60, 36 * 60)
minutes_of_all_years = st.integers(8_000, (LAST - FIRST) // MINUTE - 8_000)
trifles = st.sampled_from([timedelta(0), INSTANT, -INSTANT, timedelta(seconds=29.5)])
minutes_of_a_day = st.integers(0, 1439)
lengths = st.sampled_from([1, 15, 30, 60, 540, 720, 1380, 1410, 1439]) | st.integers(1, 1439)


@st.composite
def zones_and_moments(draw: st.DrawFn) -> tuple[str, datetime]:
    """Any moment anywhere; or, more often, one within a day and a half of a clock change."""
    zone = draw(zones)
    changes = changes_of(zone)
    if changes and draw(st.integers(0, 3)) > 0:
        moment = changes[draw(st.integers(0, len(changes) - 1))].at + draw(minutes_from_a_change) * MINUTE
    else:
        moment = FIRST + draw(minutes_of_all_years) * MINUTE
    return zone, moment + draw(trifles)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """With a window of any length at any time; or one that begins or ends where the clock changes."""
    zone, now = draw(zones_and_moments())
    edge = draw(minutes_of_a_day)
    changes = near(zone, now)
    if changes and draw(st.booleans()) is True:
        wall = (changes[0].at + (changes[0].after if edge % 2 else changes[0].before)).time()
        edge = (wall.hour * 60 + wall.minute + edge // 8 - 90) % 1440
    edges = [edge, (edge + draw(lengths)) % 1440]
    start, end = [time(*divmod(one, 60)) for one in (edges if draw(st.booleans()) else edges[::-1])]
    return Case(zone, now, start, end)


def around(case: Case) -> Iterator[datetime]:
    """Moments of two days, and both sides of each clock change in them."""
    moment = case.now - DAY
    while moment < case.now + DAY:
        yield moment
        moment += timedelta(minutes=20)
    for change in near(case.zone, case.now):
        for shift in (-change.size, timedelta(0), change.size):
            yield from (change.at + shift - INSTANT, change.at + shift)


NIGHT = (time(22), time(7))
known_days = [
    Case("America/New_York", datetime(2026, 3, 8, 6, 59, tzinfo=UTC), time(2, 30), time(2, 45)),
    Case("America/New_York", datetime(2026, 11, 1, 5, 50, tzinfo=UTC), time(1, 30), time(1, 45)),
    Case("America/New_York", datetime(2026, 11, 1, 5, 50, tzinfo=UTC), time(1, 45), time(1, 15)),
    Case("Africa/Cairo", datetime(2026, 4, 23, 21, 30, tzinfo=UTC), time(0), time(6)),
    Case("Africa/Cairo", datetime(2026, 4, 23, 21, 30, tzinfo=UTC), time(0), time(23, 59)),
    Case("Africa/Cairo", datetime(2026, 4, 23, 22, 30, tzinfo=UTC), time(18), time(0, 30)),
    Case("America/Sao_Paulo", datetime(2018, 11, 4, 3, 30, tzinfo=UTC), time(20), time(0, 30)),
    Case("Australia/Lord_Howe", datetime(2026, 10, 3, 15, 15, tzinfo=UTC), time(2, 10), time(2, 20)),
    Case("Australia/Lord_Howe", datetime(2026, 4, 4, 14, 45, tzinfo=UTC), time(1, 40), time(1, 50)),
    Case("Pacific/Apia", datetime(2011, 12, 30, 9, 0, tzinfo=UTC), *NIGHT),
    Case("Pacific/Apia", datetime(2011, 12, 30, 11, 0, tzinfo=UTC), time(12), time(13)),
    Case("America/St_Johns", datetime(2005, 10, 30, 2, 31, tzinfo=UTC), time(23, 30), time(0)),
]


@settings(max_examples=150)
@given(cases())
@example(known_days[0])
@example(known_days[1])
@example(known_days[2])
@example(known_days[3])
@example(known_days[4])
@example(known_days[5])
@example(known_days[6])
@example(known_days[7])
@example(known_days[8])
@example(known_days[9])
@example(known_days[10])
@example(known_days[11])
def test_whenever_it_is_quiet_by_any_reading_nothing_goes_out_and_else_only_a_clock_change_defers(
    case: Case,
) -> None:
    for moment in around(case):
        is_deferred = ends_at(moment, case) is not None

        if is_quiet_by_some_reading(moment, case):
            assert is_deferred, f"{moment} is quiet and was not deferred"
        elif is_deferred:
            assert is_widened(moment, case), f"{moment} was deferred without a reason"


@settings(max_examples=250)
@given(cases())
@example(known_days[4])
@example(known_days[10])
def test_it_is_deferred_to_a_later_moment_that_is_not_quiet_itself_and_to_the_first_such_moment(case: Case) -> None:
    until = ends_at(case.now, case)
    assume(until is not None)
    assert until is not None

    assert until > case.now
    assert ends_at(until, case) is None
    assert not is_quiet_by_some_reading(until, case)
    assert until.utcoffset() == timedelta(0)
    between = [case.now + (until - case.now) // 16 * n for n in range(16)]
    assert {ends_at(moment, case) for moment in [*between, until - INSTANT]} == {until}, "all the time until then is quiet"


@settings(max_examples=250)
@given(cases())
@example(known_days[4])
def test_nobody_waits_longer_than_the_window_and_what_a_clock_change_adds_to_it(case: Case) -> None:
    until = ends_at(case.now, case)
    assume(until is not None)
    assert until is not None
    length = (datetime.combine(FIRST, case.end) - datetime.combine(FIRST, case.start)) % DAY
    added = sum((change.size for change in near(case.zone, case.now)), timedelta(0))

    # Windows that are further apart than the clock moves stay apart; others may become one with the next day's.
    assert until - case.now <= length + added + (timedelta(0) if DAY - length > added else 2 * DAY)


@settings(max_examples=150)
@given(cases())
@example(known_days[0])
@example(known_days[9])
def test_the_next_start_is_when_quiet_hours_begin_and_nothing_before_it_is_quiet(case: Case) -> None:
    assume(ends_at(case.now, case) is None)

    start = next_start(case.now, case)

    assert case.now < start
    assert ends_at(start, case) is not None
    between = [case.now + (start - case.now) // 32 * n for n in range(32)]
    for moment in [*between, start - INSTANT]:
        assert ends_at(moment, case) is None
        assert not is_quiet_by_some_reading(moment, case)
        assert next_start(moment, case) == start


@pytest.mark.parametrize(
    ("zone", "now", "window", "until"),
    [
        ("UTC", "2026-11-15T21:59:59.999999Z", ("22:00", "07:00"), None),
        ("UTC", "2026-11-15T22:00:00Z", ("22:00", "07:00"), "2026-11-16T07:00:00Z"),
        ("UTC", "2026-11-16T06:59:59.999999Z", ("22:00", "07:00"), "2026-11-16T07:00:00Z"),
        ("UTC", "2026-11-16T07:00:00Z", ("22:00", "07:00"), None),
        ("UTC", "2026-11-15T13:00:00Z", ("13:00", "14:00"), "2026-11-15T14:00:00Z"),
        ("UTC", "2026-11-15T23:59:59Z", ("13:00", "00:00"), "2026-11-16T00:00:00Z"),
        ("UTC", "2026-11-16T00:00:00Z", ("13:00", "00:00"), None),
        # the hour that is left out: read before it and after it
        ("America/New_York", "2026-03-08T06:29:59Z", ("02:30", "05:00"), None),
        ("America/New_York", "2026-03-08T06:30:00Z", ("02:30", "05:00"), "2026-03-08T09:00:00Z"),
        ("America/New_York", "2026-03-08T03:00:00Z", ("22:00", "02:30"), "2026-03-08T07:30:00Z"),
        # the hour that comes twice: from the first to the second
        ("America/New_York", "2026-11-01T05:30:00Z", ("01:30", "05:00"), "2026-11-01T10:00:00Z"),
        ("America/New_York", "2026-11-01T06:15:00Z", ("01:30", "05:00"), "2026-11-01T10:00:00Z"),
        ("America/New_York", "2026-11-01T02:00:00Z", ("22:00", "01:30"), "2026-11-01T06:30:00Z"),
        # midnight itself is left out
        ("Africa/Cairo", "2026-04-23T21:00:00Z", ("00:00", "06:00"), "2026-04-24T03:00:00Z"),
        ("Africa/Cairo", "2026-04-23T20:00:00Z", ("22:00", "00:00"), "2026-04-23T22:00:00Z"),
        ("America/Sao_Paulo", "2018-11-04T02:00:00Z", ("00:00", "06:00"), "2018-11-04T08:00:00Z"),
        ("America/Sao_Paulo", "2018-11-04T01:00:00Z", ("22:00", "00:30"), "2018-11-04T03:30:00Z"),
        # half an hour
        ("Australia/Lord_Howe", "2026-10-03T15:15:00Z", ("02:15", "06:00"), "2026-10-03T19:00:00Z"),
        ("Australia/Lord_Howe", "2026-04-04T10:00:00Z", ("20:00", "01:45"), "2026-04-04T15:15:00Z"),
        # a day that never was: the night before it ends on the morning after it
        ("Pacific/Apia", "2011-12-30T08:00:00Z", ("22:00", "07:00"), "2011-12-30T17:00:00Z"),
        ("Pacific/Apia", "2011-12-30T16:59:59Z", ("22:00", "07:00"), "2011-12-30T17:00:00Z"),
    ],
)  # fmt: skip
def test_these_days_are_known(zone: str, now: str, window: tuple[str, str], until: str | None) -> None:
    start, end = (time.fromisoformat(one) for one in window)

    found = quiet_hours.ends_at(datetime.fromisoformat(now), start, end, zone)

    assert found == (datetime.fromisoformat(until) if until else None)


def test_windows_that_a_clock_change_lets_touch_are_one() -> None:
    """The free half hour, 01:15 to 01:45, falls into the hour that comes twice: neither copy of it is surely free."""
    eve, window = datetime(2026, 11, 1, 4, 0, tzinfo=UTC), (time(1, 45), time(1, 15))

    until = quiet_hours.ends_at(eve, *window, "America/New_York")

    assert until == datetime(2026, 11, 2, 6, 15, tzinfo=UTC)


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../../etc/passwd"])
def test_a_zone_that_is_not_known_any_more_is_read_as_utc(zone: str) -> None:
    now = datetime(2026, 11, 15, 23, tzinfo=UTC)

    assert quiet_hours.ends_at(now, *NIGHT, zone) == datetime(2026, 11, 16, 7, tzinfo=UTC)
    assert quiet_hours.local_day(now, zone) == (datetime(2026, 11, 15, tzinfo=UTC), datetime(2026, 11, 16, tzinfo=UTC))


@settings(max_examples=300)
@given(zones_and_moments())
@example(("Africa/Cairo", datetime(2026, 4, 23, 21, 30, tzinfo=UTC)))
@example(("America/Sao_Paulo", datetime(2018, 11, 4, 2, 30, tzinfo=UTC)))
@example(("Pacific/Apia", datetime(2011, 12, 30, 9, 59, tzinfo=UTC)))
@example(("America/St_Johns", datetime(2005, 10, 30, 2, 31, tzinfo=UTC)))
def test_every_moment_lies_in_exactly_one_day_and_the_days_follow_each_other_without_a_gap(place: tuple[str, datetime]) -> None:
    zone, now = place

    begins, ends = quiet_hours.local_day(now, zone)

    assert begins <= now < ends, "a cap would not count what is sent now"
    for moment in (begins, begins + (ends - begins) // 2, ends - INSTANT):
        assert quiet_hours.local_day(moment, zone) == (begins, ends)
    assert quiet_hours.local_day(ends, zone)[0] == ends
    assert quiet_hours.local_day(begins - INSTANT, zone)[1] == begins


@settings(max_examples=300)
@given(zones_and_moments())
def test_a_day_is_the_one_on_the_calendar_there_and_only_a_clock_change_blurs_its_edges(place: tuple[str, datetime]) -> None:
    zone, now = place

    begins, ends = quiet_hours.local_day(now, zone)

    blur = max((change.size for change in near(zone, now)), default=timedelta(0))
    first, last = (begins + blur).astimezone(ZoneInfo(zone)), (ends - blur - INSTANT).astimezone(ZoneInfo(zone))
    if first < last:
        assert first.date() == last.date()
    if not blur:
        assert first.time() == time(0)
        assert ends - begins == DAY
