"""When a webhook is tried again, and what is read of its answer."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.foundation.text import is_storable
from tocsin.webhooks.answers import MAX_KEPT, answer_of, retry_after, text_of
from tocsin.webhooks.ask import written
from tocsin.webhooks.schedule import JITTER, LONGEST_RETRY_AFTER, SCHEDULE, delay_after

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
SOMEBODY = UUID("0190a5c0-0000-7000-8000-00000000000f")


def test_the_schedule_is_the_documented_one() -> None:
    seconds = [5, 5 * 60, 30 * 60, *(hours * 3600 for hours in (2, 5, 10, 14, 20, 24))]

    assert [step.total_seconds() for step in SCHEDULE] == seconds


@given(st.integers(1, 9), st.uuids())
def test_the_wait_is_the_step_and_a_little_later_the_same_whenever_it_is_asked(tries: int, delivery_id: UUID) -> None:
    wait = delay_after(tries, delivery_id)

    assert SCHEDULE[tries - 1] <= wait <= SCHEDULE[tries - 1] * (1 + JITTER)
    assert wait == delay_after(tries, delivery_id)


def test_what_failed_together_does_not_come_back_together() -> None:
    waits = {delay_after(2, UUID(int=SOMEBODY.int + n)) for n in range(100)}

    assert len(waits) == 100


@pytest.mark.parametrize(
    ("asked", "tries", "least"),
    [
        (timedelta(seconds=1), 1, SCHEDULE[0]),
        (timedelta(hours=1), 1, timedelta(hours=1)),
        (timedelta(days=30), 1, LONGEST_RETRY_AFTER),
        (timedelta(hours=1), 5, SCHEDULE[4]),
    ],
)
def test_a_retry_after_is_the_least_it_gets(asked: timedelta, tries: int, least: timedelta) -> None:
    assert least <= delay_after(tries, SOMEBODY, retry_after=asked) <= least * (1 + JITTER)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("120", timedelta(seconds=120)),
        (" 7 ", timedelta(seconds=7)),
        ("0", timedelta(0)),
        ("99999999999999999999", timedelta(seconds=999_999_999)),
        ("Sun, 15 Nov 2026 12:05:00 GMT", timedelta(minutes=5)),
        ("Sun, 15 Nov 2026 11:00:00 GMT", None),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("\u0661\u0662", None),
        ("1.5", None),
    ],
)
def test_a_retry_after_is_seconds_or_a_date(text: str, expected: timedelta | None) -> None:
    assert retry_after(text, NOW) == expected


@given(st.binary(max_size=9_000))
def test_any_body_becomes_text_that_postgres_can_hold(body: bytes) -> None:
    text = text_of(body, {})

    assert len(text) <= MAX_KEPT
    assert is_storable(text)


@pytest.mark.parametrize(
    ("status", "error"), [(200, ""), (299, ""), (199, "status"), (301, "status"), (410, "gone"), (500, "status")]
)
def test_only_2xx_is_a_success(status: int, error: str) -> None:
    answer = answer_of(status, {"retry-after": "9"}, b"", duration_ms=5, now=NOW)

    assert (answer.error, answer.is_success, answer.retry_after) == (error, not error, None)


def test_the_body_says_first_what_it_is_and_is_compact() -> None:
    stored = {"data": {"b": "\u00e9", "a": 1}, "type": "notification.published", "timestamp": "2026-11-15T12:00:00Z"}

    assert written(stored).decode() == (
        '{"type":"notification.published","timestamp":"2026-11-15T12:00:00Z","data":{"b":"\u00e9","a":1}}'
    )
