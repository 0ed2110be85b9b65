"""What a preference may say, whoever asks for it."""

from datetime import time
from typing import Any
from uuid import uuid4

import pytest

from tocsin.people.preferences import Inapplicable, PreferenceChange, check_window, prefer

TEN, SEVEN = time(22), time(7)
NO_DATABASE: Any = None  # a refusal does not ask it


@pytest.mark.parametrize(("start", "end"), [(None, None), (TEN, SEVEN), (SEVEN, TEN)])
def test_quiet_hours_have_a_start_and_an_end_or_neither(start: time | None, end: time | None) -> None:
    check_window(start, end)


@pytest.mark.parametrize(("start", "end"), [(TEN, None), (None, SEVEN), (TEN, TEN)])
def test_half_a_window_and_one_without_length_are_refused(start: time | None, end: time | None) -> None:
    with pytest.raises(ValueError, match=r"quiet hours|must not be the start"):
        prefer(NO_DATABASE, uuid4(), uuid4(), "email", "", PreferenceChange(quiet_hours_start=start, quiet_hours_end=end))


@pytest.mark.parametrize(
    ("wishes", "field"),
    [
        (PreferenceChange(frequency_cap=3), "frequency_cap"),
        (PreferenceChange(quiet_hours_start=TEN, quiet_hours_end=SEVEN), "quiet_hours_start"),
        (PreferenceChange(timezone="Europe/Lisbon"), "timezone"),
    ],
)
def test_the_inbox_disturbs_nobody_and_takes_no_wish_about_it(wishes: PreferenceChange, field: str) -> None:
    with pytest.raises(Inapplicable) as refused:
        prefer(NO_DATABASE, uuid4(), uuid4(), "in_app", "", wishes)

    assert refused.value.field == field
