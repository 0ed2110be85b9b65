"""The Idempotency-Key header: one value, bare or as an RFC 8941 string."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.api.idempotency import idempotency_key
from tocsin.http.problems import Problem


@pytest.mark.parametrize(
    ("header", "key"),
    [
        ("k", "k"),
        ("order-42/shipped;v=1", "order-42/shipped;v=1"),
        ("  k  ", "k"),
        ("a b", "a b"),
        ('a"b', 'a"b'),
        (r"a\b", r"a\b"),
        ("x" * 255, "x" * 255),
        ('"k"', "k"),
        ('"a, b"', "a, b"),
        (r'"a\"b"', 'a"b'),
        (r'"a\\b"', r"a\b"),
        (r'"\\\""', r"\""),
        ('"' + "x" * 255 + '"', "x" * 255),
        ('"' + r"\"" * 255 + '"', '"' * 255),
    ],
)
def test_a_bare_key_and_a_quoted_one_are_read(header: str, key: str) -> None:
    assert idempotency_key(header) == key


def test_a_key_is_the_same_bare_and_quoted() -> None:
    assert idempotency_key("order-42") == idempotency_key('"order-42"')


@pytest.mark.parametrize("header", [None, "", " ", "\t"])
def test_without_a_key_the_answer_says_that_one_is_required(header: str | None) -> None:
    with pytest.raises(Problem) as caught:
        idempotency_key(header)

    assert (caught.value.status, caught.value.kind) == (400, "idempotency-key-required")


@pytest.mark.parametrize(
    "header",
    [
        "a,b",
        "a, b",
        '"a","b"',
        '"a", "b"',
        'a,"b"',
        '"a" "b"',
        '"a"b',
        '"a";p=1',
        '"a',
        'a,"',
        '""',
        '"',
        r'"a\"',
        r'"a\x"',
        "x" * 256,
        '"' + "x" * 256 + '"',
        "é",
        "ключ",
        "a\x00b",
        "a\nb",
        '"a\nb"',
        "a\x7fb",
        "a\u00a0b",
        "x" * 100_000,
        '"' + "\\" * 100_000,
    ],
)
def test_two_values_and_unprintable_ones_are_not_valid(header: str) -> None:
    with pytest.raises(Problem) as caught:
        idempotency_key(header)

    assert (caught.value.status, caught.value.kind) == (400, "idempotency-key-invalid")


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=255))
def test_every_printable_key_can_be_sent_as_a_string(key: str) -> None:
    quoted = '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'

    assert idempotency_key(quoted) == key


@given(st.text(max_size=300))
def test_whatever_is_read_fits_its_column(header: str) -> None:
    try:
        key = idempotency_key(header)
    except Problem as problem:
        assert problem.status == 400
    else:
        assert 1 <= len(key) <= 255
        assert key.isascii()
        assert key.isprintable()
