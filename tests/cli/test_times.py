"""Moments as people write and read them."""

from datetime import UTC, datetime, timedelta

import pytest

from tocsin_cli import times

NOW = datetime(2026, 11, 17, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("90s", 90), ("10m", 600), ("2h", 7_200), ("1d", 86_400), ("1w", 604_800), ("1h30m", 5_400), ("1h 30m", 5_400)],
)
def test_a_span_is_a_number_and_a_unit(text: str, expected: int) -> None:
    assert times.span(text) == timedelta(seconds=expected)


@pytest.mark.parametrize("text", ["", "10", "m", "ten minutes", "10 parsecs", "-5m", "10m!"])
def test_what_is_no_span_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="span"):
        times.span(text)


def test_a_moment_is_a_span_from_now_or_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert times.moment("10m", NOW) == NOW - timedelta(minutes=10)
    assert times.moment("10m", NOW, ahead=True) == NOW + timedelta(minutes=10)
    assert times.moment("2026-11-17T10:00:00Z", NOW) == NOW - timedelta(hours=2)
    assert times.wire(times.moment("2026-11-17T12:00:00+01:00", NOW)) == "2026-11-17T11:00:00.000000Z"
    with pytest.raises(ValueError, match="must be a time"):
        times.moment("yesterday", NOW)


def test_times_are_shown_as_the_readers_clock_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        assert times.local("2026-11-17T10:00:00.123456Z") == "2026-11-17 15:30:00"
        assert times.moment("2026-11-17 15:30", NOW) == datetime(2026, 11, 17, 10, 0, tzinfo=UTC)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_what_is_no_moment_is_shown_as_it_is() -> None:
    assert (times.local(None), times.local("soon"), times.ago(None, NOW)) == ("", "soon", "")


@pytest.mark.parametrize(("seconds", "shown"), [(5, "5 s"), (119, "119 s"), (600, "10 min"), (7_300, "2 h"), (200_000, "2 d")])
def test_a_length_is_told_in_one_unit(seconds: int, shown: str) -> None:
    assert times.lasted(timedelta(seconds=seconds)) == shown
