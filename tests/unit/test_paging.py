"""A page has a size that the server can bear, and says where the next one starts."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.http import cursors, paging
from tocsin.http.door import Request
from tocsin.http.problems import Problem

AT = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def asking(**query: str) -> Request:
    return Request("GET", "/v1/users", {}, query, {}, b"", "r-1", "")


def test_without_a_limit_a_page_has_fifty_rows() -> None:
    assert paging.limit_of(asking()) == 50


@pytest.mark.parametrize(("text", "limit"), [("1", 1), ("200", 200), ("007", 7)])
def test_a_limit_from_1_to_200_is_granted(text: str, limit: int) -> None:
    assert paging.limit_of(asking(limit=text)) == limit


@pytest.mark.parametrize(
    "text", ["0", "201", "-1", "", "1.5", "1e2", " 5", "\u0665", "²", "x", "9" * 10_000, "00005099999", "000050" + "9" * 10_000]
)
def test_any_other_limit_is_a_422(text: str) -> None:
    with pytest.raises(Problem) as caught:
        paging.limit_of(asking(limit=text))

    assert caught.value.status == 422


@given(st.text(max_size=12) | st.from_regex(r"[0-9]{1,12}", fullmatch=True))
def test_no_limit_is_ever_above_200(text: str) -> None:
    try:
        limit = paging.limit_of(asking(limit=text))
    except Problem:
        return

    assert 1 <= limit <= 200


def test_one_row_too_many_means_a_next_page_that_starts_after_the_last_shown() -> None:
    rows = [(AT, UUID(int=n)) for n in (3, 2, 1)]

    answer = paging.page(rows, 2, shown=lambda row: row[1].int, place=lambda row: row)

    assert answer.body["data"] == [3, 2]
    assert cursors.decode(answer.body["next_cursor"]) == rows[1]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_the_last_page_has_no_next_cursor(count: int) -> None:
    rows = [(AT, UUID(int=n)) for n in range(count)]

    answer = paging.page(rows, 2, shown=lambda row: row[1].int, place=lambda row: row)

    assert answer.body == {"data": list(range(count)), "next_cursor": None}


def test_an_empty_cursor_asks_for_the_first_page() -> None:
    assert paging.cursor_of(asking(cursor="")) is None
    assert paging.cursor_of(asking()) is None
