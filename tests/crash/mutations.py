"""A few ways to break the product on purpose. A safety net that has never caught anything proves nothing."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from tocsin.delivery import deliver, settle
from tocsin.delivery.dampen import Dampened
from tocsin.delivery.open import OpenedBatch
from tocsin.feedback import apply
from tocsin.foundation.due import Due
from tocsin.store import lanes, outbox
from tocsin.store.flow import claim
from tocsin.store.flow import dampen as flow_dampen
from tocsin.store.flow import open as flow_open
from tocsin.store.flow import settle as flow_settle
from tocsin.store.rows import Delivery, Opened, Opening


def without_skip_locked(patch: pytest.MonkeyPatch) -> None:
    _rewrite(patch, claim.claim, "FOR UPDATE SKIP LOCKED", "FOR UPDATE", times=1)


def without_the_fence_in_open(patch: pytest.MonkeyPatch) -> None:
    """Of both: what is reserved for a person is fenced before it is opened."""
    _rewrite(patch, flow_open.open_attempts, "AND outbox.lease_token = %(lease_token)s AND", "AND", times=1)
    _rewrite(patch, flow_dampen.read_states, "AND outbox.lease_token = %(lease_token)s", "", times=1)


def without_the_fence_in_settle(patch: pytest.MonkeyPatch) -> None:
    _rewrite(patch, flow_settle.settle, " AND outbox.lease_token = %(lease_token)s", "", times=2)


def everybody_may_try(patch: pytest.MonkeyPatch) -> None:
    """Nobody asks whether somebody else is trying the lane already."""
    _rewrite(patch, lanes.take_probes, "AND (probe_until IS NULL OR probe_until <= tocsin_now())", "", times=1)


def strikes_are_carried_over(patch: pytest.MonkeyPatch) -> None:
    """Pauses grow whatever the trouble."""
    _rewrite(patch, lanes.close, "lanes.trouble = EXCLUDED.trouble", "true", times=2)


def open_after_sending() -> None:
    """Attempts are written together with their outcomes, not before the send. For a child process: it is never undone."""
    real_record = settle._record

    def only_pretend(conn: Any, ready: list[Any], *, lease_token: Any, limits: Any) -> OpenedBatch:
        now = datetime.now(UTC)
        opened = [
            (one, Opened(one.delivery.work.id, one.delivery.work.last_attempt_no + 1, one.delivery.work.attempt_count + 1, now))
            for one in ready
        ]
        return OpenedBatch(opened, Dampened(), [])

    def open_and_record(conn: Any, settlements: Any, sent: list[Any], lanes: Any, lease_token: Any) -> list[Due]:
        openings = [Opening(one.ready.delivery.work.id, one.ready.channel.provider, one.ready.supersedes) for one in sent]
        with conn.transaction():
            flow_open.open_attempts(conn, openings, lease_token=lease_token)
            return real_record(conn, settlements, sent, lanes, lease_token)

    deliver.open_all = only_pretend
    settle._record = open_and_record


def events_prove_nothing() -> None:
    """Feedback is recorded, and nobody concludes from it that the message was accepted. For a child process."""
    apply._prove = lambda conn, matched: []


def proof_is_not_hurried() -> None:
    """What is proven is found only when the evidence window ends. For a child process."""
    outbox.hurry_proven = lambda conn, attempts: []


def doubt_is_forgotten() -> None:
    """An end is recorded as the gate named it, whatever may have arrived before. For a child process."""
    Delivery.is_in_doubt = False  # type: ignore[assignment, method-assign]


def _rewrite(patch: pytest.MonkeyPatch, function: Callable[..., Any], old: str, new: str, *, times: int) -> None:
    """Change the SQL inside a function, wherever it was imported to; the words must be there, or the mutation is void."""
    code = function.__code__
    found = sum(one.count(old) for one in code.co_consts if isinstance(one, str))
    assert found == times, f"{function.__qualname__} has {old!r} {found} times, not {times}"
    constants = tuple(one.replace(old, new) if isinstance(one, str) else one for one in code.co_consts)
    patch.setattr(function, "__code__", code.replace(co_consts=constants))
