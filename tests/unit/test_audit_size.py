"""How much of a change the audit log keeps."""

import json
from typing import Any

import pytest

from tocsin.access.audit import MASK, Actor, columns_of, difference, network_of
from tocsin.access.audit_size import MOST_BYTES, bounded
from tocsin.foundation.ids import uuid7


def test_a_name_fits_the_row_also_when_erasing_somebody_made_it_longer() -> None:
    """A job keeps it among its arguments, where an address in it is masked by something longer."""
    told = columns_of(Actor(uuid7(), "job:replay", person_name="erased\n" * 50))["person"]

    assert (told[:13], len(told)) == ("erased erased", 100)
    assert columns_of(Actor(uuid7(), "job:replay"))["person"] is None


def test_what_is_small_stays_as_it_is() -> None:
    changes = {"old": {"a": 1}, "new": {"a": [None, True, "é"]}}

    assert bounded(changes) == changes


def test_a_long_text_is_cut_and_says_how_long_it_was() -> None:
    kept = bounded({"new": {"body": "x" * 5_000, "subject": "Hi"}})

    assert kept["new"] == {"body": "x" * 4_000 + "… (5000 characters)", "subject": "Hi"}
    assert kept["cut"]["bytes"] > 5_000


@pytest.mark.parametrize(
    "changes",
    [
        {"new": {str(number): "x" * 4_000 for number in range(20)}},
        {"new": {str(number): "ü" * 300 for number in range(200)}},
        {"new": {"n" * 3_000 + str(number): number for number in range(500)}},
        {"new": [["x" * 10_000] * 100] * 10},
        {"new": {"many": list(range(100_000))}},
    ],
)
def test_whatever_it_is_it_fits(changes: dict[str, Any]) -> None:
    kept = bounded(changes)

    assert len(json.dumps(kept, ensure_ascii=False).encode()) <= MOST_BYTES
    assert kept["cut"]["bytes"] > MOST_BYTES


def test_of_an_update_only_what_differs_is_told_and_masked_values_say_that_there_is_one() -> None:
    old, new = {"email": "a@x", "locale": "pt", "phone": None}, {"email": "b@x", "locale": "pt", "phone": "+1"}

    changes = difference(old, new, masked=("email", "phone"))

    assert changes == {"old": {"email": MASK, "phone": None}, "new": {"email": MASK, "phone": MASK}}
    assert difference(old, old) == {"old": {}, "new": {}}
    assert difference(None, {"locale": "pt"}) == {"new": {"locale": "pt"}}


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("192.0.2.77", "192.0.2.0/24"),
        ("2001:db8:1:2:3::4", "2001:db8:1::/48"),
        ("fe80::1%eth0", "fe80::/48"),
        ("nonsense", ""),
        ("", ""),
    ],
)
def test_of_where_a_person_was_the_network_is_kept(told: str, kept: str) -> None:
    assert network_of(told) == kept
    assert columns_of(Actor.person(uuid7(), uuid7(), told))["ip_address"] == (kept or None)
