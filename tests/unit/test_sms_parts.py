"""SMS parts: septets while the GSM alphabet suffices, 16-bit units where not, and no character cut in two."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.content.sms_parts import Parts, count

GSM = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ÄÖÑÜ§¿äöñüàABCXYZabcxyz"


def test_a_text_in_the_gsm_alphabet_takes_a_septet_for_each_character() -> None:
    assert count(GSM) == Parts("GSM-7", len(GSM), 1)


@pytest.mark.parametrize("character", "\f^{}\\[~]|€")
def test_a_character_of_the_extension_takes_two_septets(character: str) -> None:
    assert count(f"a{character}") == Parts("GSM-7", 3, 1)


@pytest.mark.parametrize("character", ["ç", "á", "ê", "`", "“", "\u2019", "\u2013", "…", "\u00a0", "\t", "я", "中"])
def test_one_character_outside_the_alphabet_makes_the_whole_text_ucs_2(character: str) -> None:
    assert count(f"abc{character}") == Parts("UCS-2", 4, 1)


def test_an_emoji_takes_two_units() -> None:
    assert count("👍") == Parts("UCS-2", 2, 1)
    assert count("👍" * 35) == Parts("UCS-2", 70, 1)


@pytest.mark.parametrize(
    ("length", "parts"), [(0, 1), (1, 1), (160, 1), (161, 2), (306, 2), (307, 3), (459, 3), (460, 4), (1530, 10), (1531, 11)]
)
def test_gsm_parts_hold_160_septets_alone_and_153_in_a_chain(length: int, parts: int) -> None:
    assert count("a" * length) == Parts("GSM-7", length, parts)


@pytest.mark.parametrize(("length", "parts"), [(1, 1), (70, 1), (71, 2), (134, 2), (135, 3), (670, 10), (671, 11)])
def test_ucs_2_parts_hold_70_units_alone_and_67_in_a_chain(length: int, parts: int) -> None:
    assert count("я" * length) == Parts("UCS-2", length, parts)


def test_an_extension_character_is_not_cut_in_two_at_the_end_of_a_part() -> None:
    assert count("a" * 152 + "€" + "a" * 152).parts == 3
    assert count("a" * 151 + "€" + "a" * 153).parts == 2


def test_a_surrogate_pair_is_not_cut_in_two_at_the_end_of_a_part() -> None:
    assert count("я" * 66 + "👍" + "я" * 66).parts == 3
    assert count("я" * 65 + "👍" + "я" * 67).parts == 2


@given(st.text(max_size=400))
def test_units_and_parts_agree_with_the_encoders(text: str) -> None:
    found = count(text)

    alone, chained = (160, 153) if found.encoding == "GSM-7" else (70, 67)
    if found.encoding == "UCS-2":
        assert found.units == len(text.encode("utf-16-be", "surrogatepass")) // 2
    assert (found.parts == 1) == (found.units <= alone)
    assert found.parts == 1 or found.units <= found.parts * chained
    assert found.parts <= 1 + found.units // (chained - 1)
