"""What a server says cannot control a terminal."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin_cli.safe_text import safe, safe_json

HOSTILE = {
    "escape sequence": "\x1b[2J\x1b]0;owned\x07",
    "C1 control": "\x9b31m",
    "carriage return": "all is well\rSomething else",
    "backspace": "abc\x08\x08\x08xyz",
    "right-to-left override": "gpj.\u202eexe",
    "isolates": "\u2066a\u2069\u2067b\u2068c",
    "marks": "\u200ea\u200fb\u061c",
    "zero width": "pay\u200bpal\ufeff",
    "tags": "a\U000e0041\U000e007f",
    "line separators": "a\u2028b\u2029c\x85d",
    "delete": "a\x7fb",
    "lone surrogate": "a\ud800b",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_a_terminal_would_obey_is_taken_out(text: str) -> None:
    shown = safe(text)

    assert shown.isprintable()
    assert not set(shown) & set("\x1b\x9b\r\x08\u202e\u2066\u2067\u200e\u200f\u061c\u200b\ufeff\u2028\u2029\x85\x7f\n")


@pytest.mark.parametrize("text", ["naïve café", "日本語", "👩\u200d🚀", "می\u200cخواهم", "שלום"])  # noqa: RUF001
def test_what_people_write_stays_as_it_is(text: str) -> None:
    assert safe(text) == text


def test_line_breaks_stay_only_where_they_are_wanted() -> None:
    assert safe("a\nb\tc") == "a b c"
    assert safe("a\nb\tc\r\n", lines=True) == "a\nb\tc\n"


@settings(max_examples=50, deadline=None)
@given(st.recursive(st.text() | st.none() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_json_means_the_same_and_has_nothing_that_a_terminal_would_obey(value: object) -> None:
    text = safe_json(value)

    assert json.loads(text) == json.loads(json.dumps(value))
    assert safe(text, lines=True) == text


@given(st.text())
def test_safe_text_stays_safe(text: str) -> None:
    assert safe(safe(text)) == safe(text)
