"""What stands in the way of a replay, whichever kind of work died."""

from dataclasses import replace
from uuid import UUID

import pytest

from tocsin.dead_letters.obstacles import obstacle_of
from tocsin.store.rows import LetterStanding

SOUND = LetterStanding(
    id=UUID(int=1),
    source_kind="deliver",
    failure_classification="exhausted",
    resolution=None,
    has_record=True,
    is_cancelled=False,
    is_expired=False,
    is_dead_route=True,
    has_recipient=True,
    is_proven=False,
    in_doubt=False,
    has_event=True,
    has_delivery=True,
    has_active_hook=True,
    has_trigger=True,
    has_enabled_trigger=True,
    is_under_way=False,
)
KINDS = ("deliver", "plan", "fanout", "webhook", "trigger", "replay")


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_stands_in_the_way_of_what_is_all_there(kind: str) -> None:
    assert obstacle_of(replace(SOUND, source_kind=kind), past_expiry=False) is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("resolution", ["replayed", "ignored", "handled_by_script"])
def test_a_letter_is_resolved_once(kind: str, resolution: str) -> None:
    found = obstacle_of(replace(SOUND, source_kind=kind, resolution=resolution), past_expiry=True)

    assert found is not None
    assert found.reason == "already_resolved"


@pytest.mark.parametrize(("kind", "expires"), [(kind, kind in ("deliver", "plan", "fanout")) for kind in KINDS])
def test_expiry_matters_to_messages_alone_and_only_unless_asked(kind: str, expires: bool) -> None:
    letter = replace(SOUND, source_kind=kind, is_expired=True)

    found = obstacle_of(letter, past_expiry=False)

    assert (found is not None and found.reason == "expired") is expires
    assert obstacle_of(letter, past_expiry=True) is None


def test_what_is_gone_is_said_before_that_it_has_expired() -> None:
    found = obstacle_of(replace(SOUND, source_kind="plan", has_record=False, is_expired=True), past_expiry=False)

    assert found is not None
    assert found.reason == "record_gone"
