"""Whoever looks at a dead letter is told what to do, whichever way it died."""

import ast

import pytest

from tests.unit.source import calls, modules
from tocsin.dead_letters.recovery_hints import hint_for

FALLBACK = hint_for("something nobody wrote a hint for")


def written_classifications() -> set[str]:
    """Every classification that code gives a dead letter, found at the three places where one is made."""
    return {word for module in modules() for call, name in calls(module) for word in _classification(call, name)}


def _classification(call: ast.Call, name: str) -> list[str]:
    if name not in ("bury", "End", "Buried") or len(call.args) < 2:
        return []
    if name == "End" and not (isinstance(call.args[0], ast.Constant) and call.args[0].value == "dead_letter"):
        return []
    word = call.args[1]
    return [word.value] if isinstance(word, ast.Constant) and isinstance(word.value, str) else []


def test_the_code_writes_the_classifications_we_know_of() -> None:
    assert written_classifications() == {"exhausted", "no_retry", "permanent", "unrenderable", "attachment"} | {
        "ambiguous",
        "poison",
    }


@pytest.mark.parametrize("classification", sorted(written_classifications()))
def test_every_classification_has_a_hint_of_its_own(classification: str) -> None:
    assert hint_for(classification) not in ("", FALLBACK)


def test_an_unknown_classification_still_has_a_hint() -> None:
    assert "replay" in FALLBACK


def test_the_hint_for_an_ambiguous_end_warns_of_a_second_copy() -> None:
    assert "second copy" in hint_for("ambiguous")
