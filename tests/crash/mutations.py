"""A few ways to break the product on purpose. A safety net that has never caught anything proves nothing."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from tocsin import deliver, heed
from tocsin.reserve import Reservation
from tocsin.store import attempts, lanes, notification_email_log, outbox, routes
from tocsin.store.attempts import Opened, Opening
from tocsin.store.outbox import Claimed


def without_skip_locked(patch: pytest.MonkeyPatch) -> None:
    _rewrite(patch, outbox.claim, "FOR UPDATE SKIP LOCKED", "FOR UPDATE", times=1)


def without_the_fence_in_open(patch: pytest.MonkeyPatch) -> None:
    """Of both: what is reserved for a person is fenced before it is opened."""
    _rewrite(patch, attempts.open_all, "AND outbox.lease_token = %(lease_token)s AND", "AND", times=1)
    _rewrite(patch, notification_email_log.read_states, "AND outbox.lease_token = %(lease_token)s", "", times=1)


def without_the_fence_in_settle(patch: pytest.MonkeyPatch) -> None:
    _rewrite(patch, routes.settle, "AND outbox.lease_token = %(lease_token)s AND", "AND", times=2)


def everybody_may_try(patch: pytest.MonkeyPatch) -> None:
    """Nobody asks whether somebody else is trying the lane already."""
    _rewrite(patch, lanes.take_probes, "AND (probe_until IS NULL OR probe_until <= tocsin_now())", "", times=1)


def strikes_are_carried_over(patch: pytest.MonkeyPatch) -> None:
    """Pauses grow whatever the trouble."""
    _rewrite(patch, lanes.close, "lanes.trouble = EXCLUDED.trouble", "true", times=2)


def open_after_sending() -> None:
    """Attempts are written together with their outcomes, not before the send. For a child process: it is never undone."""
    real_settle = deliver._settle

    def only_pretend(conn: Any, ready: list[Any], *, lease_token: Any) -> tuple[list[Any], Reservation, list[Any]]:
        now = datetime.now(UTC)
        opened = [
            (one, Opened(one.claimed.outbox_id, one.claimed.last_attempt_no + 1, one.claimed.attempt_count + 1, now))
            for one in ready
        ]
        return opened, Reservation(), []

    def open_and_settle(conn: Any, settlements: Any, sent: list[Any], *others: Any, lease_token: Any) -> None:
        openings = [Opening(one.ready.claimed.outbox_id, one.ready.channel.provider, one.ready.supersedes) for one in sent]
        with conn.transaction():
            attempts.open_all(conn, openings, lease_token=lease_token)
            real_settle(conn, settlements, sent, *others, lease_token=lease_token)

    deliver._open = only_pretend
    deliver._settle = open_and_settle


def events_prove_nothing() -> None:
    """Feedback is recorded, and nobody concludes from it that the message was accepted. For a child process."""
    heed._prove = lambda conn, matched: []


def proof_is_not_hurried() -> None:
    """What is proven is found only when the evidence window ends. For a child process."""
    outbox.hurry_proven = lambda conn, attempts: []


def doubt_is_forgotten() -> None:
    """An end is recorded as the gate named it, whatever may have arrived before. For a child process."""
    Claimed.is_in_doubt = False  # type: ignore[assignment, method-assign]


def _rewrite(patch: pytest.MonkeyPatch, function: Callable[..., Any], old: str, new: str, *, times: int) -> None:
    """Change the SQL inside a function, wherever it was imported to; the words must be there, or the mutation is void."""
    code = function.__code__
    found = sum(one.count(old) for one in code.co_consts if isinstance(one, str))
    assert found == times, f"{function.__qualname__} has {old!r} {found} times, not {times}"
    constants = tuple(one.replace(old, new) if isinstance(one, str) else one for one in code.co_consts)
    patch.setattr(function, "__code__", code.replace(co_consts=constants))
