"""A value's text is as long as was counted before it was written, and counting ends whatever the value stands for."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from tests.unit.test_strict_json import plain_json
from tocsin.content.liquid_values import escaped_size, shown, size_of

ENDLESS = 10**9


def items_in(value: Any) -> int:
    """Of lists that are not inside of an object; each counts one more than its text."""
    return len(value) + sum(map(items_in, value)) if isinstance(value, list) else 0


@given(plain_json)
def test_a_value_is_as_long_as_its_text_and_one_more_for_each_item(value: Any) -> None:
    assert (
        0
        <= size_of(value, ENDLESS) - items_in(value) - len(shown(value))
        <= 2 * str(value).count("{") + 2 * str(value).count("[")
    )


@given(st.dictionaries(st.text(), plain_json, min_size=1))
def test_an_object_is_as_long_as_its_json(value: dict[str, Any]) -> None:
    counted, written = size_of(value, ENDLESS), len(json.dumps(value, ensure_ascii=False))

    assert written <= counted <= written + 2 * (json.dumps(value).count("{") + json.dumps(value).count("["))


@given(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("<>&'\"")))
def test_a_text_is_as_long_in_html_as_was_counted(text: str) -> None:
    assert escaped_size(text) == len(escape(text))


def test_what_is_referred_to_twice_counts_twice() -> None:
    part = ["abc"]

    assert size_of([part, part], ENDLESS) == 2 + 2 * (1 + 3)
    assert size_of({"a": part, "b": part}, ENDLESS) == len('{"a": ["abc"], "b": ["abc"]}, ') + 2 * 2


@pytest.mark.parametrize(
    "wrap", [lambda value: [value] * 10, lambda value: {str(n): value for n in range(10)}], ids=["lists", "objects"]
)
def test_a_value_that_stands_for_more_than_there_is_memory_is_soon_counted(wrap: Any) -> None:
    value: Any = "x" * 1_000
    for _ in range(60):
        value = wrap(value)
    began = time.thread_time()

    assert size_of(value, 1_000_000) > 1_000_000
    assert time.thread_time() - began < 2


def test_a_value_that_holds_itself_is_soon_counted_too() -> None:
    ring: list[Any] = []
    ring.append(ring)

    assert size_of(ring, 1_000) > 1_000


def test_a_number_of_many_digits_is_counted_without_writing_it() -> None:
    assert 100_000 < size_of([1 << 332_200], ENDLESS) < 112_000  # Python refuses to write it


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "true"),
        (1.5, "1.5"),
        ([1, None, ["a", False]], "1afalse"),
        ({"ü": None}, '{"ü": null}'),
        (range(1, 10), "1..9"),
    ],
)
def test_a_value_is_shown_as_a_reader_expects_it(value: object, text: str) -> None:
    assert shown(value) == text
