"""A hundred events about one thread: one email, then one digest, whoever delivers them and whoever dies of it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.crash import storms
from tests.world import World
from tocsin.delivery import dampen, settle
from tocsin.foundation.due import Due
from tocsin.store import notification_email_log
from tocsin.store.rows import Delivery, Settlement

Scenario = Callable[[World], None]
Mutation = Callable[[pytest.MonkeyPatch], None]


@pytest.mark.parametrize("scenario", storms.SCENARIOS, ids=lambda one: one.__name__)
def test_everything_is_told_once_and_no_more_than_the_window_allows(scenario: Scenario, world: World) -> None:
    scenario(world)


def without_the_lock(patch: pytest.MonkeyPatch) -> None:
    """Nobody waits for anybody who decides about the same person."""
    patch.setattr(notification_email_log, "lock_recipients", lambda conn, user_ids: None)


def with_the_log_row_after_the_send(patch: pytest.MonkeyPatch) -> None:
    """What was sent is written down when the provider has answered."""
    real_reserve, real_settle = notification_email_log.reserve, settle._record
    later: list[Delivery] = []

    def record(conn: Any, *args: Any) -> list[Due]:
        real_reserve(conn, later)
        return real_settle(conn, *args)

    patch.setattr(notification_email_log, "reserve", lambda conn, granted: later.extend(granted))
    patch.setattr(settle, "_record", record)


def with_what_is_held_settled_later(patch: pytest.MonkeyPatch) -> None:
    """It is counted in its digest in one transaction, and ends in another: the one of the sends."""
    real_settle = settle._record
    refused: list[Settlement] = []

    def record(conn: Any, settlements: list[Settlement], *args: Any) -> list[Due]:
        woken = real_settle(conn, [*settlements, *refused], *args)
        refused.clear()
        return woken

    def only_note(conn: Any, settlements: list[Settlement], **options: Any) -> None:
        refused.extend(settlements)

    patch.setattr(dampen, "settle", only_note)
    patch.setattr(settle, "_record", record)


@pytest.mark.parametrize(
    ("mutation", "scenario", "words"),
    [
        (without_the_lock, storms.a_worker_waits_while_another_decides_about_the_same_person, "on the same state"),
        (with_the_log_row_after_the_send, storms.what_is_being_sent_counts_already, "while the first was under way"),
        (
            with_what_is_held_settled_later,
            storms.a_worker_that_dies_at_any_boundary_of_its_reservation_changes_no_count,
            "held, and told",
        ),
    ],
    ids=["without the lock", "log row after the send", "held settled later"],
)
def test_the_scenario_fails_under_the_mutation(
    mutation: Mutation, scenario: Scenario, words: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        mutation(patch)

        with pytest.raises(AssertionError, match=words):
            scenario(world)
