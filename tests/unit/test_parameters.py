"""Parameters: text in UTF-8, each said once, and each known; what is wrong is named, and so is what was perhaps meant."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.parameters import is_text, read_query
from tocsin.problems import Problem

KNOWN = ["status", "limit", "cursor", "user_id"]


def wrong(raw: str) -> list[dict[str, str]]:
    with pytest.raises(Problem) as raised:
        read_query(raw, KNOWN)
    assert raised.value.status == 422
    return raised.value.errors


def test_known_parameters_are_read() -> None:
    assert read_query("status=unread&limit=5&cursor=a%2Bb+c", KNOWN) == {"status": "unread", "limit": "5", "cursor": "a+b c"}
    assert read_query("", []) == {}


@pytest.mark.parametrize(
    ("raw", "name", "meant"),
    [
        ("statsu=unread", "?statsu", "did you mean `status`?"),
        ("Limit=5", "?Limit", "did you mean `limit`?"),
        ("userid=a", "?userid", "did you mean `user_id`?"),
        ("colour=red", "?colour", "there are cursor, limit, status, user_id"),
        ("=1", "?", "there are"),
        ("x" * 500 + "=1", "?" + "x" * 100, "there are"),
    ],
)
def test_one_that_is_not_known_is_named_with_what_was_perhaps_meant(raw: str, name: str, meant: str) -> None:
    (error,) = wrong(raw)

    assert error["pointer"] == name
    assert error["message"].startswith("is not a known parameter; ")
    assert meant in error["message"]


def test_where_none_is_known_that_is_said() -> None:
    with pytest.raises(Problem) as raised:
        read_query("a=1", [])

    assert raised.value.errors == [{"pointer": "?a", "message": "is not a known parameter; there are none"}]


@pytest.mark.parametrize("value", ["%00", "a%00b", "%ff", "%ed%a0%80", "%c3", "\ud800", "\x00"])
def test_what_is_no_text_that_can_be_kept_is_refused(value: str) -> None:
    assert wrong(f"status={value}") == [{"pointer": "?status", "message": "is not text in UTF-8"}]
    assert len(wrong(f"{value}=1")) == 1


def test_a_parameter_that_stands_twice_is_refused_instead_of_guessed_at() -> None:
    assert wrong("status=read&status=unread") == [{"pointer": "?status", "message": "stands twice; one value is meant"}]


def test_everything_that_is_wrong_is_listed_up_to_twenty() -> None:
    assert [error["pointer"] for error in wrong("a=1&limit=%ff&b=2")] == ["?a", "?limit", "?b"]
    assert len(wrong("&".join(f"p{n}=1" for n in range(50)))) == 20


@given(st.text(max_size=50))
def test_any_query_is_read_or_refused_with_words_that_can_be_written(raw: str) -> None:
    try:
        read: Any = read_query(raw, KNOWN)
    except Problem as problem:
        read = problem.body("r")

    str(read).encode()


@pytest.mark.parametrize(
    ("place", "is_one"), [("a", True), ("ü\n", True), ("a\x00", False), ("\ud800", False), ("a\ufffd", False)]
)
def test_a_place_in_a_path_is_text_if_nothing_was_lost_on_the_way(place: str, is_one: bool) -> None:
    assert is_text(place) == is_one
