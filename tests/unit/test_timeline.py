"""The timeline tells every decision in the order it was made, each with its reason."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tocsin.api.timelines import shown
from tocsin.delivery.timeline import timeline

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def a_record(**special: Any) -> dict[str, Any]:
    return {"accepted_at": START, "producer": "shop", "cancelled_at": None, "send_at": None} | special


def a_route(**special: Any) -> dict[str, Any]:
    return {
        "route_id": "email-alice",
        "channel": "email",
        "recipient_ref": "user:alice",
        "created_at": at(1),
        "updated_at": at(1),
        "status": "pending",
        "reason": "",
        "generation": 1,
        "provider": "",
        "deferral_count": 0,
        "audience_reason": "",
        "deferred_at": None,
        "deferred_reason": "",
        "next_attempt_at": None,
        "published_at": None,
        "dead_lettered_at": None,
        "skipped_at": None,
        "cancelled_at": None,
        "duplicate_suspected": False,
        "may_have_arrived": False,
        "last_error_message": "",
    } | special


def an_attempt(
    number: int, started: float, outcome: str | None = None, finished: float | None = None, error: str = "", note: str = ""
) -> dict[str, Any]:
    return {
        "route_id": "email-alice",
        "attempt_no": number,
        "generation": 1,
        "provider": "ses",
        "started_at": at(started),
        "finished_at": None if finished is None else at(finished),
        "outcome": outcome,
        "error_message": error,
        "note": note,
    }


def told(*arguments: Any) -> list[tuple[str, str]]:
    return [(entry["what"], entry["reason"]) for entry in timeline(*arguments)]


def test_a_simple_delivery_is_four_steps() -> None:
    route = a_route(status="published", published_at=at(3), provider="ses")

    assert told(a_record(), [route], [an_attempt(1, 2, "accepted", 3)]) == [
        ("accepted", "by shop"),
        ("planned", "email to user:alice"),
        ("attempt_opened", "attempt 1 by ses"),
        ("attempt_accepted", "attempt 1 by ses"),
        ("published", "accepted by ses"),
    ]


def test_a_delivery_that_failed_and_went_on_tells_what_the_provider_said() -> None:
    attempts = [an_attempt(1, 2, "transient", 3, "503"), an_attempt(2, 9, "permanent", 10, "MessageRejected: no")]
    route = a_route(status="dead_letter", dead_lettered_at=at(10), reason="permanent")

    steps = told(a_record(), [route], attempts)

    assert steps[3:] == [
        ("attempt_transient", "attempt 1 by ses: 503"),
        ("attempt_opened", "attempt 2 by ses"),
        ("attempt_permanent", "attempt 2 by ses: MessageRejected: no"),
        ("dead_letter", "permanent"),
    ]


@pytest.mark.parametrize(
    ("status", "column", "reason"),
    [
        ("skipped", "skipped_at", "no_address"),
        ("skipped", "skipped_at", "expired"),
        ("cancelled", "cancelled_at", "cancelled"),
        ("dead_letter", "dead_lettered_at", "poison"),
    ],
)
def test_every_end_is_told_with_its_time_and_reason(status: str, column: str, reason: str) -> None:
    last = timeline(a_record(), [a_route(**{"status": status, column: at(7), "reason": reason})], [])[-1]

    assert (last["at"], last["what"], last["reason"], last["route_id"]) == (at(7), status, reason, "email-alice")


def test_an_inbox_row_is_in_the_inbox() -> None:
    route = a_route(channel="in_app", status="published", published_at=at(1), provider="inbox")

    assert told(a_record(), [route], [])[-1] == ("published", "in the inbox")


def test_a_route_that_waits_says_for_what_and_until_when() -> None:
    route = a_route(status="failed", reason="retry", updated_at=at(3), next_attempt_at=at(8))

    assert told(a_record(), [route], [])[-1] == ("waiting", f"retry; next at {at(8).isoformat()}")


def test_the_last_deferral_is_told_with_their_number() -> None:
    once = a_route(deferral_count=1, deferred_at=at(2), deferred_reason="lane_stopped: x")
    often = a_route(deferral_count=3, deferred_at=at(2), deferred_reason="lane_stopped: x")

    assert told(a_record(), [once], [])[-1] == ("deferred", "lane_stopped: x")
    assert told(a_record(), [often], [])[-1] == ("deferred", "lane_stopped: x (3 times, the last one shown)")


def test_a_wish_to_cancel_and_a_time_to_send_are_told() -> None:
    steps = told(a_record(cancelled_at=at(5), send_at=at(60)), [], [])

    assert steps == [("accepted", "by shop"), ("scheduled", f"for {at(60).isoformat()}"), ("cancel_asked", "")]


def test_an_attempt_whose_answer_is_missing_is_opened_and_nothing_more() -> None:
    assert told(a_record(), [a_route()], [an_attempt(1, 2)])[-1] == ("attempt_opened", "attempt 1 by ses")


def test_an_unknown_attempt_without_an_end_is_told_at_its_start() -> None:
    entries = timeline(a_record(), [a_route()], [an_attempt(1, 2, "unknown")])

    assert [(entry["at"], entry["what"]) for entry in entries[-2:]] == [(at(2), "attempt_opened"), (at(2), "attempt_unknown")]


def test_what_happened_in_one_instant_is_told_as_cause_and_effect() -> None:
    throttled = a_route(
        created_at=START, updated_at=START, deferral_count=1, deferred_at=START, deferred_reason="x", next_attempt_at=at(1)
    )
    accepted = a_route(created_at=START, status="published", published_at=START, provider="ses")

    waiting = [what for what, _ in told(a_record(), [throttled], [an_attempt(1, 0, "throttled", 0)])]
    ended = [what for what, _ in told(a_record(), [accepted], [an_attempt(1, 0, "accepted", 0)])]

    assert waiting == ["accepted", "planned", "attempt_opened", "attempt_throttled", "deferred", "waiting"]
    assert ended == ["accepted", "planned", "attempt_opened", "attempt_accepted", "published"]


def test_the_end_of_a_superseded_attempt_is_told_before_its_successor() -> None:
    attempts = [an_attempt(1, 2, "unknown", 1000), an_attempt(2, 1000, "accepted", 1001)]

    steps = [reason for what, reason in told(a_record(), [a_route()], attempts) if what.startswith("attempt_")]

    assert steps == ["attempt 1 by ses", "attempt 1 by ses", "attempt 2 by ses", "attempt 2 by ses"]


def test_many_routes_are_one_story_in_the_order_of_time() -> None:
    routes = [a_route(route_id=name, created_at=at(second)) for name, second in (("c", 3), ("a", 1), ("b", 2))]

    entries = timeline(a_record(), routes, [])

    assert [entry["route_id"] for entry in entries] == [None, "a", "b", "c"]


def test_what_is_shown_has_no_sorting_mark() -> None:
    assert [sorted(shown(entry)) for entry in timeline(a_record(), [], [])] == [["at", "reason", "route_id", "what"]]


def test_an_end_in_doubt_says_so() -> None:
    route = a_route(
        status="dead_letter",
        dead_lettered_at=at(900),
        reason="ambiguous",
        may_have_arrived=True,
        last_error_message="the provider's answer was lost; not sent again: expired",
    )

    steps = told(a_record(), [route], [an_attempt(1, 2, "unknown", 3, "ReadTimeoutError: no answer")])

    assert steps[-2:] == [
        ("attempt_unknown", "attempt 1 by ses: ReadTimeoutError: no answer"),
        ("dead_letter", "ambiguous: the provider's answer was lost; not sent again: expired"),
    ]


def test_one_that_was_told_in_another_way_says_so_too() -> None:
    route = a_route(status="skipped", skipped_at=at(900), reason="dampened: told by digest d", may_have_arrived=True)

    assert told(a_record(), [route], [])[-1] == ("skipped", "dampened: told by digest d; an earlier attempt may have arrived")


def test_a_second_copy_is_told_as_one() -> None:
    route = a_route(status="published", published_at=at(900), provider="ses", duplicate_suspected=True)

    assert told(a_record(), [route], [])[-1] == ("published", "accepted by ses; an earlier attempt may have arrived too")


def test_an_attempt_that_was_proven_later_keeps_what_was_said_before() -> None:
    steps = told(a_record(), [], [an_attempt(1, 2, "accepted", 3, "ReadTimeoutError: no answer")])

    assert steps[-1] == ("attempt_accepted", "attempt 1 by ses, as was learned later: ReadTimeoutError: no answer")


def test_an_attempt_whose_words_were_cut_says_so() -> None:
    cut = an_attempt(1, 2, "accepted", 3, note="the text was cut")

    assert told(a_record(), [], [cut])[-1] == ("attempt_accepted", "attempt 1 by ses; the text was cut")


def a_letter(**special: Any) -> dict[str, Any]:
    return {
        "source_kind": "deliver",
        "route_id": "email-alice",
        "generation": 1,
        "failure_classification": "permanent",
        "failure_message": "no",
        "created_at": at(3),
        "resolution": None,
        "resolved_at": None,
        "resolved_by": None,
    } | special


def test_a_letter_that_is_the_end_of_its_route_is_told_once() -> None:
    dead = a_route(status="dead_letter", reason="permanent", dead_lettered_at=at(3))

    assert told(a_record(), [dead], [], (), [a_letter()])[-1:] == [("dead_letter", "permanent")]
    assert len(told(a_record(), [dead], [], (), [a_letter()])) == len(told(a_record(), [dead], []))


def test_a_letter_that_was_replayed_is_told_with_who_did_so_and_the_attempts_that_followed() -> None:
    replayed = a_letter(resolution="replayed", resolved_at=at(4), resolved_by="k")
    again = an_attempt(1, 5, "accepted", 6) | {"generation": 2}

    assert told(a_record(), [a_route(generation=2)], [again], (), [replayed])[-4:] == [
        ("dead_letter", "permanent: no"),
        ("replayed", "by key:k, as generation 2"),
        ("attempt_opened", "attempt 1 by ses (generation 2)"),
        ("attempt_accepted", "attempt 1 by ses (generation 2)"),
    ]


def test_a_plan_that_died_is_told_with_its_kind() -> None:
    letter = a_letter(source_kind="plan", route_id=None, failure_classification="poison", resolution="ignored", resolved_at=at(4))

    assert told(a_record(), [], [], (), [letter])[-2:] == [("dead_letter", "plan: poison: no"), ("ignored", "")]
