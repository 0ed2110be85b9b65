"""The Prefer header: the first `wait` counts, others are passed over, and what cannot be read is said."""

import pytest

from tocsin.http import prefer
from tocsin.http.problems import Problem


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("wait=5", 5),
        ("WAIT=5", 5),
        (" wait = 5 ", 5),
        ('wait="5"', 5),
        ("wait=005", 5),
        ("wait=1", 1),
        ("wait=20", 20),
        ("wait=21", 20),
        ("wait=" + "9" * 5_000, 20),
        ("respond-async, wait=10", 10),
        ("wait=3, wait=9", 3),
        ("wait=3; x=1, respond-async", 3),
        ('wait=3; x="a, wait=9"', 3),
        (",, wait=4,", 4),
        ("respond-async", None),
        ("", None),
        ('note="wait=5"', None),
        ("handling=lenient; wait=5", None),
        ("awaits=5", None),
        ("return=minimal, wait-for=5", None),
    ],
)
def test_what_a_header_asks_for(header: str, seconds: int | None) -> None:
    assert prefer.wait_of({"prefer": header}) == seconds


@pytest.mark.parametrize(
    "header",
    ["wait", "wait=", "wait=0", "wait=00", "wait=-1", "wait=+1", "wait=1.5", "wait=x", "wait=5 6", 'wait="5', "wait=\u0665"],
)
def test_a_wait_that_is_none_is_400_and_names_the_header(header: str) -> None:
    with pytest.raises(Problem) as caught:
        prefer.wait_of({"prefer": header})

    assert (caught.value.status, caught.value.kind) == (400, "prefer-invalid")
    assert [error["pointer"] for error in caught.value.errors] == ["Prefer"]


def test_without_a_header_nobody_waits_and_where_one_must_it_is_400() -> None:
    assert prefer.wait_of({}) is None
    with pytest.raises(Problem) as caught:
        prefer.required_wait_of({})
    assert (caught.value.status, caught.value.kind) == (400, "prefer-wait-required")
    assert prefer.required_wait_of({"prefer": "wait=7"}) == 7
