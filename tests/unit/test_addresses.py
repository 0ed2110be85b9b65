"""Addresses have one reading, or none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.people import addresses

WORST = 100_000


@pytest.mark.parametrize(
    "text",
    [
        "alice@example.com",
        "a@b.co",
        "Alice.B+tag@example.com",
        "o'hara!#$%&*/=?^_`{|}~-@example.com",
        "1@1.example",
        "alice@sub.sub-domain.example.com",
        "alice@xn--bcher-kva.example",
        "a" * 64 + "@example.com",
        "a@" + "b" * 63 + ".com",
    ],
)
def test_a_plain_address_is_taken_as_it_is(text: str) -> None:
    assert addresses.email(text) == text


def test_the_domain_is_lowered_and_the_local_part_is_not() -> None:
    assert addresses.email("Alice@EXAMPLE.Com") == "Alice@example.com"


@pytest.mark.parametrize(
    ("text", "ascii_form"),
    [
        ("alice@bücher.example", "alice@xn--bcher-kva.example"),
        ("alice@BÜCHER.example", "alice@xn--bcher-kva.example"),
        ("alice@例え.jp", "alice@xn--r8jz45g.jp"),
    ],
)
def test_an_international_domain_becomes_ascii(text: str, ascii_form: str) -> None:
    assert addresses.email(text) == ascii_form


@pytest.mark.parametrize(
    "text",
    [
        "",
        "@",
        "alice",
        "alice@",
        "@example.com",
        "alice@localhost",
        "alice@@example.com",
        "alice@example.org)bob@example.com",
        "alice@example.org,bob@example.com",
        "alice@example.org;bob",
        "alice@example.org bob",
        "Alice <alice@example.com>",
        "<alice@example.com>",
        "alice(comment)@example.com",
        "alice@(comment)example.com",
        "alice@example.com(comment)",
        '"alice"@example.com',
        '"alice b"@example.com',
        r"al\ice@example.com",
        ".alice@example.com",
        "alice.@example.com",
        "al..ice@example.com",
        "alice@.example.com",
        "alice@example..com",
        "alice@example.com.",
        "alice@-example.com",
        "alice@example-.com",
        "alice@exa_mple.com",
        "alice@[127.0.0.1]",
        "alice@[IPv6:::1]",
        "älice@example.com",
        "alice@example.com\n",
        "\nalice@example.com",
        " alice@example.com",
        "alice@example.com ",
        "alice@exam\tple.com",
        "alice@example.com\r\nBcc: bob@example.com",
        "alice\r\n@example.com",
        "alice@example.com\x00",
        "alice@exam\u2028ple.com",
        "alice\uff20example.com",
        "alice@ex\ud800ample.com",
        "mailto:alice@example.com",
        "a" * 65 + "@example.com",
        "a@" + "b" * 64 + ".com",
        "a@" + "ü" * 64 + ".com",
        "a@" + "b." * 125 + "comm",
    ],
)
def test_anything_else_is_refused_and_not_repaired(text: str) -> None:
    with pytest.raises(ValueError, match="must"):
        addresses.email(text)


def test_254_characters_are_an_address_and_255_are_not() -> None:
    label = "b" * 61
    longest = "a" * 64 + "@" + ".".join([label, label, label]) + ".co"
    assert len(longest) == 253

    assert addresses.email(longest + "m") == longest + "m"

    with pytest.raises(ValueError, match="one email"):
        addresses.email(longest + "mm")


def test_the_length_is_limited_as_the_address_is_sent_not_as_it_is_written() -> None:
    written = "a@" + ".".join(["ü" * 30] * 8)
    assert len(written) < 254

    with pytest.raises(ValueError, match="must"):
        addresses.email(written)


@pytest.mark.parametrize(
    "domain", ["straße.example", "ﬁnance.example", "exa\u00admple.com", "\uff45xample.com", "a\u2024b.example"]
)
def test_a_domain_that_would_become_another_one_is_refused(domain: str) -> None:
    with pytest.raises(ValueError, match="must"):
        addresses.email(f"alice@{domain}")


@given(st.text(max_size=60))
def test_whatever_is_taken_is_one_line_of_ascii_with_one_at_sign(text: str) -> None:
    try:
        taken = addresses.email(text)
    except ValueError:
        return

    assert taken.isascii()
    assert taken.isprintable()
    assert taken.count("@") == 1
    assert not set(taken) & set(' \t\r\n<>(),;:"[]\\')


@pytest.mark.parametrize(
    "text",
    [
        "a" * WORST,
        "a." * (WORST // 2) + "@",
        "a@" + "b." * (WORST // 2),
        "a@" + "b-" * (WORST // 2),
        "a@" + "ü" * WORST,
        "@" * WORST,
        "!" * WORST + "@example.com",
    ],
)
def test_an_endless_address_is_refused_by_its_length_before_any_matching(text: str) -> None:
    with pytest.raises(ValueError, match="one email"):
        addresses.email(text)


@pytest.mark.parametrize("text", ["+14155550100", "+4930123456", "+1234567", "+123456789012345"])
def test_a_phone_number_in_e164_is_taken(text: str) -> None:
    assert addresses.phone(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+",
        "14155550100",
        "0014155550100",
        "+04155550100",
        "+123456",
        "+1234567890123456",
        "+1 415 555 0100",
        "+1-415-555-0100",
        "+1(415)5550100",
        "+14155550100\n",
        "+\uff11\uff14\uff11\uff15\uff15\uff15\uff15\uff10\uff11\uff10\uff10",
        "+1415555010x",
        "tel:+14155550100",
        "+" + "1" * WORST,
    ],
)
def test_any_other_phone_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"E\.164"):
        addresses.phone(text)
