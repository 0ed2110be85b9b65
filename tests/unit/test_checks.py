"""The checks of the diagnostics, where what they judge cannot be planted: each by what was found out."""

from datetime import UTC, datetime, timedelta

import pytest

from tocsin.store.audit_heads import ChainCheck
from tocsin.store.server import Server
from tocsin.upkeep import aws_checks, checks
from tocsin.upkeep.ask_aws import QueueDepth, Silent
from tocsin.upkeep.diagnostic import Flaw, judged

NOW = datetime(2026, 11, 20, tzinfo=UTC)
EMPTY = QueueDepth(0, 0, 0)


def a_server(connections: int = 10, *, version: int = 170_004, is_read_only: bool = False) -> Server:
    return Server("17.4", version, connections, 100, is_read_only)


@pytest.mark.parametrize(("connections", "state"), [(79, "ok"), (80, "warning"), (94, "warning"), (95, "failed")])
def test_connections_are_judged_before_they_are_used_up(connections: int, state: str) -> None:
    found = checks.database(a_server(connections), with_numbers=True)

    assert found.state == state
    assert f"{connections} of 100 connections are used" in found.detail


def test_a_server_that_is_too_old_or_takes_no_writes_has_failed() -> None:
    assert checks.database(a_server(version=150_009), with_numbers=True).state == "failed"
    assert checks.database(a_server(is_read_only=True), with_numbers=True).state == "failed"


def test_the_servers_numbers_are_told_to_its_owner_alone() -> None:
    told = [checks.database(a_server(used), with_numbers=False).detail for used in (10, 99)]

    assert told == ["It answers.", "Nearly all connections are used."]


def test_a_clock_that_was_read_slowly_is_not_called_wrong() -> None:
    found = checks.clock(NOW, NOW + timedelta(seconds=20), NOW + timedelta(seconds=30))

    assert (found.state, found.detail) == ("ok", "The function's clock and the database's are 0.0 s apart.")


@pytest.mark.parametrize(
    ("chain", "detail"),
    [
        (None, "Nothing has been audited yet."),
        (ChainCheck(NOW - timedelta(hours=1), None), "Its first check is still to come."),
        (ChainCheck(NOW - timedelta(days=90), NOW - timedelta(hours=3)), "It held at 2026-11-19 21:00 UTC."),
    ],
)
def test_a_chain_says_when_it_was_last_checked(chain: ChainCheck | None, detail: str) -> None:
    found = checks.audit(chain, now=NOW, is_broken=False)

    assert (found.state, found.detail) == ("ok", detail)


def test_a_chain_that_was_never_checked_is_found_after_two_days() -> None:
    assert checks.audit(ChainCheck(NOW - timedelta(days=3), None), now=NOW, is_broken=False).state == "warning"


def test_a_deep_queue_is_a_warning_and_what_is_in_flight_is_not() -> None:
    deep = aws_checks.queues({"email": QueueDepth(10_000, 0, 0), "plan": EMPTY}, {"work": EMPTY}, None)
    busy = aws_checks.queues({"email": QueueDepth(0, 10_000, 10_000)}, {"work": EMPTY}, None)

    assert (deep.state, "10000 messages wait on the email queue" in deep.detail) == ("warning", True)
    assert busy.state == "ok"


def test_a_dead_letter_that_somebody_reads_just_now_is_still_there() -> None:
    assert aws_checks.queues({}, {"intake": QueueDepth(0, 1, 0)}, None).state == "failed"


@pytest.mark.parametrize(
    ("reason", "fix"),
    [
        ("AccessDeniedException", "The function operate lacks a right"),
        ("PLAN_QUEUE_URL is not set in the environment of operate", "The function operate lacks a right or a variable"),
        ("ConnectTimeoutError", "Ask again"),
    ],
)
def test_what_is_not_known_says_why_and_where_to_look(reason: str, fix: str) -> None:
    found = aws_checks.ses_account(Silent(reason))

    assert (found.state, reason in found.detail) == ("unknown", True)
    assert fix in (found.fix or "")


def test_a_check_is_as_bad_as_its_worst_flaw_which_comes_first_and_says_the_same_advice_once() -> None:
    found = judged("x", [Flaw("warning", "A.", "Do."), Flaw("unknown", "B.", "Do."), Flaw("failed", "C.", "Act.")], well="")

    assert (found.state, found.detail, found.fix) == ("failed", "C. B. A.", "Act. Do.")
