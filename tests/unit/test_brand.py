"""The colours of a brand: what stands on them, or in them, can be read."""

import pytest

from tocsin.content.brand import COLOR, Brand, color_of, contrast, ink_on, readable_on

GROUNDS = ("#ffffff", "#16181d")


@pytest.mark.parametrize("color", ["#000000", "#ffffff", "#ffe600", "#2456a6", "#ff0000", "#777777", "#0b0b0b", "#00ff88"])
def test_letters_can_be_read_on_any_colour_and_in_it(color: str) -> None:
    assert contrast(ink_on(color), color) >= 4.5
    for ground in GROUNDS:
        assert contrast(readable_on(color, ground), ground) >= 4.5


def test_a_colour_that_can_be_read_stays_as_it_is() -> None:
    assert readable_on("#2456a6", "#ffffff") == "#2456a6"
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_whoever_named_no_colour_has_ours() -> None:
    assert color_of(Brand("Shop")) == COLOR
    assert color_of(Brand("Shop", color="#aa0000")) == "#aa0000"
