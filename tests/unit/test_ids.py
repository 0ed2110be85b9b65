"""Ids carry their time in front, and text is an id only in its canonical spelling."""

import time
import uuid
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.foundation.ids import as_uuid, uuid7

CANONICAL = "0193a000-0000-7000-8000-0000000000af"


def test_every_id_has_the_bits_of_version_7_and_of_the_rfc_variant() -> None:
    made = [uuid7() for _ in range(1000)]

    assert {one.version for one in made} == {7}
    assert {one.variant for one in made} == {uuid.RFC_4122}


def test_an_id_begins_with_the_millisecond_it_was_made_in() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid7().int >> 80
    after = time.time_ns() // 1_000_000

    assert before <= made <= after


def test_ids_of_later_milliseconds_sort_later(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    for millisecond in (0, 1, 1_700_000_000_000, 1_700_000_000_001, 2**48 - 1):
        monkeypatch.setattr(time, "time_ns", lambda now=millisecond: now * 1_000_000)
        made.append(uuid7())

    assert made == sorted(made)
    assert [str(one) for one in made] == sorted(str(one) for one in made)


def test_ids_of_one_millisecond_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_700_000_000_000_000_000)

    assert len({uuid7() for _ in range(10_000)}) == 10_000


def test_every_bit_that_is_not_fixed_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    made = [uuid7().int for _ in range(200)]

    always, ever = 2**128 - 1, 0
    for one in made:
        always, ever = always & one, ever | one

    fixed = (0x7 << 76) | (0b10 << 62)
    drawn = ((1 << 12) - 1) << 64 | ((1 << 62) - 1)
    assert always == fixed
    assert ever == fixed | drawn


@given(st.uuids())
def test_a_canonical_text_is_its_id_in_either_case(value: UUID) -> None:
    assert as_uuid(str(value)) == value
    assert as_uuid(str(value).upper()) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "42",
        CANONICAL.replace("-", ""),
        "{" + CANONICAL + "}",
        "urn:uuid:" + CANONICAL,
        CANONICAL + "\n",
        " " + CANONICAL,
        CANONICAL[:-1],
        CANONICAL + "0",
        CANONICAL.replace("0", "\uff10"),
        CANONICAL.replace("a", "g"),
        "0193a0000000-7000-8000-0000-0000000000af",
        "\x00" * 36,
    ],
)
def test_any_other_spelling_is_no_id(text: str) -> None:
    assert as_uuid(text) is None
