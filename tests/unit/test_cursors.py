"""Cursors lead back to the row they name, and to nothing else."""

import base64
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.http import cursors
from tocsin.http.problems import Problem

AT = datetime(2026, 11, 15, 12, 0, 0, 123456, tzinfo=UTC)
ROW = UUID("0193a000-0000-7000-8000-000000000001")

zones = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


def encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@given(st.datetimes(timezones=zones), st.uuids())
def test_a_cursor_leads_back_to_its_row(at: datetime, row: UUID) -> None:
    assert cursors.decode(cursors.encode(at, row)) == (at, row)


@given(st.datetimes(timezones=st.just(UTC)), st.uuids())
def test_a_cursor_needs_no_escaping_in_a_url(at: datetime, row: UUID) -> None:
    assert cursors.encode(at, row).replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "%%%",
        "ünïcode",
        "\x00",
        encoded(""),
        encoded("|"),
        encoded(f"{AT.isoformat()}"),
        encoded(f"{AT.isoformat()}|"),
        encoded(f"{AT.isoformat()}|42"),
        encoded(f"|{ROW}"),
        encoded(f"yesterday|{ROW}"),
        encoded(f"2026-11-15T12:00:00|{ROW}"),
        encoded(f"{AT.isoformat()}|{ROW}|more"),
        encoded(f"{AT.isoformat()}|{ROW}'; DROP TABLE users"),
        base64.urlsafe_b64encode(b"\xff\xfe\x00").decode(),
        "A" * 100_000,
    ],
)
def test_a_cursor_that_was_tampered_with_is_a_400(cursor: str) -> None:
    with pytest.raises(Problem) as caught:
        cursors.decode(cursor)

    assert (caught.value.status, caught.value.kind) == (400, "invalid-cursor")


def test_a_shortened_cursor_is_a_400() -> None:
    cursor = cursors.encode(AT, ROW)

    for length in range(1, len(cursor)):
        with pytest.raises(Problem):
            cursors.decode(cursor[:length])


@given(st.text(max_size=120))
def test_any_text_is_a_place_in_the_list_or_a_400(text: str) -> None:
    try:
        at, row = cursors.decode(text)
    except Problem as problem:
        assert problem.status == 400
    else:
        assert at.tzinfo is not None
        assert isinstance(row, UUID)
