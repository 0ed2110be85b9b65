"""The older books are looked at part by part, hour by hour: nothing of any age is passed over between two parts."""

from datetime import UTC, datetime, timedelta

import pytest

from tocsin.upkeep.balance import OLDEST, PARTS, RECENT, part_of_the_past

START = datetime(2026, 11, 18, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize("first", range(PARTS))
def test_what_is_of_any_age_has_its_turn_within_a_day(first: int) -> None:
    begin = START + first * HOUR
    looks = [part_of_the_past(begin + n * HOUR) for n in range(PARTS)]

    missed = []
    age = RECENT + 2 * HOUR
    while age < OLDEST - PARTS * HOUR:
        accepted_at = begin - age
        if not any(since <= accepted_at < until for since, until in looks):
            missed.append(age)
        age += timedelta(minutes=20)

    assert missed == []
