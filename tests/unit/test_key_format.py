"""API keys: told from garbage without a query, and kept nowhere in clear."""

import hashlib
import re
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.access import key_format
from tocsin.foundation.ids import uuid7

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
KEY_ID = UUID("0193a000-0000-7000-8000-000000000001")


@pytest.mark.parametrize("mode", ["live", "test"])
def test_a_key_says_what_it_is_and_for_which_mode(mode: str) -> None:
    minted = key_format.mint(uuid7(), mode)

    assert re.fullmatch(rf"tcn_{mode}_[0-9A-Za-z]{{22}}_[0-9A-Za-z]{{49}}", minted.plain)
    assert key_format.is_well_formed(minted.plain)


def test_every_change_of_a_single_character_is_noticed_without_a_query() -> None:
    plain = key_format.mint(KEY_ID, "live").plain

    survivors = [
        (place, other)
        for place, here in enumerate(plain)
        for other in ALPHABET + "_-. "
        if other != here and key_format.is_well_formed(plain[:place] + other + plain[place + 1 :])
    ]

    assert survivors == []


def test_a_missing_a_doubled_and_a_swapped_character_are_noticed() -> None:
    plain = key_format.mint(KEY_ID, "live").plain

    for place in range(len(plain)):
        assert not key_format.is_well_formed(plain[:place] + plain[place + 1 :])
        assert not key_format.is_well_formed(plain[:place] + plain[place] + plain[place:])
        swapped = plain[:place] + plain[place + 1 : place + 2] + plain[place : place + 1] + plain[place + 2 :]
        assert swapped == plain or not key_format.is_well_formed(swapped)


def test_a_live_key_relabelled_as_a_test_key_is_garbage() -> None:
    assert not key_format.is_well_formed(key_format.mint(KEY_ID, "live").plain.replace("_live_", "_test_"))


@pytest.mark.parametrize("suffix", ["\n", " ", "\x00", "\u0661"])
def test_nothing_may_follow_a_key(suffix: str) -> None:
    plain = key_format.mint(KEY_ID, "live").plain

    assert not key_format.is_well_formed(plain + suffix)
    assert not key_format.is_well_formed(plain[: -len(suffix)] + suffix)


@given(st.text(max_size=200))
def test_garbage_is_never_well_formed(text: str) -> None:
    assert not key_format.is_well_formed(text)


def test_garbage_of_any_size_is_refused_by_its_length_alone() -> None:
    assert not key_format.is_well_formed("tcn_live_" + "a" * 10_000_000)


def test_a_thousand_keys_of_one_id_share_no_secret_and_no_hash() -> None:
    minted = [key_format.mint(KEY_ID, "live") for _ in range(1000)]

    assert len({one.plain for one in minted}) == 1000
    assert len({one.hash for one in minted}) == 1000


def test_the_secret_spreads_over_256_bits() -> None:
    secrets = [key_format.mint(KEY_ID, "live").plain.split("_")[3][:43] for _ in range(400)]

    numbers = [_base62(secret) for secret in secrets]

    assert all(number < 2**256 for number in numbers)
    ones = [sum(number >> bit & 1 for number in numbers) for bit in range(256)]
    assert all(100 < count < 300 for count in ones)  # ten standard deviations around one half


def test_the_prefix_names_the_key_and_holds_nothing_of_its_secret() -> None:
    first, second = key_format.mint(KEY_ID, "live"), key_format.mint(KEY_ID, "live")

    assert first.prefix == second.prefix == first.plain.rsplit("_", 1)[0]
    assert first.plain.rsplit("_", 1)[1] not in first.prefix


def test_the_prefixes_of_two_ids_differ() -> None:
    assert key_format.mint(KEY_ID, "live").prefix != key_format.mint(UUID(int=KEY_ID.int + 1), "live").prefix


def test_what_is_stored_is_the_sha256_of_the_whole_key() -> None:
    minted = key_format.mint(KEY_ID, "test")

    assert minted.hash == key_format.digest(minted.plain) == hashlib.sha256(minted.plain.encode()).digest()
    assert len(minted.hash) == 32


def _base62(text: str) -> int:
    number = 0
    for character in text:
        number = number * 62 + ALPHABET.index(character)
    return number
