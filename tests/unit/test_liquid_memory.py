"""Whatever a template does, it ends in a message within its limits or in words that say why not, in little memory and time."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.cage import Cage
from tests.unit.hostile_templates import BOMBS
from tests.unit.template_grammar import PAYLOAD, templates
from tocsin.content.liquid_limits import MAX_OUTPUT, MAX_SECONDS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process cannot be held to its memory")


@pytest.fixture(scope="module")
def cage() -> Iterator[Cage]:
    cage = Cage()
    yield cage
    cage.close()


@pytest.fixture(scope="module")
def full_cage() -> Iterator[Cage]:
    cage = Cage()
    assert cage.render("text", PAYLOAD).kind == "rendered"
    yield cage
    cage.close()


def test_the_cage_is_tight_enough_for_a_bomb(cage: Cage) -> None:
    assert cage.render("hoard", {}).kind == "MemoryError"


@pytest.mark.parametrize(("source", "payload", "reason"), BOMBS, ids=lambda one: str(one)[:40])
def test_a_bomb_that_we_know_ends_in_words(cage: Cage, source: str, payload: dict[str, Any], reason: str) -> None:
    assert cage.render(source, payload).kind == "unrenderable", reason


@settings(max_examples=200)
@given(templates, st.sampled_from(["email", "push", "sms"]))
def test_any_template_renders_within_its_limits_or_says_why_not(full_cage: Cage, source: str, channel: str) -> None:
    end = full_cage.render(source, channel=channel)

    assert end.kind in ("rendered", "unrenderable"), end.said
    assert end.size <= 2 * MAX_OUTPUT  # a link's address is shown beside its words
    assert end.seconds < 3 * MAX_SECONDS
