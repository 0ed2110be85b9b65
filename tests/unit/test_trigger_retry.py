"""What a handler's answer means for its run, and whether a run may begin."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from tocsin.store.rows import FiredTrigger, RegisteringKey, RunHandler, TriggerRun, Work
from tocsin.triggers import admit
from tocsin.triggers.retry import HandlerFailure, end_of, put_off

ID, ARN = UUID(int=1), "arn:aws:lambda:eu-west-1:123456789012:function:f"
NOW = datetime(2026, 11, 17, tzinfo=UTC)
TRIGGER = FiredTrigger(ID, "kv", True)
KEY = RegisteringKey(ID, "shop", "live", ["send", "data"], None, True)
INTENT = RunHandler(ID, "intent", {"intent": {}}, None)
LAMBDA = RunHandler(ID, "lambda", {"function_arn": ARN}, None)


def work(**said: Any) -> Work:
    usual = {"attempt_count": 0, "max_attempts": 3, "retry_backoff": "constant", "retry_base_ms": 500, "trigger_depth": 1}
    usual |= {"payload": {"trigger_id": str(ID)}} | said
    return Work(**(dict.fromkeys(Work._fields) | {"id": ID, "created_at": NOW} | usual))  # type: ignore[arg-type]


def run(**said: Any) -> TriggerRun:
    usual = {"trigger": TRIGGER, "handler": INTENT, "key": KEY, "letter": None, "trace_id": "", "lane": None}
    return TriggerRun(**({"work": work()} | usual | said))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("backoff", "delays"),
    [
        ("exponential", [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600]),
        ("linear", list(range(1, 15))),
        ("constant", [1] * 14),
    ],
)
def test_the_times_between_tries_are_the_policys_to_the_millisecond(backoff: str, delays: list[int]) -> None:
    ends = [
        end_of(work(attempt_count=n, max_attempts=20, retry_backoff=backoff, retry_base_ms=1_000), HandlerFailure("500", "oops"))
        for n in range(14)
    ]

    assert [end.delay for end in ends] == [timedelta(seconds=delay) for delay in delays]
    assert all(end.outcome == "again" and end.is_tried for end in ends)
    assert [end.is_nudged for end in ends] == [delay <= 900 for delay in delays]


def test_the_last_try_and_what_is_permanent_end_it() -> None:
    last = end_of(work(attempt_count=2), HandlerFailure("500", "oops"))
    refused = end_of(work(), HandlerFailure("bad", "no", is_permanent=True))

    assert (last.outcome, last.classification, last.code, last.message) == ("failed", "exhausted", "500", "oops")
    assert (refused.outcome, refused.classification, refused.is_tried) == ("failed", "permanent", True)
    assert last.hint != refused.hint


def test_success_is_done_and_what_was_not_asked_is_no_try() -> None:
    assert (end_of(work(), None).outcome, end_of(work(), None).is_tried) == ("done", True)
    assert (put_off(work(), timedelta(seconds=1)).outcome, put_off(work(), timedelta(seconds=1)).is_tried) == ("again", False)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({}, None),
        ({"trigger": None}, "deleted"),
        ({"handler": None}, "deleted"),
        ({"trigger": TRIGGER._replace(enabled=False)}, "disabled"),
        ({"trigger": TRIGGER._replace(enabled=False), "work": work(trigger_depth=9)}, "disabled"),
        ({"work": work(payload={"trigger_id": "x", "dead_letter_id": "y"})}, "letter_gone"),
        ({"work": work(payload={"trigger_id": "x", "dead_letter_id": "y"}), "letter": {}}, None),
        ({"work": work(trigger_depth=8)}, None),
        ({"work": work(trigger_depth=9)}, "too_deep"),
        ({"work": work(trigger_depth=9), "key": None}, "too_deep"),
    ],
)
def test_what_is_gone_switched_off_or_too_deep_is_not_run(said: dict[str, Any], why: str | None) -> None:
    assert admit.not_run(run(**said), max_depth=8) == why


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({}, None),
        ({"key": None}, "principal_revoked"),
        ({"key": KEY._replace(is_usable=False)}, "principal_revoked"),
        ({"key": KEY._replace(scopes=["manage"])}, "principal_revoked"),
        ({"key": KEY._replace(scopes=["send"])}, "principal_revoked"),
        ({"key": KEY._replace(scopes=["data"]), "handler": LAMBDA}, None),
        ({"key": KEY._replace(scopes=["manage"]), "handler": LAMBDA}, "principal_revoked"),
        ({"key": KEY._replace(is_usable=False), "handler": LAMBDA}, "principal_revoked"),
        ({"handler": LAMBDA._replace(config={"function_arn": ARN + "2"})}, "function_not_allowed"),
        ({"handler": LAMBDA._replace(config={})}, "function_not_allowed"),
    ],
)
def test_a_run_is_refused_without_rights_or_a_function_that_is_allowed(said: dict[str, Any], why: str | None) -> None:
    refused = admit.refusal(run(**said), function_arns={ARN})

    assert (refused.classification if refused else None) == why
    assert refused is None or (refused.outcome, refused.is_tried, bool(refused.hint)) == ("failed", False, True)
