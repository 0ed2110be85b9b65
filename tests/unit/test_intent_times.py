"""Times in intents: RFC 3339 with a zone, in an order that makes sense."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.test_intents import an_intent, wrong
from tocsin.intake.accept_intents import FARTHEST_SEND, send_at_is_too_far
from tocsin.intake.intents import Intent

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-15T12:00:00Z", NOON),
        ("2026-11-15t12:00:00z", NOON),
        ("2026-11-15 12:00:00Z", NOON),
        ("2026-11-15T12:00:00+00:00", NOON),
        ("2026-11-15T12:00:00-00:00", NOON),
        ("2026-11-15T17:30:00+05:30", NOON),
        ("2026-11-14T21:00:00-15:00", NOON),
        ("2026-11-15T12:00:00.5Z", NOON + timedelta(milliseconds=500)),
        ("2026-11-15T12:00:00.123456Z", NOON + timedelta(microseconds=123456)),
        ("2026-11-15T12:00:00.123456789Z", NOON + timedelta(microseconds=123456)),
        ("2028-02-29T00:00:00Z", datetime(2028, 2, 29, tzinfo=UTC)),
    ],
)
def test_a_time_in_rfc_3339_is_read_as_utc(text: str, moment: datetime) -> None:
    read = Intent.model_validate(an_intent(send_at=text)).send_at

    assert read == moment
    assert read.tzinfo is UTC


@pytest.mark.parametrize("field", ["occurred_at", "send_at", "expires_at"])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-11-15",
        "2026-11-15T12:00Z",
        "2026-11-15T12:00:00",
        "20261115T120000Z",
        "2026-W46-7T12:00:00Z",
        "2026-11-15T12:00:00 Z",
        "2026-11-15T12:00:00+0000",
        "2026-11-15T12:00:00+24:00",
        "2026-11-15T12:00:00Z\n",
        "2026-13-01T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2026-11-15T24:00:01Z",
        "2026-11-15T12:60:00Z",
        "2026-11-15T12:00:61Z",
        "0000-01-01T00:00:00Z",
        "2026-11-15T12:00:00.1234567890Z",
        "\uff12\uff10\uff12\uff16-11-15T12:00:00Z",
        1_763_208_000,
        1.5,
        True,
        [],
    ],
)
def test_any_other_time_is_refused_in_place(field: str, text: Any) -> None:
    assert list(wrong(an_intent(**{field: text}))) == [f"/{field}"]


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"])
def test_a_time_beyond_the_calendar_is_refused_in_place(text: str) -> None:
    assert list(wrong(an_intent(occurred_at=text))) == ["/occurred_at"]


def test_a_refused_time_is_not_repeated_in_any_script() -> None:
    assert "\uff12\uff10\uff12\uff16" not in str(wrong(an_intent(send_at="\uff12\uff10\uff12\uff16-11-15T12:00:00Z")))


@given(st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC)))  # noqa: DTZ001 - the strategy adds the zone
def test_every_time_we_write_is_a_time_we_read(moment: datetime) -> None:
    assert Intent.model_validate(an_intent(occurred_at=moment.isoformat())).occurred_at == moment


@given(
    st.text(max_size=40) | st.from_regex(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", fullmatch=True)
)
def test_any_text_is_a_time_or_a_mistake_at_its_place(text: str) -> None:
    value = an_intent(occurred_at=text)

    try:
        Intent.model_validate(value)
    except ValueError:
        assert list(wrong(value)) == ["/occurred_at"]


@pytest.mark.parametrize("expires_at", ["2026-11-15T12:00:00Z", "2026-11-15T11:59:59Z", "2026-11-15T13:00:00+01:00"])
def test_an_intent_cannot_expire_before_it_is_sent(expires_at: str) -> None:
    told = wrong(an_intent(send_at="2026-11-15T12:00:00Z", expires_at=expires_at))

    assert told == {"/expires_at": "must be later than send_at"}


def test_an_intent_may_expire_just_after_it_is_sent() -> None:
    Intent.model_validate(an_intent(send_at="2026-11-15T12:00:00Z", expires_at="2026-11-15T12:00:00.001Z"))


def test_a_year_ahead_is_the_farthest_that_one_may_plan() -> None:
    now = datetime.now(UTC)
    within = Intent.model_validate(an_intent(send_at=(now + FARTHEST_SEND - timedelta(minutes=1)).isoformat()))
    beyond = Intent.model_validate(an_intent(send_at=(now + FARTHEST_SEND + timedelta(minutes=1)).isoformat()))

    assert not send_at_is_too_far(within)
    assert send_at_is_too_far(beyond)
    assert not send_at_is_too_far(Intent.model_validate(an_intent()))
