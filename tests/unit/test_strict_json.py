"""JSON that two readers could understand differently is refused before anybody reads it."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.foundation import strict_json
from tocsin.foundation.strict_json import InvalidJson, UnsafeJson

plain_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")), inner, max_size=4)
    ),
    max_leaves=15,
)


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


@given(plain_json)
def test_ordinary_json_is_read_as_the_standard_library_reads_it(value: Any) -> None:
    assert strict_json.parse(json.dumps(value).encode()) == value
    assert strict_json.parse(json.dumps(value, ensure_ascii=False).encode()) == value


@pytest.mark.parametrize("raw", [b'{"a": 1, "a": 2}', b'{"b": [{"a": 1, "a": 1}]}', b'{"a": 1, "\\u0061": 2}'])
def test_a_key_that_stands_twice_in_one_object_is_refused(raw: bytes) -> None:
    with pytest.raises(UnsafeJson, match="'a' stands twice"):
        strict_json.parse(raw)


def test_the_same_key_in_two_objects_is_fine() -> None:
    assert strict_json.parse(b'[{"a": 1}, {"a": {"a": 2}}]') == [{"a": 1}, {"a": {"a": 2}}]


@pytest.mark.parametrize("raw", [b"NaN", b"Infinity", b"-Infinity", b'{"a": [NaN]}', b"1e999", b"-1e999", b'{"a": 1e309}'])
def test_what_is_not_a_finite_number_is_refused(raw: bytes) -> None:
    with pytest.raises(UnsafeJson):
        strict_json.parse(raw)


@pytest.mark.parametrize("raw", [rb'"\ud800"', rb'"\udc00"', rb'"\udc00\ud800"', rb'{"\ud83d": 1}', rb'["x", {"a": "\udfff"}]'])
def test_half_of_a_surrogate_pair_is_refused(raw: bytes) -> None:
    with pytest.raises(UnsafeJson, match="surrogate"):
        strict_json.parse(raw)


def test_a_whole_surrogate_pair_is_one_character() -> None:
    assert strict_json.parse(rb'"\ud83d\ude00"') == "😀"


@pytest.mark.parametrize("raw", [rb'"\u0000"', rb'{"a": "x\u0000y"}', rb'{"a\u0000": 1}', rb'[[{"a": {"\u0000": 1}}]]'])
def test_the_character_nul_is_refused_in_values_and_in_keys(raw: bytes) -> None:
    with pytest.raises(UnsafeJson, match=r"U\+0000"):
        strict_json.parse(raw)


def test_a_backslash_before_the_letters_of_an_escape_is_only_text() -> None:
    assert strict_json.parse(rb'"\\u0000 \\ud800"') == r"\u0000 \ud800"


@pytest.mark.parametrize("number", [2**53, -(2**53), 0, -1])
def test_integers_that_every_reader_holds_exactly_pass(number: int) -> None:
    assert strict_json.parse(str(number).encode()) == number


@pytest.mark.parametrize("number", [str(2**53 + 1), str(-(2**53) - 1), "1" * 17, "1" * 18, "9" * 5_000, "-" + "9" * 5_000])
def test_integers_beyond_what_a_double_holds_are_refused(number: str) -> None:
    with pytest.raises(UnsafeJson, match="2\\^53"):
        strict_json.parse(number.encode())


@pytest.mark.parametrize("make", [nested, lambda depth: b'{"a":' * depth + b"1" + b"}" * depth], ids=["lists", "objects"])
def test_twenty_levels_pass_and_twenty_one_are_refused(make: Any) -> None:
    strict_json.parse(make(20))

    with pytest.raises(UnsafeJson, match="deeper than 20"):
        strict_json.parse(make(21))


@pytest.mark.parametrize("raw", [b"[" * 100_000, nested(100_000), b'{"a":' * 50_000])
def test_a_hundred_thousand_brackets_are_refused_and_end_no_worker(raw: bytes) -> None:
    with pytest.raises((UnsafeJson, InvalidJson)):
        strict_json.parse(raw)


@pytest.mark.parametrize(
    "raw", [b'"\xff"', b'"\xc3"', b'"\xed\xa0\x80"', b'"\xc0\x80"', '"ü"'.encode("latin-1"), '"a"'.encode("utf-16")]
)
def test_bytes_that_are_not_utf8_are_not_json(raw: bytes) -> None:
    with pytest.raises(InvalidJson, match="UTF-8"):
        strict_json.parse(raw)


@pytest.mark.parametrize("raw", [b"{", b"{'a': 1}", b"[1,]", b'"\x00"', b'"\n"', b"01", b"1 2", b"\xef\xbb\xbf{}", b"tru"])
def test_text_that_is_not_json_says_where_it_went_wrong(raw: bytes) -> None:
    with pytest.raises(InvalidJson, match=r"line 1, column \d+|BOM"):
        strict_json.parse(raw)


@given(st.binary(max_size=200))
def test_any_bytes_are_either_read_or_refused_by_name(raw: bytes) -> None:
    with suppress(InvalidJson, UnsafeJson):
        strict_json.canonical(strict_json.parse(raw))


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"", "There is no JSON: the body is empty"),
        (b" \r\n", "There is no JSON: the body is empty"),
        (b"\xef\xbb\xbf{}", "It begins with a byte order mark (BOM); send UTF-8 without it"),
        (b"{}{}", "Something follows after the JSON has ended, at line 1, column 3"),
        (b"{'a': 1}", "A name in double quotes is expected at line 1, column 2"),
        (b'{"a" 1}', "A colon is expected at line 1, column 6"),
        (b"a=1", "A value is expected at line 1, column 1"),
        (b'["a', "A text is not closed that begins at line 1, column 2"),
        (b'["a\nb"]', "A line break or another control character stands unescaped in a text at line 1, column 4"),
        (rb'["\d"]', "A backslash begins no escape of JSON at line 1, column 3"),
        (b"[1 2]", "A comma, or the end of the list or object, is expected at line 1, column 4"),
        (b'["\xfc"]', "It is not UTF-8 at byte 2"),
    ],
)
def test_what_is_no_json_is_told_where_and_in_our_words(raw: bytes, told: str) -> None:
    with pytest.raises(InvalidJson) as raised:
        strict_json.parse(raw)

    assert str(raised.value) == told
