"""Text of a length, and text that reverses nothing after it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.foundation.text import bidi_closed, direction_of, shortened

OPENING = dict.fromkeys("\u202a\u202b\u202d\u202e", "\u202c") | dict.fromkeys("\u2066\u2067\u2068", "\u2069")


@given(st.text(st.sampled_from("ab \n\u0301\u200d\U0001f468\U0001f3fd\U0001f1e9"), max_size=60), st.integers(2, 40))
def test_what_is_too_long_is_cut_with_an_ellipsis_and_nothing_else_is(text: str, limit: int) -> None:
    cut = shortened(text, limit)

    assert len(cut) <= limit
    assert (cut == text) is (len(text) <= limit)
    if cut != text:
        assert cut.endswith("…")
        assert text.startswith(cut[:-1])


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [
        ("one two three", 13, "one two three"),
        ("one two three", 12, "one two…"),
        ("one two three", 8, "one two…"),
        ("one two three", 7, "one…"),
        ("a " + "x" * 50, 20, "a " + "x" * 17 + "…"),
        ("\u65e5\u672c\u8a9e\u306e\u6587\u7ae0", 4, "\u65e5\u672c\u8a9e…"),
    ],
)
def test_a_cut_is_between_two_words_where_that_is_near(text: str, limit: int, cut: str) -> None:
    assert shortened(text, limit) == cut


@pytest.mark.parametrize(
    "one",
    ["e\u0301", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f44d\U0001f3fd", "\U0001f1e9\U0001f1ea", "\u2764\ufe0f"],
)
def test_what_is_read_as_one_character_is_not_cut_in_two(one: str) -> None:
    for limit in range(3, 12):
        cut = shortened(one * 9, limit)[:-1]
        assert cut == one * (len(cut) // len(one))


@given(st.text(st.sampled_from("ab\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"), max_size=20))
def test_every_control_of_direction_that_is_opened_is_closed_and_none_of_anothers(text: str) -> None:
    closed, opened = bidi_closed(text), []
    for character in closed:
        if character in OPENING:
            opened.append(OPENING[character])
        elif character == "\u202c":
            assert opened.pop() == "\u202c"
        elif character == "\u2069":
            while opened.pop() != "\u2069":
                pass

    assert not opened
    assert [one for one in closed if one in "ab"] == [one for one in text if one in "ab"]
    assert bidi_closed(closed) == closed


def test_a_text_is_read_in_the_direction_of_its_first_letter() -> None:
    assert direction_of("Order \u05d4") == "ltr"
    assert direction_of("17: \u05d4\u05d6\u05de\u05e0\u05d4 A-17") == "rtl"
    assert direction_of("\u0645\u0631\u062d\u0628\u0627") == "rtl"
    assert direction_of("17 \U0001f389") == "ltr"
