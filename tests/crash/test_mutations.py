"""Remove one safeguard, and a named test must fail."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.crash import crowds, mutations, zombies
from tests.crash.site import Site
from tests.crash.test_every_boundary import DOORS, crash_and_recover
from tests.crash.test_every_boundary_with_events import crash_and_hear
from tests.integration import test_lanes_recovering as recovering
from tests.world import World

Mutation = Callable[[pytest.MonkeyPatch], None]
Scenario = Callable[[World], None]


def throttled_then_stopped(world: World) -> None:
    answers = [recovering.THROTTLED] * 3 + [recovering.SUSPENDED]
    recovering.test_pauses_grow_with_the_same_trouble_and_begin_anew_with_another(answers, [1, 2, 4, 300], world)


@pytest.mark.parametrize(
    ("mutation", "scenario"),
    [
        (mutations.without_skip_locked, crowds.a_worker_never_waits_for_rows_that_another_is_claiming),
        (mutations.without_the_fence_in_open, zombies.a_worker_that_wakes_before_opening_sends_nothing),
        (mutations.without_the_fence_in_settle, zombies.a_late_failure_changes_nothing_for_the_new_holder),
        (mutations.without_the_fence_in_settle, zombies.the_proof_of_a_late_worker_is_kept_and_the_route_published_once),
        (mutations.everybody_may_try, recovering.test_of_two_workers_one_tries_the_lane_and_the_other_waits),
        (mutations.strikes_are_carried_over, throttled_then_stopped),
    ],
    ids=lambda one: one.__name__,
)
def test_the_scenario_fails_under_the_mutation(
    mutation: Mutation, scenario: Scenario, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        mutation(patch)

        with pytest.raises(AssertionError):
            scenario(world)


def test_a_crash_after_acceptance_is_noticed_when_attempts_are_opened_only_after_sending(site: Site) -> None:
    """Named test: test_a_crash_around_the_first_message_of_a_channel_follows_its_policy[ses-after]."""
    mutant = replace(DOORS["dispatch"], before=mutations.open_after_sending)

    with pytest.raises(AssertionError, match="sent_once"):
        crash_and_recover(site, mutant, 1, "after ses/sns in tocsin.channels.ses")


def test_the_mutants_work_while_nothing_goes_wrong(site: Site) -> None:
    """So that it is the crash that the tests notice, and not a mutant that never sent anything."""
    mutant = replace(DOORS["dispatch"], before=mutations.open_after_sending)

    assert not crash_and_recover(site, mutant, 10_000)


@pytest.mark.parametrize(
    ("mutation", "words"),
    [
        (mutations.events_prove_nothing, "was accepted 2 times"),
        (mutations.proof_is_not_hurried, "waited for the end of the window"),
    ],
)
def test_an_event_that_is_not_heeded_is_noticed(mutation: Callable[[], None], words: str, site: Site) -> None:
    """Named test: test_a_crash_around_an_acceptance_is_resolved_whenever_the_event_comes[after ses/sns-late]."""
    with pytest.raises(AssertionError, match=words):
        crash_and_hear(site, 1, when="late", counting="after ses/sns in tocsin.channels.ses", before=mutation)
