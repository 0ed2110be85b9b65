"""How long to wait: by kind, capped, jitter, and polite to the provider."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.delivery import backoff

KINDS = ["exponential", "linear", "constant"]
BASE = timedelta(seconds=5)

kinds = st.sampled_from(KINDS)
bases = st.integers(100, 3_600_000).map(lambda milliseconds: timedelta(milliseconds=milliseconds))
tries = st.integers(1, 20)
spreads = st.floats(-1, 1)


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [("exponential", [5, 10, 20, 40, 80]), ("linear", [5, 10, 15, 20, 25]), ("constant", [5, 5, 5, 5, 5])],
)
def test_each_kind_grows_in_its_own_way(kind: str, seconds: list[int]) -> None:
    waits = [backoff.delay(kind, BASE, attempts, jitter=0) for attempts in range(1, 6)]

    assert waits == [timedelta(seconds=one) for one in seconds]


@pytest.mark.parametrize("kind", ["exponential", "linear"])
def test_no_wait_grows_beyond_an_hour(kind: str) -> None:
    assert backoff.delay(kind, timedelta(minutes=30), 20, jitter=0) == timedelta(hours=1)


def test_a_great_many_attempts_overflow_nothing() -> None:
    assert backoff.delay("exponential", timedelta(hours=1), 32_767, jitter=1) == timedelta(hours=1.2)


@pytest.mark.parametrize(("jitter", "seconds"), [(-1, 4), (0, 5), (1, 6)])
def test_the_spread_moves_the_wait_by_a_fifth_either_way(jitter: float, seconds: int) -> None:
    assert backoff.delay("constant", BASE, 1, jitter=jitter) == timedelta(seconds=seconds)


@given(kinds, bases, tries, spreads)
def test_every_wait_is_within_a_fifth_of_the_plain_one_and_of_the_cap(
    kind: str, base: timedelta, attempts: int, jitter: float
) -> None:
    plain = backoff.delay(kind, base, attempts, jitter=0)

    wait = backoff.delay(kind, base, attempts, jitter=jitter)

    assert 0.799 * plain <= wait <= 1.201 * plain
    assert timedelta(milliseconds=79) <= wait <= 1.2 * backoff.CAP


@given(kinds, bases, st.integers(1, 19))
def test_a_later_try_never_waits_less(kind: str, base: timedelta, attempts: int) -> None:
    sooner = backoff.delay(kind, base, attempts, jitter=0)

    assert backoff.delay(kind, base, attempts + 1, jitter=0) >= sooner


@given(kinds, bases, tries, spreads, st.timedeltas(timedelta(0), timedelta(days=3650)))
def test_retry_after_is_honoured_within_one_and_two_times_our_own_wait(
    kind: str, base: timedelta, attempts: int, jitter: float, asked: timedelta
) -> None:
    own = backoff.delay(kind, base, attempts, jitter=jitter)

    wait = backoff.delay(kind, base, attempts, jitter=jitter, retry_after=asked)

    assert own <= wait <= 2 * own
    if own <= asked <= 2 * own:
        assert wait == asked


def test_an_unknown_kind_is_a_fault_of_ours_and_says_so() -> None:
    with pytest.raises(KeyError):
        backoff.delay("fibonacci", BASE, 1, jitter=0)
