"""A fingerprint is of what was said, not of how it was spelt."""

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.test_strict_json import plain_json
from tocsin.foundation import strict_json


def shuffled(value: Any, chance: random.Random) -> Any:
    """The same value with the keys of every object in another order."""
    if isinstance(value, list):
        return [shuffled(item, chance) for item in value]
    if not isinstance(value, dict):
        return value
    names = list(value)
    chance.shuffle(names)
    return {name: shuffled(value[name], chance) for name in names}


@given(plain_json, st.randoms(use_true_random=False), st.sampled_from([None, 0, 3, "\t"]), st.booleans())
def test_key_order_white_space_and_escapes_do_not_change_it(
    value: Any, chance: random.Random, indent: int | str | None, ensure_ascii: bool
) -> None:
    spelt = json.dumps(shuffled(value, chance), indent=indent, ensure_ascii=ensure_ascii)

    read = strict_json.parse(f" \n{spelt}\r\n\t".encode())

    assert strict_json.fingerprint(read) == strict_json.fingerprint(value)


@given(plain_json)
def test_the_canonical_form_is_json_for_the_same_value(value: Any) -> None:
    assert strict_json.parse(strict_json.canonical(value)) == value


def test_the_canonical_form_has_sorted_keys_and_no_white_space() -> None:
    assert strict_json.canonical({"b": [1, "ü"], "a": {"d": None, "c": True}}) == '{"a":{"c":true,"d":null},"b":[1,"ü"]}'.encode()


@given(plain_json, plain_json)
def test_two_values_have_one_fingerprint_only_if_they_have_one_canonical_form(first: Any, second: Any) -> None:
    same_words = strict_json.canonical(first) == strict_json.canonical(second)

    assert (strict_json.fingerprint(first) == strict_json.fingerprint(second)) == same_words


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"b": 1}),
        ({"a": None}, {}),
        ([1, 2], [2, 1]),
        ("1", 1),
        (True, 1),
        ({"a": "x"}, {"a": "x "}),
        ({"a": "é"}, {"a": "e\u0301"}),
        ({"a": {"b": 1}}, {"a": {}, "b": 1}),
    ],
)
def test_different_values_have_different_fingerprints(first: Any, second: Any) -> None:
    assert strict_json.fingerprint(first) != strict_json.fingerprint(second)


def test_a_fingerprint_is_a_sha256_known_beforehand() -> None:
    assert strict_json.fingerprint({}).hex() == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
